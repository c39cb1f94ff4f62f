// Evaluation; see evaluation.h.
#include "metrics/evaluation.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/threads.h"
#include "metrics/common_folder.h"
#include "metrics/families.h"
#include "metrics/predictions.h"
#include "metrics/scores.h"
#include "tensor/compare.h"

namespace dnn::metrics {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kMaxRanked = 1000;  // classes kept of a prediction; pairs of them are compared with each other

// Whether two headers are parts of one run: all that decides the results is equal, and so is the number of shards.
bool same_run(const stream::Header& a, const stream::Header& b) {
  const auto parts = [](const std::string& shard) { return shard.substr(std::min(shard.find('/'), shard.size())); };
  return !a.shard.empty() && parts(a.shard) == parts(b.shard) && a.model.path == b.model.path &&
         a.model.sha256 == b.model.sha256 && a.opt == b.opt && a.passes == b.passes && a.device == b.device &&
         a.isa == b.isa && a.dtype == b.dtype && a.label_set == b.label_set && a.label_offset == b.label_offset &&
         a.preprocess == b.preprocess;
}

// How many shards the run of this one was divided into; 1 where the text does not say it.
int64_t shards_of(const std::string& shard) {
  const size_t slash = shard.find('/');
  int64_t count = 0;
  return slash != std::string::npos && parse_int(std::string_view(shard).substr(slash + 1), &count) && count > 0 ? count
                                                                                                                 : 1;
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
using OutputsView = std::span<const std::pair<std::string, Tensor>>;
std::vector<std::pair<Tensor, Tensor>> corresponding(OutputsView a, int64_t a_offset, OutputsView b, int64_t b_offset) {
  std::vector<std::pair<Tensor, Tensor>> result;
  if (a.empty() || b.empty()) return result;
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

// Notes on what the common samples showed, behind those that the pair has.
void add_notes(size_t n_contradict, PairReport* pair) {
  const auto add = [&](const std::string& text) { pair->note += (pair->note.empty() ? "" : "; ") + text; };
  if (n_contradict > 0)
    add(cat(n_contradict, " of ", pair->n_common,
            " samples have another truth in each run, so that their accuracies are not of the same classes"));
  if (const auto nan = pair->values.find("output_nan"); nan != pair->values.end() && nan->second > 0)
    add(cat(nan->second == 1 ? "1 output element is" : cat(number_text(nan->second, "%.0f"), " output elements are"),
            " NaN in one of both runs only"));
}

}  // namespace

// Samples of all runs, numbered by their paths.
class Evaluation::Samples {
 public:
  uint32_t number(std::string path) {
    // Most runs have the samples of the one before, in its order.
    if (next_ < paths_.size() && paths_[next_] == path) return next_++;
    if (const auto it = numbers_.find(path); it != numbers_.end()) {
      next_ = it->second + 1;
      return it->second;
    }
    const auto n = static_cast<uint32_t>(paths_.size());
    if (n == kNone) fail_unsupported("more than ", n, " samples");
    paths_.push_back(std::move(path));
    numbers_.emplace(paths_.back(), n);
    return n;
  }
  const std::string& path(uint32_t number) const { return paths_[number]; }
  size_t size() const { return paths_.size(); }

 private:
  std::deque<std::string> paths_;  // which stay where they are
  std::unordered_map<std::string_view, uint32_t> numbers_;
  uint32_t next_ = 0;  // after the one asked for last
};

// What is known of samples, by the ids that a span gives them: mostly small numbers, which then are places in a row.
class Evaluation::SampleIds {
 public:
  struct Seen {
    uint32_t sample = kNone;
    std::optional<int64_t> truth;
  };

  // Null where that id was not set.
  const Seen* find(int64_t id) const {
    if (id >= 0 && static_cast<uint64_t>(id) < row_.size() && row_[id].sample != kNone) return &row_[id];
    const auto it = others_.find(id);
    return it == others_.end() ? nullptr : &it->second;
  }

  void set(int64_t id, Seen seen) {
    ++n_set_;
    if (id < 0 || static_cast<uint64_t>(id) >= 2 * n_set_ + 1024) {
      others_[id] = seen;
      if (id >= 0 && static_cast<uint64_t>(id) < row_.size()) row_[id] = {};
      return;
    }
    if (!others_.empty()) others_.erase(id);
    const size_t place = id;
    if (place >= row_.size()) row_.resize(std::max(place + 1, row_.size() * 3 / 2));
    row_[place] = seen;
  }

 private:
  uint64_t n_set_ = 0;
  std::vector<Seen> row_;  // of sample kNone where nothing was set
  std::unordered_map<int64_t, Seen> others_;
};

std::string shard_note(const RunReport& run) {
  constexpr size_t kNamed = 5;
  if (run.n_missing_shards == 0) return "";
  const int64_t count = shards_of(run.header.shard);
  const std::set<std::string> here(run.shards.begin(), run.shards.end());
  std::vector<std::string> missing;
  for (int64_t i = 0; i < count && missing.size() < kNamed; ++i) {
    if (std::string shard = cat(i, "/", count); !here.contains(shard)) missing.push_back(std::move(shard));
  }
  const auto more = run.n_missing_shards - static_cast<int64_t>(missing.size());
  return cat(
      here.size() == 1 ? cat("shard ", plain(*here.begin()), " alone") : cat(here.size(), " of ", count, " shards"),
      ": ", join(missing), more > 0 ? cat(" and ", more, " more") : "", run.n_missing_shards == 1 ? " is" : " are",
      " missing, and the values are those of a part of its samples");
}

struct Evaluation::RunState {
  RunState(Samples* all, Shelf* tensors) : paths(all), shelf(tensors) {}

  Samples* paths;
  Shelf* shelf;
  RunReport report;
  std::set<std::string> shards;  // that it has: one more of them is of the next run of the same
  void set_shards() {
    if (report.header.shard.empty()) return;
    report.shards.assign(shards.begin(), shards.end());
    report.n_missing_shards =
        std::max<int64_t>(0, shards_of(report.header.shard) - static_cast<int64_t>(shards.size()));
  }
  std::vector<std::unique_ptr<RunMetric>> metrics = make_run_metrics();
  SampleIds samples;                                   // of the span that is open: ids are unique within it only
  std::unordered_map<int64_t, Outputs> early_outputs;  // outputs of a trace that came before their prediction
  // The first prediction of each sample; its latency is the mean over the sample's repeated runs.
  Predictions predictions;
  Times times;  // filled at the end
  bool details = false;
  ScoreScale scale;  // of its outputs
  std::set<std::string> own_names;
  size_t group = 0;
  Pool* pool = nullptr;  // of its group, if there are groups

  void begin_span() {
    for (const auto& metric : metrics) metric->begin_span();
    if (pool != nullptr) pool->begin_span();
  }

  void add(const stream::Usage& usage) {
    for (const auto& metric : metrics) metric->add_usage(usage);
    if (pool != nullptr) pool->add_usage(usage);
  }

  // What only the records of the span that ends here could refer to.
  void close_span() {
    samples = {};
    early_outputs = {};
    predictions.shrink();
    report.confusion.shrink();
#ifdef __GLIBC__
    ::malloc_trim(0);  // of each run much is freed between what stays
#endif
  }

  void sort_times() {
    times.clear();
    for (size_t i = 0; i < predictions.size(); ++i) {
      const Outcome outcome = predictions[i];
      if (outcome.batch != 1 || outcome.latency_ns.value_or(0) < 0) return times.clear();
      if (outcome.latency_ns) times.push_back(*outcome.latency_ns);
    }
    std::sort(times.begin(), times.end());
  }

  void add(stream::Sample sample) {
    ++report.n_samples;
    const uint32_t number = paths->number(sample.path.empty() ? cat("#", sample.id) : std::move(sample.path));
    samples.set(sample.id, {number, sample.truth});
  }

  void add(stream::TensorRecord tensor) {
    if (tensor.role != stream::Role::Output || !tensor.sample) return;
    if (const size_t i = predictions.find(number_of(*tensor.sample)); i < predictions.size()) {
      scale.add(tensor.tensor);
      predictions.add_output(i, shelf->put(tensor.name, tensor.tensor));
    } else {
      early_outputs[*tensor.sample].emplace_back(std::move(tensor.name), std::move(tensor.tensor));
    }
  }

  void add(stream::Prediction prediction) {
    ++report.n_predictions;
    Outcome outcome;
    std::vector<Scored> scored;
    for (size_t i = 0; i < std::min(prediction.top_k.size(), kMaxRanked); ++i) {
      scored.push_back({prediction.top_k[i].index - report.header.label_offset, prediction.top_k[i].score});
    }
    if (details) {
      for (size_t i = 0; i < scored.size(); ++i) {
        std::string& name = prediction.top_k[i].label;
        if (!name.empty()) report.label_names.try_emplace(scored[i].item, std::move(name));
      }
    }
    const std::vector<Ranked> labels = ranking_of(scored);
    outcome.labels = labels;
    outcome.scored = scored;
    outcome.near_tie = is_near_tie(scored);
    if (const auto* seen = samples.find(prediction.sample)) outcome.truth = seen->truth;
    report.n_judged += outcome.truth.has_value();
    if (outcome.truth && !labels.empty()) report.confusion.add(*outcome.truth, labels[0].item());
    outcome.label_offset = report.header.label_offset;
    Outputs outputs = std::move(prediction.outputs);
    if (const auto it = early_outputs.find(prediction.sample); it != early_outputs.end()) {
      std::move(it->second.begin(), it->second.end(), std::back_inserter(outputs));
      early_outputs.erase(it);
    }
    std::vector<Shelved> shelved;
    shelved.reserve(outputs.size());
    for (const auto& [name, tensor] : outputs) {
      scale.add(tensor);
      shelved.push_back(shelf->put(name, tensor));
    }
    outcome.outputs = outputs;
    outcome.shelved = shelved;
    outcome.shelf = shelf;
    outcome.latency_ns = prediction.latency_ns;
    outcome.done_ns = prediction.done_ns;
    outcome.batch = prediction.batch;
    for (const auto& metric : metrics) metric->add(outcome);
    if (pool != nullptr) pool->add(outcome);
    const uint32_t sample = number_of(prediction.sample);
    size_t i = predictions.find(sample);
    if (i == predictions.size()) i = predictions.add(sample, outcome, shelved);
    if (prediction.latency_ns) predictions.add_latency(i, *prediction.latency_ns);
  }

  uint32_t number_of(int64_t sample) const {
    const auto* seen = samples.find(sample);
    return seen == nullptr ? paths->number(cat("#", sample)) : seen->sample;
  }
};

Evaluation::Evaluation(Tolerance tolerance, bool name_disagreements, size_t output_bytes)
    : tolerance_(tolerance),
      name_disagreements_(name_disagreements),
      shelf_(output_bytes),
      samples_(std::make_unique<Samples>()) {}
Evaluation::~Evaluation() = default;

void Evaluation::open(stream::Header header) {
  for (const auto& run : runs_) {
    if (!same_run(run->report.header, header) || !run->shards.insert(header.shard).second) continue;
    current_->close_span();
    current_ = run.get();
    current_->begin_span();
    return;
  }
  if (current_ != nullptr) current_->close_span();
  runs_.push_back(std::make_unique<RunState>(samples_.get(), &shelf_));
  current_ = runs_.back().get();
  current_->shards = {header.shard};
  current_->report.header = std::move(header);
  current_->details = details_;
  if (!group_fields_.empty()) find_pool();
  current_->begin_span();
}

void Evaluation::add_value(const std::string& name, double value) {
  if (!current_->own_names.insert(name).second) {
    current_->report.own_values.erase(name);  // of a part of the run
  } else {
    current_->report.own_values[name] = value;
  }
}

void Evaluation::find_pool() {
  std::vector<std::string> fields;
  for (const std::string& field : group_fields_) fields.push_back(field_text(current_->report.header, field));
  size_t& group = current_->group;
  while (group < pools_.size() && pools_[group]->fields() != fields) ++group;
  if (group == pools_.size()) pools_.push_back(std::make_unique<Pool>(std::move(fields)));
  current_->pool = pools_[group].get();
}

void Evaluation::group_by(const std::vector<std::string>& fields) {
  for (const std::string& field : fields) check_field(field);
  group_fields_ = fields;
}

void Evaluation::sort_by_group() {
  std::stable_sort(runs_.begin(), runs_.end(), [](const auto& a, const auto& b) { return a->group < b->group; });
}

Grouping Evaluation::finish_groups(const Report& report) {
  Grouping by;
  by.fields = group_fields_;
  for (size_t i = 0; i < runs_.size(); ++i) pools_[runs_[i]->group]->add_run(i, runs_[i]->times);
  PairSpreads spreads;
  for (const PairReport& pair : report.pairs) {
    spreads.add(runs_[pair.base]->group, runs_[pair.other]->group, pair.values);
  }
  by.pairs = spreads.finish();
  for (const auto& metric : make_report_metrics()) {
    for (const auto& pool : pools_) metric->add(pool->sorted_times());
    metric->result(&by.values);
  }
  for (const auto& pool : pools_) by.groups.push_back(pool->finish());
  return by;
}

void Evaluation::add(stream::Record record) {
  if (auto* header = std::get_if<stream::Header>(&record)) return open(std::move(*header));
  if (current_ == nullptr) fail_malformed("a ", stream::record_type(record), " record before any header");
  if (auto* sample = std::get_if<stream::Sample>(&record)) {
    current_->add(std::move(*sample));
  } else if (auto* prediction = std::get_if<stream::Prediction>(&record)) {
    current_->add(std::move(*prediction));
  } else if (auto* tensor = std::get_if<stream::TensorRecord>(&record)) {
    current_->add(std::move(*tensor));
  } else if (const auto* usage = std::get_if<stream::Usage>(&record)) {
    current_->add(*usage);
    if (details_) current_->report.usage.push_back(*usage);
  }
}

size_t Evaluation::current_run() const {
  const auto at = std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) { return run.get() == current_; });
  return at - runs_.begin();
}

