// Evaluation; see evaluation.h.
#include "metrics/evaluation.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <unordered_map>

#include "base/error.h"
#include "base/threads.h"
#include "metrics/statistics.h"
#include "tensor/compare.h"

namespace dnn::metrics {
namespace {

using Outputs = std::vector<std::pair<std::string, Tensor>>;

constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kMaxRanked = 1000;  // classes kept of a prediction; pairs of them are compared with each other

// Whether two headers are parts of one run: all that decides the results is equal, and so is the number of shards.
bool same_run(const stream::Header& a, const stream::Header& b) {
  const auto parts = [](const std::string& shard) { return shard.substr(std::min(shard.find('/'), shard.size())); };
  return !a.shard.empty() && parts(a.shard) == parts(b.shard) && a.shard != b.shard && a.model.path == b.model.path &&
         a.model.sha256 == b.model.sha256 && a.opt == b.opt && a.device == b.device && a.isa == b.isa &&
         a.dtype == b.dtype && a.label_set == b.label_set && a.label_offset == b.label_offset &&
         a.preprocess == b.preprocess;
}

// The folder that all the paths have in common, with its slash.
std::string common_folder(const std::vector<std::string>& paths) {
  if (paths.empty()) return "";
  std::string prefix = paths[0].substr(0, paths[0].rfind('/') + 1);
  for (const std::string& path : paths) {
    while (!starts_with(path, prefix)) {
      const size_t slash = prefix.size() < 2 ? std::string::npos : prefix.rfind('/', prefix.size() - 2);
      prefix = slash == std::string::npos ? "" : prefix.substr(0, slash + 1);
    }
  }
  return prefix;
}

// A copy without the first `offset` elements of the last axis.
Tensor without_first_classes(const Tensor& tensor, int64_t offset) {
  if (offset == 0 || tensor.rank() == 0 || tensor.shape().back() <= offset || tensor.dtype() == DType::String)
    return tensor;
  Shape shape = tensor.shape();
  const auto row = static_cast<size_t>(shape.back()) * dtype_size(tensor.dtype());
  const auto skip = static_cast<size_t>(offset) * dtype_size(tensor.dtype());
  shape.back() -= offset;
  Tensor result(tensor.dtype(), shape);
  std::byte* to = result.mutable_bytes();
  for (size_t at = 0; at < tensor.size_bytes(); at += row, to += row - skip) {
    std::memcpy(to, tensor.bytes().data() + at + skip, row - skip);
  }
  return result;
}

// The outputs of two runs that correspond: those of one name, or the only ones.
std::vector<std::pair<Tensor, Tensor>> corresponding(const Outputs& a, int64_t a_offset, const Outputs& b,
                                                     int64_t b_offset) {
  std::vector<std::pair<Tensor, Tensor>> result;
  const auto match = [&](const Tensor& x, const Tensor& y) {
    if (x.dtype() == DType::String || y.dtype() == DType::String) return;
    if (x.size() == y.size()) {
      result.emplace_back(x, y);
    } else if (a_offset != b_offset) {
      Tensor cut_x = without_first_classes(x, a_offset), cut_y = without_first_classes(y, b_offset);
      if (cut_x.size() == cut_y.size()) result.emplace_back(std::move(cut_x), std::move(cut_y));
    }
  };
  bool any_common_name = false;
  for (const auto& [name, x] : a) {
    for (const auto& [other_name, y] : b) {
      if (name != other_name) continue;
      any_common_name = true;
      match(x, y);
      break;
    }
  }
  if (!any_common_name && a.size() == 1 && b.size() == 1) match(a[0].second, b[0].second);
  return result;
}

// Beside each p-value that has a row for it, its correction over all the pairs that state it.
void correct_for_many_tests(std::vector<PairReport>* pairs) {
  for (const Row& row : rows()) {
    const std::string_view corrected = holm_key(row.key);
    if (corrected.empty()) continue;
    std::vector<double> p;
    for (const PairReport& pair : *pairs) {
      if (const auto it = pair.values.find(row.key); it != pair.values.end()) p.push_back(it->second);
    }
    const std::vector<double> adjusted = holm(p);
    size_t next = 0;
    for (PairReport& pair : *pairs) {
      if (pair.values.contains(row.key)) pair.values[std::string(corrected)] = adjusted[next++];
    }
  }
}

}  // namespace

struct Evaluation::RunState {
  RunReport report;
  std::vector<std::unique_ptr<RunMetric>> metrics = make_run_metrics();
  // Of the span that is open: sample ids are unique within it only.
  struct Seen {
    std::string key;
    std::optional<int64_t> truth;
  };
  std::unordered_map<int64_t, Seen> samples;
  std::unordered_map<int64_t, Outputs> early_outputs;  // outputs of a trace that came before their prediction
  // The first outcome of each sample; its latency is the mean over the sample's repeated runs.
  std::vector<std::string> keys;
  std::vector<Outcome> outcomes;
  std::vector<std::pair<int64_t, int64_t>> timings;  // sum of a sample's latencies, and how many
  std::unordered_map<std::string, size_t> by_key;
  Times times;                    // filled at the end
  std::vector<uint32_t> key_ids;  // of each outcome, the same for the same key in all runs; filled at the end

