// Comparing two runs; see localize.h.
#include "localize/localize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/mappings.h"
#include "infer/trace.h"
#include "localize/outcome.h"

namespace dnn {
namespace {

using Records = std::vector<stream::TensorRecord>;

std::map<std::string_view, const stream::TensorRecord*> by_value_name(const Records& records) {
  std::map<std::string_view, const stream::TensorRecord*> found;
  for (const stream::TensorRecord& record : records) found[record.name] = &record;
  return found;
}

double relative_error(double difference_squares, double reference_squares, double max_abs) {
  if (max_abs == 0) return 0;
  if (std::isinf(max_abs) || reference_squares == 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(difference_squares / reference_squares);
}

}  // namespace

// Their distance, where they can be compared.
std::optional<Distance> Localizer::compare_pair(Sum* sum, const Tensor& a, const Tensor& b) const {
  if (sum->order.empty()) {  // of a trace: the order in which they are nearest
    double best = std::numeric_limits<double>::infinity();
    for (const AxisOrder& order : axis_orders(a.shape(), b.shape())) {
      const double size = compare(a, reordered(b, order, a.shape())).difference_squares;
      if (!sum->order.empty() && !(size < best)) continue;
      sum->order = order;
      best = size;
    }
  }
  sum->result.transposed = !std::is_sorted(sum->order.begin(), sum->order.end());
  const std::vector<AxisOrder> possible = axis_orders(a.shape(), b.shape());
  if (std::find(possible.begin(), possible.end(), sum->order) == possible.end()) return std::nullopt;
  const Distance d = compare(a, reordered(b, sum->order, a.shape()));
  LayerResult& r = sum->result;
  ++r.n_samples;
  r.max_abs = std::max(r.max_abs, d.max_abs);
  r.largest = std::max(r.largest, d.largest);
  if (measures_statistics_) {
    if (!r.statistics) r.statistics.emplace();
    r.statistics->source.add(a);
    r.statistics->target.add(b);
    r.statistics->difference_sum += d.difference_sum;
  }
  sum->difference_squares += d.difference_squares;
  sum->reference_squares += d.reference_squares;
  const double error = relative_error(d.difference_squares, d.reference_squares, d.max_abs);
  sum->errors.emplace_back(n_samples_ - 1, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  return d;
}

void Localizer::add(const Records& source, Records target, const std::string& name) {
  if (n_samples_++ == 0) {
    source_ = layers_of(source, source_graph_);
    target_ = layers_of(target, target_graph_);
    if (source_graph_ != nullptr && target_graph_ != nullptr) {
      aligned_ = align(*source_graph_, source_, source, *target_graph_, target_, target, given_);
    } else {
      for (const LayerPair& pair : line_up(source_, target_)) aligned_.push_back({pair, {}, true});
    }
    for (const AlignedPair& aligned : aligned_) {
      if (!aligned.fits) continue;
      const LayerPair& pair = aligned.pair;
      Sum sum;
      sum.pair = pair;
      sum.order = aligned.order;
      sum.result.source = pair.source;
      sum.result.target = pair.target;
      sum.result.by = pair.by;
      sums_.push_back(std::move(sum));
    }
  }
  names_.push_back(name);
  relabelled_.push_back(false);
  source_not_finite_.add(source_, source, name, pool_);
  target_not_finite_.add(target_, target, name, pool_);
  const auto left = by_value_name(source), right = by_value_name(target);
  std::vector<char> labels(sums_.size(), 0);    // of an output that was compared: 1 the same, 2 others
  std::vector<char> diverges(sums_.size(), 0);  // of what show_first() asks for
  const auto compare_one = [&](int64_t i) {
    Sum& sum = sums_[i];
    const auto a = left.find(source_[sum.pair.source].name), b = right.find(target_[sum.pair.target].name);
    if (a == left.end() || b == right.end()) return;
    const Tensor &ours = a->second->tensor, &theirs = b->second->tensor;
    const std::optional<Distance> d = compare_pair(&sum, ours, theirs);
    if (!d) return;
    if (shown_tolerance_ && d->max_abs > shown_tolerance_->atol + shown_tolerance_->rtol * d->largest) diverges[i] = 1;
    if (source_[sum.pair.source].role == stream::Role::Output) labels[i] = top_label(ours) == top_label(theirs) ? 1 : 2;
    sum.result.recomputed = sum.result.recomputed || a->second->recomputed || b->second->recomputed;
  };
  if (pool_ != nullptr) {
    share_out(*pool_, static_cast<int64_t>(sums_.size()), compare_one);
  } else {
    for (size_t i = 0; i < sums_.size(); ++i) compare_one(static_cast<int64_t>(i));
  }
  const auto first_label = std::find_if(labels.begin(), labels.end(), [](char label) { return label != 0; });
  relabelled_.back() = first_label != labels.end() && *first_label == 2;
  for (size_t i = 0; i < sums_.size(); ++i) {
    const LayerPair& pair = sums_[i].pair;
    if (diverges[i] == 0 || (first_ && pair.source >= first_->source)) continue;
    const Tensor &ours = left.at(source_[pair.source].name)->tensor,
                 &theirs = right.at(target_[pair.target].name)->tensor;
    first_ = {pair.source, name, activation_maps(ours, reordered(theirs, sums_[i].order, ours.shape()))};
  }
  if (own_ == nullptr) return;
  if (n_samples_ == 1) line_up_own();
  target.clear();
  target.shrink_to_fit();
  NamedTensors values;
  for (const stream::TensorRecord& record : source) values[record.name] = record.tensor;
  own_->add(values);
  if (n_samples_ == 1) leave_withdrawn();
}

// Pairs that turned out to be no common value.
void Localizer::leave_withdrawn() {
  const size_t before = sums_.size();
  std::erase_if(sums_, [&](const Sum& sum) {
    const auto given =
        std::find_if(joints_.begin(), joints_.end(), [&](const auto& joint) { return joint.first == sum.pair.source; });
    return given != joints_.end() && !own_->holds(given->second.source, given->second.target);
  });
  n_withdrawn_ += static_cast<int64_t>(before - sums_.size());
}

// The pairs as joints.
void Localizer::line_up_own() {
  const auto ids = [](const Graph& graph) {
    std::map<std::string_view, ValueId> found;
    for (ValueId v = 0; v < graph.value_count(); ++v) found.emplace(graph.value(v).name, v);
    return found;
  };
  const auto left = ids(*source_graph_), right = ids(*target_graph_);
  std::vector<Joint> joints;
  std::vector<LayerPair::By> by;
  for (const AlignedPair& aligned : aligned_) {
    const auto a = left.find(source_[aligned.pair.source].name), b = right.find(target_[aligned.pair.target].name);
    if (a == left.end() || b == right.end()) continue;
    joints.push_back({a->second, b->second, aligned.order, aligned.fits});
    joints_.emplace_back(aligned.pair.source, joints.back());
    by.push_back(aligned.pair.by);
  }
  own_->line_up(joints, by);
}

// The nearest lined-up layers that source layer `layer_i` is computed from, as indices into `layers`.
void Localizer::find_inputs(const std::vector<LayerResult>& layers, size_t layer_i, std::vector<size_t>* found) const {
  std::set<size_t> visited;
  std::vector<size_t> open = source_[layer_i].inputs;
  while (!open.empty()) {
    const size_t next = open.back();
    open.pop_back();
    if (!visited.insert(next).second) continue;
    const auto at = std::lower_bound(layers.begin(), layers.end(), next,
                                     [](const LayerResult& r, size_t i) { return r.source < i; });
    if (at != layers.end() && at->source == next) {
      found->push_back(at - layers.begin());
    } else {
      open.insert(open.end(), source_[next].inputs.begin(), source_[next].inputs.end());
    }
  }
}

// Drops pairs made by order that diverge although all layers computed from them agree.
void Localizer::withdraw(std::vector<LayerResult>* layers) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<int> agreeing(layers->size(), 0), diverging(layers->size(), 0);
    for (const LayerResult& layer : *layers) {
      std::vector<size_t> inputs;
      find_inputs(*layers, layer.source, &inputs);
      for (size_t input : inputs) ++(layer.diverges ? diverging : agreeing)[input];
    }
    for (size_t i = layers->size(); i-- > 0;) {
      const LayerResult& layer = (*layers)[i];
      if (layer.by != LayerPair::By::Order || !layer.diverges || agreeing[i] == 0 || diverging[i] > 0) continue;
      layers->erase(layers->begin() + static_cast<std::ptrdiff_t>(i));
      ++n_withdrawn_;
      changed = true;
      break;
    }
  }
}

const Localizer::Sum& Localizer::sum_of(const LayerResult& layer) const {
  return *std::find_if(sums_.begin(), sums_.end(),
                       [&](const Sum& s) { return s.pair.source == layer.source && s.pair.target == layer.target; });
}

void Localizer::test_labels(std::vector<LayerResult>* layers) const {
  std::vector<LayerResult*> tested;
  std::vector<double> p;
  for (LayerResult& layer : *layers) {
    const auto test = test_by_label(sum_of(layer).errors, relabelled_);
    if (!test) continue;
    layer.label_effect = test->effect;
    tested.push_back(&layer);
    p.push_back(test->p);
  }
  const std::vector<double> corrected = metrics::holm(p);
  for (size_t i = 0; i < tested.size(); ++i) tested[i]->label_p = corrected[i];
}

void Localizer::show_samples(LocalizeReport* report) const {
  const size_t n = names_.size(), n_shown = std::min(n, std::max<size_t>(1, kMostSampleErrors / report->layers.size()));
  std::vector<size_t> places(n, n_shown);  // by sample
  for (size_t i = 0; i < n_shown; ++i) {
    const size_t sample = i * n / n_shown;
    places[sample] = i;
    report->shown_samples.push_back({names_[sample], relabelled_[sample]});
  }
  for (LayerResult& layer : report->layers) {
    layer.sample_errors.resize(n_shown);
    for (const auto& [sample, error] : sum_of(layer).errors) {
      const size_t place = places[sample];
      if (place < n_shown) layer.sample_errors[place] = error;
    }
  }
}

// What rounding may grow to on its way to an output, relative (L2): layers that amplify it, and steps of quantisation.
constexpr double kMostAmplified = 0.1;

// How far each layer errs beyond the layers that it reads.
void Localizer::relate_inputs(LocalizeReport* report) const {
  for (LayerResult& r : report->layers) {
    std::vector<size_t> inputs;
    find_inputs(report->layers, r.source, &inputs);
    bool input_diverges = false;
    for (size_t input : inputs) {
      r.input_error = std::max(r.input_error, report->layers[input].error);
      input_diverges = input_diverges || report->layers[input].diverges;
    }
    r.added = r.error > r.input_error ? r.error - r.input_error : 0;
    r.makes = r.diverges && !input_diverges;
    report->n_diverging += r.diverges ? 1 : 0;
    if (r.diverges && !report->first) report->first = static_cast<size_t>(&r - report->layers.data());
  }
}

// Parameters of both networks, and their outputs.
void Localizer::compare_graphs(const ParameterTolerance& tolerance, LocalizeReport* report) const {
  std::vector<LayerPair> pairs;
  for (const LayerResult& r : report->layers) pairs.push_back({r.source, r.target, r.by});
  report->differences =
      compare_parameters(*source_graph_, source_, *target_graph_, target_, pairs, tolerance, &report->n_parameters);
  const Uses source_uses(*source_graph_), target_uses(*target_graph_);
  for (LayerResult& r : report->layers) {
    if (!r.statistics) continue;
    r.statistics->source_parameters = parameters_of(*source_graph_, source_uses, source_[r.source].name);
    r.statistics->target_parameters = parameters_of(*target_graph_, target_uses, target_[r.target].name);
  }
  const auto is_output = [](const Layer& layer) { return layer.role == stream::Role::Output; };
  const auto lined_up = std::count_if(report->layers.begin(), report->layers.end(), [&](const LayerResult& r) {
    return is_output(source_[r.source]) && is_output(target_[r.target]);
  });
  report->outputs_lined_up = lined_up == std::count_if(source_.begin(), source_.end(), is_output) &&
                             lined_up == std::count_if(target_.begin(), target_.end(), is_output);
}

// What the segments' own errors say, and whether that explains the outputs.
void Localizer::take_findings(LocalizeReport* report) const {
  const std::vector<OwnError>& own = own_->results();
  report->findings = findings_of(*source_graph_, *target_graph_, own);
  report->residual = residual_of(*own_);
  report->explained = report->findings.empty();
  for (ValueId output : target_graph_->outputs) {
    report->explained = report->explained && std::any_of(own.begin(), own.end(), [&](const OwnError& r) {
                          return r.joint.target == output && r.n_samples > 0;
                        });
  }
  // No segment shows how values come in and go out.
  for (const LayerResult& r : report->layers) {
    const stream::Role role = source_[r.source].role;
    const bool apart =
        (role == stream::Role::Input && r.diverges) || (role == stream::Role::Output && !(r.error <= kMostAmplified));
    report->explained = report->explained && !apart;
  }
}

LocalizeReport Localizer::finish(const ParameterTolerance& tolerance) {
  LocalizeReport report;
  for (const Sum& sum : sums_) {
    LayerResult r = sum.result;
    if (r.n_samples == 0) continue;
    r.error = relative_error(sum.difference_squares, sum.reference_squares, r.max_abs);
    r.diverges = r.max_abs > tolerance.atol + tolerance.rtol * r.largest;
    report.layers.push_back(r);
  }
  if (report.layers.empty())
    throw Error(ErrorKind::Negative, n_samples_ == 0 ? "the two have no sample in common"
                                                     : "no layer of the one could be lined up with one of the other");
  withdraw(&report.layers);
  relate_inputs(&report);
  test_labels(&report.layers);
  if (sampling_) {
    std::vector<const SampleErrors*> errors;
    for (const LayerResult& r : report.layers) errors.push_back(&sum_of(r).errors);
    report.label_ranking = rank_by_labels(errors, relabelled_, *sampling_);
    report.sample_names = names_;
  }
  show_samples(&report);
  report.n_samples = n_samples_;
  report.n_relabelled = std::count(relabelled_.begin(), relabelled_.end(), true);
  report.n_withdrawn = n_withdrawn_;
  if (source_graph_ != nullptr && target_graph_ != nullptr) compare_graphs(tolerance, &report);
  if (own_ != nullptr) take_findings(&report);
  if (report.first && report.findings.empty() && first_ && first_->maps &&
      first_->source == report.layers[*report.first].source)
    report.maps.push_back({std::nullopt, source_[first_->source].name, first_->sample, *first_->maps});
  report.source_not_finite = source_not_finite_.origins(source_, source_graph_);
  report.target_not_finite = target_not_finite_.origins(target_, target_graph_);
  report.source = std::move(source_);
  report.target = std::move(target_);
  return report;
}

NotJudged compare_sessions(Session& source, SampleSource& source_samples, Session& target, SampleSource& target_samples,
                           Localizer* localizer, const std::function<void(const std::string&)>& warn,
                           const std::function<void()>& done, const Deadline& deadline) {
  bool any = false;
  NotJudged not_judged;
  int64_t n_seen = 0;
  while (true) {
    const auto load_a = source_samples.next(), load_b = target_samples.next();
    if (load_a.has_value() != load_b.has_value())
      fail_usage("the inputs hold more samples for one model than the other");
    if (!load_a) return not_judged;
    if (any && deadline.stops()) {
      not_judged.left_out = std::max<int64_t>(1, source_samples.count().value_or(0) - n_seen);
      return not_judged;
    }
    ++n_seen;
    const LoadedSample a = (*load_a)(), b = (*load_b)();
    if (!a.warning.empty()) warn(a.warning);
    if (a.error || b.error) {
      warn(cat((a.error ? *a.error : *b.error).what(), "; skipped"));
      ++not_judged.unread;
    } else {
      // The one's weights need not stay in memory beside what the other's make.
      const Records ours = trace_run(source, a.inputs);
      forget_mapped_files();
      Records theirs = trace_run(target, b.inputs);
      forget_mapped_files();
      localizer->add(ours, std::move(theirs), a.path);
      any = true;
    }
    done();
  }
}

namespace {

// A trace, one sample's values at a time.
class TraceReader {
 public:
  explicit TraceReader(stream::Reader& reader) : reader_(reader) {}

