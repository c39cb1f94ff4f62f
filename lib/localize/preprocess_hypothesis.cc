// Hypotheses of preprocessing; see preprocess_hypothesis.h.
#include "localize/preprocess_hypothesis.h"

#include <array>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace dnn {
namespace {

std::string three(const std::array<float, 3>& a) {
  if (a[0] == a[1] && a[1] == a[2]) return exact_text(a[0]);
  return cat(exact_text(a[0]), ",", exact_text(a[1]), ",", exact_text(a[2]));
}

}  // namespace

std::string_view handling_name(Handling handling) {
  switch (handling) {
    case Handling::AsIs: return "as it is";
    case Handling::OtherLayout: return "bytes of the other layout";
    case Handling::Transposed: return "height and width exchanged";
    case Handling::UpsideDown: return "upside down";
    case Handling::Mirrored: return "mirrored";
  }
  return "";
}

const std::vector<PreprocessFactor>& preprocess_factors() {
  static const std::vector<PreprocessFactor> list = {
      {"arithmetic",
       [](Hypothesis* to, const Hypothesis& from) {
         Preprocess& p = to->preprocess;
         const Preprocess& q = from.preprocess;
         p.scale = q.scale;
         p.divisor = q.divisor;
         p.mean = q.mean;
         p.std = q.std;
         if (p.channels != q.channels) {  // mean and std go with their channels
           std::swap(p.mean[0], p.mean[2]);
           std::swap(p.std[0], p.std[2]);
         }
       },
       [](const Hypothesis& h) { return arithmetic_text(h.preprocess); }},
      {"channels",
       [](Hypothesis* to, const Hypothesis& from) {
         if (to->preprocess.channels != from.preprocess.channels) {
           std::swap(to->preprocess.mean[0], to->preprocess.mean[2]);
           std::swap(to->preprocess.std[0], to->preprocess.std[2]);
         }
         to->preprocess.channels = from.preprocess.channels;
       },
       [](const Hypothesis& h) {
         return h.preprocess.channels == Channels::Rgb   ? "rgb"
                : h.preprocess.channels == Channels::Bgr ? "bgr"
                                                         : "grey";
       }},
      {"resize",
       [](Hypothesis* to, const Hypothesis& from) {
         to->preprocess.resize = from.preprocess.resize;
         to->preprocess.short_side = from.preprocess.short_side;
       },
       [](const Hypothesis& h) { return resize_text(h.preprocess); }},
      {"filter", [](Hypothesis* to, const Hypothesis& from) { to->preprocess.filter = from.preprocess.filter; },
       [](const Hypothesis& h) { return std::string(filter_name(h.preprocess.filter)); }},
      {"handling", [](Hypothesis* to, const Hypothesis& from) { to->handling = from.handling; },
       [](const Hypothesis& h) { return std::string(handling_name(h.handling)); }},
      {"labels", [](Hypothesis* to, const Hypothesis& from) { to->labels = from.labels; },
       [](const Hypothesis& h) {
         if (!h.labels.listed.empty()) return std::string("permuted");
         return h.labels.offset == 0  ? std::string("the same")
                : h.labels.offset > 0 ? cat("the source's plus ", h.labels.offset)
                                      : cat("the source's less ", -h.labels.offset);
       }},
  };
  return list;
}

std::string arithmetic_text(const Preprocess& p) {
  std::string text = "x";
  if (p.scale != 1) text += " * " + exact_text(p.scale);
  if (p.divisor != 1) text += "/" + exact_text(p.divisor);
  const std::array<float, 3> zero{0, 0, 0}, one{1, 1, 1};
  if (p.mean != zero) text += ", less " + three(p.mean);
  if (p.std != one) text += ", by " + three(p.std);
  return text;
}

std::string resize_text(const Preprocess& p) {
  if (p.resize == ResizeMode::None) return "none";
  return p.resize == ResizeMode::Stretch ? "stretch" : cat("crop:", p.short_side);
}

std::string preprocess_spec(const Preprocess& p) {
  // The named one that leaves least to spell out. Where the model leaves its extents open, those that crop are none.
  const bool is_open = p.height == 0 || p.width == 0;
  std::string best;
  for (const std::string_view name : preprocess_names()) {
    if (is_open && name != "none") continue;
    const Preprocess named = named_preprocess(name, p.height, p.width, p.layout);
    std::string spec(name);
    if (p.resize != named.resize || p.short_side != named.short_side) spec += " resize=" + resize_text(p);
    if (p.filter != named.filter) spec += cat(" filter=", filter_name(p.filter));
    if (p.scale != named.scale || p.divisor != named.divisor)
      spec += cat(" scale=", exact_text(p.scale), "/", exact_text(p.divisor));
    if (p.mean != named.mean) spec += " mean=" + three(p.mean);
    if (p.std != named.std) spec += " std=" + three(p.std);
    if (p.channels != named.channels && p.channels != Channels::Grey)
      spec += p.channels == Channels::Rgb ? " channels=rgb" : " channels=bgr";
    if (best.empty() || spec.size() < best.size()) best = spec;
  }
  return best;
}

void parse_preprocess_spec(const std::string& spec, std::string* name, PreprocessOptions* options) {
  const std::map<std::string, std::string PreprocessOptions::*> keys = {
      {"resize", &PreprocessOptions::resize}, {"filter", &PreprocessOptions::filter},
      {"scale", &PreprocessOptions::scale},   {"mean", &PreprocessOptions::mean},
      {"std", &PreprocessOptions::std},       {"channels", &PreprocessOptions::channels},
      {"layout", &PreprocessOptions::layout}, {"resize-compat", &PreprocessOptions::pass_order}};
  for (const std::string& word : split(spec, ' ')) {
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      if (!name->empty()) fail_usage("preprocessing '", spec, "': '", *name, "' and '", word, "' are two names");
      *name = word;
      continue;
    }
    const auto key = keys.find(word.substr(0, equals));
    if (key == keys.end()) {
      std::vector<std::string> known;
      for (const auto& [text, member] : keys) known.push_back(text);
      fail_usage("preprocessing '", spec, "': '", word.substr(0, equals), "' is none of ", join(known));
    }
    options->*(key->second) = word.substr(equals + 1);
  }
}

}  // namespace dnn
