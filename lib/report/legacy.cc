// DeltaNN's evaluation files; see legacy.h.
#include "report/legacy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json_text.h"
#include "base/text.h"
#include "metrics/common_folder.h"
#include "metrics/groups.h"
#include "metrics/present.h"
#include "metrics/statistics.h"
#include "metrics/table.h"

namespace dnn::report {
namespace {

using Json = nlohmann::json;  // keys sorted, as the originals are
using metrics::Evaluation;
using metrics::Outcome;

constexpr size_t kMostNamed = 9;  // dissimilar images that a comparison names
constexpr size_t kLastRuns = 10;  // of a variant
constexpr size_t kLongest = 200;  // bytes of a folder's name

// Names of folders for keys: the same key has the same name, and no other key has it.
class Names {
 public:
  std::string name(const std::string& key, std::string wish) {
    if (const auto it = names_.find(key); it != names_.end()) return it->second;
    for (char& c : wish) {
      const auto u = static_cast<unsigned char>(c);
      if (u < 0x20 || c == '/' || c == '.') c = '_';
    }
    wish = metrics::utf8(wish);
    wish.resize(std::min(wish.size(), kLongest));
    while (!is_utf8(wish)) wish.pop_back();  // what was cut in two
    std::string name = wish;
    for (int n = 2; !taken_.insert(name).second; ++n) name = cat(wish, "_", n);
    return names_[key] = name;
  }

 private:
  std::map<std::string, std::string> names_;
  std::set<std::string> taken_;
};

// The runs of one model at one level on one device, in their order.
struct Variant {
  std::string name;
  std::vector<size_t> runs;
  size_t last() const { return runs.back(); }
};

struct Device {
  std::string name;
  std::vector<Variant> variants;
};

std::vector<Device> devices_of(const metrics::Report& report) {
  Names device_names, variant_names;
  std::vector<Device> devices;
  for (size_t i = 0; i < report.runs.size(); ++i) {
    const stream::Header& header = report.runs[i].header;
    std::string device = header.device.empty() ? "unknown" : header.device;
    std::replace_if(
        device.begin(), device.end(), [](char c) { return c == ':' || c == '/' || c == '='; }, '-');
    device = device_names.name(header.device, device);
    const std::string model = header.model.sha256.empty() ? header.model.path : header.model.sha256;
    const std::string level = header.opt ? cat(*header.opt) : "native";
    std::string file = metrics::field_text(header, "model");
    while (!file.empty() && file.back() == '/') file.pop_back();
    const std::string variant =
        variant_names.name(cat(model, "\n", level, "\n", header.dtype), cat(file, "_opt", level));
    auto at = std::find_if(devices.begin(), devices.end(), [&](const Device& d) { return d.name == device; });
    if (at == devices.end()) at = devices.insert(at, {device, {}});
    std::vector<Variant>& variants = at->variants;
    auto v = std::find_if(variants.begin(), variants.end(), [&](const Variant& x) { return x.name == variant; });
    if (v == variants.end()) v = variants.insert(v, {variant, {}});
    v->runs.push_back(i);
  }
  return devices;
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(exact_text(value)); }
double rounded(double percent) { return std::round(percent * 100) / 100; }

// What two runs said about the same images.
struct Compared {
  int64_t n = 0, n_similar = 0;
  std::vector<std::string> dissimilar;
  struct Label {
    int64_t different = 0, total = 0;
  };
  std::map<int64_t, Label> labels;        // of the base
  std::vector<double> base_times, times;  // seconds
  double base_total = 0, total = 0;

  void add(const std::string& path, const Outcome& base, const Outcome& other) {
    if (base.labels.empty() || other.labels.empty()) return;
    ++n;
    const int64_t label = base.labels[0].item();
    Label& counts = labels[label];
    ++counts.total;
    if (label == other.labels[0].item()) {
      ++n_similar;
    } else {
      ++counts.different;
      dissimilar.push_back(path + ".txt");
    }
    if (!base.latency_ns || !other.latency_ns) return;
    const auto seconds = [](const Outcome& o) {
      return static_cast<double>(*o.latency_ns) * 1e-9 / static_cast<double>(o.batch);
    };
    base_times.push_back(seconds(base));
    times.push_back(seconds(other));
    base_total += base_times.back();
    total += times.back();
  }

