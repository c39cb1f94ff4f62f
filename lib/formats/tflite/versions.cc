// Versions of operators by their operands; see versions.def.
#include "formats/tflite/versions.h"

#include <algorithm>
#include <string>

#include "formats/tflite/import.h"

namespace dnn::tflite {

bool Signature::any(TensorType type) const {
  const auto has_type = [&](const TensorFacts* facts) { return facts != nullptr && facts->type == type; };
  return std::any_of(inputs_.begin(), inputs_.end(), has_type) || (!outputs_.empty() && has_type(outputs_[0]));
}

size_t Signature::rank() const {
  size_t result = 0;
  for (const TensorFacts* facts : inputs_) result = std::max(result, facts == nullptr ? 0 : facts->shape.size());
  return result;
}

VersionRange versions_of(int code) {
  const std::string name = builtin_name(code);
#define DNN_TFLITE_VERSIONS(op, first, last) \
  if (name == #op) return {first, last};
#define DNN_TFLITE_VERSION(op, version, condition)
#include "formats/tflite/versions.def"
  return {};
}

int version_of(int code, const Signature& s) {
  using enum TensorType;
  const std::string name = builtin_name(code);
#define DNN_TFLITE_VERSIONS(op, first, last)
#define DNN_TFLITE_VERSION(op, version, condition) \
  if (name == #op && (condition)) return version;
#include "formats/tflite/versions.def"
  return versions_of(code).first;
}

}  // namespace dnn::tflite
