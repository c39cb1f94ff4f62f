// The layers of a network that compute, as a change of their precision takes them: an operator with its arithmetic and the activation behind it.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

struct ComputingLayer {
  std::vector<NodeId> nodes;     // in the graph's order; the first is what the layer is
  std::vector<ValueId> inputs;   // what it reads that others make, or the network is given
  std::vector<ValueId> outputs;  // what others read of it, or the network gives
};

// In the graph's order. A layer begins with a node that makes float32 numbers of an input's by arithmetic; element-wise nodes
// (a batch norm, an activation also if spelt out, a constant added or multiplied) that read nothing else and make all that is read of it
// belong to it. What only moves, joins or picks numbers (Reshape, Concat, MaxPool, Relu) is no layer: it is as exact as what it reads. Nor
// are conversions, and nodes with subgraphs. Types are inferred.
std::vector<ComputingLayer> computing_layers(const Graph& graph);

// Nodes with subgraphs that make float32 numbers: they are in no layer.
std::vector<NodeId> nodes_with_subgraphs(const Graph& graph);

}  // namespace dnn
