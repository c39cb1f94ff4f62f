// Bounds of activations; see activations.h.
#include "devices/activations.h"

#include <algorithm>
#include <limits>

#include "base/read_limit.h"

namespace dnn {
namespace {

constexpr uint64_t kOfConstants = 4, kOfInputs = 1024, kAlways = uint64_t{256} << 20;

uint64_t bytes_of_constants(const Graph& graph) {
  uint64_t bytes = 0;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Tensor* constant = graph.constant(v);
    if (constant != nullptr && constant->dtype() != DType::String) bytes += constant->size_bytes();
  }
  return bytes;
}

}  // namespace

uint64_t constant_bytes(const Package& package, const Variant& variant) {
  return package.constants.bytes() + (variant.graph == nullptr ? 0 : bytes_of_constants(*variant.graph));
}

uint64_t most_activations(uint64_t constant_bytes, uint64_t input_bytes) {
  if (!reading_is_limited()) return std::numeric_limits<uint64_t>::max();
  const uint64_t inputs = std::min(input_bytes, uint64_t{1} << 50);
  return std::max(read_memory_limit(), kOfConstants * constant_bytes + kOfInputs * inputs + kAlways);
}

uint64_t declared_input_bytes(const Package& package) {
  uint64_t bytes = 0;
  for (const Type& type : package.input_types) {
    if (type.fixed() && type.dtype != DType::String)
      bytes += static_cast<uint64_t>(element_count(type.fixed_shape())) * dtype_size(type.dtype);
  }
  return bytes;
}

uint64_t most_activations(const Package& package, const Variant& variant) {
  return most_activations(constant_bytes(package, variant), declared_input_bytes(package));
}

uint64_t most_activations(const Graph& graph) {
  double inputs = 0;
  for (ValueId v : graph.inputs) {
    const Type& type = graph.value(v).type;
    if (!type.shape || type.dtype == DType::String || type.dtype == DType::Undefined) continue;
    auto bytes = static_cast<double>(dtype_size(type.dtype));
    for (const Dim& dim : *type.shape) bytes *= dim.fixed() ? static_cast<double>(dim.size) : 1;
    inputs += bytes;
  }
  return most_activations(bytes_of_constants(graph), static_cast<uint64_t>(std::min(inputs, 0x1p50)));
}

}  // namespace dnn
