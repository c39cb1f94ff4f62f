// Measuring what quantisation costs; see quantised_cost.h.
#include "localize/quantised_cost.h"

#include <algorithm>
#include <cmath>

#include "infer/trace.h"

namespace dnn {
namespace {

// Sums of squares of a signal and of what is added to it.
struct Noise {
  double signal = 0, noise = 0, n = 0, beyond = 0;
  std::optional<double> decibels() const {
    if (noise == 0 || signal == 0) return std::nullopt;
    return 10 * std::log10(signal / noise);
  }
};

struct Point {
  NodeId quantizer = -1;
  Joint joint;
  QuantisedScale scale;
  Noise whole;
};

class Costs {
 public:
  Costs(const QuantisedPair& pair, ThreadPool* pool)
      : pair_(pair), source_(pair.as_quantised()), own_(source_, pair.written(), options(pool)) {
    const Graph& target = pair.written();
    std::vector<Joint> joints;
    for (NodeId id : target.order()) {
      const Node& node = target.node(id);
      if (node.op != "QuantizeLinear" || target.constant(node.input(0)) != nullptr) continue;
      const auto scale = scale_of(target, node);
      const auto there = pair.verdict().match.values.find(node.input(0));
      if (!scale || there == pair.verdict().match.values.end() || !add_joint(there->second, node.input(0), &joints))
        continue;
      points_.push_back({id, joints.back(), *scale, {}});
    }
    for (ValueId out : target.outputs) {
      const auto there = pair.verdict().match.values.find(out);
      if (there != pair.verdict().match.values.end()) add_joint(there->second, out, &joints);
    }
    for (size_t i = 0; i < std::min(target.inputs.size(), source_.inputs.size()); ++i)
      add_joint(source_.inputs[i], target.inputs[i], &joints);
    own_.line_up(joints, std::vector<LayerPair::By>(joints.size(), LayerPair::By::Values));
  }

  void add(const std::vector<stream::TensorRecord>& source, const std::vector<stream::TensorRecord>& target) {
    NamedTensors ours, theirs;
    for (const stream::TensorRecord& r : source) ours[r.name] = r.tensor;
    for (const stream::TensorRecord& r : target) theirs[r.name] = r.tensor;
    own_.add(ours);
    for (Point& p : points_) {
      const auto a = ours.find(source_.value(p.joint.source).name);
      const auto b = theirs.find(pair_.written().value(p.joint.target).name);
      if (a == ours.end() || b == theirs.end() || a->second.size() != b->second.size()) continue;
      const std::vector<AxisOrder> orders = axis_orders(a->second.shape(), b->second.shape());
      if (orders.empty()) continue;
      const std::vector<double> left = to_doubles(a->second),
                                right = to_doubles(reordered(b->second, orders[0], a->second.shape()));
      // Tells what the range stands for an activation cuts off is no loss.
      const auto clamp = pair_.verdict().match.clamps.find(p.quantizer);
      const auto bounds = clamp == pair_.verdict().match.clamps.end()
                              ? std::nullopt
                              : clamp_bounds(source_, source_.node(clamp->second));
      for (size_t i = 0; i < left.size(); ++i) {
        const double x = bounds ? std::clamp(left[i], bounds->first, bounds->second) : left[i];
        const double y = bounds ? std::clamp(right[i], bounds->first, bounds->second) : right[i];
        p.whole.signal += x * x;
        p.whole.noise += (x - y) * (x - y);
        p.whole.n += 1;
        p.whole.beyond += x > p.scale.high() + p.scale.scale || x < p.scale.low() - p.scale.scale ? 1 : 0;
      }
    }
  }

  std::vector<QuantisedCost> costs() const {
    std::vector<QuantisedCost> found;
    const Uses uses(source_);
    for (const Point& p : points_) {
      QuantisedCost cost;
      cost.layer = source_.value(p.joint.source).name;
      const NodeId maker = uses.producer[p.joint.source];
      if (maker < 0) continue;
      cost.op = source_.node(maker).op;
      cost.whole = p.whole.decibels();
      cost.clipped = p.whole.n == 0 ? 0 : p.whole.beyond / p.whole.n;
      for (const OwnError& r : own_.results()) {
        if (r.joint.target != p.joint.target || !(r.error > 0) || !std::isfinite(r.error)) continue;
        cost.local = -20 * std::log10(r.error);
      }
      found.push_back(std::move(cost));
    }
    std::stable_sort(found.begin(), found.end(), [](const QuantisedCost& a, const QuantisedCost& b) {
      return a.local.value_or(1e9) < b.local.value_or(1e9);
    });
    return found;
  }

