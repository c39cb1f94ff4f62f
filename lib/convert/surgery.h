// Surgery: changes of a model that its user asks for, on the graph between reading and writing; a file per operation.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// As on a command line; what is left empty changes nothing. All names are the source's: of values, or of nodes for what
// they make first. A name that is not there is a Usage error, with the nearest one that is.
struct Surgery {
  std::vector<std::string> outputs, inputs;  // cut: the graph between these; empty: its own
  std::vector<std::string> shapes;           // "NAME:1x3x224x224", see graph/bind.h
  std::string batch;                         // "8", or a name for one that is left open
  std::vector<std::string> input_layouts;    // "NAME:NHWC" or "NAME:NCHW"
  std::vector<std::string> renames;          // "OLD=NEW"

  bool any() const;
};

// In the order of the fields. Throws Usage, Unsupported naming a node that stands in the way.
void operate(Graph& graph, const Surgery& surgery);

// cut.cc: the graph from `inputs` (which become its inputs, whatever made them before) to `outputs`; either may be empty.
// Throws Usage where an output needs an input that is not named.
void cut(Graph& graph, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

// set_batch.cc: the first extent of every input becomes a number, or open under a name, and all that follows from it. Shapes
// that a Reshape, Expand, Resize or the operands of a Concat write out are rewritten; another node that computes for the one
// batch alone is Unsupported, by name.
void set_batch(Graph& graph, std::string_view batch);
// The name of the first extent of the inputs where it is open; "" where it is a number.
std::string open_batch(const Graph& graph);

// input_layout.cc: "NAME:NHWC" or "NAME:NCHW" of an input with four axes. What it is now, its readers tell: a convolution or
// pooling reads channels first. At most one Transpose is added; one that is there already may go.
void set_input_layout(Graph& graph, std::string_view spec);

// rename.cc: "OLD=NEW", of a value, or of a node where no value has the name.
void rename(Graph& graph, std::string_view spec);

// fold_batch_norms.cc: BatchNormalization behind a convolution or Gemm that it alone reads, into weights and bias. Returns how
// many.
int fold_batch_norms(Graph& graph);

// fold_into_layers.cc: constants that nodes compute become constants, and activations written out in several nodes become one.
// Batch norms stay. Types are inferred.
void fold_constants(Graph& graph);

// fold_into_layers.cc: constants that nodes compute, batch norms, and scales and shifts per channel, into weights and biases, as quantisers do
// before they choose a number. An Einsum that is a product of matrices becomes a MatMul. Types are inferred.
void fold_into_layers(Graph& graph);

// fold_into_layers.cc: layer norms that are decomposed into means, differences and roots, as LayerNormalization. Types are inferred.
void recognize_layer_norms(Graph& graph);

// to_dtype.cc: constants and arithmetic of float32 and float16 in one of the two, with Casts around what must stay: operators
// that ONNX has for float32 alone, and inputs and outputs, which become or stay `io`. Returns the constants with numbers
// beyond float16, which become its largest. Types must be inferred.
std::vector<std::string> to_dtype(Graph& graph, DType dtype, DType io);
// Float32 numbers whose finite ones are within the range of float16 or bfloat16, as its largest number where they were beyond;
// nullopt where they all are.
std::optional<Tensor> within_range(const Tensor& numbers, DType dtype);
// The same of all constants of more than one number, which a format of float16 weights stores so; returns those that changed.
std::vector<std::string> limit_float16_weights(Graph& graph);

// names.cc: the value of that name, or what a node of that name makes first. Throws Usage with the nearest name; `what` says
// which argument it is.
ValueId named_value(const Graph& graph, const std::string& name, std::string_view what);
// The index of the graph's input of that name.
size_t named_input(const Graph& graph, const std::string& name);
// "A:B" as A and B, at the last `separator`. Throws Usage, with the form that is wanted.
std::pair<std::string, std::string> pair_of(std::string_view spec, char separator, std::string_view form);

}  // namespace dnn
