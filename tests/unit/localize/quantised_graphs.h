// Quantised graphs for tests: weights as integers, row by row, and the pair of a float network and one of these.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "graph/tensor_text.h"
#include "localize/quantised_pair.h"
#include "unit/localize/isolated.h"

namespace dnn {

// Rows of weights rounded to nearest, each by a scale of its own.
struct Rounded {
  Tensor integers, scales;
};
inline Rounded rounded(const Tensor& weights) {
  const std::vector<double> w = to_doubles(weights);
  const auto rows = static_cast<size_t>(weights.dim(0));
  const size_t width = w.size() / rows;
  std::vector<double> scales(rows, 0), integers(w.size(), 0);
  for (size_t i = 0; i < w.size(); ++i) scales[i / width] = std::max(scales[i / width], std::abs(w[i]) / 127);
  for (size_t i = 0; i < w.size(); ++i) integers[i] = std::nearbyint(w[i] / scales[i / width]);
  return {convert(Tensor::of<double>(weights.shape(), integers), DType::Int8),
          convert(Tensor::of<double>({static_cast<int64_t>(rows)}, scales), DType::Float32)};
}

// A value that a new DequantizeLinear makes of constants.
inline ValueId dequantised(Graph* graph, const std::string& name, const Tensor& integers, const Tensor& scales) {
  Node node;
  node.op = "DequantizeLinear";
  node.name = name;
  node.attributes["axis"] = int64_t{0};
  node.inputs = {graph->add_constant(graph->unused_value_name("q"), integers),
                 graph->add_constant(graph->unused_value_name("s"), scales)};
  node.outputs = {graph->add_value(graph->unused_value_name("d"))};
  const ValueId made = node.outputs[0];
  graph->add_node(std::move(node));
  return made;
}

// The target: weights of the convolutions as integers, behind "NAME_dequantize".
inline Graph quantised(const Graph& float_graph) {
  Graph graph = float_graph;
  for (NodeId id : float_graph.order()) {
    if (float_graph.node(id).op != "Conv") continue;
    const Rounded made = rounded(*float_graph.constant(float_graph.node(id).input(1)));
    graph.node(id).inputs[1] =
        dequantised(&graph, float_graph.node(id).name + "_dequantize", made.integers, made.scales);
  }
  sort_nodes(graph);
  infer_types(graph);
  return graph;
}

// On one random input, of which ranges are measured.
inline QuantisedPair pair_of(const Graph& source, const Graph& target) {
  return QuantisedPair(source, target, [&](const Graph* instead) {
    SourceRanges ranges;
    const Graph& graph = instead == nullptr ? source : *instead;
    for (const stream::TensorRecord& r : trace_of(graph, random_tensor(DType::Float32, {1, 4, 5, 5}, 7)))
      ranges[r.name].add(r.tensor);
    return ranges;
  });
}

}  // namespace dnn
