// LabelSet; see labels.h.
#include "image/labels.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"

namespace dnn {
namespace {

constexpr int64_t kAmbiguous = -2;
constexpr size_t kSynsetLength = 9;  // n and eight digits

std::string folded(std::string_view name) {
  std::string out;
  for (char c : name) out += c == '_' ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

}  // namespace

std::string_view synset_prefix(std::string_view text) {
  if (text.size() < kSynsetLength || text[0] != 'n') return {};
  for (size_t i = 1; i < kSynsetLength; ++i) {
    if (text[i] < '0' || text[i] > '9') return {};
  }
  if (text.size() > kSynsetLength && text[kSynsetLength] >= '0' && text[kSynsetLength] <= '9') return {};
  return text.substr(0, kSynsetLength);
}

LabelSet LabelSet::parse(std::string_view text, std::string name) {
  LabelSet set;
  set.name_ = std::move(name);
  if (starts_with(text, "\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  std::vector<std::string> lines = split(text, '\n');
  while (!lines.empty() && trimmed(lines.back()).empty()) lines.pop_back();
  if (lines.empty()) fail_malformed("a label list without labels");
  for (const std::string& line : lines) {
    std::string_view label = trimmed(line);
    const std::string_view synset = synset_prefix(label);
    label.remove_prefix(synset.size());
    label = trimmed(label);
    set.synsets_.emplace_back(synset);
    set.labels_.emplace_back(label.empty() ? synset : label);
  }
  set.build_index();
  return set;
}

LabelSet LabelSet::of(const std::vector<std::string>& names, std::string name) {
  LabelSet set;
  set.name_ = std::move(name);
  if (names.empty()) fail_malformed("a label list without labels");
  for (const std::string& label : names) {
    if (has_controls(label) || trimmed(label).empty())
      fail_malformed("a class is called ", quoted(label), ", which is no line of text: rename it");
    set.labels_.push_back(label);
    set.synsets_.emplace_back(synset_prefix(label));
  }
  set.build_index();
  return set;
}

LabelSet LabelSet::read(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return parse(text, std::filesystem::path(path).stem().string());
  } catch (Error& e) {
    e.within(path);
    throw;
  }
}

void LabelSet::build_index() {
  by_label_.clear();
  by_synset_.clear();
  by_name_.clear();
  for (size_t i = 0; i < labels_.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    if (const auto [place, added] = by_label_.emplace(labels_[i], index); !added) place->second = kAmbiguous;
    if (!synsets_[i].empty()) {
      const auto [place, added] = by_synset_.emplace(synsets_[i], index);
      if (!added) fail_malformed("synset ", synsets_[i], " stands in lines ", place->second + 1, " and ", index + 1);
    }
    const std::string whole = folded(labels_[i]);
    const std::string first(trimmed(std::string_view(whole).substr(0, whole.find(','))));
    for (const std::string& key : {whole, first}) {
      const auto [place, added] = by_name_.emplace(key, index);
      if (!added && place->second != index) place->second = kAmbiguous;
    }
  }
}

bool LabelSet::has_background() const {
  return !labels_.empty() && synsets_[0].empty() &&
         (folded(labels_[0]) == "background" || folded(labels_[0]) == "dummy");
}

LabelSet LabelSet::with_background() const {
  if (has_background()) return *this;
  LabelSet set = *this;
  set.labels_.insert(set.labels_.begin(), "background");
  set.synsets_.insert(set.synsets_.begin(), "");
  set.build_index();
  return set;
}

LabelSet LabelSet::for_outputs(int64_t n_outputs) const {
  if (n_outputs == size()) return *this;
  if (n_outputs == size() + 1 && !has_background()) return with_background();
  if (n_outputs == size() - 1 && has_background()) {
    LabelSet set = *this;
    set.labels_.erase(set.labels_.begin());
    set.synsets_.erase(set.synsets_.begin());
    set.build_index();
    return set;
  }
  fail_usage("label set '", name_, "' has ", size(), " labels, the network ", n_outputs, " outputs");
}

LabelSet LabelSet::with_synsets_of(const LabelSet& other) const {
  const LabelSet fitted = other.for_outputs(size());
  LabelSet set = *this;
  set.synsets_ = fitted.synsets_;
  set.build_index();
  return set;
}

std::string LabelSet::line(int64_t index) const {
  const std::string &label = labels_[index], &synset = synsets_[index];
  return starts_with(label, synset) ? label : cat(synset, " ", label);
}

int64_t LabelSet::index_of(std::string_view text) const {
  const auto exact = by_label_.find(std::string(text));
  if (exact != by_label_.end() && exact->second != kAmbiguous) return exact->second;
  const std::string_view synset = synset_prefix(text);
  const int64_t index = synset.empty() ? -1 : index_of_synset(synset);
  return index >= 0 ? index : index_of_name(text);
}

int64_t LabelSet::index_of_synset(std::string_view synset) const {
  const auto found = by_synset_.find(std::string(synset));
  return found == by_synset_.end() ? -1 : found->second;
}

int64_t LabelSet::index_of_name(std::string_view name) const {
  const auto found = by_name_.find(folded(trimmed(name)));
  return found == by_name_.end() || found->second == kAmbiguous ? -1 : found->second;
}

}  // namespace dnn
