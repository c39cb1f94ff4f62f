// Running a network's segments on another's activations; see own_error.h.
#include "localize/own_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/mappings.h"
#include "interp/interpreter.h"
#include "localize/side_run.h"
#include "ops/op.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr int kMostJudged = 4;  // samples in float64 of one segment
constexpr double kSameValue = 1e-5;

// Values that an input has part in.
std::vector<bool> from_inputs(const Graph& graph) {
  std::vector<bool> from(graph.value_count(), false);
  for (ValueId v : graph.inputs) from[v] = true;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::vector<ValueId> reads = node.inputs;
    for (ValueId v : captured_values(graph, node)) reads.push_back(v);
    const bool reached = std::any_of(reads.begin(), reads.end(), [&](ValueId v) { return v != kNoValue && from[v]; });
    for (ValueId v : node.outputs) {
      if (v != kNoValue) from[v] = reached;
    }
  }
  return from;
}

// The extents of `shape` in another order, with extents of 1 where `like` has them; as it is where that cannot be.
Shape shape_for(const Shape& shape, const AxisOrder& order, Shape like) {
  std::vector<int64_t> wide;
  for (int64_t extent : shape) {
    if (extent != 1) wide.push_back(extent);
  }
  size_t n = 0;
  for (int64_t extent : like) n += extent != 1 ? 1 : 0;
  if (wide.size() != n || order.size() != n) return shape;
  size_t at = 0;
  for (int64_t& extent : like) {
    if (extent != 1) extent = wide[order[at++]];
  }
  return like;
}

bool is_identity(const AxisOrder& order) { return std::is_sorted(order.begin(), order.end()); }

}  // namespace

double OwnError::bound() const { return rounding_bound(rounding); }

double OwnError::certainty() const {
  if (verdict == Verdict::Fails) return kInfinite;
  return exact ? *exact / bound() : 0;
}

OwnErrors::OwnErrors(const Graph& source, const Graph& target, OwnErrorOptions options)
    : source_(source),
      target_(target),
      options_(std::move(options)),
      from_input_source_(from_inputs(source)),
      from_input_target_(from_inputs(target)) {}

void OwnErrors::line_up(const std::vector<Joint>& joints, const std::vector<LayerPair::By>& by) {
  for (size_t i = 0; i < joints.size(); ++i) {
    if (!from_input_source_[joints[i].source] || !from_input_target_[joints[i].target]) continue;
    OwnError result;
    result.joint = joints[i];
    result.by = by[i];
    results_.push_back(std::move(result));
  }
  sums_.resize(results_.size());
  active_.assign(results_.size(), true);
  cut();
}

std::vector<ValueId> OwnErrors::ends(bool source) const {
  std::vector<ValueId> values;
  for (size_t j = 0; j < results_.size(); ++j) {
    values.push_back(!active_[j] ? kNoValue : source ? results_[j].joint.source : results_[j].joint.target);
  }
  return values;
}

// Segments as the active joints make them. What was measured of one that stays is kept.
void OwnErrors::cut() {
  std::vector<Segment> before;
  for (OwnError& r : results_) {
    before.push_back(std::move(r.target));
    r.source = r.target = {};
  }
  for (Segment& s : cut_at(source_, ends(true))) results_[s.joint].source = std::move(s);
  for (Segment& s : cut_at(target_, ends(false))) results_[s.joint].target = std::move(s);
  for (size_t j = 0; j < results_.size(); ++j) {
    OwnError& r = results_[j];
    if (before[j].nodes != r.target.nodes || before[j].inputs != r.target.inputs || r.n_samples == 0) forget(j);
  }
}

// What was measured of a segment.
void OwnErrors::forget(size_t joint) {
  OwnError& r = results_[joint];
  OwnError fresh;
  fresh.joint = r.joint;
  fresh.by = r.by;
  fresh.source = std::move(r.source);
  fresh.target = std::move(r.target);
  r = std::move(fresh);
  sums_[joint] = {};
}

