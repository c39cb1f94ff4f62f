// What writing one IR node as TFLite operators needs: its values as tensors, and steps to add operators.
#pragma once
#include <schemas/tflite_generated.h>

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "layout/settle.h"

namespace dnn::tflite {

// The number of an options table in the public format's union.
struct OptionsRef {
  int type = 0;
  flatbuffers::Offset<AnyTable> table;
  OptionsRef() = default;
  template <class T>
  OptionsRef(int number, flatbuffers::Offset<T> offset) : type(number), table(offset.o) {}
};

// A file while it is written. Tensors are indices into it; -1 stands for one that is left out.
class File {
 public:
  // With `float16_weights`, float32 constants are float16 in the file, and DEQUANTIZE widens them.
  File(const Graph& graph, bool float16_weights);

  const Graph& graph() const { return graph_; }
  flatbuffers::FlatBufferBuilder& builder() { return builder_; }
  // The tensor of a value: 64-bit integers that the file holds are written as 32-bit ones, as TFLite's kernels want.
  int32_t tensor(ValueId v);
  int32_t constant(const std::string& name, const dnn::Tensor& value);
  int32_t ints(const std::string& name, const std::vector<int64_t>& values);
  int32_t computed(const std::string& name, const Type& type);
  void op(int code, int version, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
          const OptionsRef& options = {});
  // The whole file; the bytes live as long as this.
  Bytes finish();

 private:
  int32_t add(const std::string& name, const Type& type, uint32_t buffer);

  const Graph& graph_;
  const bool float16_weights_;
  flatbuffers::FlatBufferBuilder builder_;
  std::map<ValueId, int32_t> tensors_of_;
  std::map<std::pair<int, int>, uint32_t> codes_of_;
  std::vector<flatbuffers::Offset<Buffer>> buffers_;
  std::vector<flatbuffers::Offset<Tensor>> tensors_;
  std::vector<flatbuffers::Offset<OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<Operator>> ops_;
};

// One node while it is written.
class Export {
 public:
  Export(File& file, const Node& node, Activation activation, ValueId output)
      : file_(file), node_(node), activation_(activation), output_(output) {}

  const Node& node() const { return node_; }
  const Graph& graph() const { return file_.graph(); }
  flatbuffers::FlatBufferBuilder& builder() { return file_.builder(); }
  // An activation that the next node is and this one may do at the end; takes it.
  Activation activation() {
    took_activation_ = true;
    return activation_;
  }
  bool took_activation() const { return took_activation_; }

  bool has_input(size_t i) const { return node_.input(i) != kNoValue; }
  int32_t input(size_t i) { return file_.tensor(node_.inputs[i]); }
  int32_t output(size_t i = 0) { return file_.tensor(i == 0 ? output_ : node_.outputs[i]); }
  const dnn::Tensor* constant(size_t i) const { return graph().constant(node_.input(i)); }
  // A constant input; Unsupported where it is computed.
  const dnn::Tensor& known(size_t i, const char* what) const;
  std::vector<int64_t> known_ints(size_t i, const char* what) const { return to_int64s(known(i, what)); }
  const Type& type(size_t i) const { return graph().value(node_.inputs[i]).type; }
  const Type& output_type(size_t i = 0) const { return graph().value(i == 0 ? output_ : node_.outputs[i]).type; }
  // Extents of input i; -1: open. Unsupported where the rank is unknown.
  std::vector<int64_t> shape(size_t i) const;
  std::vector<int64_t> output_shape(size_t i = 0) const;

  int32_t ints(const std::vector<int64_t>& values) { return file_.ints(name("list"), values); }
  int32_t number(double value);  // a scalar of input 0's dtype
  int32_t store(const char* what, const dnn::Tensor& value) { return file_.constant(name(what), value); }
  // A rearranged constant input, under its own name.
  int32_t store_input(size_t i, const dnn::Tensor& value) {
    return file_.constant(graph().value(node_.inputs[i]).name, value);
  }
  int32_t step(const char* what, const Type& type) { return file_.computed(name(what), type); }
  void op(int code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
          const OptionsRef& options = {}, int version = 1) {
    file_.op(code, version, inputs, outputs, options);
  }

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(node_.label(), " cannot be written as TFLite: ", parts...);
  }

 private:
  std::string name(const char* what) const { return graph().value(output_).name + "/" + what; }

  File& file_;
  const Node& node_;
  const Activation activation_;
  const ValueId output_;
  bool took_activation_ = false;
};

// One row per IR operator that can be written, from exports.def. `fuses`: it may do an activation at its end.
struct ExportRow {
  const char* domain;
  const char* op;
  bool fuses;
  void (*write)(Export&);
};
const std::vector<ExportRow>& export_rows();

}  // namespace dnn::tflite
