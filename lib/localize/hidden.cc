// Hidden faults: weights that differ by more than rounding them explains, while what that changes is lost where the layer's sums are
// rounded; see own_error.h.
#include <algorithm>
#include <cmath>

#include "convert/surgery.h"
#include "localize/own_error.h"
#include "localize/quantised_layers.h"
#include "ops/op.h"

namespace dnn {
namespace {

// Folding a scale into weights rounds a few times, in any order: of a number, and of the largest one of its row.
constexpr double kOfNumber = 32 * 0x1p-24, kOfRow = 2 * 0x1p-24;
constexpr double kMostApart =
    1e-3;  // of a row's largest: more is another form of the layer, where the results are the same

// The weights of a segment's layers, row by row, once scales and batch norms are folded into them.
std::vector<WeightRows> folded_rows(Graph segment) {
  infer_types(segment);
  fold_into_layers(segment);
  std::vector<WeightRows> found;
  for (NodeId id : segment.order()) {
    const Node& node = segment.node(id);
    const Tensor* weights = has_weight_input(node) ? segment.constant(node.input(1)) : nullptr;
    if (weights == nullptr || !is_float(weights->dtype())) continue;
    if (auto rows = weight_rows(node, weights->shape(), to_doubles(*weights))) found.push_back(std::move(*rows));
  }
  return found;
}

// Adds a layer's; false where the two are no forms of one layer.
bool add_apart(const WeightRows& ours, const WeightRows& theirs, WeightsApart* apart) {
  if (ours.n != theirs.n || ours.width != theirs.width) return false;
  for (size_t row = 0; row < ours.n; ++row) {
    double largest = 0;
    for (size_t i = 0; i < ours.width; ++i) largest = std::max(largest, std::abs(ours.at(row, i)));
    for (size_t i = 0; i < ours.width; ++i) {
      const double d = std::abs(theirs.at(row, i) - ours.at(row, i));
      if (!(d <= kMostApart * largest)) return false;
      ++apart->n;
      if (d == 0) continue;
      const double times = d / (kOfNumber * std::abs(ours.at(row, i)) + kOfRow * largest);
      apart->times = std::max(apart->times, times);
      apart->of_row = std::max(apart->of_row, d / largest);
      apart->n_apart += times > 1 ? 1 : 0;
    }
  }
  return true;
}

}  // namespace

std::optional<WeightsApart> OwnErrors::weights_apart(const Graph& target, size_t joint,
                                                     const NamedTensors& values) const {
  const std::vector<ValueId> a = ends(true), b = ends(false);
  const std::vector<Segment> parts = cut_at(target, b);
  const auto theirs = std::find_if(parts.begin(), parts.end(), [&](const Segment& s) { return s.joint == joint; });
  const Segment& ours = results_.at(joint).source;
  if (theirs == parts.end() || theirs->open || ours.open || ours.nodes.empty()) return std::nullopt;
  const auto rows = [&](const Graph& graph, const std::vector<ValueId>& ends, const Segment& segment, bool source) {
    std::map<size_t, Type> types;
    for (size_t j : segment.inputs) types[j] = Type(feed(j, values, source));
    return folded_rows(graph_of(graph, ends, {&segment}, types).graph);
  };
  try {
    const std::vector<WeightRows> left = rows(source_, a, ours, true), right = rows(target, b, *theirs, false);
    if (left.empty() || left.size() != right.size()) return std::nullopt;
    WeightsApart apart;
    for (size_t i = 0; i < left.size(); ++i) {
      if (!add_apart(left[i], right[i], &apart)) return std::nullopt;
    }
    return apart;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    return std::nullopt;
  }
}

// Segments that are right on the sample, as far as rounding lets it be seen.
void OwnErrors::find_hidden(const NamedTensors& values) {
  for (size_t j : in_target_order()) {
    OwnError& r = results_[j];
    if (r.wrong() || r.identical || r.latent || options_.deadline.stops()) continue;
    const std::optional<WeightsApart> apart = weights_apart(target_, j, values);
    if (apart && apart->n_apart > 0) r.hidden = apart;
  }
}

double OwnErrors::times_hidden(const Graph& target, size_t joint) const {
  const std::optional<WeightsApart> apart = weights_apart(target, joint, kept_.at(0));
  return apart ? apart->times : kInfinite;
}

}  // namespace dnn
