// Which constants of a network training changes.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::train {

struct Parameter {
  ValueId value = kNoValue;
  bool decays = false;  // weight decay applies: weights, not biases nor norms
  std::string layer;    // the first output of the layer that reads it
};

struct Trained {
  std::vector<Parameter> parameters;
  std::vector<NodeId> norms;     // BatchNormalizations that use and follow the batch's statistics
  std::vector<NodeId> dropouts;  // that are in force
};

// Layers that stay as they are, by the names of their first outputs.
using Frozen = std::set<std::string>;

// The layers whose name, or whose first output's name, matches the pattern (* and ? as in a shell). Throws Usage, naming the
// option, where none does.
Frozen matching_layers(const Graph& graph, const std::string& option, const std::string& pattern);
// Those of several patterns.
Frozen frozen_layers(const Graph& graph, const std::vector<std::string>& patterns);

// Constants of real numbers, of more than one element, that layers read and that are not trained: those that are no weights of a layer,
// its bias or a norm's. Without those of frozen layers.
std::vector<ValueId> untrained_numbers(const Graph& graph, const Trained& trained, const Frozen& frozen);

// Optimisers of files keep one constant for all that are equal: zeros that are a bias here, a mean there. Training changes each by itself, so
// that what layers and norms read in different roles, or as statistics, becomes a constant of its own, and so does a norm's scale or shift,
// or the bias of layers of different weights, that is nothing but one number. Weights that layers share stay shared.
void separate_constants(Graph& graph);

// Weights and biases of layers (Trait::Weighted), scales and shifts of BatchNormalizations, slopes of PRelus, and constants
// added to what a layer makes; in the order of their first use. Those of frozen layers are left out.
Trained find_parameters(const Graph& graph, const Frozen& frozen);

// The share of elements that a Dropout sets to 0; 0 where that is computed.
double dropout_ratio(const Graph& graph, const Node& dropout);

// Whether the pattern covers the whole name.
bool matches(const std::string& pattern, const std::string& name);

}  // namespace dnn::train