// The paths of a run's samples below the folder that all of them have in common.
std::vector<std::string_view> Evaluation::below_common_folder(const Predictions& predictions) const {
  CommonFolder folder;
  for (size_t i = 0; i < predictions.size(); ++i) folder.add(samples_->path(predictions.sample(i)));
  std::vector<std::string_view> paths;
  for (size_t i = 0; i < predictions.size(); ++i) paths.push_back(folder.below(samples_->path(predictions.sample(i))));
  return paths;
}

// Samples meet by their path, or else by their path below the folder that all of their run's have in common.
std::vector<std::pair<size_t, size_t>> Evaluation::common_samples(size_t base, size_t other,
                                                                  std::vector<uint32_t>* outcome_of) const {
  std::vector<std::pair<size_t, size_t>> common;
  const Predictions &xs = runs_[base]->predictions, &ys = runs_[other]->predictions;
  for (size_t j = 0; j < ys.size(); ++j) (*outcome_of)[ys.sample(j)] = static_cast<uint32_t>(j);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (const uint32_t j = (*outcome_of)[xs.sample(i)]; j != kNone) common.emplace_back(i, j);
  }
  for (size_t j = 0; j < ys.size(); ++j) (*outcome_of)[ys.sample(j)] = kNone;
  if (common.empty()) {
    const std::vector<std::string_view> base_paths = below_common_folder(xs), other_paths = below_common_folder(ys);
    std::unordered_map<std::string_view, size_t> below;
    for (size_t j = 0; j < ys.size(); ++j) below.emplace(other_paths[j], j);
    for (size_t i = 0; i < xs.size(); ++i) {
      if (const auto it = below.find(base_paths[i]); it != below.end()) common.emplace_back(i, it->second);
    }
  }
  return common;
}