  // What only the records of the span that ends here could refer to.
  void close_span() {
    samples = {};
    early_outputs = {};
  }

  void sort_times() {
    times.clear();
    for (const Outcome& outcome : outcomes) {
      if (outcome.batch != 1 || outcome.latency_ns.value_or(0) < 0) return times.clear();
      if (outcome.latency_ns) times.push_back(*outcome.latency_ns);
    }
    std::sort(times.begin(), times.end());
  }

  void add(const stream::Sample& sample) {
    ++report.n_samples;
    samples[sample.id] = {sample.path, sample.truth};
  }

  void add(stream::TensorRecord tensor) {
    if (tensor.role != stream::Role::Output || !tensor.sample) return;
    if (const auto it = by_key.find(key_of(*tensor.sample)); it != by_key.end()) {
      outcomes[it->second].outputs.emplace_back(std::move(tensor.name), std::move(tensor.tensor));
    } else {
      early_outputs[*tensor.sample].emplace_back(std::move(tensor.name), std::move(tensor.tensor));
    }
  }

  void add(stream::Prediction prediction) {
    ++report.n_predictions;
    Outcome outcome;
    const size_t n = std::min(prediction.top_k.size(), kMaxRanked);
    for (size_t i = 0; i < n; ++i) {
      outcome.labels.push_back({prediction.top_k[i].index - report.header.label_offset, prediction.top_k[i].score});
    }
    if (const auto it = samples.find(prediction.sample); it != samples.end()) outcome.truth = it->second.truth;
    report.n_judged += outcome.truth.has_value();
    if (outcome.truth && !outcome.labels.empty()) report.confusion.add(*outcome.truth, outcome.labels[0].item);
    outcome.label_offset = report.header.label_offset;
    outcome.outputs = std::move(prediction.outputs);
    if (const auto it = early_outputs.find(prediction.sample); it != early_outputs.end()) {
      std::move(it->second.begin(), it->second.end(), std::back_inserter(outcome.outputs));
      early_outputs.erase(it);
    }
    outcome.latency_ns = prediction.latency_ns;
    outcome.batch = prediction.batch;
    for (const auto& metric : metrics) metric->add(outcome);
    std::string key = key_of(prediction.sample);
    const auto [entry, fresh] = by_key.emplace(key, outcomes.size());
    if (fresh) {
      keys.push_back(std::move(key));
      outcomes.push_back(std::move(outcome));
      timings.emplace_back(0, 0);
    }
    if (!prediction.latency_ns) return;
    auto& [total_ns, runs] = timings[entry->second];
    outcomes[entry->second].latency_ns = (total_ns += *prediction.latency_ns) / ++runs;
  }

