// Sensitivity of layers to rounding; see sensitivity.h.
#include "quant/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/threads.h"
#include "metrics/scores.h"
#include "ops/op.h"
#include "quant/stepwise.h"
#include "tensor/compare.h"

namespace dnn::quant {
namespace {

// Numbers that are moved from one place to another of the same scale are rounded already.
bool is_moved(const Graph& graph, const Plan& plan, NodeId maker) {
  return maker >= 0 && plan.quantized[maker] && role_of(graph.node(maker)) == Role::Moves &&
         has_trait(graph.node(maker), Trait::Moves);
}

std::vector<Spot> spots_of(const Graph& graph, const Plan& plan, const Alternatives& alternatives,
                           const std::vector<Layer>& layers) {
  const Uses uses(graph);
  std::map<ValueId, size_t> made;
  for (size_t l = 0; l < layers.size(); ++l) made[layers[l].output] = l;
  std::vector<Spot> spots;
  const auto add_value = [&](ValueId v) {
    if (static_cast<size_t>(v) >= plan.group.size() || plan.group[v] < 0) return;
    if (is_moved(graph, plan, uses.producer[v])) return;
    Spot spot;
    spot.value = v;
    if (const auto layer = made.find(v); layer != made.end()) spot.layer = layer->second;
    spots.push_back(spot);
  };
  for (ValueId v : graph.inputs) add_value(v);
  for (NodeId id : graph.order()) {
    for (ValueId v : graph.node(id).outputs) {
      if (v == kNoValue) continue;
      const auto layer = made.find(v);
      if (layer != made.end() && layers[layer->second].weights &&
          alternatives.count(*layers[layer->second].weights) != 0) {
        Spot spot;
        spot.weights = true;
        spot.layer = layer->second;
        spot.value = v;
        spots.push_back(spot);
      }
      add_value(v);
    }
  }
  return spots;
}

}  // namespace

double Spot::sqnr_db() const {
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

Sensitivity measure_sensitivity(const Graph& bound, const Rounding& rounding,
                                const std::vector<std::vector<Tensor>>& samples, const CalibrateOptions& options) {
  return measure_alternatives(bound, rounding.plan, alternatives_of(rounding), rounding.quantizers.groups, samples,
                              options);
}

Sensitivity measure_alternatives(const Graph& bound, const Plan& plan, const Alternatives& alternatives,
                                 const std::vector<Affine>& groups, const std::vector<std::vector<Tensor>>& samples,
                                 const CalibrateOptions& options) {
  Sensitivity result;
  result.layers = layers_of(bound, plan);
  result.spots = spots_of(bound, plan, alternatives, result.layers);
  result.samples = static_cast<int64_t>(samples.size());
  const Stepwise network(bound, result.layers, alternatives, options);
  ThreadPool pool(options.threads);
  std::vector<Stepwise::Worker> free;
  for (int i = 0; i < pool.size(); ++i) free.push_back(network.worker());
  std::mutex mutex;  // of `free`
  const auto take = [&] {
    const std::lock_guard lock(mutex);
    Stepwise::Worker worker = std::move(free.back());
    free.pop_back();
    return worker;
  };
  const auto put_back = [&](Stepwise::Worker worker) {
    const std::lock_guard lock(mutex);
    free.push_back(std::move(worker));
  };
  const auto outputs_of = [&](const Stepwise::Values& values) {
    std::vector<Tensor> outputs;
    for (ValueId v : bound.outputs) outputs.push_back(values[v]);
    return outputs;
  };
  // All samples together tell if the outputs are probabilities.
  metrics::ScoreScale scale;
  std::vector<Tensor> firsts(samples.size());
  share_out(pool, result.samples, [&](int64_t s) {
    Stepwise::Worker worker = take();
    firsts[s] = outputs_of(worker.run(samples[s]))[0];
    put_back(std::move(worker));
  });
  for (const Tensor& first : firsts) scale.add(first);
  result.labelled = !firsts.empty() && top_label(firsts[0]) >= 0;

  std::vector<std::vector<Spot>> measured(samples.size(), result.spots);
  share_out(pool, result.samples, [&](int64_t s) {
    Stepwise::Worker worker = take();
    const Stepwise::Values base = worker.run(samples[s]);
    const std::vector<Tensor> before = outputs_of(base);
    for (Spot& spot : measured[s]) {
      const Tensor& real = base[spot.value];
      const int group = spot.weights ? -1 : plan.group[spot.value];
      const Tensor rounded =
          spot.weights ? worker.with_alternative(base, *spot.layer) : round_through(real, groups[group]);
      const Distance d = compare(real, rounded);
      spot.signal = d.reference_squares;
      spot.noise = d.difference_squares;
      spot.effect = effect_of(before, worker.rerun(base, spot.value, rounded), scale.probabilities());
    }
    put_back(std::move(worker));
  });
  for (const std::vector<Spot>& one : measured) {  // in the samples' order
    for (size_t i = 0; i < one.size(); ++i) {
      result.spots[i].effect.add(one[i].effect);
      result.spots[i].signal += one[i].signal;
      result.spots[i].noise += one[i].noise;
    }
  }
  return result;
}

double SensitivityReport::Row::divergence() const {
  return (weights ? weights->effect.mean_divergence() : 0) + (output ? output->effect.mean_divergence() : 0);
}

std::string name_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.name.empty() ? graph.value(node.outputs[0]).name : node.name;
}

SensitivityReport sensitivity_report(const Graph& bound, const Sensitivity& sensitivity) {
  SensitivityReport report;
  report.samples = sensitivity.samples;
  report.labelled = sensitivity.labelled;
  double all = 0;
  for (NodeId id : bound.order()) all += multiply_adds(bound, id);
  for (const Layer& layer : sensitivity.layers) {
    SensitivityReport::Row row;
    row.layer = name_of(bound, layer.nodes.front());
    std::vector<std::string> ops;
    for (NodeId id : layer.nodes) ops.push_back(bound.node(id).op);
    row.op = join(ops, "+");
    row.share = all == 0 ? 0 : layer.multiply_adds / all;
    report.rows.push_back(std::move(row));
  }
  const Uses uses(bound);
  for (const Spot& spot : sensitivity.spots) {
    const SensitivityReport::Part part = {spot.effect, spot.sqnr_db()};
    if (spot.layer) {
      SensitivityReport::Row& row = report.rows[*spot.layer];
      (spot.weights ? row.weights : row.output) = part;
      continue;
    }
    const NodeId maker = uses.producer[spot.value];
    SensitivityReport::Row row;
    row.layer = bound.value(spot.value).name;
    row.op = maker < 0 ? "input" : bound.node(maker).op;
    row.output = part;
    report.rows.push_back(std::move(row));
  }
  std::stable_sort(report.rows.begin(), report.rows.end(),
                   [](const auto& a, const auto& b) { return a.divergence() > b.divergence(); });
  return report;
}

}  // namespace dnn::quant