bool Evaluation::labels_comparable(size_t base, size_t other) const {
  const stream::Header& a = runs_[base]->report.header;
  const stream::Header& b = runs_[other]->report.header;
  return a.label_set == b.label_set && (!a.label_set.empty() || a.label_offset == b.label_offset);
}

void Evaluation::for_each(size_t run, const VisitOne& visit) const {
  const Predictions& xs = runs_[run]->predictions;
  for (size_t i = 0; i < xs.size(); ++i) visit(samples_->path(xs.sample(i)), xs[i]);
}

void Evaluation::for_each_common(size_t base, size_t other, const VisitCommon& visit) const {
  std::vector<uint32_t> outcome_of(samples_->size(), kNone);
  const Predictions &xs = runs_[base]->predictions, &ys = runs_[other]->predictions;
  for (const auto& [i, j] : common_samples(base, other, &outcome_of)) visit(samples_->path(xs.sample(i)), xs[i], ys[j]);
}

Outputs Evaluation::outputs_of(const RunState& run, size_t prediction) const {
  Outputs outputs;
  for (const auto& [place, shelved] : run.predictions.outputs(prediction)) outputs.push_back(shelf_.get(shelved));
  return outputs;
}

// Says how the outputs of a pair are aligned, of which one gives probabilities and the other logits; "" of others.
std::string Evaluation::align_note(const RunState& base, const RunState& other) {
  if (base.scale.known() && other.scale.known() && base.scale.probabilities() != other.scale.probabilities())
    return cat("outputs of the ", base.scale.probabilities() ? "base" : "run", " are probabilities, those of the ",
               base.scale.probabilities() ? "run" : "base", " are not: softmax was applied to these before comparing");
  return "";
}

