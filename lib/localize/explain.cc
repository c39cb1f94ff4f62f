// Explaining wrong segments: the one change of either network after which both compute the same; see own_error.h.
#include <algorithm>

#include "localize/attributes.h"
#include "localize/own_error.h"
#include "localize/pair_nodes.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr size_t kMostExplained = 40;  // nodes of a segment

}  // namespace

// Looks for a value of the source's segment in whose place another, read by all its readers, makes the source compute what the target does:
// one that the value's node reads (the node is missing), or one that the target's segment begins with (layers are skipped).
void OwnErrors::explain_left_out(size_t joint, const Uses& uses, const NamedTensors& values) {
  const std::vector<ValueId> a = ends(true), b = ends(false);
  OwnError& r = results_[joint];
  Tensor theirs;
  const auto run_without = [&](ValueId out, ValueId in) {
    std::vector<ValueId> changed = a;
    Graph without = source_;
    if (out == a[joint]) {
      const auto known = std::find(a.begin(), a.end(), in);
      if (known != a.end()) return convert(feed(known - a.begin(), values, true), DType::Float64);
      changed[joint] = in;
    } else {
      for (NodeId reader : uses.readers[out]) {
        std::vector<ValueId>& inputs = without.node(reader).inputs;
        std::replace(inputs.begin(), inputs.end(), out, in);
      }
    }
    const std::vector<Segment> parts = cut_at(without, changed);
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const Segment& s) { return s.joint == joint; });
    return part == parts.end() ? Tensor() : run(without, changed, *part, values, true, true);
  };
  const auto equals_without = [&](ValueId out, ValueId in) {
    try {
      if (!theirs.defined()) theirs = run(target_, b, r.target, values, false, true);
      const Tensor ours = run_without(out, in);
      if (!ours.defined() || ours.size() != theirs.size()) return false;
      return part_of_largest(compare(ours, reordered(theirs, r.joint.order, ours.shape()))) <= r.bound();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      return false;
    }
  };
  const auto try_without = [&](NodeId id, ValueId in, bool missing) {
    const ValueId out = source_.node(id).output(0);
    if (in == kNoValue || in == out || source_.constant(in) != nullptr || !r.left_out.empty() ||
        !(source_.value(in).type == source_.value(out).type) || !may_try() || !equals_without(out, in))
      return;
    r.left_out = uses.readers[out];
    r.missing = missing ? id : -1;
    if (missing || r.left_out.empty()) r.left_out.insert(r.left_out.begin(), id);
  };
  // From the back, where less is skipped; the last node, which others' segments read, behind the ones inside.
  std::vector<NodeId> nodes(r.source.nodes.rbegin(), r.source.nodes.rend());
  std::rotate(nodes.begin(), nodes.begin() + 1, nodes.end());
  for (NodeId id : nodes) {
    const ValueId out = source_.node(id).output(0);
    if (out == kNoValue || !from_input_source_[out]) continue;
    for (ValueId in : source_.node(id).inputs) try_without(id, in, true);
    for (size_t from : r.target.inputs) try_without(id, results_[from].joint.source, false);
  }
}

// True if the segment of `changed`, a variant of the target, is right.
bool OwnErrors::is_right_in(const Graph& changed, size_t joint, const NamedTensors& values) {
  const std::vector<ValueId> a = ends(true), b = ends(false);
  const OwnError& r = results_[joint];
  const std::vector<Segment> parts = cut_at(changed, b);
  const auto part = std::find_if(parts.begin(), parts.end(), [&](const Segment& s) { return s.joint == joint; });
  if (part == parts.end() || part->open || part->inputs.empty()) return false;
  try {
    const Tensor& reference = expected(joint, values);
    const Tensor made = run(changed, b, *part, values, false, true);
    if (!reference.defined() || made.size() != reference.size()) return false;
    const Tensor exact = run(source_, a, r.source, values, true, true);
    const Tensor turned = reordered(made, r.joint.order, exact.shape());
    return part_of_largest(compare(exact, turned)) <= rounding_bound(part_of_largest(compare(exact, reference)));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    return false;
  }
}

// Looks for the one attribute or constant of the source's, or the one node of the target's to leave out, that makes the segment right.
void OwnErrors::find_cause(size_t joint, const NamedTensors& values) {
  const ValueId end = ends(false)[joint];
  OwnError& r = results_[joint];
  const auto right_with = [&](const Graph& changed) { return is_right_in(changed, joint, values); };
  for (const auto& [ours, theirs] : pair_nodes(source_, r.source.nodes, target_, r.target.nodes)) {
    if (theirs < 0) continue;
    const Node& node = target_.node(theirs);
    if (ours < 0) {
      for (ValueId in : node.inputs) {
        const ValueId out = node.output(0);
        if (in == kNoValue || target_.constant(in) != nullptr || target_.is_output(out) || out == end ||
            !(target_.value(in).type == target_.value(out).type))
          continue;
        if (!may_try()) return;
        Graph without = target_;
        for (NodeId id : r.target.nodes) {
          std::vector<ValueId>& inputs = without.node(id).inputs;
          std::replace(inputs.begin(), inputs.end(), out, in);
        }
        if (right_with(without)) r.cause = theirs;
      }
    } else {
      const Node& other = source_.node(ours);
      for (const AttributeDifference& d : attribute_differences(source_, other, target_, node)) {
        if (!may_try()) return;
        Graph changed = target_;
        const auto set = other.attributes.find(d.key);
        if (set == other.attributes.end()) {
          changed.node(theirs).attributes.erase(d.key);
        } else {
          changed.node(theirs).attributes[d.key] = set->second;
        }
        if (!right_with(changed)) continue;
        r.cause = theirs;
        r.cause_key = d.key;
        return;
      }
      for (size_t i = 0; i < std::min(node.inputs.size(), other.inputs.size()); ++i) {
        const Tensor *left = source_.constant(other.inputs[i]), *right = target_.constant(node.inputs[i]);
        if (left == nullptr || right == nullptr || left->shape() != right->shape() || left->dtype() != right->dtype() ||
            left->identical(*right))
          continue;
        if (!may_try()) return;
        Graph changed = target_;
        changed.node(theirs).inputs[i] = changed.add_constant(changed.unused_value_name("cause"), *left);
        if (!right_with(changed)) continue;
        r.cause = theirs;
        r.cause_input = i;
        return;
      }
    }
    if (r.cause >= 0) return;
  }
}

void OwnErrors::explain(const NamedTensors& values) {
  const Uses uses(source_);
  for (size_t j = 0; j < results_.size(); ++j) {
    const OwnError& r = results_[j];
    if (!active_[j] || !r.wrong() || r.source.open || r.target.open || r.target.nodes.empty() ||
        r.source.nodes.empty() || r.source.nodes.size() > kMostExplained || r.target.nodes.size() > kMostExplained)
      continue;
    const bool shaped = r.verdict == OwnError::Verdict::Wrong && r.source_shape.empty();
    if (shaped) explain_left_out(j, uses, values);
    if (r.left_out.empty() && r.source.nodes.size() + r.target.nodes.size() > 2) find_cause(j, values);
  }
}

}  // namespace dnn
