// What writing one IR node as TFLite operators needs: its values as tensors, and steps to add operators.
#pragma once
#include <schemas/tflite_generated.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/plan.h"
#include "formats/tflite/versions.h"
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
  File(const Graph& graph, const Plan& plan, bool float16_weights);

  const Graph& graph() const { return graph_; }
  // Of a value that holds quantised numbers; Unsupported where they are not known.
  const Scales& scales(ValueId v) const;
  flatbuffers::FlatBufferBuilder& builder() { return builder_; }
  // The tensor of a value, as operators read and write it: 64-bit integers are 32-bit ones, as TFLite's kernels want.
  int32_t tensor(ValueId v);
  // Of an input or output of the graph the tensor that its callers see: 64-bit integers are cast after it, or before.
  int32_t outer(ValueId v);
  // Whether that has a value before the end: an input's, and an output's that an operator has written.
  bool has_outer(ValueId v) const { return graph_.is_input(v) || outer_.count(v) != 0; }
  int32_t constant(const std::string& name, const dnn::Tensor& value, const Scales* scales = nullptr);
  // The same without becoming int32 or float16.
  int32_t stored(const std::string& name, const dnn::Tensor& value, const Scales* scales = nullptr);
  int32_t ints(const std::string& name, const std::vector<int64_t>& values);
  int32_t computed(const std::string& name, const Type& type, const Scales* scales = nullptr);
  const std::vector<int32_t>& extents(int32_t tensor) const { return facts_[tensor].shape; }
  // The tensor of `v` is this one.
  void define(ValueId v, int32_t tensor) { tensors_of_[v] = tensor; }
  // In the version that its operands need.
  void op(int code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
          const OptionsRef& options = {});
  // The whole file.
  Content finish();

 private:
  int32_t add(const std::string& name, const Type& type, uint32_t buffer, const Scales* scales);
  Content with_constants();

  const Graph& graph_;
  const Plan& plan_;
  const bool float16_weights_;
  flatbuffers::FlatBufferBuilder builder_;
  std::map<ValueId, int32_t> tensors_of_;
  std::map<ValueId, int32_t> outer_;
  std::map<std::pair<int, int>, uint32_t> codes_of_;
  std::vector<flatbuffers::Offset<Buffer>> buffers_;
  std::vector<std::pair<size_t, dnn::Tensor>> apart_;  // contents of buffers that are empty so far
  std::vector<flatbuffers::Offset<Tensor>> tensors_;
  std::vector<TensorFacts> facts_;  // by tensor
  std::vector<flatbuffers::Offset<OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<Operator>> ops_;
};

// One node while it is written.
class Export {
 public:
  Export(File& file, const Node& node, const PlannedNode& planned);
  // The output is a constant: what DequantizeLinear makes of a constant.
  void define_dequantized();
  // Ends the operator: what has a scale of its own is brought to the output's.
  void finish();

  const Node& node() const { return node_; }
  bool quantized() const { return planned_.quantized; }
  const Graph& graph() const { return file_.graph(); }
  flatbuffers::FlatBufferBuilder& builder() { return file_.builder(); }
  // An activation that the next node is and this one may do at the end; takes it.
  Activation activation() {
    took_activation_ = true;
    return planned_.activation;
  }
  bool took_activation() const { return took_activation_; }

  // Whether the operator rounds its real input to meet integer weights; by a scale and a zero point, as XNNPACK always does.
  bool rounds_activations() const { return !quantized() && !planned_.widens && type(1).dtype == DType::Int8; }
  bool has_input(size_t i) const { return node_.input(i) != kNoValue; }
  int32_t input(size_t i);
  int32_t output(size_t i = 0);
  int32_t outer(ValueId v) { return file_.outer(v); }
  bool has_outer(ValueId v) const { return file_.has_outer(v); }
  const dnn::Tensor* constant(size_t i) const { return graph().constant(value(i)); }
  // A constant input; Unsupported where it is computed.
  const dnn::Tensor& known(size_t i, const char* what) const;
  std::vector<int64_t> known_ints(size_t i, const char* what) const { return to_int64s(known(i, what)); }
  const Type& type(size_t i) const { return graph().value(value(i)).type; }
  const Type& output_type(size_t i = 0) const {
    return graph().value(i == 0 ? planned_.output : node_.outputs[i]).type;
  }
  // Extents of input i; -1: open. Unsupported where the rank is unknown.
  std::vector<int64_t> shape(size_t i) const;
  std::vector<int64_t> output_shape(size_t i = 0) const;

  // Of a QuantizeLinear whose input may lie anywhere: the numbers one step beyond those that its output can hold.
  std::optional<std::pair<double, double>> bounds_beyond_output() const;

  int32_t ints(const std::vector<int64_t>& values) { return file_.ints(name("list"), values); }
  int32_t number(double value);  // a scalar of input 0's dtype and scale
  int32_t store(const char* what, const dnn::Tensor& value) { return file_.constant(name(what), value); }
  // A rearranged constant input, under its own name; `axis`: where its units lie now, which its scales are of.
  int32_t store_input(size_t i, const dnn::Tensor& value, int axis = 0);
  // The bias of `units` units: input i as `row`, or zeros without one. Among quantised numbers the format's 32-bit ones.
  int32_t bias(size_t i, int64_t units, const dnn::Tensor* row);
  // A tensor between two operators: in the scale of input 0, or of the output.
  int32_t step(const char* what, const Type& type);
  int32_t last_step(const char* what, const Type& type);
  void op(int code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
          const OptionsRef& options = {});

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(node_.label(), " cannot be written as TFLite: ", parts...);
  }

 private:
  std::string name(const char* what) const { return graph().value(planned_.output).name + "/" + what; }
  // What is read in place of input i: the stored integers of a quantised one.
  ValueId value(size_t i) const {
    return i < planned_.inputs.size() && planned_.inputs[i] != kNoValue ? planned_.inputs[i] : node_.input(i);
  }
  const Scales* input_scales() const { return quantized() ? &file_.scales(value(0)) : nullptr; }
  const Scales* output_scales() const;
  bool widens(size_t i) const;
  int32_t widened(size_t i, int32_t tensor);
  int32_t requantized(const std::string& to_name, int32_t from, const Type& type, const Scales& to);

  File& file_;
  const Node& node_;
  const PlannedNode& planned_;
  std::optional<Scales> own_;  // the scale that the operator insists on, where it is not the output's
  int32_t own_output_ = -1;
  bool took_activation_ = false;
};

// One row per IR operator that can be written, from exports.def. `fuses`: it may do an activation at its end.
struct ExportRow {
  const char* domain;
  const char* op;
  bool fuses;
  OnQuantized on_quantized;
  void (*write)(Export&);
};
const std::vector<ExportRow>& export_rows();

}  // namespace dnn::tflite
