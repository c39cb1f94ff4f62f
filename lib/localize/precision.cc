// Precision of layers; see precision.h.
#include "localize/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "base/mappings.h"
#include "base/printable.h"
#include "base/threads.h"
#include "interp/interpreter.h"
#include "localize/isolated.h"
#include "localize/precision_layers.h"
#include "ops/op.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "tensor/compare.h"
#include "tensor/dispatch.h"

namespace dnn {
namespace {

// Operators that a model spells out are one layer; what it computes of constants is a constant.
constexpr const char* kPasses = "only:fold-constant,recognize-activations,recognize-normalization,recognize-dense";

// ||a - b||^2 and ||a||^2, summed up.
struct Squares {
  double difference = 0, reference = 0;
  void add(const Squares& other) {
    difference += other.difference;
    reference += other.reference;
  }
  double relative() const {
    return difference == 0 ? 0 : reference == 0 ? kInfinite : std::sqrt(difference / reference);
  }
};

Squares squares(const Tensor& reference, const Tensor& other) {
  const Distance d = compare(reference, other);
  return {std::isinf(d.max_abs) ? kInfinite : d.difference_squares, d.reference_squares};
}

bool has_nan(const Tensor& tensor) {
  return dispatch_float(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = tensor.data<T>();
    return std::any_of(data, data + tensor.size(), [](T value) { return std::isnan(static_cast<Compute<T>>(value)); });
  });
}

// How one sample's outputs moved.
struct MovedOutputs {
  std::vector<Squares> outputs;
  Movement movement;
};

MovedOutputs moved_outputs(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                           const std::optional<OutputTolerance>& tolerance) {
  MovedOutputs m;
  for (size_t i = 0; i < before.size(); ++i)
    m.outputs.push_back(before[i].dtype() == DType::String ? Squares() : squares(before[i], after[i]));
  m.movement = movement({before, {}}, {after, {}}, tolerance.value_or(kUnlabelled));
  return m;
}

// Samples in their order, so that sums are the same however threads shared them.
PrecisionEffect effect_of(const std::vector<MovedOutputs>& samples) {
  PrecisionEffect effect;
  std::vector<Squares> sums;
  for (size_t s = 0; s < samples.size(); ++s) {
    const MovedOutputs& m = samples[s];
    sums.resize(std::max(sums.size(), m.outputs.size()));
    for (size_t i = 0; i < m.outputs.size(); ++i) sums[i].add(m.outputs[i]);
    if (m.movement.relabelled()) effect.relabelled.push_back(s);
    effect.excess = std::max(effect.excess, m.movement.excess);
    if (m.movement.max_abs <= effect.max_abs) continue;
    effect.max_abs = m.movement.max_abs;
    effect.largest = m.movement.largest;
  }
  for (const Squares& sum : sums) effect.error = std::max(effect.error, sum.relative());
  return effect;
}

struct Measured {
  Squares own;
  MovedOutputs moved;
};

class Judge {
 public:
  Judge(const Graph& model, const std::vector<BisectSample>& samples, const PrecisionOptions& options)
      : graph_(model), samples_(samples), options_(options), pool_(options.threads) {
    infer_types(graph_);
    PassOptions passes;
    passes.changes = kPasses;
    run_passes(graph_, passes);
    layers_ = computing_layers(graph_);
    std::erase_if(layers_, [](const ComputingLayer& layer) { return layer.outputs.empty(); });
    if (layers_.empty()) fail_unsupported("the model has no layer that computes in float32");
    layer_of_.assign(graph_.node_slots(), -1);
    reads_.resize(graph_.value_count(), 0);
    results_.resize(layers_.size());
    for (size_t l = 0; l < layers_.size(); ++l) {
      for (NodeId id : layers_[l].nodes) layer_of_[id] = static_cast<int64_t>(l);
      for (ValueId v : layers_[l].inputs) ++reads_[v];
      made_.insert(layers_[l].outputs.begin(), layers_[l].outputs.end());
      last_[layers_[l].outputs.back()] = l;
    }
    const CompileOptions level = [&] {
      CompileOptions compile = options.compile;
      compile.opt = 0;
      compile.pass_changes.clear();
      return compile;
    }();
    package_ = std::make_shared<const Package>(compile(graph_, level));
    for (ValueId v = 0; v < graph_.value_count(); ++v) by_name_[graph_.value(v).name] = v;
    forget_mapped_files();  // the weights have been packed
  }

