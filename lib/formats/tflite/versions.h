// Which version of an operator a file needs; see versions.def.
#pragma once
#include <schemas/tflite_generated.h>

#include <vector>

namespace dnn::tflite {

// A tensor as far as versions depend on it.
struct TensorFacts {
  TensorType type = TensorType::FLOAT32;
  std::vector<int32_t> shape;
  float scale = 0;  // 0: not quantised
  bool per_axis = false;
};

// One operator with its operands; null: one that is left out.
class Signature {
 public:
  Signature(std::vector<const TensorFacts*> inputs, std::vector<const TensorFacts*> outputs, const void* options)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)), options_(options) {}

  bool has(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  TensorType in(size_t i) const { return has(i) ? inputs_[i]->type : TensorType::FLOAT32; }
  bool any(TensorType type) const;  // an input or the first output has it
  size_t rank() const;              // the highest among the inputs
  bool broadcasts() const { return has(0) && has(1) && inputs_[0]->shape != inputs_[1]->shape; }
  int32_t extent(size_t i, size_t axis) const {
    return has(i) && axis < inputs_[i]->shape.size() ? inputs_[i]->shape[axis] : 0;
  }
  bool per_axis(size_t i) const { return has(i) && inputs_[i]->per_axis; }
  bool output_per_axis() const { return !outputs_.empty() && outputs_[0] != nullptr && outputs_[0]->per_axis; }
  float scale(size_t i) const { return has(i) ? inputs_[i]->scale : 0; }
  float output_scale() const { return !outputs_.empty() && outputs_[0] != nullptr ? outputs_[0]->scale : 0; }
  template <class T>
  const T& options() const {
    return *static_cast<const T*>(options_);
  }

 private:
  std::vector<const TensorFacts*> inputs_, outputs_;
  const void* options_;
};

struct VersionRange {
  int first = 1, last = 1;
};
VersionRange versions_of(int code);
// The lowest version that does this.
int version_of(int code, const Signature& signature);

}  // namespace dnn::tflite