PairReport Evaluation::meet(size_t base_i, size_t other_i, std::vector<uint32_t>* outcome_of) const {
  const RunState& base = *runs_[base_i];
  const RunState& other = *runs_[other_i];
  const stream::Header& a = base.report.header;
  const stream::Header& b = other.report.header;
  PairReport pair;
  pair.base = base_i;
  pair.other = other_i;
  const Predictions &xs = base.predictions, &ys = other.predictions;
  const std::vector<std::pair<size_t, size_t>> common = common_samples(base_i, other_i, outcome_of);
  pair.n_common = static_cast<int64_t>(common.size());
  const bool comparable = labels_comparable(base_i, other_i);
  if (common.empty()) {
    pair.note = "no sample in common";
  } else if (!comparable) {
    pair.note = cat("label sets differ (", dnn::quoted(a.label_set), " offset ", a.label_offset, ", ",
                    dnn::quoted(b.label_set), " offset ", b.label_offset, "): labels not compared");
  }
  const std::string aligned = align_note(base, other);
  if (pair.note.empty()) pair.note = aligned;
  const auto metrics = make_pair_metrics();
  for (const auto& metric : metrics) metric->begin(base.times, other.times);
  double worst_factor = 0;
  size_t n_contradict = 0;
  for (const auto& [i, j] : common) {
    const Outcome x = xs[i], y = ys[j];
    n_contradict += comparable && x.truth && y.truth && *x.truth != *y.truth ? 1 : 0;
    auto outputs = corresponding(outputs_of(base, i), a.label_offset, outputs_of(other, j), b.label_offset);
    if (!aligned.empty()) {
      for (auto& [reference, value] : outputs) {
        Tensor& logits = base.scale.probabilities() ? value : reference;
        logits = softmax(logits);
      }
    }
    const Meeting meeting{x, y, comparable, outputs};
    for (const auto& metric : metrics) metric->add(meeting);
    if (name_disagreements_ && comparable && !x.labels.empty() && !y.labels.empty() &&
        x.labels[0].item() != y.labels[0].item()) {
      pair.disagreements.push_back({samples_->path(xs.sample(i)), x.labels[0].item(), y.labels[0].item()});
    }
    for (const auto& [reference, value] : outputs) {
      const Distance d = compare(reference, value);
      const double allowed = tolerance_.atol + tolerance_.rtol * d.largest;
      const double factor = d.max_abs == 0 ? 0 : d.max_abs / allowed;
      if (factor <= worst_factor && !pair.worst_sample.empty()) continue;
      worst_factor = factor;
      pair.worst_sample = samples_->path(xs.sample(i));
      pair.worst_difference = d.max_abs;
      pair.worst_allowed = allowed;
    }
  }
  for (const auto& metric : metrics) metric->result(&pair.values);
  add_notes(n_contradict, &pair);
  return pair;
}