  PrecisionReport run() {
    open_sessions();
    describe_layers();
    if (options_.begin) options_.begin(static_cast<int64_t>(samples_.size()));
    outputs_.resize(samples_.size());
    const Deadline first = options_.deadline.until(options_.dtype == DType::Int8 ? 0.2 : 0.1);
    each_sample(first, [&](size_t s, Session& session) { watch(s, session); });
    drop_unrun();
    refuse_nan();
    const Tensor& scores = outputs_[ran_.front()].front();
    report_.labelled = top_label(scores) >= 0;
    report_.tolerance = options_.tolerance;
    if (!report_.labelled && !report_.tolerance) report_.tolerance = kUnlabelled;
    measured_.assign(samples_.size(), {});
    each_sample(options_.deadline.until(0.7), [&](size_t s, Session& session) { measure(s, session); });
    drop_unrun();
    finish_layers();
    find_kept();
    report_.ran_out = options_.deadline.ran_out();
    return std::move(report_);
  }

 private:
  bool is_float32(const Tensor& tensor) const { return tensor.dtype() == DType::Float32; }

  void open_sessions() {
    const int n = static_cast<int>(std::min<size_t>(samples_.size(), static_cast<size_t>(pool_.size())));
    for (int i = 0; i < n; ++i)
      free_.push_back(
          open_session(options_.device, package_,
                       {.threads = std::max(1, pool_.size() / n), .isa = {}, .variable = options_.variable}));
    for (size_t s = 0; s < samples_.size(); ++s) ran_.push_back(s);
  }

  // Runs body(sample, session) for all that ran so far, but for those that the time is over for; those it leaves out stand in unrun_.
  template <class Body>
  void each_sample(const Deadline& deadline, Body&& body) {
    share_out(pool_, static_cast<int64_t>(ran_.size()), [&](int64_t i) {
      const size_t s = ran_[i];
      std::unique_ptr<Session> session;
      {
        std::lock_guard lock(mutex_);
        if (i > 0 && deadline.stops()) {
          unrun_.insert(s);
          return;
        }
        if (free_.empty()) fail_internal("more threads than sessions");
        session = std::move(free_.back());
        free_.pop_back();
      }
      body(s, *session);
      std::lock_guard lock(mutex_);
      free_.push_back(std::move(session));
    });
  }

  void drop_unrun() {
    std::erase_if(ran_, [&](size_t s) { return unrun_.count(s) != 0; });
    unrun_.clear();
  }

  void describe_layers() {
    share_out(pool_, static_cast<int64_t>(layers_.size()), [&](int64_t i) {
      const ComputingLayer& layer = layers_[i];
      PrecisionLayer& result = results_[i];
      result.value = graph_.value(layer.outputs.back()).name;
      for (NodeId id : layer.nodes) {
        const Node& node = graph_.node(id);
        for (const std::string& name : sources_of(node)) result.nodes.push_back(name);
        result.ops.push_back(node.op);
        for (size_t in = 0; in < node.inputs.size(); ++in) {
          const Tensor* constant = graph_.constant(node.inputs[in]);
          if (constant == nullptr || !is_float32(*constant)) continue;
          RoundingLoss loss;
          round_constant(node, in, *constant, &loss);
          result.n_parameters += loss.n;
          if (loss.any())
            result.spots.push_back({PrecisionSpot::Role::Constant, graph_.value(node.inputs[in]).name, loss});
        }
      }
    });
  }

  Tensor round_constant(const Node& node, size_t input, const Tensor& constant, RoundingLoss* loss) const {
    if (node.domain.empty() && node.op == "Resize" && input > 0) return constant;  // extents and regions
    if (options_.dtype != DType::Int8) return rounded_to(constant, options_.dtype, loss);
    const Int8Constant how = int8_constant(node, input, constant.rank());
    if (how.as == Int8Constant::As::Float32) return constant;
    if (how.as == Int8Constant::As::Weight) return rounded_to_int8_symmetric(constant, how.axis, loss);
    NumberRange range;
    range.add(constant);
    return rounded_to_int8(constant, range, loss);
  }

  Tensor round_value(ValueId v, const Tensor& value, RoundingLoss* loss) const {
    if (!is_float32(value)) return value;
    if (options_.dtype != DType::Int8) return rounded_to(value, options_.dtype, loss);
    const auto range = ranges_.find(v);
    return range == ranges_.end() ? value : rounded_to_int8(value, range->second, loss);
  }