  std::string key_of(int64_t sample) const {
    const auto it = samples.find(sample);
    return it == samples.end() || it->second.key.empty() ? cat("#", sample) : it->second.key;
  }
};

Evaluation::Evaluation(Tolerance tolerance) : tolerance_(tolerance) {}
Evaluation::~Evaluation() = default;

void Evaluation::open(stream::Header header) {
  for (const auto& run : runs_) {
    if (!same_run(run->report.header, header)) continue;
    current_->close_span();
    current_ = run.get();
    return;
  }
  if (current_ != nullptr) current_->close_span();
  runs_.push_back(std::make_unique<RunState>());
  current_ = runs_.back().get();
  current_->report.header = std::move(header);
}

void Evaluation::add(stream::Record record) {
  if (auto* header = std::get_if<stream::Header>(&record)) return open(std::move(*header));
  if (current_ == nullptr) fail_malformed("a ", stream::record_type(record), " record before any header");
  if (auto* sample = std::get_if<stream::Sample>(&record)) {
    current_->add(*sample);
  } else if (auto* prediction = std::get_if<stream::Prediction>(&record)) {
    current_->add(std::move(*prediction));
  } else if (auto* tensor = std::get_if<stream::TensorRecord>(&record)) {
    current_->add(std::move(*tensor));
  }
}

PairReport Evaluation::meet(size_t base_i, size_t other_i, std::vector<uint32_t>* outcome_of) const {
  const RunState& base = *runs_[base_i];
  const RunState& other = *runs_[other_i];
  const stream::Header& a = base.report.header;
  const stream::Header& b = other.report.header;
  PairReport pair;
  pair.base = base_i;
  pair.other = other_i;

  // Samples meet by their path, or else by their path below the folder that all of their run's have in common.
  std::vector<std::pair<size_t, size_t>> common;
  for (size_t j = 0; j < other.keys.size(); ++j) (*outcome_of)[other.key_ids[j]] = static_cast<uint32_t>(j);
  for (size_t i = 0; i < base.keys.size(); ++i) {
    if (const uint32_t j = (*outcome_of)[base.key_ids[i]]; j != kNone) common.emplace_back(i, j);
  }
  for (const uint32_t id : other.key_ids) (*outcome_of)[id] = kNone;
  if (common.empty()) {
    const size_t n_base = common_folder(base.keys).size(), n_other = common_folder(other.keys).size();
    std::unordered_map<std::string_view, size_t> below;
    for (size_t i = 0; i < other.keys.size(); ++i) below.emplace(std::string_view(other.keys[i]).substr(n_other), i);
    for (size_t i = 0; i < base.keys.size(); ++i) {
      const auto it = below.find(std::string_view(base.keys[i]).substr(n_base));
      if (it != below.end()) common.emplace_back(i, it->second);
    }
  }
  pair.n_common = static_cast<int64_t>(common.size());

  const bool comparable = a.label_set == b.label_set && (!a.label_set.empty() || a.label_offset == b.label_offset);
  if (common.empty()) {
    pair.note = "no sample in common";
  } else if (!comparable) {
    pair.note = cat("label sets differ (", dnn::quoted(a.label_set), " offset ", a.label_offset, ", ",
                    dnn::quoted(b.label_set), " offset ", b.label_offset, "): labels not compared");
  }
  const auto metrics = make_pair_metrics();
  for (const auto& metric : metrics) metric->begin(base.times, other.times);
  double worst_factor = 0;
  for (const auto& [i, j] : common) {
    const Outcome& x = base.outcomes[i];
    const Outcome& y = other.outcomes[j];
    const auto outputs = corresponding(x.outputs, a.label_offset, y.outputs, b.label_offset);
    const Meeting meeting{x, y, comparable, outputs};
    for (const auto& metric : metrics) metric->add(meeting);
    if (comparable && !x.labels.empty() && !y.labels.empty() && x.labels[0].item != y.labels[0].item) {
      pair.disagreements.push_back({base.keys[i], x.labels[0].item, y.labels[0].item});
    }
    for (const auto& [reference, value] : outputs) {
      const Distance d = compare(reference, value);
      const double allowed = tolerance_.atol + tolerance_.rtol * d.largest;
      const double factor = d.max_abs == 0 ? 0 : d.max_abs / allowed;
      if (factor <= worst_factor && !pair.worst_sample.empty()) continue;
      worst_factor = factor;
      pair.worst_sample = base.keys[i];
      pair.worst_difference = d.max_abs;
      pair.worst_allowed = allowed;
    }
  }
  for (const auto& metric : metrics) metric->result(&pair.values);
  return pair;
}

Report Evaluation::finish() {
  Report report;
  for (const auto& run : runs_) {
    for (const auto& metric : run->metrics) metric->result(&run->report.values);
    report.runs.push_back(run->report);
    run->sort_times();
  }
  std::unordered_map<std::string_view, uint32_t> ids;
  for (const auto& run : runs_) {
    run->key_ids.clear();
    for (const std::string& key : run->keys) {
      run->key_ids.push_back(ids.emplace(key, static_cast<uint32_t>(ids.size())).first->second);
    }
  }
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < runs_.size(); ++i) {
    for (size_t j = i + 1; j < runs_.size(); ++j) pairs.emplace_back(i, j);
  }
  report.pairs.resize(pairs.size());
  ThreadPool pool(pairs.size() > 1 ? 0 : 1);
  const auto n_parts = static_cast<size_t>(pool.size());
  std::vector<std::exception_ptr> failures(n_parts);
  parallel_for(pool, pool.size(), [&](int64_t part) {
    try {
      std::vector<uint32_t> outcome_of(ids.size(), kNone);
      for (auto p = static_cast<size_t>(part); p < pairs.size(); p += n_parts) {
        report.pairs[p] = meet(pairs[p].first, pairs[p].second, &outcome_of);
      }
    } catch (...) {
      failures[static_cast<size_t>(part)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  correct_for_many_tests(&report.pairs);
  for (const auto& metric : make_report_metrics()) {
    for (const auto& run : runs_) metric->add(run->times);
    metric->result(&report.values);
  }
  return report;
}

}  // namespace dnn::metrics