Report Evaluation::finish() {
  Report report;
  sort_by_group();
  shelf_.close();
  for (const auto& run : runs_) {
    for (const auto& metric : run->metrics) metric->result(&run->report.values);
    run->metrics.clear();
    run->set_shards();
    report.runs.push_back(std::move(run->report));
    run->report.header = report.runs.back().header;  // which pairs look at
    run->close_span();
    run->sort_times();
  }
  choose_baselines(&report, baseline_);
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < runs_.size(); ++i) {
    for (size_t j = i + 1; j < runs_.size(); ++j) {
      const bool turned = j == report.baseline || (i != report.baseline && held_against(report, i) == j);
      turned ? pairs.emplace_back(j, i) : pairs.emplace_back(i, j);
    }
  }
  report.pairs.resize(pairs.size());
  ThreadPool pool(pairs.size() > 1 ? 0 : 1);
  const size_t n_parts = pool.size();
  std::vector<std::exception_ptr> failures(n_parts);
  parallel_for(pool, pool.size(), [&](int64_t part) {
    try {
      std::vector<uint32_t> outcome_of(samples_->size(), kNone);
      for (size_t p = part; p < pairs.size(); p += n_parts) {
        report.pairs[p] = meet(pairs[p].first, pairs[p].second, &outcome_of);
      }
    } catch (...) {
      failures[part] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  std::vector<size_t> n_samples;
  for (const auto& run : runs_) n_samples.push_back(run->predictions.size());
  report.alike = runs_alike(report, n_samples);
  correct_for_many_tests(&report);
  for (const auto& metric : make_report_metrics()) {
    for (const auto& run : runs_) metric->add(run->times);
    metric->result(&report.values);
  }
  if (!group_fields_.empty()) report.by = finish_groups(report);
  return report;
}

}  // namespace dnn::metrics
