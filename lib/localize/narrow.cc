// Narrowing wrong segments from behind: what computes the source's result from a value inside of the source's segment is right, so that
// what is wrong lies in front of it; see own_error.h.
#include <algorithm>
#include <numeric>
#include <set>

#include "localize/own_error.h"
#include "localize/pair_nodes.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr size_t kMostTrials = 400;  // of one segment

// A value of each segment that might be one, and what speaks for it.
struct InnerPair {
  ValueId source, target;
  size_t depth, apart;  // nodes of the target's segment behind it; and how much further the source's has
  bool paired;          // made by nodes that are one by their operators' order
};

// Those that are furthest behind first, where little is computed anew; of those the ones whose places are the nearest.
bool before(const InnerPair& x, const InnerPair& y) {
  if (x.paired != y.paired) return x.paired;
  if (x.depth != y.depth) return x.depth < y.depth;
  return x.apart < y.apart;
}

std::vector<InnerPair> inner_pairs(const Graph& source, const Segment& a, const Graph& target, const Segment& b) {
  std::set<std::pair<NodeId, NodeId>> paired;
  for (const auto& pair : pair_nodes(source, a.nodes, target, b.nodes)) paired.insert(pair);
  std::vector<InnerPair> pairs;
  for (size_t j = 0; j + 1 < b.nodes.size(); ++j) {
    for (size_t i = 0; i + 1 < a.nodes.size(); ++i) {
      const size_t depth = b.nodes.size() - 1 - j, other = a.nodes.size() - 1 - i;
      const bool one = paired.count({a.nodes[i], b.nodes[j]}) != 0;
      pairs.push_back({source.node(a.nodes[i]).output(0), target.node(b.nodes[j]).output(0), depth,
                       other > depth ? other - depth : depth - other, one});
    }
  }
  std::sort(pairs.begin(), pairs.end(), before);
  return pairs;
}

}  // namespace

// Orders in which a value of the target's segment may be the source's; of extents that differ, as behind a wrong stride, those that keep
// one of them.
std::vector<Joint> OwnErrors::joints_between(ValueId source, ValueId target, const NamedTensors& values) const {
  const auto ours = values.find(source_.value(source).name);
  const Type& type = target_.value(target).type;
  if (ours == values.end() || !is_float(ours->second.dtype()) || ours->second.size() < 2 || !type.fixed() ||
      !is_float(type.dtype))
    return {};
  const Shape &shape = ours->second.shape(), other = type.fixed_shape();
  std::vector<Joint> found;
  for (const AxisOrder& order : axis_orders(shape, other)) found.push_back({source, target, order, true});
  const std::vector<size_t> wide = wide_axes(shape), others = wide_axes(other);
  if (!found.empty() || shape.size() != other.size() || wide.size() != others.size()) return found;
  AxisOrder order(wide.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // As it is, channels moved from the end, and to it.
  for (const size_t moved : {size_t{0}, wide.size() - 1, size_t{1}}) {
    if (wide.size() < 2 && moved != 0) break;
    AxisOrder turned = order;
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(moved), turned.end());
    bool keeps = false;
    for (size_t i = 0; i < wide.size(); ++i) keeps = keeps || shape[wide[i]] == other[others[turned[i]]];
    if (keeps) found.push_back({source, target, turned, false});
  }
  return found;
}

// Tests if with one more joint the segment is right, and none wrong that was right; leaves it behind the others where that is so.
bool OwnErrors::take_between(size_t joint, const Joint& between, const NamedTensors& values) {
  const size_t added = results_.size();
  add_by_values(between);
  const std::vector<ValueId> a = ends(true), b = ends(false);
  std::map<size_t, Segment> ours, theirs;
  for (Segment& s : cut_at(source_, a)) ours[s.joint] = std::move(s);
  for (Segment& s : cut_at(target_, b)) theirs[s.joint] = std::move(s);
  const auto reads = [&](const std::map<size_t, Segment>& side, size_t j) {
    const auto segment = side.find(j);
    return segment != side.end() && std::find(segment->second.inputs.begin(), segment->second.inputs.end(), added) !=
                                        segment->second.inputs.end();
  };
  bool right = reads(ours, joint) && reads(theirs, joint);
  for (size_t j = 0; j < added && right; ++j) {
    if (active_[j] && reads(theirs, j) && (j == joint || !results_[j].wrong()))
      right = is_right(j, ours[j], theirs[j], a, b, results_[j].joint.order, values);
  }
  if (right) {
    orders_known_ = orders_known_ && between.fits;
    return true;
  }
  results_.pop_back();
  sums_.pop_back();
  active_.pop_back();
  return false;
}

// Cuts what is right off a wrong segment's end, as long as anything is. What is in front of it has to be wrong then: a difference that
// rounding hides there stays where it is seen.
void OwnErrors::narrow(const NamedTensors& values) {
  for (size_t j = 0; j < results_.size(); ++j) {
    const OwnError& r = results_[j];
    if (!active_[j] || !r.wrong() || r.source.nodes.size() < 2 || r.target.nodes.size() < 2) continue;
    if (r.source.open || r.target.open) continue;
    const std::vector<ValueId> a = ends(true), b = ends(false);
    const std::set<ValueId> used_source(a.begin(), a.end()), used_target(b.begin(), b.end());
    size_t trials = 0;
    for (const InnerPair& pair : inner_pairs(source_, r.source, target_, r.target)) {
      if (pair.source == kNoValue || pair.target == kNoValue || used_source.count(pair.source) != 0 ||
          used_target.count(pair.target) != 0 || !from_input_source_[pair.source] || !from_input_target_[pair.target])
        continue;
      bool taken = false;
      for (const Joint& between : joints_between(pair.source, pair.target, values)) {
        if (trials++ == kMostTrials || !may_try()) break;
        taken = take_between(j, between, values);
        if (taken) break;
      }
      if (trials > kMostTrials) break;
      if (!taken) continue;
      const size_t added = results_.size() - 1;
      cut();
      measure_fresh(values);
      if (results_[added].wrong()) break;  // it is looked at in its turn
      active_[added] = false;
      cut();
      measure_fresh(values);
    }
  }
}

}  // namespace dnn
