// Precision of layers; see precision.h.
#include "localize/precision.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>

#include "base/lent.h"
#include "base/mappings.h"
#include "base/printable.h"
#include "base/threads.h"
#include "ops/op.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "tensor/compare.h"
#include "tensor/dispatch.h"

namespace dnn {
namespace {

// Operators that a model spells out are one layer; what it computes of constants is a constant.
constexpr const char* kPasses = "only:fold-constant,recognize-activations,recognize-normalization,recognize-dense";

bool has_nan(const Tensor& tensor) {
  return dispatch_float(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = tensor.data<T>();
    return std::any_of(data, data + tensor.size(), [](T value) { return std::isnan(static_cast<Compute<T>>(value)); });
  });
}

// What rounding one layer does in one sample, to what it makes and to the outputs.
struct LayerEffect {
  SquaredDistance own;
  MovedOutputs moved;
};

struct SampleEffects {
  std::vector<LayerEffect> effects;  // by layer, as are:
  std::vector<SpotLosses> losses;
};

// Runs samples side by side, each thread in a session of its own.
class SampleRunner {
 public:
  // Opens as many sessions as samples run at a time.
  SampleRunner(size_t n_samples, const std::shared_ptr<const Package>& package, const PrecisionOptions& options,
               ThreadPool* pool)
      : pool_(pool) {
    const int n = static_cast<int>(std::min<size_t>(n_samples, static_cast<size_t>(pool->size())));
    for (int i = 0; i < n; ++i)
      sessions_.add(open_session(options.device, package,
                                 {.threads = std::max(1, pool->size() / n), .isa = {}, .variable = options.variable}));
    for (size_t s = 0; s < n_samples; ++s) ran_.push_back(s);
  }

  // Samples that all calls of each() had time for.
  const std::vector<size_t>& ran() const { return ran_; }

  // Runs body(sample, session) for all that ran so far, the first one at least, until the deadline.
  template <class Body>
  void each(const Deadline& deadline, Body&& body) {
    std::set<size_t> unrun;
    share_out(*pool_, static_cast<int64_t>(ran_.size()), [&](int64_t i) {
      const size_t s = ran_[i];
      if (i > 0 && deadline.stops()) {
        const std::lock_guard lock(mutex_);
        unrun.insert(s);
        return;
      }
      const Lent<Session>::Loan session = sessions_.borrow();
      body(s, *session);
    });
    std::erase_if(ran_, [&](size_t s) { return unrun.count(s) != 0; });
  }