  Json percentages() const {
    Json list = Json::array();
    for (size_t i = 0; i < times.size(); ++i) {
      // As the original rounds; an image that took no time has no percentage.
      list.push_back(base_times[i] > 0 ? Json(rounded((times[i] - base_times[i]) / base_times[i] * 100)) : Json());
    }
    return list;
  }

  Json anova() const {
    const std::optional<metrics::RankTest> test = metrics::one_way_anova(base_times, times);
    if (!test) return {{"statistic", "NaN"}, {"p-value", "NaN"}};
    return {{"statistic", json_number(test->statistic)}, {"p-value", json_number(test->p)}};
  }

  Json average(double sum) const { return times.empty() ? Json() : Json(sum / static_cast<double>(times.size())); }
  Json sum_of(double sum) const { return times.empty() ? Json() : Json(sum); }

  Json comparison(bool with_times, bool with_percentages) const {
    const auto percent = [&](int64_t part) {
      return n == 0 ? std::string("0.0") : exact_text(100.0 * static_cast<double>(part) / static_cast<double>(n));
    };
    Json different = Json::object();
    for (const auto& [label, counts] : labels) {
      if (counts.different == 0) continue;
      different[std::to_string(label)] = {
          {"different", counts.different},
          {"total", counts.total},
          {"percentage", 100.0 * static_cast<double>(counts.different) / static_cast<double>(counts.total)}};
    }
    Json json = {{"total_no_of_images", n},
                 {"no_of_images_similar", std::to_string(n_similar)},
                 {"no_of_images_dissimilar", std::to_string(n - n_similar)},
                 {"percentage_similar", percent(n_similar)},
                 {"percentage_dissimilar", percent(n - n_similar)},
                 {"orig_total_exec_time", sum_of(base_total)},
                 {"average_orig_exec_time", average(base_total)},
                 {"images_dissimilar", Json::array()},
                 {"diff_labels", std::move(different)},
                 {"oneway_exec_time", anova()}};
    for (size_t i = 0; i < std::min(dissimilar.size(), kMostNamed); ++i) {
      json["images_dissimilar"].push_back(dissimilar[i]);
    }
    if (with_times) {
      json["total_exec_time"] = sum_of(total);
      json["average_exec_time"] = average(total);
    }
    if (with_percentages) json["exec_time_percentages"] = percentages();
    return json;
  }
};

class LegacyTree {
 public:
  LegacyTree(const Evaluation& evaluation, const metrics::Report& report, std::string folder)
      : evaluation_(evaluation), report_(report), folder_(std::move(folder)), devices_(devices_of(report)) {}

  std::vector<std::string> write() {
    write_devices();
    for (const Device& device : devices_) {
      write_variants(device);
      for (const Variant& variant : device.variants) write_runs(device, variant);
    }
    return {notes_.begin(), notes_.end()};
  }

 private:
  void save(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    make_folders(path.substr(0, path.rfind('/')));
    write_file(path, text);
  }
  void save(const std::string& name, const Json& json) { save(name, json_text(json, 2) + "\n"); }

  // Nothing where the two cannot be compared.
  std::optional<Compared> compare(size_t base, size_t other) {
    Compared result;
    if (!evaluation_.labels_comparable(base, other)) {
      note(base, other, "label sets differ");
      return std::nullopt;
    }
    const metrics::CommonFolder& folder = folder_of_images(base);
    evaluation_.for_each_common(base, other, [&](const std::string& path, const Outcome& x, const Outcome& y) {
      result.add(std::string(folder.below(path)), x, y);
    });
    if (result.n > 0) return result;
    note(base, other, "no common sample with labels in both");
    return std::nullopt;
  }

  // That all of a run's images are below.
  const metrics::CommonFolder& folder_of_images(size_t run) {
    const auto place = folders_.try_emplace(run);
    metrics::CommonFolder& folder = place.first->second;
    if (place.second) evaluation_.for_each(run, [&](const std::string& path, const Outcome&) { folder.add(path); });
    return folder;
  }

  void note(size_t a, size_t b, const char* why) {
    notes_.insert(cat("--legacy-tree: ", metrics::run_letter(std::min(a, b)), " and ",
                      metrics::run_letter(std::max(a, b)), " are not compared: ", why));
  }

  static void count(const Compared& compared, std::map<std::string, int64_t>* dissimilar) {
    for (const std::string& image : compared.dissimilar) ++(*dissimilar)[image];
  }