// A joint that may be no common value: wrong, and not what a user says.
bool OwnErrors::doubtful(size_t joint) const {
  return active_[joint] && results_[joint].wrong() && results_[joint].by != LayerPair::By::Given;
}

// Asked before each trial of another line-up.
bool OwnErrors::may_try() {
  const bool may = flops_ <= most_flops_ && !options_.deadline.stops();
  complete_ = complete_ && may;
  return may;
}

const Tensor& OwnErrors::expected(size_t joint, const NamedTensors& values) const {
  static const Tensor none;
  const auto found = values.find(source_.value(results_[joint].joint.source).name);
  return found == values.end() ? none : found->second;
}

// The source's activation as the target (or the source itself) holds it.
Tensor OwnErrors::feed(size_t joint, const NamedTensors& values, bool source) const {
  const Joint& j = results_[joint].joint;
  const Tensor& tensor = expected(joint, values);
  if (!tensor.defined()) fail_unsupported("the source's '", source_.value(j.source).name, "' is not known");
  if (source) return tensor;
  const Type& type = target_.value(j.target).type;
  Tensor moved = tensor;
  if (type.fixed() && (type.fixed_shape() != tensor.shape() || !is_identity(j.order)))
    moved = reordered(tensor, inverse(j.order), shape_for(tensor.shape(), inverse(j.order), type.fixed_shape()));
  return type.dtype == DType::Undefined || type.dtype == moved.dtype() ? moved : convert(moved, type.dtype);
}

Tensor OwnErrors::run(const Graph& graph, const std::vector<ValueId>& ends, const Segment& segment,
                      const NamedTensors& values, bool source, bool wide, std::map<std::string, Tensor>* inner,
                      const std::map<size_t, Tensor>& made) const {
  if (segment.open) fail_unsupported("it reads an input of the network that the other has not");
  for (NodeId id : segment.nodes) flops_.fetch_add(std::floor(node_flops(graph, graph.node(id))));
  std::map<size_t, Type> types;
  std::map<size_t, Tensor> given;
  for (size_t j : segment.inputs) {
    const auto other = made.find(j);
    given[j] = other == made.end() ? feed(j, values, source) : other->second;
    types[j] = Type(given[j]);
  }
  SegmentGraph part = graph_of(graph, ends, {&segment}, types);
  if (wide) part.graph = widen_to_float64(part.graph);
  std::vector<Tensor> inputs;
  for (size_t j : part.inputs) inputs.push_back(given[j]);
  if (wide) inputs = in_float64(inputs);
  Observer observe;
  if (inner != nullptr) {
    observe = [&](const Graph& g, ValueId id, const Tensor& tensor) {
      if (&g == &part.graph) (*inner)[g.value(id).name] = tensor;
    };
  }
  return interpret(part.graph, inputs, observe, {}, shared_out_ ? nullptr : options_.pool)[0];
}

// What the target's segment and the source's compute in float64 from the same activations, and how far each is from that in
// float32.
void OwnErrors::judge(size_t joint, const Tensor& made, const NamedTensors& values) {
  OwnError& r = results_[joint];
  ++sums_[joint].judged;
  const Tensor& reference = expected(joint, values);
  const Tensor theirs = run(target_, ends(false), r.target, values, false, true);
  const Tensor ours = run(source_, ends(true), r.source, values, true, true);
  if (ours.size() != reference.size() || theirs.size() != ours.size()) {
    r.exact = kInfinite;
    return;
  }
  const Tensor turned = reordered(theirs, r.joint.order, ours.shape());
  const double exact = part_of_largest(compare(ours, turned));
  const double rounding = part_of_largest(compare(ours, reference)) +
                          part_of_largest(compare(turned, reordered(made, r.joint.order, ours.shape())));
  // Whichever sample says most.
  if (!r.exact || exact > *r.exact) r.exact = exact;
  if (std::isfinite(rounding)) r.rounding = std::max(r.rounding, rounding);
}