 private:
  static OwnErrorOptions options(ThreadPool* pool) {
    OwnErrorOptions options;
    options.pool = pool;
    options.refine_flops = 0;  // the joints are what they are
    return options;
  }

  bool add_joint(ValueId source, ValueId target, std::vector<Joint>* joints) const {
    for (const Joint& j : *joints) {
      if (j.source == source || j.target == target) return false;
    }
    const Type &a = source_.value(source).type, &b = pair_.written().value(target).type;
    Joint joint;
    joint.source = source;
    joint.target = target;
    if (a.fixed() && b.fixed()) {
      const std::vector<AxisOrder> orders = axis_orders(a.fixed_shape(), b.fixed_shape());
      if (orders.empty()) return false;
      joint.order = orders[0];
    }
    joints->push_back(std::move(joint));
    return true;
  }

  const QuantisedPair& pair_;
  const Graph& source_;
  OwnErrors own_;
  std::vector<Point> points_;
};

}  // namespace

Tensor as_numbers(const Graph& graph, size_t output, const Tensor& made) {
  if (!is_integer(made.dtype()) || output >= graph.outputs.size()) return made;
  const NodeId maker = Uses(graph).producer[graph.outputs[output]];
  const auto scale =
      maker < 0 || graph.node(maker).op != "QuantizeLinear" ? std::nullopt : scale_of(graph, graph.node(maker));
  if (!scale) return made;
  std::vector<double> numbers = to_doubles(made);
  for (double& x : numbers) x = (x - scale->zero_point) * scale->scale;
  return convert(Tensor::of<double>(made.shape(), numbers), DType::Float32);
}

SourceRanges measure_ranges(const LocalizeRequest& request, ComparedNetwork& source) {
  SourceRanges ranges;
  for (int64_t n = 0; n < kMostRanged; ++n) {
    const auto load = source.samples->next();
    if (!load || (n > 0 && request.deadline.stops())) return ranges;
    const LoadedSample sample = (*load)();
    if (sample.error) continue;
    for (const stream::TensorRecord& record : trace_run(*source.session, sample.inputs))
      ranges[record.name].add(record.tensor);
  }
  return ranges;
}

void measure_costs(const LocalizeRequest& request, const QuantisedPair& pair, ComparedNetwork& source,
                   ComparedNetwork& target, ThreadPool* pool, QuantisationReport* report) {
  Costs costs(pair, pool);
  try {
    for (int64_t n = 0; n < kMostRanged && !(n > 0 && request.deadline.stops()); ++n) {
      const auto load_a = source.samples->next(), load_b = target.samples->next();
      if (!load_a || !load_b) break;
      const LoadedSample a = (*load_a)(), b = (*load_b)();
      if (a.error || b.error) continue;
      const std::vector<stream::TensorRecord> ours = trace_run(*source.session, a.inputs),
                                              theirs = trace_run(*target.session, b.inputs);
      costs.add(ours, theirs);
      ++report->n_samples;
      const std::vector<Tensor> left = source.session->run(a.inputs), right = target.session->run(b.inputs);
      bool same = true;
      for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
        const Tensor theirs_i = as_numbers(pair.written(), i, right[i]);
        if (left[i].size() != theirs_i.size() || !is_float(left[i].dtype())) continue;
        const std::vector<AxisOrder> orders = axis_orders(left[i].shape(), theirs_i.shape());
        if (orders.empty() || !is_float(theirs_i.dtype())) continue;
        const Distance d = compare(left[i], reordered(theirs_i, orders[0], left[i].shape()));
        report->outputs_apart = std::max(report->outputs_apart, part_of_largest(d));
        if (i == 0) same = top_label(left[i]) == top_label(theirs_i);
      }
      report->n_relabelled += same ? 0 : 1;
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    report->why_no_costs = e.what();
    return;
  }
  if (report->n_samples > 0) report->costs = costs.costs();
}

}  // namespace dnn
