// From what a walk found to a graph with inputs, outputs and names.
#pragma once
#include <string>
#include <vector>

#include "formats/tensorflow/import.h"

namespace dnn::tensorflow {

struct Output {
  Item item;
  std::string name;
};

// Type of a graph's input: an open extent is a symbol of its own, the first of them the batch.
Type input_type(const std::string& name, DataType dtype, const TensorShapeProto* shape);

// Text about the model that a Placeholder carries.
void read_metadata(const NodeDef& placeholder, Graph* graph);

// The graph of these inputs and outputs; an input that no output depends on stays, too. Puts batch normalisation that is spelt out back
// together (idioms.h), takes biases into convolutions and products, and gives folded constants the names of what they were made from. Throws Unsupported for an output that has no value.
Graph finish(Source& source, const std::vector<ValueId>& inputs, const std::vector<Output>& outputs);

}  // namespace dnn::tensorflow
