// Collector; see data.h.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "metrics/common_folder.h"
#include "metrics/groups.h"
#include "metrics/present.h"
#include "report/data.h"
#include "report/escape.h"
#include "report/paths.h"

namespace dnn::report {
namespace {

std::string stem_of(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  name = name.substr(name.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string model_of(const stream::Header& header) {
  const std::string stem = stem_of(header.model.path.empty() ? header.tool : header.model.path);
  return stem.empty() ? "?" : stem;
}

// With the ending where files that differ in it alone are there.
std::vector<std::string> models_of(const metrics::Report& report) {
  std::map<std::string, std::set<std::string>> files;
  for (const metrics::RunReport& run : report.runs)
    files[model_of(run.header)].insert(metrics::field_text(run.header, "model"));
  std::vector<std::string> models;
  for (const metrics::RunReport& run : report.runs) {
    const std::string stem = model_of(run.header);
    models.push_back(files[stem].size() > 1 ? metrics::field_text(run.header, "model") : stem);
  }
  return models;
}

// Names by model, level and device, and by more only where that tells runs apart that would be called the same.
void name_runs(const metrics::Report& report, std::vector<Run>* runs) {
  constexpr size_t kUsual = 2;
  std::vector<std::vector<std::string>> parts(5);
  const std::vector<std::string> models = models_of(report);
  for (size_t i = 0; i < runs->size(); ++i) {
    const stream::Header& h = report.runs[i].header;
    (*runs)[i].letter = metrics::run_letter(i);
    (*runs)[i].model = models[i];
    (*runs)[i].name = (*runs)[i].model;
    const std::string of_run[] = {metrics::level_text(h), h.device, h.isa, h.dtype,
                                  h.batch ? cat("batch ", *h.batch) : ""};
    for (size_t p = 0; p < parts.size(); ++p) parts[p].push_back(of_run[p]);
  }
  for (size_t p = 0; p < parts.size(); ++p) {
    std::map<std::string, std::set<std::string>> different;  // by name so far
    for (size_t i = 0; i < runs->size(); ++i) different[(*runs)[i].name].insert(parts[p][i]);
    std::set<std::string> all(parts[p].begin(), parts[p].end());
    for (size_t i = 0; i < runs->size(); ++i) {
      const bool tells = p < kUsual ? all.size() > 1 : different[(*runs)[i].name].size() > 1;
      parts[p][i] = tells && !parts[p][i].empty() ? " " + parts[p][i] : "";
    }
    for (size_t i = 0; i < runs->size(); ++i) (*runs)[i].name += parts[p][i];
  }
}

// A list with its runs, beside the runs that listed the same classes if any did.
void put(TopList list, SampleLists* sample) {
  const auto same = std::find_if(sample->lists.begin(), sample->lists.end(), [&](const TopList& other) {
    return other.classes == list.classes &&
           std::equal(other.entries.begin(), other.entries.end(), list.entries.begin(), list.entries.end(),
                      [](const TopList::Entry& a, const TopList::Entry& b) { return a.label == b.label; });
  });
  if (same == sample->lists.end()) return sample->lists.push_back(std::move(list));
  if (!same->truth) same->truth = list.truth;
  same->runs.insert(same->runs.end(), list.runs.begin(), list.runs.end());
}

}  // namespace

std::string Data::class_name(const std::string& classes, int64_t label) const {
  if (const auto names = class_names.find(classes); names != class_names.end()) {
    if (const auto name = names->second.find(label); name != names->second.end()) return name->second;
  }
  return cat("class ", label);
}

void Collector::add(stream::Record record) {
  if (const auto* header = std::get_if<stream::Header>(&record)) {
    label_offset_ = header->label_offset;
    const std::string classes = header->label_set.empty() ? cat("offset ", label_offset_) : header->label_set;
    evaluation_.add(std::move(record));
    run_ = evaluation_.current_run();
    if (run_ >= data_.runs.size()) {
      data_.runs.resize(run_ + 1);
      listed_.resize(run_ + 1);
      data_.runs[run_].classes = classes;
    }
    span_.clear();
    return;
  }
  if (!data_.runs.empty()) {
    if (const auto* sample = std::get_if<stream::Sample>(&record)) note(*sample);
    if (const auto* prediction = std::get_if<stream::Prediction>(&record)) note(*prediction);
  }
  evaluation_.add(std::move(record));
}

uint32_t Collector::number_of(const std::string& path) {
  const auto [at, is_new] = numbers_.emplace(path, static_cast<uint32_t>(data_.samples.size()));
  if (is_new) data_.samples.push_back({path, path, {}});
  return at->second;
}

void Collector::note(const stream::Sample& sample) {
  span_[sample.id] = {number_of(sample.path.empty() ? cat("#", sample.id) : sample.path), sample.truth};
}

void Collector::note(const stream::Prediction& prediction) {
  Run& run = data_.runs[run_];
  if (prediction.latency_ns && *prediction.latency_ns >= 0)
    run.latencies_ms.push_back(static_cast<float>(static_cast<double>(*prediction.latency_ns) * 1e-6));
  const auto seen = span_.find(prediction.sample);
  const uint32_t number = seen == span_.end() ? number_of(cat("#", prediction.sample)) : seen->second.number;
  std::vector<bool>& listed = listed_[run_];
  if (listed.size() <= number) listed.resize(number + 1);
  if (listed[number] || prediction.top_k.empty()) return;
  listed[number] = true;
  SampleLists& sample = data_.samples[number];

  TopList list;
  list.classes = run.classes;
  if (seen != span_.end()) list.truth = seen->second.truth;
  for (size_t i = 0; i < std::min(kListed, prediction.top_k.size()); ++i) {
    const stream::Prediction::Class& one = prediction.top_k[i];
    const int64_t label = one.index - label_offset_;
    list.entries.push_back({label, one.score});
  }
  list.runs.push_back(static_cast<uint32_t>(run_));
  put(std::move(list), &sample);
}

// Runs over copies of a data set have no path in common: their samples meet below the folders that these have in common.
void Collector::merge_folders() {
  std::vector<std::vector<bool>> families;  // samples of runs that share some
  for (const std::vector<bool>& samples : listed_) {
    const auto shares = [&](const std::vector<bool>& family) {
      for (size_t i = 0; i < std::min(samples.size(), family.size()); ++i) {
        if (samples[i] && family[i]) return true;
      }
      return false;
    };
    auto family = std::find_if(families.begin(), families.end(), shares);
    if (family == families.end()) family = families.insert(families.end(), std::vector<bool>());
    if (family->size() < samples.size()) family->resize(samples.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      if (samples[i]) (*family)[i] = true;
    }
  }
  if (families.size() < 2) return;
  std::map<std::string, size_t> by_name;
  std::vector<SampleLists> merged;
  for (const std::vector<bool>& family : families) {
    metrics::CommonFolder folder;
    for (size_t i = 0; i < family.size(); ++i) {
      if (family[i]) folder.add(data_.samples[i].path);
    }
    for (size_t i = 0; i < family.size(); ++i) {
      if (!family[i]) continue;
      SampleLists& sample = data_.samples[i];
      const auto [at, is_new] = by_name.emplace(folder.below(sample.path), merged.size());
      if (is_new) {
        merged.push_back(std::move(sample));
        continue;
      }
      SampleLists& other = merged[at->second];
      for (TopList& list : sample.lists) put(std::move(list), &other);
    }
  }
  data_.samples = std::move(merged);
}

void Collector::shorten_paths() {
  for (metrics::RunReport& run : data_.evaluation.runs) use_base_names(&run.header);
  std::vector<std::string> paths;
  for (const SampleLists& sample : data_.samples) paths.push_back(sample.path);
  paths = shown_paths(paths);
  for (size_t i = 0; i < paths.size(); ++i) data_.samples[i].path = std::move(paths[i]);
}

Data Collector::finish() {
  data_.evaluation = evaluation_.finish();
  for (size_t i = 0; i < data_.runs.size(); ++i) {
    data_.class_names[data_.runs[i].classes].merge(data_.evaluation.runs[i].label_names);
  }
  merge_folders();
  if (!full_paths_) shorten_paths();
  name_runs(data_.evaluation, &data_.runs);
  return std::move(data_);
}

}  // namespace dnn::report