void OwnErrors::measure(size_t joint, const Tensor& made, const NamedTensors& values, bool count) {
  OwnError& r = results_[joint];
  const Tensor& reference = expected(joint, values);
  if (!reference.defined()) return;
  if (count) ++r.n_samples;
  const std::vector<AxisOrder> orders = axis_orders(reference.shape(), made.shape());
  // A joint of extents that differ has no order yet where nothing in front of it told one.
  const bool unknown = r.joint.fits || r.joint.order.empty();
  const bool found = std::find(orders.begin(), orders.end(), r.joint.order) != orders.end();
  if (!found && !orders.empty() && unknown) r.joint.order = orders.front();
  if (made.size() != reference.size() || orders.empty() || (!found && !unknown)) {
    r.source_shape = reference.shape();
    r.target_shape = made.shape();
    r.max_abs = r.error = kInfinite;
    r.exact = kInfinite;
    r.verdict = OwnError::Verdict::Wrong;
    r.n_differing += count ? 1 : 0;
    return;
  }
  const Distance d = compare(reference, reordered(made, r.joint.order, reference.shape()));
  r.max_abs = std::max(r.max_abs, d.max_abs);
  r.largest = std::max(r.largest, d.largest);
  Sums& sums = sums_[joint];
  sums.difference_squares += d.difference_squares;
  sums.reference_squares += d.reference_squares;
  r.error = r.max_abs == 0 ? 0
            : std::isinf(r.max_abs) || sums.reference_squares == 0
                ? kInfinite
                : std::sqrt(sums.difference_squares / sums.reference_squares);
  if (d.max_abs == 0) return;
  const double own = part_of_largest(d);
  // Of a wrong one a few samples say how wrong; one that was rounding so far may be wrong on any.
  if (own > r.bound() && (sums.judged < kMostJudged || r.verdict != OwnError::Verdict::Wrong))
    judge(joint, made, values);
  const bool wrong = own > r.bound() && r.exact && *r.exact > r.bound();
  if (wrong) r.n_differing += count ? 1 : 0;
  r.verdict = wrong || r.verdict == OwnError::Verdict::Wrong ? OwnError::Verdict::Wrong : OwnError::Verdict::Rounding;
}

bool OwnErrors::is_identical(size_t joint) const {
  const OwnError& r = results_[joint];
  for (size_t j : r.target.inputs) {
    if (!is_identity(results_[j].joint.order)) return false;
  }
  return is_identity(r.joint.order) && same_computation(source_, ends(true), r.source, target_, ends(false), r.target);
}

void OwnErrors::measure_alone(size_t joint, const NamedTensors& values, bool count) {
  OwnError& r = results_[joint];
  if (!active_[joint] || r.target.nodes.empty() || options_.deadline.stops()) return;
  if (is_identical(joint)) {
    r.identical = true;
    r.n_samples += count ? 1 : 0;
    r.largest = 0;
    return;
  }
  run_and_measure(joint, values, count);
}

void OwnErrors::run_and_measure(size_t joint, const NamedTensors& values, bool count) {
  OwnError& r = results_[joint];
  try {
    measure(joint, run(target_, ends(false), r.target, values, false, false), values, count);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    r.verdict = OwnError::Verdict::Fails;
    r.failure = e.what();
    r.max_abs = r.error = kInfinite;
    if (!count) return;
    ++r.n_samples;
    ++r.n_differing;
  }
}

// Joints that are computed from some of these, and are none of them.
std::set<size_t> OwnErrors::behind(const std::set<size_t>& joints) const {
  std::set<size_t> found;
  for (size_t j = 0; j < results_.size(); ++j) {
    const std::vector<size_t>& inputs = results_[j].target.inputs;
    if (active_[j] && joints.count(j) == 0 &&
        std::any_of(inputs.begin(), inputs.end(), [&](size_t i) { return joints.count(i) != 0; }))
      found.insert(j);
  }
  return found;
}

