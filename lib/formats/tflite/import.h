// What importing one TFLite operator needs: its tensors as IR values, its options, and steps to build nodes from.
#pragma once
#include <schemas/tflite_generated.h>

#include <string>
#include <vector>

#include "formats/draft.h"

namespace dnn::tflite {

// A file while it is read.
struct Source {
  const Model* model = nullptr;
  const SubGraph* subgraph = nullptr;
  Bytes bytes;                        // of the file: options are verified against them
  std::shared_ptr<const void> owner;  // keeps `bytes` alive
  Draft draft;
  std::vector<ValueId> values, reals;  // by tensor: its value, and the same dequantised; kNoValue: not yet
};

// A copy of a FlatBuffer's numbers, which need not be aligned; empty where there are none.
template <class T>
std::vector<T> numbers(const flatbuffers::Vector<T>* vector) {
  std::vector<T> result(vector == nullptr ? 0 : vector->size());
  if (!result.empty()) std::memcpy(result.data(), vector->Data(), result.size() * sizeof(T));
  return result;
}

inline std::string text(const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); }

class Op : public Steps {
 public:
  Op(Source& source, const Operator& op, std::string type);

  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] >= 0; }
  // Input i as the file has it, and as real numbers: dequantised where it is quantised. Malformed when it is missing.
  ValueId raw(size_t i);
  ValueId real(size_t i);
  // Its value where the file holds it, else null.
  const dnn::Tensor* constant(size_t i);
  // A constant list of integers; Unsupported where it is computed.
  std::vector<int64_t> ints(size_t i);
  // The file's shape of an input or output; -1: open.
  std::vector<int64_t> shape(size_t i) const;
  std::vector<int64_t> output_shape(size_t i) const;
  DType output_dtype(size_t i) const;
  // Whether both tensors hold numbers of one scale and zero point, so that moving elements needs no rounding.
  bool same_quantization(size_t input, size_t output) const;

  // The options; defaults where the file has none, Malformed when they are damaged.
  template <class T>
  const T* options() const {
    const auto* table = reinterpret_cast<const T*>(op_.builtin_options());
    if (table == nullptr) fail("its options are missing");
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(source_.bytes.data()), source_.bytes.size());
    if (!table->Verify(verifier)) fail("its options are damaged");
    return table;
  }

  ValueId activated(ValueId v, Activation activation);
  // Output i is `v`: of real numbers, quantised where the tensor is; or of the tensor's own dtype.
  void define(size_t i, ValueId v);
  void define_raw(size_t i, ValueId v);

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(label(), ": ", parts...);
  }
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(label(), ": ", parts...);
  }

 private:
  std::string label() const;
  int tensor_of(const std::vector<int32_t>& list, size_t i, const char* what) const;
  const Tensor& input_tensor(size_t i) const;
  const Tensor& output_tensor(size_t i) const;
  std::vector<ValueId> quantization(const Tensor& tensor, Attributes* attributes);

  Source& source_;
  const Operator& op_;
  std::string type_;
  std::vector<int32_t> inputs_, outputs_;
};

// One row per operator, from ops.def.
struct OpRow {
  const char* name;
  int code;
  void (*import)(Op&);
};
const std::vector<OpRow>& op_rows();

DType dtype_of(TensorType type);  // Unsupported for types that the IR lacks
bool quantized(const Tensor& tensor);

}  // namespace dnn::tflite
