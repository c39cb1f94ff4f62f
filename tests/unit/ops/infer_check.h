// infer_check: the types that an operator's infer() gives for some input types and known values.
#pragma once
#include <string>
#include <vector>

#include "ops/op.h"

namespace dnn {

inline Type floats(std::vector<Dim> dims) { return Type(DType::Float32, std::move(dims)); }

// An input of infer(): a type, and its value where it is known.
struct Known {
  Type type;
  const Tensor* value = nullptr;
  Known(Type which) : type(std::move(which)) {}                  // NOLINT: implicit on purpose
  Known(const Tensor& tensor) : type(tensor), value(&tensor) {}  // NOLINT
};

// Texts of the output types: "float32[N,3]"; an error gives its message.
inline std::vector<std::string> inferred(const Node& node, const std::vector<Known>& inputs) {
  const OpDef* op = find_op(node.domain, node.op);
  if (op == nullptr) fail_internal("no operator ", node.op);
  InferContext context{node, {}, {}, std::vector<Type>(node.outputs.size()), std::vector<Tensor>(node.outputs.size()),
                       {}};
  for (const Known& input : inputs) {
    context.inputs.push_back(&input.type);
    context.known.push_back(input.value);
  }
  std::vector<std::string> texts;
  try {
    op->infer(context);
  } catch (const Error& e) {
    return {e.what()};
  }
  for (const Type& type : context.outputs) texts.push_back(type.text());
  return texts;
}

// A node of `op` with `n_inputs` inputs and `n_outputs` outputs for inferred().
inline Node infer_node(std::string op, int n_inputs, Attributes attributes = {}, int n_outputs = 1) {
  Node node;
  node.op = std::move(op);
  node.attributes = std::move(attributes);
  for (int i = 0; i < n_inputs; ++i) node.inputs.push_back(i);
  for (int i = 0; i < n_outputs; ++i) node.outputs.push_back(n_inputs + i);
  return node;
}

}  // namespace dnn