  static Json times_of(const Compared& compared) {
    return {{"average_exec_time", compared.average(compared.total)},
            {"total_exec_time", compared.sum_of(compared.total)}};
  }

  void write_devices() {
    Json json = Json::object();
    std::map<std::string, int64_t> dissimilar;
    for (const Device& base : devices_) {
      for (const Variant& variant : base.variants) {
        Json& list = json.emplace(variant.name, Json::array()).first.value();
        for (const Device& evaluated : devices_) {
          if (evaluated.name == base.name) continue;
          const auto same = std::find_if(evaluated.variants.begin(), evaluated.variants.end(),
                                         [&](const Variant& v) { return v.name == variant.name; });
          if (same == evaluated.variants.end()) continue;
          const std::optional<Compared> compared = compare(variant.last(), same->last());
          if (!compared) continue;
          count(*compared, &dissimilar);
          list.push_back(
              {{"base", base.name}, {"evaluated", evaluated.name}, {"comparison", compared->comparison(true, true)}});
        }
      }
    }
    json["total_images_dissimilar"] = dissimilar;
    save("device_evaluation.json", json);
  }

  void write_variants(const Device& device) {
    Json times = Json::object(), comparisons = Json::array(), percentages = Json::object(), stats = Json::object();
    std::map<std::string, int64_t> dissimilar;
    for (const Variant& base : device.variants) {
      if (base.name.find("_to_") != std::string::npos) continue;  // converted models are no base, as ever
      percentages[base.name] = stats[base.name] = Json::object();
      for (const Variant& evaluated : device.variants) {
        if (evaluated.name == base.name) continue;
        const std::optional<Compared> compared = compare(base.last(), evaluated.last());
        if (!compared) continue;
        count(*compared, &dissimilar);
        percentages[base.name][evaluated.name] = compared->percentages();
        stats[base.name][evaluated.name] = compared->anova();
        percentages[base.name]["oneway_exec_time"] = compared->anova();  // of the last one, as ever; stats has all
        times.emplace(evaluated.name, times_of(*compared));
        comparisons.push_back(
            {{"base", base.name}, {"evaluated", evaluated.name}, {"comparison", compared->comparison(false, false)}});
      }
    }
    save(device.name + "/library_evaluation.json",
         {{"times", times}, {"comparisons", comparisons}, {"total_images_dissimilar", dissimilar}});
    save(device.name + "/library_evaluation_time_percentages.json", percentages);
    save(device.name + "/library_evaluation_time_stats.json", stats);
  }

  void write_runs(const Device& device, const Variant& variant) {
    const std::string folder = cat(device.name, "/", variant.name, "/mutations/");
    Json times = Json::object(), comparisons = Json::array();
    std::map<std::string, int64_t> dissimilar;
    const auto name = [](size_t i) { return cat("run", i + 1); };
    const size_t n = variant.runs.size(), first = n - std::min(n, kLastRuns);
    double sum_of_averages = 0;
    for (size_t i = first; i < n; ++i) {
      for (size_t j = first; j < n; ++j) {
        if (i == j) continue;
        const std::optional<Compared> compared = compare(variant.runs[i], variant.runs[j]);
        if (!compared) continue;
        count(*compared, &dissimilar);
        const Json average = compared->average(compared->total);
        if (times.emplace(name(j), times_of(*compared)).second && average.is_number())
          sum_of_averages += average.get<double>();
        comparisons.push_back(
            {{"base", name(i)}, {"evaluated", name(j)}, {"comparison", compared->comparison(false, true)}});
      }
    }
    save(folder + "same_folder_evaluation.json",
         {{"times", times},
          {"total_avg_exec_time", sum_of_averages / static_cast<double>(n - first)},
          {"comparisons", comparisons},
          {"total_images_dissimilar", dissimilar}});
    for (size_t i = 0; i < n; ++i) {
      const size_t run = variant.runs[i];
      save(cat(folder, name(i), "/measurements.json"), measurements_json(evaluation_, report_.runs[run], run));
    }
  }

  const Evaluation& evaluation_;
  const metrics::Report& report_;
  std::string folder_;
  std::vector<Device> devices_;
  std::set<std::string> notes_;
  std::map<size_t, metrics::CommonFolder> folders_;  // by run
};

}  // namespace

std::vector<std::string> write_legacy_tree(const Evaluation& evaluation, const metrics::Report& report,
                                           const std::string& folder) {
  return LegacyTree(evaluation, report, folder).write();
}

}  // namespace dnn::report
