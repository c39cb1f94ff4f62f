// Types of inputs and outputs; see io_types.h.
#include "quant/io_types.h"

#include "base/error.h"
#include "graph/rename.h"

namespace dnn::quant {
namespace {

constexpr int64_t kOtherSign = 128;  // from a zero point of int8 to the same one of uint8

class Changer {
 public:
  explicit Changer(Graph& graph) : graph_(graph), uses_(graph) {}

  void input(size_t i, DType dtype) {
    const ValueId real = graph_.inputs[i];
    if (graph_.value(real).type.dtype != DType::Float32) return;
    const std::vector<NodeId>& readers = uses_.readers[real];
    const bool quantised =
        readers.size() == 1 && graph_.node(readers[0]).op == "QuantizeLinear" && !graph_.is_output(real);
    const Node quantize = quantised ? graph_.node(readers[0]) : Node();
    const ValueId stored = quantize.output(0);
    if (!quantised || !has_integers(stored, quantize))
      fail_usage("--inference-input-type: input '", graph_.value(real).name, "' is read in float32");
    const std::string name = taken_name(real);
    if (graph_.value(stored).type.dtype == dtype) {  // the integers come from outside
      graph_.remove_node(readers[0]);
      rename_value(graph_, stored, name);
      graph_.inputs[i] = stored;
      return;
    }
    const ValueId given = value(name, real, dtype);
    add("DequantizeLinear", given, quantize, dtype, real);
    graph_.inputs[i] = given;
  }

  void output(size_t i, DType dtype) {
    const ValueId real = graph_.outputs[i];
    if (graph_.value(real).type.dtype != DType::Float32) return;
    const NodeId maker = uses_.producer[real];
    const Node dequantize = maker >= 0 && graph_.node(maker).op == "DequantizeLinear" ? graph_.node(maker) : Node();
    const ValueId stored = dequantize.input(0);
    if (stored == kNoValue || !has_integers(stored, dequantize))
      fail_usage("--inference-output-type: output '", graph_.value(real).name, "' is made in float32");
    const std::string name = taken_name(real);
    if (graph_.value(stored).type.dtype == dtype) {
      rename_value(graph_, stored, name);
      graph_.outputs[i] = stored;
      return;
    }
    const ValueId given = value(name, real, dtype);
    add("QuantizeLinear", real, dequantize, dtype, given);
    graph_.outputs[i] = given;
  }

  void finish() {
    sort_nodes(graph_);
    remove_dead_nodes(graph_);
  }

 private:
  bool has_integers(ValueId stored, const Node& node) const {
    const DType dtype = graph_.value(stored).type.dtype;
    return (dtype == DType::Int8 || dtype == DType::UInt8) && graph_.constant(node.input(2)) != nullptr;
  }

  // The name of a value, which something else gets.
  std::string taken_name(ValueId v) {
    std::string name = graph_.value(v).name;
    rename_value(graph_, v, graph_.unused_value_name(name + ".float32"));
    return name;
  }

  ValueId value(const std::string& name, ValueId like, DType dtype) {
    Type type = graph_.value(like).type;
    type.dtype = dtype;
    return graph_.add_value(name, std::move(type));
  }

  // A node like `of`, whose integers are of the other sign.
  void add(const char* op, ValueId from, const Node& of, DType dtype, ValueId to) {
    const int64_t zero =
        to_int64s(*graph_.constant(of.inputs[2]))[0] + (dtype == DType::UInt8 ? kOtherSign : -kOtherSign);
    const std::string name = graph_.value(dtype == graph_.value(from).type.dtype ? from : to).name;
    Node node;
    node.op = op;
    node.inputs = {from, of.inputs[1],
                   graph_.add_constant(graph_.unused_value_name(name + ".zero_point"),
                                       convert(Tensor::scalar<int64_t>(zero), dtype))};
    node.outputs = {to};
    graph_.add_node(std::move(node));
  }

  Graph& graph_;
  const Uses uses_;
};

}  // namespace

void set_io_types(Graph& graph, DType inputs, DType outputs) {
  if (inputs != DType::Float32) {
    Changer changer(graph);
    for (size_t i = 0; i < graph.inputs.size(); ++i) changer.input(i, inputs);
    changer.finish();
  }
  if (outputs != DType::Float32) {
    Changer changer(graph);
    for (size_t i = 0; i < graph.outputs.size(); ++i) changer.output(i, outputs);
    changer.finish();
  }
}

}  // namespace dnn::quant