 private:
  ThreadPool* pool_;
  std::mutex mutex_;  // of samples that are left out
  Lent<Session> sessions_;
  std::vector<size_t> ran_;
};

// The outputs of a sample as it is, and the ranges of values that layers read or make.
std::vector<Tensor> run_with_ranges(const RoundedNetwork& network, const std::vector<Tensor>& inputs, Session& session,
                                    std::map<ValueId, NumberRange>* ranges) {
  const Graph& shown = session.graph();
  return session.trace(inputs, [&](const Graph& of, ValueId id, const Tensor& tensor) {
    if (&of != &shown || tensor.dtype() != DType::Float32) return;
    const ValueId v = network.own_id(shown, id);
    if (v != kNoValue && (network.reads()[v] > 0 || network.is_made(v))) (*ranges)[v].add(tensor);
  });
}

// Each layer of a sample rounded by itself, where the rest runs on from what it makes then. `outputs` are those as it is.
SampleEffects effects_of(const RoundedNetwork& network, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& outputs, const std::optional<OutputTolerance>& tolerance,
                         Session& session) {
  const size_t n = network.layers().size();
  SampleEffects result = {std::vector<LayerEffect>(n), std::vector<SpotLosses>(n)};
  std::map<ValueId, Tensor> held;  // values that layers to come read
  std::vector<int> reads = network.reads();
  const Graph& shown = session.graph();
  std::map<ValueId, ValueId> theirs;
  session.fork(inputs, [&](ValueId id, const Tensor& value, const Session::Resume& resume) {
    const ValueId v = network.own_id(shown, id);
    if (v == kNoValue) return;
    theirs[v] = id;
    if (network.is_made(v) || reads[v] > 0) held[v] = value;
    const std::optional<size_t> l = network.completed_by(v);
    if (!l) return;
    const ComputingLayer& layer = network.layers()[*l];
    LayerEffect& effect = result.effects[*l];
    const std::map<ValueId, Tensor> made = network.run_layer(*l, held, &result.losses[*l]);
    Session::Instead instead;
    for (ValueId out : layer.outputs) {
      const Tensor& now = made.at(out);
      const Tensor& before = held.at(out);
      if (now.dtype() == DType::Float32) effect.own.add(squared_distance(before, now));
      if (!now.identical(before)) instead.emplace_back(theirs.at(out), now);
    }
    effect.moved = moved_outputs(outputs, instead.empty() ? outputs : resume(instead), tolerance);
    for (ValueId in : layer.inputs) {
      if (--reads[in] == 0) held.erase(in);
    }
    for (ValueId out : layer.outputs) {
      if (reads[out] == 0) held.erase(out);
    }
  });
  return result;
}

// A layer's names, and what its constants lose.
PrecisionLayer described(const RoundedNetwork& network, const ComputingLayer& layer) {
  const Graph& graph = network.graph();
  PrecisionLayer result;
  result.value = graph.value(layer.outputs.back()).name;
  for (NodeId id : layer.nodes) {
    const Node& node = graph.node(id);
    for (const std::string& name : sources_of(node)) result.nodes.push_back(name);
    result.ops.push_back(node.op);
    for (size_t in = 0; in < node.inputs.size(); ++in) {
      const Tensor* constant = graph.constant(node.inputs[in]);
      if (constant == nullptr || constant->dtype() != DType::Float32) continue;
      RoundingLoss loss;
      network.round_constant(node, in, *constant, &loss);
      result.n_parameters += loss.n;
      if (loss.any()) result.spots.push_back({PrecisionSpot::Role::Constant, graph.value(node.inputs[in]).name, loss});
    }
  }
  return result;
}

// Layers, worst first: by labels, then by the outputs, then by what they make.
std::vector<size_t> worst_first(const std::vector<PrecisionLayer>& layers) {
  std::vector<size_t> ranked(layers.size());
  std::iota(ranked.begin(), ranked.end(), size_t{0});
  std::stable_sort(ranked.begin(), ranked.end(), [&](size_t a, size_t b) {
    const PrecisionLayer &x = layers[a], &y = layers[b];
    if (x.effect.relabelled.size() != y.effect.relabelled.size())
      return x.effect.relabelled.size() > y.effect.relabelled.size();
    return x.effect.error != y.effect.error ? x.effect.error > y.effect.error : x.own_error > y.own_error;
  });
  return ranked;
}

struct Kept {
  size_t n = 0;
  bool known = false;  // that fewer do not hold the bound
};

// The fewest of n layers to keep. `holds` tries so many; nothing where the time is over. 0, 1, 2, 4, ... and then between the last
// that does not hold the bound and the first that does; with all of them kept it holds.
Kept fewest_kept(size_t n, const std::function<std::optional<bool>(size_t kept)>& holds) {
  size_t least = 0, enough = n;
  std::optional<bool> held = holds(0);
  if (held == true) return {0, true};
  for (size_t k = 1; held == false && k < n; k *= 2) {
    held = holds(k);
    if (!held) return {enough, false};
    (*held ? enough : least) = k;
  }
  while (enough > least + 1) {
    const size_t middle = least + (enough - least) / 2;
    held = holds(middle);
    if (!held) return {enough, false};
    (*held ? enough : least) = middle;
  }
  return {enough, true};
}

RoundedNetwork simplified(const Graph& model, DType dtype) {
  Graph graph = model;
  infer_types(graph);
  PassOptions passes;
  passes.changes = kPasses;
  run_passes(graph, passes);
  return {std::move(graph), dtype};
}

std::shared_ptr<const Package> compiled_at_level_0(const Graph& graph, CompileOptions options) {
  options.opt = 0;
  options.pass_changes.clear();
  return std::make_shared<const Package>(compile(graph, options));
}

class PrecisionJudge {
 public:
  PrecisionJudge(const Graph& model, const std::vector<BisectSample>& samples, const PrecisionOptions& options)
      : samples_(samples),
        options_(options),
        pool_(options.threads),
        network_(simplified(model, options.dtype)),
        package_(compiled_at_level_0(network_.graph(), options.compile)) {
    forget_mapped_files();  // the weights have been packed
  }

  PrecisionReport run() {
    const size_t n_layers = network_.layers().size();
    SampleRunner runner(samples_.size(), package_, options_, &pool_);
    layers_.resize(n_layers);
    share_out(pool_, static_cast<int64_t>(n_layers),
              [&](int64_t i) { layers_[i] = described(network_, network_.layers()[i]); });
    if (options_.begin) options_.begin(static_cast<int64_t>(samples_.size()));
    watch(&runner);
    refuse_nan(runner.ran());
    report_.labelled = top_label(outputs_[runner.ran().front()].front()) >= 0;
    report_.tolerance = options_.tolerance;
    if (!report_.labelled && !report_.tolerance) report_.tolerance = kUnlabelled;
    measure(&runner);
    finish_layers(runner.ran());
    find_kept(runner.ran());
    report_.ran_out = options_.deadline.ran_out();
    return std::move(report_);
  }

 private:
  // Samples as they are: their outputs, and for int8 the ranges of values.
  void watch(SampleRunner* runner) {
    outputs_.resize(samples_.size());
    const bool ranged = options_.dtype == DType::Int8;
    std::mutex mutex;
    runner->each(options_.deadline.until(ranged ? 0.2 : 0.1), [&](size_t s, Session& session) {
      if (!ranged) {
        outputs_[s] = session.run(samples_[s].inputs);
        return;
      }
      std::map<ValueId, NumberRange> ranges;
      outputs_[s] = run_with_ranges(network_, samples_[s].inputs, session, &ranges);
      std::lock_guard lock(mutex);
      network_.add_ranges(ranges);
    });
  }