// Whether a segment of the target computes what the source's does, from the source's activations.
bool OwnErrors::is_right(size_t joint, const Segment& ours, const Segment& theirs,
                         const std::vector<ValueId>& source_ends, const std::vector<ValueId>& target_ends,
                         const AxisOrder& order, const NamedTensors& values) const {
  const Tensor& reference = expected(joint, values);
  try {
    const Tensor made = run(target_, target_ends, theirs, values, false, false);
    if (!reference.defined() || made.size() != reference.size()) return false;
    const double own = part_of_largest(compare(reference, reordered(made, order, reference.shape())));
    if (own <= kRoundingFloor) return true;
    if (!(own < 1e-2)) return false;
    const Tensor exact_b = reordered(run(target_, target_ends, theirs, values, false, true), order, reference.shape());
    const Tensor exact_a = run(source_, source_ends, ours, values, true, true);
    const double rounding = part_of_largest(compare(exact_a, reference)) +
                            part_of_largest(compare(exact_b, reordered(made, order, reference.shape())));
    return part_of_largest(compare(exact_a, exact_b)) <= rounding_bound(rounding);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    return false;
  }
}

// Whether with joints at other ends all that is computed from the changed ones agrees.
bool OwnErrors::agrees(const std::vector<ValueId>& source_ends, const std::vector<ValueId>& target_ends,
                       const std::set<size_t>& changed, const std::vector<AxisOrder>& orders,
                       const NamedTensors& values) const {
  const std::set<size_t> readers = behind(changed);
  std::map<size_t, Segment> ours, theirs;
  for (Segment& s : cut_at(source_, source_ends)) ours[s.joint] = std::move(s);
  for (Segment& s : cut_at(target_, target_ends)) theirs[s.joint] = std::move(s);
  return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](size_t j) {
    return is_right(j, ours[j], theirs[j], source_ends, target_ends, orders[j], values);
  });
}

bool OwnErrors::agrees_without(const std::set<size_t>& withdrawn, const NamedTensors& values) const {
  std::vector<ValueId> a = ends(true), b = ends(false);
  std::vector<AxisOrder> orders;
  for (const OwnError& r : results_) orders.push_back(r.joint.order);
  for (size_t j : withdrawn) {
    if (target_.is_output(b[j])) return false;
    a[j] = b[j] = kNoValue;
  }
  return agrees(a, b, withdrawn, orders, values);
}

// Tries another end of a joint; whether what reads it agrees then.
bool OwnErrors::move_end(size_t joint, bool source, ValueId to, const NamedTensors& values) {
  OwnError& r = results_[joint];
  const Joint before = r.joint;
  (source ? r.joint.source : r.joint.target) = to;
  const Tensor& tensor = expected(joint, values);
  const Type& type = target_.value(r.joint.target).type;
  if (tensor.defined() && type.fixed()) {
    for (const AxisOrder& order : axis_orders(tensor.shape(), type.fixed_shape())) {
      r.joint.order = order;
      std::vector<AxisOrder> orders;
      for (const OwnError& other : results_) orders.push_back(other.joint.order);
      if (agrees(ends(true), ends(false), {joint}, orders, values)) return true;
    }
  }
  r.joint = before;
  return false;
}

// The nodes that all wrong segments have in common that read a joint, where these are several: one fault, which each of them holds.
std::set<NodeId> OwnErrors::shared_nodes(size_t joint, bool source) const {
  std::map<NodeId, size_t> n_in;
  size_t n_wrong = 0;
  for (size_t i = 0; i < results_.size(); ++i) {
    const OwnError& r = results_[i];
    if (!active_[i] || !r.wrong() || std::count(r.target.inputs.begin(), r.target.inputs.end(), joint) == 0) continue;
    ++n_wrong;
    for (NodeId id : (source ? r.source : r.target).nodes) ++n_in[id];
  }
  std::set<NodeId> shared;
  for (const auto& [id, n] : n_in) {
    if (n_wrong > 1 && n == n_wrong) shared.insert(id);
  }
  return shared;
}

