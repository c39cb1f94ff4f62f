// Partition search; see partition.h.
#include "localize/partition.h"

#include <algorithm>
#include <optional>
#include <set>

#include "interp/interpreter.h"
#include "localize/parts.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

class PartitionSearch {
 public:
  PartitionSearch(const Graph& model, const std::vector<BisectSample>& samples, const RunSamples& device,
                  const PartitionOptions& options)
      : model_(model), samples_(samples), device_(device), options_(options) {}

  PartitionReport run() {
    report_.n_samples = samples_.size();
    if (!whole_differs()) return report_;
    parts_.emplace(model_, samples_[report_.differs_most].inputs);
    nodes_ = parts_->model().order();
    search(0, nodes_.size());
    if (!report_.findings.empty()) mend();
    return report_;
  }

 private:
  // Runs the whole on all samples; keeps the one that departs most.
  bool whole_differs() {
    std::vector<std::vector<Tensor>> inputs;
    for (const BisectSample& sample : samples_) inputs.push_back(sample.inputs);
    const std::vector<Outcome> got = device_(model_, inputs);
    ++report_.n_runs;
    double worst = -1;
    for (size_t i = 0; i < got.size(); ++i) {
      const Outcome right{interpret(model_, inputs[i]), ""};
      const Movement moved = movement(right, got[i], options_.tolerance);
      if (moved.excess <= worst) continue;
      worst = moved.excess;
      report_.differs_most = i;
      report_.max_abs = moved.max_abs;
      report_.largest = moved.largest;
      report_.error = got[i].error;
    }
    report_.differs = worst > 1;
    return report_.differs;
  }

  std::vector<NodeId> range(size_t from, size_t to) const {
    return {nodes_.begin() + static_cast<std::ptrdiff_t>(from), nodes_.begin() + static_cast<std::ptrdiff_t>(to)};
  }

  bool over() {
    if (report_.n_runs < options_.max_runs && !options_.deadline.stops()) return false;
    report_.ended = false;
    return true;
  }

  // Runs a part on the device.
  Outcome outcome(const Part& part) {
    ++report_.n_runs;
    return device_(part.graph, {part.inputs})[0];
  }

  // How [from, to) departs when it is given what is right; nothing where it does not.
  std::optional<PartitionFinding> departs(size_t from, size_t to) {
    const std::optional<Part> part = parts_->of(range(from, to), parts_->values(), true);
    if (!part) return std::nullopt;
    Outcome right;
    for (ValueId v : part->output_ids) right.outputs.push_back(parts_->values()[v]);
    const Outcome got = outcome(*part);
    const Movement moved = movement(right, got, options_.tolerance);
    if (options_.note)
      options_.note(
          cat("nodes ", from + 1, " to ", to, " of ", nodes_.size(), ": ", moved.excess > 1 ? "depart" : "agree"));
    if (moved.excess <= 1) return std::nullopt;
    PartitionFinding finding;
    finding.max_abs = moved.max_abs;
    finding.largest = moved.largest;
    finding.error = got.error;
    double most = -1;
    for (size_t i = 0; i < got.outputs.size() && i < right.outputs.size(); ++i) {
      const Distance d = compare(right.outputs[i], got.outputs[i]);
      if (d.max_abs <= most) continue;
      most = d.max_abs;
      finding.value = part->graph.value(part->output_ids[i]).name;
    }
    return finding;
  }

  // Finds what departs in [from, to), which does where `known` says how.
  void search(size_t from, size_t to, std::optional<PartitionFinding> known = std::nullopt) {
    if (to - from == 1) {
      if (!known && !over()) known = departs(from, to);
      if (known) found(from, to, std::move(*known));
      return;
    }
    const size_t middle = from + (to - from) / 2;
    if (over()) return;
    const std::optional<PartitionFinding> front = departs(from, middle);
    if (front) search(from, middle, front);
    if (over()) return;
    const std::optional<PartitionFinding> back = departs(middle, to);
    if (back) search(middle, to, back);
    if (front || back) return;
    if (!known) known = departs(from, to);
    if (known) shrink(from, to, std::move(*known));
  }

  // Neither half departs alone: from both ends nodes go as long as what is left departs.
  void shrink(size_t from, size_t to, PartitionFinding known) {
    for (const bool front : {true, false}) {
      for (size_t step = (to - from) / 2; step > 0 && to - from > 1;) {
        const size_t a = front ? from + step : from, b = front ? to : to - step;
        std::optional<PartitionFinding> less;
        if (a < b && !over()) less = departs(a, b);
        if (less) {
          known = std::move(*less);
          from = a;
          to = b;
          step = std::min(step, (to - from) / 2);
        } else {
          step /= 2;
        }
      }
    }
    found(from, to, std::move(known));
  }

  void found(size_t from, size_t to, PartitionFinding finding) {
    for (NodeId id : range(from, to)) {
      const Node& node = parts_->model().node(id);
      std::vector<std::string> values;
      for (ValueId v : node.outputs) {
        if (v != kNoValue) values.push_back(parts_->model().value(v).name);
      }
      finding.nodes.push_back({node.name, node.op, node.sources, values});
      wrong_.insert(id);
    }
    report_.findings.push_back(std::move(finding));
  }

  // The nodes found on the interpreter, the others on the device in runs of neighbours, each on what those before it made.
  void mend() {
    std::vector<Tensor> values = parts_->values();
    const Graph& model = parts_->model();
    for (size_t from = 0; from < nodes_.size();) {
      size_t to = from + 1;
      const bool right = wrong_.count(nodes_[from]) != 0;
      while (to < nodes_.size() && (wrong_.count(nodes_[to]) != 0) == right) ++to;
      const std::optional<Part> part = parts_->of(range(from, to), values, true);
      if (part) {
        const Outcome made = right ? Outcome{interpret(part->graph, part->inputs), ""} : outcome(*part);
        if (!made.error.empty()) return;
        for (size_t i = 0; i < part->output_ids.size(); ++i) values[part->output_ids[i]] = made.outputs[i];
      }
      from = to;
    }
    Outcome first, other;
    for (ValueId v : model.outputs) {
      first.outputs.push_back(parts_->values()[v]);
      other.outputs.push_back(values[v]);
    }
    const Movement moved = movement(first, other, options_.tolerance);
    report_.remaining_max_abs = moved.max_abs;
    report_.mended = moved.excess <= 1;
  }

  const Graph& model_;
  const std::vector<BisectSample>& samples_;
  const RunSamples& device_;
  const PartitionOptions& options_;
  PartitionReport report_;
  std::optional<Parts> parts_;
  std::vector<NodeId> nodes_;
  std::set<NodeId> wrong_;
};

}  // namespace

PartitionReport search_partition(const Graph& model, const std::vector<BisectSample>& samples, const RunSamples& device,
                                 const PartitionOptions& options) {
  return PartitionSearch(model, samples, device, options).run();
}

}  // namespace dnn
