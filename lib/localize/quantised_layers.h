// Quantised layers: a network that is a quantisation of another, and which of its layers and values are which of the other's.
//
// A quantiser leaves a network's structure, so that what it may have chosen can be told from what it cannot: its integers stand for
// the source's weights to half a step, its biases for the source's to half a step and what they make up for, and the range of an
// activation for what the source has there. quantised_judge.h holds a target to that; quantised_float.h undoes what is within it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// Tells whether a network multiplies by integers that a DequantizeLinear makes numbers of, in a quarter of its layers with weights.
bool has_quantised_weights(const Graph& graph);
// Tells whether it computes from quantised activations as a whole, so that none is there by mistake.
bool has_quantised_activations(const Graph& graph);
// Tells whether it has quantisers and no layer with weights, or most of its operators read what they made.
bool has_quantisers_alone(const Graph& graph);
// The value that a clamp bounds, and how.
struct Bounding {
  ValueId value = kNoValue;
  std::pair<double, double> bounds;
};
// Tells whether an operator that bounds numbers leaves all integers that are made of these as they are: quantisers alone read it, whose
// ranges end no further. Nullopt for any other.
std::optional<Bounding> bounded_for_nothing(const Graph& graph, const Uses& uses, const Node& node);

// Integers behind an input of a layer, and the numbers that they are for it.
struct QuantisedConstant {
  NodeId reader = -1;  // the layer, at input `input`
  size_t input = 0;
  NodeId dequantize = -1;  // whose inputs are integers, scale and zero point
  Shape shape;
  std::vector<double> numbers;  // in the reader's order of axes, as are
  std::vector<double> steps;    // by element: its scale
  std::vector<size_t> groups;   // by element: which of the scales
  std::vector<bool> at_end;     // by element: the integer is the least or largest that there is
  size_t n_scales = 1;
  std::vector<size_t> places;  // by element: where its integer lies; empty: in the same order
  size_t place(size_t element) const { return places.empty() ? element : places[element]; }
};
// Tells what may stand between a DequantizeLinear and the layer: it leaves the numbers as they are, perhaps at other places.
bool only_moves_weights(const Node& node);
// Nullopt where the input is computed, or not of integers.
std::optional<QuantisedConstant> quantised_constant(const Graph& graph, const Uses& uses, NodeId reader, size_t input);

// The weights of a layer as a matrix, whatever the order of axes: a row for each output.
struct WeightRows {
  size_t n = 0, width = 0;
  std::vector<double> numbers;   // row by row
  std::vector<size_t> elements;  // by place in `numbers`: of the tensor
  double at(size_t row, size_t i) const { return numbers[row * width + i]; }
};
std::optional<WeightRows> weight_rows(const Node& layer, const Shape& shape, const std::vector<double>& numbers);
// Tells whether an operator multiplies by weights, at input 1.
bool has_weight_input(const Node& node);

// A layer of the target and the source's, whose batch norms and biases are folded.
struct QuantisedLayer {
  NodeId source = -1, target = -1;
  std::vector<double> bias;  // the source's; empty: it has none
};

struct QuantisedMatch {
  std::vector<QuantisedLayer> layers;
  // By value of the target: what the source has there, of the folded graph.
  std::map<ValueId, ValueId> values;
  // By QuantizeLinear of the target whose range ends at 0: the source's activation that it stands for.
  std::map<NodeId, NodeId> clamps;
  // By operator of the target that bounds what is quantised behind it where that ends anyway, and has no partner: what it bounds.
  std::map<NodeId, ValueId> idle;
  // By QuantizeLinear: an activation of the source that neither its range nor a layer beside it stands for.
  std::map<NodeId, NodeId> missing;
};
// Weights of a layer of both networks, integers in the target, row by row in the same order.
struct HeldRows {
  QuantisedConstant weights;
  WeightRows theirs, ours;
};
// Nullopt where the target has no integers there, or the extents do not fit. `uses` are the target's.
std::optional<HeldRows> held_rows(const Graph& folded_source, const Graph& target, const Uses& uses,
                                  const QuantisedLayer& layer);

// By weights, row by row, whatever their names; layers whose weights are no other's go together in order.
QuantisedMatch match_quantised(const Graph& folded_source, const Graph& target);

// Tells what a Relu or Clip bounds at: {least, most}, infinite where it does not; nullopt for other operators.
std::optional<std::pair<double, double>> clamp_bounds(const Graph& graph, const Node& node);

// The scale of a QuantizeLinear or DequantizeLinear that has one.
struct QuantisedScale {
  double scale = 0, zero_point = 0, least = 0, most = 0;  // the integers' own ends
  double low() const { return (least - zero_point) * scale; }
  double high() const { return (most - zero_point) * scale; }
};
std::optional<QuantisedScale> scale_of(const Graph& graph, const Node& node);

}  // namespace dnn