  // A sample as it is: what it gives, and the ranges of what layers read and make.
  void watch(size_t s, Session& session) {
    if (options_.dtype != DType::Int8) {
      outputs_[s] = session.run(samples_[s].inputs);
      return;
    }
    std::map<ValueId, NumberRange> ranges;
    const Graph& shown = session.graph();
    outputs_[s] = session.trace(samples_[s].inputs, [&](const Graph& of, ValueId id, const Tensor& tensor) {
      if (&of != &shown || !is_float32(tensor)) return;
      const ValueId v = own_id(shown, id);
      if (v != kNoValue && (reads_[v] > 0 || made_.count(v) != 0)) ranges[v].add(tensor);
    });
    std::lock_guard lock(mutex_);
    for (const auto& [v, range] : ranges) ranges_[v].add(range);
  }

  ValueId own_id(const Graph& shown, ValueId id) const {
    const auto found = by_name_.find(shown.value(id).name);
    return found == by_name_.end() ? kNoValue : found->second;
  }

  using Losses = std::map<std::pair<PrecisionSpot::Role, ValueId>, RoundingLoss>;

  // What a node of a layer makes of its inputs, as they are read by it, with the layer rounded.
  std::vector<Tensor> rounded_node(NodeId id, const std::function<const Tensor&(ValueId)>& get, Losses* losses) const {
    const Node& node = graph_.node(id);
    const ComputingLayer& layer = layers_[layer_of_[id]];
    const auto among = [](const std::vector<ValueId>& values, ValueId v) {
      return std::find(values.begin(), values.end(), v) != values.end();
    };
    RoundingLoss unused;
    const auto loss_of = [&](PrecisionSpot::Role role, ValueId v) {
      return losses == nullptr ? &unused : &(*losses)[{role, v}];
    };
    std::vector<Tensor> rounded(node.inputs.size());
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue) {
        inputs.push_back(nullptr);
        continue;
      }
      const Tensor* constant = graph_.constant(v);
      if (constant != nullptr && is_float32(*constant)) {
        rounded[i] = round_constant(node, i, *constant, &unused);
      } else if (constant == nullptr && among(layer.inputs, v)) {
        // Read twice in a layer, it is rounded once.
        const bool again = losses != nullptr && losses->count({PrecisionSpot::Role::Input, v}) != 0;
        rounded[i] = round_value(v, get(v), again ? &unused : loss_of(PrecisionSpot::Role::Input, v));
      } else {
        rounded[i] = constant != nullptr ? *constant : get(v);
      }
      inputs.push_back(&rounded[i]);
    }
    std::vector<Tensor> outputs = interpret_node(node, inputs);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (v == kNoValue || (options_.dtype == DType::Int8 && !among(layer.outputs, v))) continue;
      outputs[i] = round_value(v, outputs[i], loss_of(PrecisionSpot::Role::Output, v));
    }
    return outputs;
  }

  // Each layer of a sample rounded by itself, and the rest run on from what it makes then.
  void measure(size_t s, Session& session) {
    std::vector<Measured> measured(layers_.size());
    std::vector<Losses> losses(layers_.size());
    std::map<ValueId, Tensor> held;  // what layers to come read
    std::vector<int> reads = reads_;
    const Graph& shown = session.graph();
    std::map<ValueId, ValueId> theirs;
    session.fork(samples_[s].inputs, [&](ValueId id, const Tensor& value, const Session::Resume& resume) {
      const ValueId v = own_id(shown, id);
      if (v == kNoValue) return;
      theirs[v] = id;
      const auto layer = last_.find(v);
      if (made_.count(v) != 0 || reads[v] > 0) held[v] = value;
      if (layer == last_.end()) return;
      const size_t l = layer->second;
      std::map<ValueId, Tensor> made;
      const auto get = [&](ValueId wanted) -> const Tensor& {
        const auto own = made.find(wanted);
        return own == made.end() ? held.at(wanted) : own->second;
      };
      for (NodeId node : layers_[l].nodes) {
        const std::vector<Tensor> results = rounded_node(node, get, &losses[l]);
        for (size_t i = 0; i < results.size(); ++i) {
          if (graph_.node(node).outputs[i] != kNoValue) made[graph_.node(node).outputs[i]] = results[i];
        }
      }
      Session::Instead instead;
      for (ValueId out : layers_[l].outputs) {
        const Tensor& now = made.at(out);
        const Tensor& before = held.at(out);
        if (is_float32(now)) measured[l].own.add(squares(before, now));
        if (!now.identical(before)) instead.emplace_back(theirs.at(out), now);
      }
      measured[l].moved =
          moved_outputs(outputs_[s], instead.empty() ? outputs_[s] : resume(instead), report_.tolerance);
      for (ValueId in : layers_[l].inputs) {
        if (--reads[in] == 0) held.erase(in);
      }
      for (ValueId out : layers_[l].outputs) {
        if (reads[out] == 0) held.erase(out);
      }
    });
    std::lock_guard lock(mutex_);
    measured_[s] = std::move(measured);
    for (size_t l = 0; l < layers_.size(); ++l) {
      for (const auto& [spot, loss] : losses[l]) losses_[l][spot].add(loss);
    }
    if (options_.done) options_.done();
  }

  // What is no number before anything is rounded tells nothing of rounding.
  void refuse_nan() const {
    for (size_t s : ran_) {
      for (const Tensor& output : outputs_[s]) {
        if (!is_float(output.dtype()) || !has_nan(output)) continue;
        throw Error(ErrorKind::Negative,
                    cat(plain(samples_[s].path),
                        ": the network's outputs are NaN in float32 already; give the model twice, as "
                        "SOURCE and TARGET, to see where that begins"));
      }
    }
  }

  void finish_layers() {
    for (size_t s : ran_) report_.paths.push_back(samples_[s].path);
    report_.dtype = options_.dtype;
    report_.n_samples = ran_.size();
    for (NodeId id : nodes_with_subgraphs(graph_)) {
      const Node& node = graph_.node(id);
      report_.left_alone.push_back(node.name.empty() ? graph_.value(node.outputs[0]).name : node.name);
    }
    for (size_t l = 0; l < layers_.size(); ++l) {
      PrecisionLayer& result = results_[l];
      std::vector<MovedOutputs> moves;
      Squares own;
      for (size_t s : ran_) {
        own.add(measured_[s][l].own);
        moves.push_back(std::move(measured_[s][l].moved));
      }
      result.own_error = own.relative();
      result.effect = effect_of(moves);
      for (const auto& [spot, loss] : losses_[l]) {
        if (loss.any()) result.spots.push_back({spot.first, graph_.value(spot.second).name, loss});
      }
      std::stable_sort(result.spots.begin(), result.spots.end(),
                       [](const PrecisionSpot& a, const PrecisionSpot& b) { return a.role < b.role; });
    }
    ranked_.resize(layers_.size());
    std::iota(ranked_.begin(), ranked_.end(), size_t{0});
    std::stable_sort(ranked_.begin(), ranked_.end(), [&](size_t a, size_t b) {
      const PrecisionLayer &x = results_[a], &y = results_[b];
      if (x.effect.relabelled.size() != y.effect.relabelled.size())
        return x.effect.relabelled.size() > y.effect.relabelled.size();
      return x.effect.error != y.effect.error ? x.effect.error > y.effect.error : x.own_error > y.own_error;
    });
    for (size_t l : ranked_) report_.layers.push_back(std::move(results_[l]));
  }

  // The whole network on the interpreter, all layers rounded but those that are kept.
  std::vector<Tensor> run_rounded(const std::vector<Tensor>& inputs, const std::vector<bool>& keep) const {
    std::vector<Tensor> held(graph_.value_count());
    std::vector<int> readers(held.size(), 0);
    for (NodeId id : graph_.order()) {
      for (ValueId v : read_by(id)) ++readers[v];
    }
    for (ValueId v : graph_.outputs) ++readers[v];
    const auto get = [&](ValueId v) -> const Tensor& {
      const Tensor* constant = graph_.constant(v);
      const Tensor& value = held[v];
      return value.defined() || constant == nullptr ? value : *constant;
    };
    for (size_t i = 0; i < inputs.size(); ++i) held[graph_.inputs[i]] = inputs[i];
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      const int64_t layer = layer_of_[id];
      std::vector<Tensor> made;
      if (layer >= 0 && !keep[layer]) {
        made = rounded_node(id, get, nullptr);
      } else {
        std::vector<const Tensor*> given;
        for (ValueId v : node.inputs) given.push_back(v == kNoValue ? nullptr : &get(v));
        std::map<std::string, Tensor> captured;
        for (ValueId v : captured_values(graph_, node)) captured[graph_.value(v).name] = get(v);
        made = interpret_node(node, given, captured);
      }
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] != kNoValue) held[node.outputs[i]] = std::move(made[i]);
      }
      for (ValueId v : read_by(id)) {
        if (--readers[v] == 0) held[v] = Tensor();
      }
    }
    std::vector<Tensor> outputs;
    for (ValueId v : graph_.outputs) outputs.push_back(get(v));
    return outputs;
  }

  std::vector<ValueId> read_by(NodeId id) const {
    std::vector<ValueId> read = captured_values(graph_, graph_.node(id));
    for (ValueId v : graph_.node(id).inputs) {
      if (v != kNoValue) read.push_back(v);
    }
    return read;
  }

  bool try_kept(size_t kept) {
    if (!report_.trials.empty() && options_.deadline.stops()) return false;
    std::vector<bool> keep(layers_.size(), false);
    for (size_t i = 0; i < kept; ++i) keep[ranked_[i]] = true;
    std::vector<MovedOutputs> moves(ran_.size());
    share_out(pool_, static_cast<int64_t>(ran_.size()), [&](int64_t i) {
      const size_t s = ran_[i];
      moves[i] = moved_outputs(outputs_[s], run_rounded(samples_[s].inputs, keep), report_.tolerance);
    });
    PrecisionReport::Trial trial = {kept, effect_of(moves), false};
    trial.holds = trial.effect.relabelled.empty() && std::isfinite(trial.effect.error) &&
                  (!report_.tolerance || trial.effect.excess <= 1);
    report_.trials.push_back(std::move(trial));
    return true;
  }

  // 0, 1, 2, 4, ... and then between the last that does not hold the bound and the first that does; with all kept it holds.
  void find_kept() {
    size_t fails = 0, holds = layers_.size();
    if (!try_kept(0)) return;
    bool found = report_.trials.back().holds;
    if (found) holds = 0;
    for (size_t k = 1; !found && k < layers_.size(); k *= 2) {
      if (!try_kept(k)) return keep(holds, false);
      found = report_.trials.back().holds;
      (found ? holds : fails) = k;
    }
    while (holds > fails + 1) {
      const size_t middle = fails + (holds - fails) / 2;
      if (!try_kept(middle)) return keep(holds, false);
      (report_.trials.back().holds ? holds : fails) = middle;
    }
    keep(holds, true);
  }

  void keep(size_t n, bool known) {
    const auto held = [](const PrecisionReport::Trial& trial) { return trial.holds; };
    if (!known && std::none_of(report_.trials.begin(), report_.trials.end(), held)) return;
    for (size_t i = 0; i < n; ++i) report_.layers[i].stays = true;
    if (known) report_.keeps = n;
  }

  Graph graph_;
  const std::vector<BisectSample>& samples_;
  const PrecisionOptions& options_;
  ThreadPool pool_;
  std::shared_ptr<const Package> package_;
  std::vector<ComputingLayer> layers_;
  std::vector<int64_t> layer_of_;           // by NodeId; -1: none
  std::vector<int> reads_;                  // by ValueId: layers that read it
  std::set<ValueId> made_;                  // by layers, for others
  std::map<ValueId, size_t> last_;          // the last value that a layer makes for others: the layer
  std::map<std::string, ValueId> by_name_;  // of graph_
  std::mutex mutex_;                        // of what stands below while samples run
  std::vector<std::unique_ptr<Session>> free_;
  std::map<ValueId, NumberRange> ranges_;
  std::map<size_t, Losses> losses_;
  std::vector<std::vector<Tensor>> outputs_;     // by sample
  std::vector<std::vector<Measured>> measured_;  // by sample and layer
  std::vector<size_t> ran_;                      // samples
  std::set<size_t> unrun_;
  std::vector<PrecisionLayer> results_;
  std::vector<size_t> ranked_;  // layers, worst first
  PrecisionReport report_;
};

}  // namespace

RoundingLoss PrecisionLayer::loss() const {
  RoundingLoss sum;
  for (const PrecisionSpot& spot : spots) sum.add(spot.loss);
  return sum;
}

const PrecisionReport::Trial* PrecisionReport::trial(size_t kept) const {
  for (const Trial& t : trials) {
    if (t.kept == kept) return &t;
  }
  return nullptr;
}

PrecisionReport judge_precision(const Graph& model, const std::vector<BisectSample>& samples,
                                const PrecisionOptions& options) {
  if (samples.empty()) throw Error(ErrorKind::Negative, "there is no sample to run");
  return Judge(model, samples, options).run();
}

}  // namespace dnn