// Where a joint and what reads it are wrong, another end of it may be the same value: where a network has folded one layer into
// another that is wrong. So where all that reads it is wrong by the same nodes, which are one fault then and not several.
bool OwnErrors::realign(const NamedTensors& values) {
  bool any = false;
  for (size_t j = 0; j < results_.size(); ++j) {
    if (!active_[j] || results_[j].by == LayerPair::By::Given || target_.is_output(results_[j].joint.target)) continue;
    const std::set<NodeId> ours = shared_nodes(j, true), theirs = shared_nodes(j, false);
    // A joint that is right stays, but for a fault that all behind it share; so does an input, which nothing makes.
    if (!results_[j].wrong() && ((ours.empty() && theirs.empty()) || results_[j].target.nodes.empty())) continue;
    std::vector<std::pair<bool, ValueId>> candidates;
    const std::vector<ValueId> a = ends(true), b = ends(false);
    const std::set<ValueId> used_source(a.begin(), a.end()), used_target(b.begin(), b.end());
    const auto offer = [&](bool source, const Segment& segment) {
      const Graph& graph = source ? source_ : target_;
      if (segment.nodes.size() > 12) return;
      for (NodeId id : segment.nodes) {
        if (!results_[j].wrong() && (source ? ours : theirs).count(id) == 0) continue;
        for (ValueId v : graph.node(id).outputs) {
          const bool used = source ? used_source.count(v) != 0 : used_target.count(v) != 0;
          if (v != kNoValue && !used && is_float(graph.value(v).type.dtype)) candidates.emplace_back(source, v);
        }
      }
    };
    bool behind_wrong = false;
    for (size_t i = 0; i < results_.size(); ++i) {
      const std::vector<size_t>& inputs = results_[i].target.inputs;
      if (!active_[i] || !results_[i].wrong() || std::find(inputs.begin(), inputs.end(), j) == inputs.end()) continue;
      behind_wrong = true;
      offer(true, results_[i].source);
      offer(false, results_[i].target);
    }
    if (!behind_wrong) continue;
    if (results_[j].wrong()) {
      offer(true, results_[j].source);
      offer(false, results_[j].target);
    }
    for (const auto& candidate : candidates) {
      if (!may_try()) return any;
      if (!move_end(j, candidate.first, candidate.second, values)) continue;
      any = true;
      cut();
      forget(j);
      for (size_t i = 0; i < results_.size(); ++i) {  // they have read another value so far
        const std::vector<size_t>& inputs = results_[i].target.inputs;
        if (std::find(inputs.begin(), inputs.end(), j) != inputs.end()) forget(i);
      }
      measure_fresh(values);
      break;
    }
  }
  return any;
}

void OwnErrors::measure_fresh(const NamedTensors& values) {
  for (size_t i = 0; i < results_.size(); ++i) {
    if (results_[i].n_samples == 0 && results_[i].failure.empty()) measure_alone(i, values, true);
  }
}

// Takes back joints that are not the same value: wrong by themselves, while what follows agrees without them.
bool OwnErrors::withdraw(const NamedTensors& values) {
  bool any = false;
  std::set<size_t> tried;
  for (size_t j = 0; j < results_.size(); ++j) {
    if (!doubtful(j) || !may_try()) continue;
    std::set<size_t> taken = {j};
    bool agrees = agrees_without(taken, values);
    for (int more = 0; !agrees && more < 3 && taken.size() < 8; ++more) {
      std::set<size_t> wider = taken;  // with the wrong ones beside
      for (size_t i = 0; i < results_.size(); ++i) {
        if (!doubtful(i)) continue;
        for (size_t from : results_[i].target.inputs) {
          if (taken.count(from) != 0) wider.insert(i);
          if (taken.count(i) != 0 && doubtful(from)) wider.insert(from);
        }
      }
      if (wider == taken) break;
      taken = std::move(wider);
      agrees = agrees_without(taken, values);
    }
    if (!agrees) continue;
    for (size_t i : taken) active_[i] = false;
    any = true;
    cut();
    measure_fresh(values);
  }
  return any;
}