  // All values of a sample, under a key that tells samples apart. nullopt at the end.
  std::optional<std::pair<std::string, Records>> next() {
    while (ready_.empty() && !ended_) read_block();
    if (ready_.empty()) return std::nullopt;
    auto result = std::move(ready_.front());
    ready_.erase(ready_.begin());
    return result;
  }
  bool had_tensors() const { return had_tensors_; }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  // Samples come before the values of their batch, so a sample after values begins the next batch.
  void read_block() {
    bool has_values = false;
    while (true) {
      std::optional<stream::Record> record;
      if (held_) {
        record = std::move(held_);
        held_.reset();
      } else {
        try {
          record = reader_.next();
        } catch (const Error& e) {
          if (e.kind() != ErrorKind::Malformed) throw;
          failure_ = e;
        }
      }
      if (!record) {
        ended_ = true;
        if (!failure_ && reader_.truncated()) failure_ = reader_.truncation();
        break;
      }
      if (std::holds_alternative<stream::Header>(*record) && ++n_runs_ > 1)
        fail_usage("a trace holds several runs: give one");
      if (const auto* sample = std::get_if<stream::Sample>(&*record)) {
        if (has_values) {
          held_ = std::move(record);
          break;
        }
        keys_[sample->id] = key_of(*sample);
        continue;
      }
      auto* tensor = std::get_if<stream::TensorRecord>(&*record);
      if (tensor == nullptr || tensor->role == stream::Role::Parameter) continue;
      had_tensors_ = true;
      has_values = has_values || tensor->role != stream::Role::Input;
      Records& records = values_of(tensor->sample);
      // Inputs may be there twice: as the sample's and as the trace's.
      std::erase_if(records, [&](const stream::TensorRecord& other) { return other.name == tensor->name; });
      records.push_back(std::move(*tensor));
    }
    for (auto& [key, records] : block_) {
      if (!records.empty()) ready_.emplace_back(key, std::move(records));
    }
    block_.clear();
  }

