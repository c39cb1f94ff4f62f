// Operators that compute each channel alone; see per_channel.h.
#include "ops/per_channel.h"

#include <algorithm>

namespace dnn {

bool keeps_channels(const Graph& graph, const Node& node) {
  const auto is_any_of = [&](std::initializer_list<const char*> ops) {
    return node.domain.empty() && std::any_of(ops.begin(), ops.end(), [&](const char* op) { return node.op == op; });
  };
  if (is_any_of({"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Dropout"})) return true;
  if (is_any_of({"Pad"})) {
    const Tensor* pads = graph.constant(node.input(1));
    if (pads == nullptr || pads->dtype() != DType::Int64 || pads->size() != 8 || node.input(3) != kNoValue)
      return false;
    return pads->values<int64_t>()[1] == 0 && pads->values<int64_t>()[5] == 0;
  }
  if (!is_any_of({"ReduceMean", "ReduceMax"})) return false;
  const Tensor* axes = graph.constant(node.input(1));
  if (axes == nullptr || axes->dtype() != DType::Int64 || node.attribute_int("keepdims", 1) != 1) return false;
  const auto values = axes->values<int64_t>();
  return std::all_of(values.begin(), values.end(), [](int64_t a) { return a == 2 || a == 3 || a == -1 || a == -2; });
}

}  // namespace dnn
