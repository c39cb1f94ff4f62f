// Operators in training; see training.h.
#include "ops/training.h"

#include "tensor/tensor.h"

namespace dnn {

bool in_training(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return false;
  if (node.op == "BatchNormalization") return node.attribute_int("training_mode", 0) != 0;
  if (node.op != "Dropout" || node.input(2) == kNoValue) return false;
  const Tensor* training = graph.constant(node.input(2));
  return training == nullptr || to_int64s(*training).at(0) != 0;
}

}  // namespace dnn
