// What importing one TFLite operator needs: its tensors as IR values, its options, and steps to build nodes from.
#pragma once
#include <schemas/tflite_generated.h>

#include <string>
#include <vector>

#include "formats/draft.h"
#include "formats/tflite/fields.h"
#include "ops/type_inference.h"

namespace dnn::tflite {

// A file while it is read.
struct Source {
  const Model* model = nullptr;
  const SubGraph* subgraph = nullptr;
  Bytes bytes;                        // of the file: options are verified against them
  std::shared_ptr<const void> owner;  // keeps `bytes` alive
  IgnoredFields ignored;
  Draft draft;
  TypeInference types{draft.graph};
  std::vector<ValueId> values, reals;  // by tensor: its value, and the same dequantised; kNoValue: not yet
};

// Fields that no importer asks for, and that change nothing: irrelevant.cc says why.
const IrrelevantFields& irrelevant_fields();
// Throws Unsupported for a stated field of `table` that is neither among `read` nor irrelevant. `owner`: the table's name there.
template <class T>
void check_fields(const Source& source, const T& table, const char* owner, std::initializer_list<const char*> read,
                  const std::string& label) {
  const auto& fields = reinterpret_cast<const flatbuffers::Table&>(table);
  const flatbuffers::TypeTable& type = *T::MiniReflectTypeTable();
  Leftovers leftovers;
  for (std::string& name : stated_fields(fields, type)) leftovers.add(std::move(name));
  for (const char* name : read) leftovers.use(name);
  const auto show = [&](const std::string& name) { return field_text(fields, type, name); };
  leftovers.irrelevant(owner, irrelevant_fields(), show);
  leftovers.ignore(owner, source.ignored);
  leftovers.finish(label, "field", show);
}

// One row per operator, from ops.def.
class Op;
struct OpRow {
  const char* name;
  int code;
  int options;  // number of its options table; 0: none
  const flatbuffers::TypeTable* (*table)();
  bool (*verify)(const void* table, flatbuffers::Verifier& verifier);
  void (*import)(Op&);
};
const std::vector<OpRow>& op_rows();
// The operator's name in the public format; "operator 999" where there is none.
std::string builtin_name(int code);

// A copy of a FlatBuffer's numbers, which need not be aligned; empty where there are none.
template <class T>
std::vector<T> numbers(const flatbuffers::Vector<T>* vector) {
  std::vector<T> result(vector == nullptr ? 0 : vector->size());
  if (!result.empty()) std::memcpy(result.data(), vector->Data(), result.size() * sizeof(T));
  return result;
}

inline std::string text(const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); }

class Op : public DraftBuilder {
 public:
  Op(Source& source, const Operator& op, const OpRow& row);
  // Imports the operator. Throws Unsupported where an option, operand or result is left over.
  void run();

  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] >= 0; }
  // Input i changes nothing here.
  void without(size_t i) { asked_.at(i) = true; }
  // Input i as the file has it, and as real numbers: dequantised where it is quantised. Malformed when it is missing.
  ValueId raw(size_t i);
  ValueId real(size_t i);
  // Input `x`, whose real numbers are `v` now, on its way to weights `w`. Where these are integers and it is float32, TFLite rounds
  // it as it runs, by one scale for all elements along `axes`: an image, or a row. Unsupported for weights other than int8 and int4
  // around 0.
  ValueId meets(ValueId v, size_t x, size_t w, std::vector<int64_t> axes);
  // Its value where the file holds it, else null.
  const dnn::Tensor* constant(size_t i);
  // A constant list of integers; Unsupported where it is computed.
  std::vector<int64_t> ints(size_t i);
  // The shape of an input: the file's, or what follows from its producers where that states none; the file's of an output. -1: open.
  std::vector<int64_t> shape(size_t i);
  std::vector<int64_t> output_shape(size_t i) const;
  DType output_dtype(size_t i) const;
  bool quantized_input(size_t i) const;
  // Whether both tensors hold numbers of one scale and zero point, so that moving elements needs no rounding.
  bool same_quantization(size_t input, size_t output) const;

  // The options, whose fields are asked for one by one. T is the row's table.
  template <class T>
  Fields<T> options() {
    DNN_CHECK(row_.table == &T::MiniReflectTypeTable);
    if (op_.builtin_options() == nullptr) fail("its options are missing");
    return {reinterpret_cast<const T*>(op_.builtin_options()), &leftovers_};
  }
  // The option of that name changes nothing here.
  void without(const char* option) { leftovers_.use(option); }

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
  ValueId made(size_t i) const;  // the value of input i; Malformed where nothing has made it yet
  void read_options();
  void check_tensor(const Tensor& tensor) const;
  std::string label() const;
  int tensor_of(const std::vector<int32_t>& list, size_t i, const char* what) const;
  const Tensor& input_tensor(size_t i) const;
  const Tensor& output_tensor(size_t i) const;
  std::vector<ValueId> quantization(const Tensor& tensor, Attributes* attributes);

  Source& source_;
  const Operator& op_;
  const OpRow& row_;
  std::vector<int32_t> inputs_, outputs_;
  std::vector<bool> asked_;  // by input
  Leftovers leftovers_;      // of the options
};

DType dtype_of(TensorType type);  // Unsupported for types that the IR lacks
bool quantized(const Tensor& tensor);

}  // namespace dnn::tflite