void OwnErrors::add_by_values(const Joint& joint) {
  OwnError result;
  result.joint = joint;
  result.by = LayerPair::By::Values;
  results_.push_back(std::move(result));
  sums_.emplace_back();
  active_.push_back(true);
}

// Values inside wrong segments that agree on both sides become joints, so that what is wrong is told from what is not.
bool OwnErrors::join(const NamedTensors& values) {
  const std::vector<ValueId> a = ends(true), b = ends(false);
  std::vector<Joint> found;
  std::set<ValueId> used_source(a.begin(), a.end()), used_target(b.begin(), b.end());
  for (size_t j = 0; j < results_.size(); ++j) {
    const OwnError& r = results_[j];
    if (!active_[j] || !r.wrong() || r.source.nodes.size() < 2 || r.target.nodes.size() < 2 || !may_try()) continue;
    std::map<std::string, Tensor> inner;
    try {
      run(target_, b, r.target, values, false, false, &inner);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    }
    for (NodeId sn : r.source.nodes) {
      for (ValueId s : source_.node(sn).outputs) {
        if (s == kNoValue || used_source.count(s) != 0 || !from_input_source_[s]) continue;
        const auto ours = values.find(source_.value(s).name);
        if (ours == values.end() || !is_float(ours->second.dtype()) || ours->second.size() < 2) continue;
        std::optional<Joint> best;
        for (NodeId tn : r.target.nodes) {
          for (ValueId t : target_.node(tn).outputs) {
            if (t == kNoValue || used_target.count(t) != 0 || best) continue;
            const auto theirs = inner.find(target_.value(t).name);
            if (theirs == inner.end() || theirs->second.size() != ours->second.size() ||
                !is_float(theirs->second.dtype()))
              continue;
            for (const AxisOrder& order : axis_orders(ours->second.shape(), theirs->second.shape())) {
              const Distance d = compare(ours->second, reordered(theirs->second, order, ours->second.shape()));
              if (!(d.largest > 0 && d.max_abs <= kSameValue * d.largest)) continue;
              best = Joint{s, t, order, true};
              break;
            }
          }
        }
        if (!best) continue;
        used_source.insert(s);
        used_target.insert(best->target);
        found.push_back(*best);
      }
    }
  }
  for (const Joint& joint : found) add_by_values(joint);
  if (found.empty()) return false;
  cut();
  measure_fresh(values);
  return true;
}

// Takes back joints that order alone made, where they are wrong and what reads them is not right either.
void OwnErrors::doubt_order(const NamedTensors& values) {
  std::vector<bool> doubted(results_.size(), false), read(results_.size(), false), misread(results_.size(), false);
  for (size_t j = 0; j < results_.size(); ++j) {
    if (!active_[j]) continue;
    for (size_t from : results_[j].target.inputs) {
      read[from] = true;
      misread[from] = misread[from] || results_[j].wrong();
    }
  }
  bool any = false;
  for (size_t j = 0; j < results_.size(); ++j) {
    if (!active_[j] || results_[j].by != LayerPair::By::Order || !results_[j].wrong() || (read[j] && !misread[j]))
      continue;
    if (target_.is_output(results_[j].joint.target)) continue;
    active_[j] = false;
    any = true;
  }
  if (!any) return;
  cut();
  measure_fresh(values);
}

