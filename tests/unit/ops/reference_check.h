// Runs an operator's reference: its first output, or the kind or text of its refusal.
#pragma once
#include "unit/ops/lowering_check.h"

namespace dnn {

inline Tensor run(const std::string& op, const std::vector<const Tensor*>& inputs, Attributes attributes = {}) {
  return run_reference(test_node(op, inputs, std::move(attributes)), inputs)[0];
}

inline ErrorKind kind_of(const std::string& op, const std::vector<const Tensor*>& inputs, Attributes attributes = {}) {
  try {
    run(op, inputs, std::move(attributes));
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::Internal;
}

inline std::string refusal(const Node& node, const std::vector<const Tensor*>& inputs) {
  try {
    run_reference(node, inputs);
  } catch (const Error& e) {
    return e.what();
  }
  return "(nothing thrown)";
}

inline Tensor ints(const std::vector<int64_t>& values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

}  // namespace dnn
