// The tensors of a graph that a PyTorch module would hold under a name: parameters and buffers of its layers.
#pragma once
#include <map>

#include "formats/torch/aten.h"

namespace dnn::torch {

// A product with a constant matrix, and the bias added to it: a Linear layer, whose weight PyTorch has turned.
struct Dense {
  ValueId weight = kNoValue, bias = kNoValue;
  NodeId add = -1;  // -1: there is none, or the product has the bias itself
};
// By the node of the product. Only weights that nothing else reads.
std::map<NodeId, Dense> dense_layers(const Graph& graph);

// What a module holds of a graph's constant, or that it is no part of its state (lists of extents, single factors).
struct Held {
  Role role = Role::Constant;
  std::string key;  // unique; its name in the graph, or its layer's where an exporter made one up
  Tensor tensor;    // in the shape that PyTorch wants
};

// Every constant that a node reads. Floating-point tensors that layers multiply and add are parameters, what a batch
// normalisation measured is a buffer, and so is what a quantised tensor consists of.
std::map<ValueId, Held> held_constants(const Graph& graph);

// Those that are parameters or buffers, in the order in which nodes read them.
std::vector<Held> module_state(const Graph& graph);

// The path of the module that a node of torch.onnx's is part of: "/layer1/layer1.0/conv1/Conv" is layer1.0.conv1; "" for others.
std::string module_path(const std::string& node_name);

}  // namespace dnn::torch