  std::string key_of(const stream::Sample& sample) {
    const std::string name = sample.path.empty() ? cat("#", sample.id) : sample.path;
    return cat(name, '\n', seen_[name]++);
  }
  Records& values_of(std::optional<int64_t> sample) {
    std::string key;
    if (sample) {
      const auto found = keys_.find(*sample);
      key = found == keys_.end() ? cat("#", *sample, "\n0") : found->second;
    }
    for (auto& [other, records] : block_) {
      if (other == key) return records;
    }
    block_.emplace_back(key, Records());
    return block_.back().second;
  }

  stream::Reader& reader_;
  std::optional<stream::Record> held_;
  std::vector<std::pair<std::string, Records>> block_, ready_;
  std::map<int64_t, std::string> keys_;
  std::map<std::string, int> seen_;
  std::optional<Error> failure_;
  int n_runs_ = 0;
  bool ended_ = false, had_tensors_ = false;
};

// Of a TraceReader's key.
std::string path_of(const std::string& key) { return key.substr(0, key.rfind('\n')); }

}  // namespace

std::optional<Error> compare_traces(stream::Reader& source, stream::Reader& target, Localizer* localizer) {
  TraceReader a(source), b(target);
  std::map<std::string, Records> waiting_a, waiting_b;
  bool more_a = true, more_b = true;
  while (more_a || more_b) {
    auto left = a.next(), right = b.next();
    more_a = left.has_value();
    more_b = right.has_value();
    if (left) {
      if (right && right->first == left->first) {
        localizer->add(left->second, right->second, path_of(left->first));
        continue;
      }
      const auto met = waiting_b.find(left->first);
      if (met != waiting_b.end()) {
        localizer->add(left->second, met->second, path_of(left->first));
        waiting_b.erase(met);
      } else {
        waiting_a.insert(std::move(*left));
      }
    }
    if (right) {
      const auto met = waiting_a.find(right->first);
      if (met != waiting_a.end()) {
        localizer->add(met->second, right->second, path_of(right->first));
        waiting_a.erase(met);
      } else {
        waiting_b.insert(std::move(*right));
      }
    }
  }
  const std::optional<Error>& failure = a.failure() ? a.failure() : b.failure();
  if (!failure && (!a.had_tensors() || !b.had_tensors()))
    fail_malformed("the ", a.had_tensors() ? "target" : "source", " holds no values: is it of dnn-infer --trace?");
  return failure;
}

}  // namespace dnn
