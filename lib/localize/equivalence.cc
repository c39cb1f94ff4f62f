// Segments that are wrong by themselves and right together: two networks that are one function in another form, as where the channels
// of a hidden layer are in another order, or scaled in one layer and back in the next; see own_error.h.
#include <algorithm>
#include <cmath>

#include "graph/tensor_text.h"
#include "localize/own_error.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr size_t kMostMerged = 64;        // joints between the first that deviates and where that has vanished
constexpr double kDeviates = 1e-4;        // of the largest magnitude: a deviation that goes on
constexpr double kLeastDeviation = 2e-3;  // another form differs by more than rounding may be taken for
constexpr double kVanished = 1e-3;        // what may be left of it

// Numbers of another kind than any sample's, of its size. Mixed signs hide what only negative values show behind a maximum, so some are
// negative throughout, and some the same all along a channel, in either order of axes.
enum class NumberKind : uint8_t { Mixed, Negative, ByChannel, ByLast };
constexpr NumberKind kProbes[] = {NumberKind::Mixed, NumberKind::Negative, NumberKind::ByChannel, NumberKind::ByLast};

Tensor other_numbers(const Tensor& tensor, NumberKind probe, uint64_t seed) {
  double largest = 0;
  for (double x : to_doubles(tensor)) largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : largest;
  Tensor random = random_tensor(DType::Float32, tensor.shape(), seed);
  float* values = random.mutable_data<float>();
  const int rank = tensor.rank();
  const int axis = probe == NumberKind::ByChannel ? 1 : rank - 1;
  const int64_t step = axis < rank && axis >= 0 ? row_major_strides(tensor.shape())[axis] : 1;
  for (int64_t i = 0; i < random.size(); ++i) {
    if (probe == NumberKind::Negative) values[i] = -std::abs(values[i]);
    if (probe >= NumberKind::ByChannel && rank >= 3) values[i] = values[i / step % tensor.dim(axis) * step];
  }
  for (int64_t i = 0; i < random.size(); ++i) values[i] *= static_cast<float>(largest);
  return convert(random, tensor.dtype());
}

}  // namespace

std::vector<size_t> OwnErrors::in_target_order() const {
  std::map<NodeId, size_t> place;
  for (size_t i = 0; i < target_.order().size(); ++i) place[target_.order()[i]] = i;
  std::vector<size_t> order;
  for (size_t j = 0; j < results_.size(); ++j) {
    if (active_[j] && !results_[j].target.nodes.empty()) order.push_back(j);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return place[results_[a].target.nodes.back()] < place[results_[b].target.nodes.back()];
  });
  return order;
}

// The joints over which what the target makes of the source's activations at `joint` deviates from the source, where that has vanished
// before any output; nullopt where it has not.
std::optional<std::set<size_t>> OwnErrors::vanishing(size_t joint, const std::vector<size_t>& order,
                                                     const NamedTensors& values) const {
  std::map<size_t, Tensor> made;  // by joint that deviates
  for (auto at = std::find(order.begin(), order.end(), joint); at != order.end(); ++at) {
    const OwnError& r = results_[*at];
    const std::vector<size_t>& inputs = r.target.inputs;
    const bool read = std::any_of(inputs.begin(), inputs.end(), [&](size_t i) { return made.count(i) != 0; });
    if (*at != joint && !read) continue;
    Tensor tensor = run(target_, ends(false), r.target, values, false, false, nullptr, made);
    const Tensor& reference = expected(*at, values);
    const std::vector<AxisOrder> orders = axis_orders(reference.shape(), tensor.shape());
    if (!reference.defined() || std::find(orders.begin(), orders.end(), r.joint.order) == orders.end())
      return std::nullopt;
    const double apart = part_of_largest(compare(reference, reordered(tensor, r.joint.order, reference.shape())));
    if (apart <= kDeviates) continue;
    if (target_.is_output(r.joint.target) || source_.is_output(r.joint.source) || made.size() == kMostMerged)
      return std::nullopt;
    made[*at] = std::move(tensor);
  }
  std::set<size_t> joints;
  for (const auto& [j, tensor] : made) joints.insert(j);
  return joints;
}

// Whether both networks make the same of any activations where these joints are none: on the sample's, and on others.
bool OwnErrors::equal_beyond(size_t joint, const std::set<size_t>& joints, const NamedTensors& values) const {
  const double most = kVanished * results_[joint].exact.value_or(0);
  std::vector<ValueId> a = ends(true), b = ends(false);
  for (size_t j : joints) a[j] = b[j] = kNoValue;
  std::map<size_t, Segment> ours, theirs;
  for (Segment& s : cut_at(source_, a)) ours[s.joint] = std::move(s);
  for (Segment& s : cut_at(target_, b)) theirs[s.joint] = std::move(s);
  const std::set<size_t> readers = behind(joints);
  for (size_t j : readers) {
    if (ours.count(j) == 0 || theirs.count(j) == 0 || ours[j].inputs != theirs[j].inputs) return false;
    const auto equal = [&](const NamedTensors& given) {
      const Tensor exact = run(source_, a, ours[j], given, true, true);
      const Tensor made = run(target_, b, theirs[j], given, false, true);
      if (made.size() != exact.size()) return false;
      const Tensor turned = reordered(made, results_[j].joint.order, exact.shape());
      return part_of_largest(compare(exact, turned)) <= most;
    };
    if (!equal(values)) return false;
    for (const NumberKind probe : kProbes) {
      NamedTensors others = values;
      for (size_t from : ours[j].inputs) {
        const std::string& name = source_.value(results_[from].joint.source).name;
        const auto known = values.find(name);
        if (known == values.end()) return false;
        if (is_float(known->second.dtype())) others[name] = other_numbers(known->second, probe, from + 1);
      }
      if (!equal(others)) return false;
    }
  }
  return !readers.empty();
}

// A deviation that has vanished again behind some layers, whatever goes in, is no fault: their joints are no common values.
void OwnErrors::merge_equivalent(const NamedTensors& values) {
  for (size_t j : in_target_order()) {
    const OwnError& r = results_[j];
    if (!doubtful(j) || r.verdict != OwnError::Verdict::Wrong || !r.source_shape.empty()) continue;
    if (!(r.exact.value_or(0) >= kLeastDeviation) || !may_try()) continue;
    try {
      const std::optional<std::set<size_t>> joints = vanishing(j, in_target_order(), values);
      if (!joints || joints->empty() || !equal_beyond(j, *joints, values)) continue;
      for (size_t i : *joints) active_[i] = false;
      n_equivalent_ += static_cast<int64_t>(joints->size());
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      continue;
    }
    cut();
    measure_fresh(values);
  }
}

}  // namespace dnn
