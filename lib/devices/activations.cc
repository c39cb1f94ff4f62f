// Bounds of activations; see activations.h.
#include "devices/activations.h"

#include <algorithm>
#include <limits>

#include "base/read_limit.h"

namespace dnn {
namespace {

constexpr uint64_t kOfConstants = 4, kOfInputs = 1024, kAlways = uint64_t{256} << 20;

}  // namespace

uint64_t constant_bytes(const Package& package, const Variant& variant) {
  uint64_t bytes = package.constants.bytes();
  if (variant.graph == nullptr) return bytes;
  for (ValueId v = 0; v < variant.graph->value_count(); ++v) {
    const Tensor* constant = variant.graph->constant(v);
    if (constant != nullptr && constant->dtype() != DType::String) bytes += constant->size_bytes();
  }
  return bytes;
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

}  // namespace dnn
