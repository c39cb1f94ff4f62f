// Optimiser search; see optimizer_search.h.
#include "localize/optimizer_search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "interp/interpreter.h"

namespace dnn {
namespace {

class OptimizerSearch {
 public:
  OptimizerSearch(const Graph& model, const std::vector<BisectSample>& samples, const Optimizer& optimizer,
                  const OptimizerOptions& options)
      : samples_(samples), optimizer_(optimizer), options_(options) {
    for (const BisectSample& sample : samples) right_.push_back({interpret(model, sample.inputs), ""});
  }

  OptimizerReport run() {
    std::vector<std::string> passes = optimizer_.passes;
    report_.n_samples = samples_.size();
    report_.n_passes = passes.size();
    State all = state(passes);
    report_.max_abs = all.moved.max_abs;
    report_.largest = all.moved.largest;
    report_.error = all.error;
    report_.differs_most = all.sample;
    report_.differs = all.departs();
    while (all.departs() && report_.findings.size() < options_.max_findings && !over()) {
      const size_t guilty = first_departing(passes);
      if (guilty == passes.size()) break;
      passes.erase(passes.begin() + static_cast<std::ptrdiff_t>(guilty));
      all = state(passes);
    }
    report_.remaining_max_abs = all.moved.max_abs;
    report_.mended = report_.differs && !all.departs();
    return report_;
  }

 private:
  // The model as some passes leave it, and how it computes.
  struct State {
    Movement moved;  // of the sample that departs most
    size_t sample = 0;
    std::string error;
    std::map<std::string, std::string> nodes;  // operators by name
    bool departs() const { return !error.empty() || moved.excess > 1; }
  };

  bool over() {
    if (!options_.deadline.stops()) return false;
    report_.ended = false;
    return true;
  }

  State state(const std::vector<std::string>& passes) {
    ++report_.n_runs;
    State state;
    state.moved.excess = -1;
    try {
      const Graph graph = optimizer_.apply(passes);
      for (NodeId id : graph.order()) {
        const Node& node = graph.node(id);
        state.nodes[node.name.empty() ? graph.value(node.outputs[0]).name : node.name] = node.op;
      }
      for (size_t i = 0; i < samples_.size(); ++i) {
        const Movement moved = movement(right_[i], {interpret(graph, samples_[i].inputs), ""}, options_.tolerance);
        if (moved.excess <= state.moved.excess) continue;
        state.moved = moved;
        state.sample = i;
      }
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::Usage || e.kind() == ErrorKind::Environment) throw;
      state.error = e.what();
      state.moved.max_abs = INFINITY;
    }
    if (options_.note)
      options_.note(cat(passes.size(), " passes, up to ", passes.empty() ? "none" : passes.back(), ": ",
                        state.departs() ? "departs" : "agrees"));
    return state;
  }

  // The index of the pass with which the passes from the first on depart; all of them do. passes.size() where time is over.
  size_t first_departing(const std::vector<std::string>& passes) {
    const auto first = [&](size_t n) {
      return std::vector<std::string>(passes.begin(), passes.begin() + static_cast<std::ptrdiff_t>(n));
    };
    size_t agrees = 0, departs = passes.size();
    State without = state({}), with = state(passes);
    if (without.departs()) return passes.size();  // reading and writing alone
    while (departs - agrees > 1) {
      if (over()) return passes.size();
      const size_t middle = agrees + (departs - agrees) / 2;
      State now = state(first(middle));
      if (now.departs()) {
        departs = middle;
        with = std::move(now);
      } else {
        agrees = middle;
        without = std::move(now);
      }
    }
    OptimizerFinding finding;
    finding.pass = passes[departs - 1];
    finding.max_abs_before = without.moved.max_abs;
    finding.max_abs_after = with.moved.max_abs;
    finding.largest = with.moved.largest;
    finding.error = with.error;
    for (const auto& node : without.nodes) {
      const auto kept = with.nodes.find(node.first);
      if (with.error.empty() && (kept == with.nodes.end() || kept->second != node.second)) finding.gone.push_back(node);
    }
    for (const auto& node : with.nodes) {
      const auto before = without.nodes.find(node.first);
      if (before == without.nodes.end() || before->second != node.second) finding.new_nodes.push_back(node);
    }
    report_.findings.push_back(std::move(finding));
    return departs - 1;
  }

  const std::vector<BisectSample>& samples_;
  const Optimizer& optimizer_;
  const OptimizerOptions& options_;
  std::vector<Outcome> right_;
  OptimizerReport report_;
};

}  // namespace

OptimizerReport search_optimizer(const Graph& model, const std::vector<BisectSample>& samples,
                                 const Optimizer& optimizer, const OptimizerOptions& options) {
  return OptimizerSearch(model, samples, optimizer, options).run();
}

}  // namespace dnn