// body(0) to body(n - 1), which may not change what another reads.
void OwnErrors::each(int64_t n, const std::function<void(int64_t)>& body) const {
  // An order of axes that only the segment's run tells is changed by the one and read by the others.
  if (options_.pool == nullptr || !orders_known_) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  shared_out_ = true;
  try {
    share_out(*options_.pool, n, body);
  } catch (...) {
    shared_out_ = false;
    throw;
  }
  shared_out_ = false;
}

void OwnErrors::settle(const NamedTensors& values) {
  for (OwnError& r : results_) {
    const Type& type = target_.value(r.joint.target).type;
    const auto found = values.find(source_.value(r.joint.source).name);
    if (found == values.end()) continue;  // nothing to compare with
    const std::vector<AxisOrder> orders =
        type.fixed() ? axis_orders(found->second.shape(), type.fixed_shape()) : std::vector<AxisOrder>();
    orders_known_ = orders_known_ && !orders.empty();
    if (!orders.empty() && r.joint.fits && std::find(orders.begin(), orders.end(), r.joint.order) == orders.end())
      r.joint.order = orders.front();
  }
  each(static_cast<int64_t>(results_.size()), [&](int64_t j) { measure_alone(j, values, true); });
  doubt_order(values);
  most_flops_ = flops_ + options_.refine_flops;
  for (int round = 0; round < 3; ++round) {
    const bool withdrawn = withdraw(values), joined = join(values), moved = realign(values);
    if (!withdrawn && !joined && !moved) break;
  }
  const double left = most_flops_ - flops_;
  most_flops_ = flops_ + options_.refine_flops;
  merge_equivalent(values);
  most_flops_ = flops_ + options_.refine_flops;
  narrow(values);
  withdraw(values);  // what was read by a wide segment that is wrong elsewhere
  most_flops_ = flops_ + left;
  explain(values);
  find_latent(values);
  find_hidden(values);
  forget_mapped_files();  // the weights as the models hold them
}

bool OwnErrors::holds(ValueId source, ValueId target) const {
  if (!from_input_source_[source] || !from_input_target_[target]) return true;
  for (size_t j = 0; j < results_.size(); ++j) {
    if (active_[j] && results_[j].joint.source == source && results_[j].joint.target == target) return true;
  }
  return false;
}

Isolated OwnErrors::isolate(const Graph& target, size_t joint, size_t kept) const {
  const NamedTensors& values = kept_.at(kept);
  const OwnError& r = results_.at(joint);
  const std::vector<ValueId> source_ends = ends(true), target_ends = ends(false);
  const std::vector<Segment> parts = cut_at(target, target_ends);
  const auto part = std::find_if(parts.begin(), parts.end(), [&](const Segment& s) { return s.joint == joint; });
  if (part == parts.end()) fail_unsupported("no layer makes it");
  if (part->open) fail_unsupported("it reads an input of the network that the other has not");
  std::set<size_t> begins(part->inputs.begin(), part->inputs.end());
  begins.insert(r.source.inputs.begin(), r.source.inputs.end());
  Isolated isolated;
  isolated.order = r.joint.order;
  std::map<size_t, Type> ours, theirs;
  for (size_t j : begins) {
    isolated.source_inputs.push_back(feed(j, values, true));
    isolated.target_inputs.push_back(feed(j, values, false));
    isolated.input_orders.push_back(results_[j].joint.order);
    ours[j] = Type(isolated.source_inputs.back());
    theirs[j] = Type(isolated.target_inputs.back());
  }
  // What the other side alone reads is an input too, which nothing reads.
  const auto cut_out = [&](const Graph& graph, const std::vector<ValueId>& its_ends, const Segment& segment,
                           const std::map<size_t, Type>& types) {
    SegmentGraph own = graph_of(graph, its_ends, {&segment}, types);
    std::vector<ValueId> inputs;
    for (size_t j : begins) {
      const auto at = std::find(own.inputs.begin(), own.inputs.end(), j);
      const std::string& name = graph.value(its_ends[j]).name;
      inputs.push_back(at == own.inputs.end() ? own.graph.add_value(own.graph.unused_value_name(name), types.at(j))
                                              : own.graph.inputs[at - own.inputs.begin()]);
    }
    own.graph.inputs = std::move(inputs);
    return std::move(own.graph);
  };
  isolated.target = cut_out(target, target_ends, *part, theirs);
  if (!r.source.open && !r.source.nodes.empty()) isolated.source = cut_out(source_, source_ends, r.source, ours);
  return isolated;
}