  void measure(SampleRunner* runner) {
    effects_.resize(samples_.size());
    losses_.resize(layers_.size());
    std::mutex mutex;
    runner->each(options_.deadline.until(0.7), [&](size_t s, Session& session) {
      SampleEffects measured = effects_of(network_, samples_[s].inputs, outputs_[s], report_.tolerance, session);
      std::lock_guard lock(mutex);
      effects_[s] = std::move(measured.effects);
      for (size_t l = 0; l < layers_.size(); ++l) {
        for (const auto& [spot, loss] : measured.losses[l]) losses_[l][spot].add(loss);
      }
      if (options_.done) options_.done();
    });
  }

  // Outputs that are NaN before anything is rounded tell nothing of rounding.
  void refuse_nan(const std::vector<size_t>& ran) const {
    for (size_t s : ran) {
      for (const Tensor& output : outputs_[s]) {
        if (!is_float(output.dtype()) || !has_nan(output)) continue;
        throw Error(ErrorKind::Negative,
                    cat(plain(samples_[s].path),
                        ": the network's outputs are NaN in float32 already; give the model twice, as "
                        "SOURCE and TARGET, to see where that begins"));
      }
    }
  }

  void finish_layers(const std::vector<size_t>& ran) {
    const Graph& graph = network_.graph();
    for (size_t s : ran) report_.paths.push_back(samples_[s].path);
    report_.dtype = options_.dtype;
    report_.n_samples = ran.size();
    for (NodeId id : nodes_with_subgraphs(graph)) {
      const Node& node = graph.node(id);
      report_.left_alone.push_back(node.name.empty() ? graph.value(node.outputs[0]).name : node.name);
    }
    for (size_t l = 0; l < layers_.size(); ++l) {
      PrecisionLayer& result = layers_[l];
      std::vector<MovedOutputs> moves;
      SquaredDistance own;
      for (size_t s : ran) {
        own.add(effects_[s][l].own);
        moves.push_back(std::move(effects_[s][l].moved));
      }
      result.own_error = own.relative();
      result.effect = effect_of(moves);
      for (const auto& [spot, loss] : losses_[l]) {
        if (loss.any()) result.spots.push_back({spot.first, graph.value(spot.second).name, loss});
      }
      std::stable_sort(result.spots.begin(), result.spots.end(),
                       [](const PrecisionSpot& a, const PrecisionSpot& b) { return a.role < b.role; });
    }
    ranked_ = worst_first(layers_);
    for (size_t l : ranked_) report_.layers.push_back(std::move(layers_[l]));
  }

  // The whole network on the interpreter, all layers rounded but the worst so many.
  PrecisionReport::Trial tried(size_t kept, const std::vector<size_t>& ran) {
    std::vector<bool> keep(ranked_.size(), false);
    for (size_t i = 0; i < kept; ++i) keep[ranked_[i]] = true;
    std::vector<MovedOutputs> moves(ran.size());
    share_out(pool_, static_cast<int64_t>(ran.size()), [&](int64_t i) {
      const size_t s = ran[i];
      moves[i] = moved_outputs(outputs_[s], network_.run(samples_[s].inputs, keep), report_.tolerance);
    });
    PrecisionReport::Trial trial = {kept, effect_of(moves), false};
    trial.holds = trial.effect.relabelled.empty() && std::isfinite(trial.effect.error) &&
                  (!report_.tolerance || trial.effect.excess <= 1);
    return trial;
  }

  void find_kept(const std::vector<size_t>& ran) {
    const Kept kept = fewest_kept(ranked_.size(), [&](size_t n) -> std::optional<bool> {
      if (!report_.trials.empty() && options_.deadline.stops()) return std::nullopt;
      report_.trials.push_back(tried(n, ran));
      return report_.trials.back().holds;
    });
    const auto held = [](const PrecisionReport::Trial& trial) { return trial.holds; };
    if (!kept.known && std::none_of(report_.trials.begin(), report_.trials.end(), held)) return;
    for (size_t i = 0; i < kept.n; ++i) report_.layers[i].stays = true;
    if (kept.known) report_.keeps = kept.n;
  }

  const std::vector<BisectSample>& samples_;
  const PrecisionOptions& options_;
  ThreadPool pool_;
  RoundedNetwork network_;
  std::shared_ptr<const Package> package_;
  std::vector<PrecisionLayer> layers_;             // in the graph's order, until they are ranked
  std::vector<SpotLosses> losses_;                 // by layer
  std::vector<std::vector<Tensor>> outputs_;       // by sample
  std::vector<std::vector<LayerEffect>> effects_;  // by sample and layer
  std::vector<size_t> ranked_;                     // layers, worst first
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
  return PrecisionJudge(model, samples, options).run();
}

}  // namespace dnn
