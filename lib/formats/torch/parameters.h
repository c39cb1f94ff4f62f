// The tensors of a graph that a PyTorch module would hold under a name: parameters and buffers of its layers.
#pragma once
#include <map>

#include "formats/torch/aten.h"

namespace dnn::torch {

// What a module holds of a graph's constant, or that it is no part of its state (lists of extents, single factors).
struct Held {
  Role role = Role::Constant;
  std::string key;  // unique; its name in the graph
  Tensor tensor;    // in the shape that PyTorch wants
};

// Every constant that a node reads. Floating-point tensors that layers multiply and add are parameters, what a batch
// normalisation measured is a buffer, and so is what a quantised tensor consists of.
std::map<ValueId, Held> held_constants(const Graph& graph);

// Those that are parameters or buffers, in the order in which nodes read them.
std::vector<Held> module_state(const Graph& graph);

}  // namespace dnn::torch