Trial OwnErrors::try_target(const Graph& target, size_t joint, size_t kept) const {
  Trial trial;
  const Tensor& reference = expected(joint, kept_[kept]);
  if (!reference.defined()) {
    trial.failure = "the source's value is not known";
    return trial;
  }
  try {
    return try_isolated(isolate(target, joint, kept), reference);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    trial.failure = e.what();
    return trial;
  }
}

CommonValue OwnErrors::common_value(size_t joint) const {
  const Joint& j = results_[joint].joint;
  CommonValue common = {source_.value(j.source).name, target_.value(j.target).name, j.order, {}, {}};
  const Tensor& tensor = expected(joint, kept_.at(0));
  if (tensor.defined()) common.source_shape = tensor.shape();
  common.target_shape = common.source_shape;
  const Type& type = target_.value(j.target).type;
  if (type.fixed()) common.target_shape = shape_for(common.source_shape, inverse(j.order), type.fixed_shape());
  const size_t n_wide = wide_axes(common.source_shape).size();
  if (n_wide != j.order.size()) {  // lined up though it does not fit
    common.order.resize(n_wide);
    std::iota(common.order.begin(), common.order.end(), size_t{0});
    common.target_shape = common.source_shape;
  }
  return common;
}

void OwnErrors::keep(const NamedTensors& values) {
  size_t bytes = 0;
  for (const auto& [name, tensor] : values) bytes += tensor.size_bytes();
  if (!kept_.empty() && kept_bytes_ + bytes > options_.keep_bytes) return;
  kept_bytes_ += bytes;
  kept_.push_back(values);
}

void OwnErrors::add(const NamedTensors& values) {
  const bool kept_now = kept_.size() < options_.keep;
  if (kept_now) keep(values);
  if (n_samples_++ == 0) {
    settle(values);
    return;
  }
  const auto n_wrong = [&] {
    return std::count_if(results_.begin(), results_.end(), [](const OwnError& r) { return r.wrong(); });
  };
  const auto wrong_before = n_wrong();
  each(static_cast<int64_t>(results_.size()), [&](int64_t i) {
    const size_t j = i;
    OwnError& r = results_[j];
    if (!active_[j] || r.target.nodes.empty()) return;
    const bool differs = r.verdict == OwnError::Verdict::Fails || !r.source_shape.empty();
    if (differs || r.identical) {  // what is so on every sample
      ++r.n_samples;
      r.n_differing += differs ? 1 : 0;
    } else if (!r.target.open && expected(j, values).defined()) {
      run_and_measure(j, values, true);
    }
  });
  if (options_.keep_showing && n_wrong() > wrong_before && !kept_now) keep(values);
}

std::optional<std::pair<Tensor, Tensor>> OwnErrors::side_by_side(size_t joint, size_t kept) const {
  const OwnError& r = results_.at(joint);
  const NamedTensors& values = kept_.at(kept);
  const Tensor& reference = expected(joint, values);
  if (!reference.defined() || r.verdict == OwnError::Verdict::Fails) return std::nullopt;
  Tensor made;
  try {
    made = run(target_, ends(false), r.target, values, false, false);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    return std::nullopt;
  }
  const std::vector<AxisOrder> orders = axis_orders(reference.shape(), made.shape());
  if (std::find(orders.begin(), orders.end(), r.joint.order) == orders.end()) return std::nullopt;
  return std::pair(reference, reordered(made, r.joint.order, reference.shape()));
}

}  // namespace dnn
