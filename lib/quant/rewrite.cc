// Rewriting; see rewrite.h.
#include "quant/rewrite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "graph/locate.h"

namespace dnn::quant {
namespace {

// Biases stay below half of int32's range, so that sums of products have the other half.
constexpr double kLargestBias = 1 << 30;

Tensor zero_points(const Affine& affine) { return convert(Tensor::scalar<int64_t>(affine.zero_point), affine.dtype); }

class Writer {
 public:
  Writer(Graph& graph, const Plan& plan, const Quantizers& quantizers)
      : graph_(graph), plan_(plan), quantizers_(quantizers), order_(graph.order()) {}

  void run(const std::vector<WrittenWeights>& weights) {
    for (const WrittenWeights& written : weights) put_weights(written);
    for (NodeId id : std::vector<NodeId>(order_)) {
      if (quantized(id)) put_constants(id);
    }
    quantize_values();
    graph_.set_order(new_order());
    sort_nodes(graph_);
  }

 private:
  bool quantized(NodeId id) const { return static_cast<size_t>(id) < plan_.quantized.size() && plan_.quantized[id]; }

  ValueId constant(const std::string& name, Tensor tensor) {
    return graph_.add_constant(graph_.unused_value_name(name), std::move(tensor));
  }

  ValueId value(const std::string& name, const Type& like, DType dtype) {
    Type type = like;
    type.dtype = dtype;
    return graph_.add_value(graph_.unused_value_name(name), std::move(type));
  }

  void add(const char* op, std::vector<ValueId> inputs, ValueId output, int64_t axis = -1) {
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    if (axis >= 0) node.attributes["axis"] = axis;
    added_.push_back(graph_.add_node(std::move(node)));
  }

  // Real numbers of a constant that integers hold; `axis` of its scales, or -1.
  ValueId dequantized(const std::string& name, Tensor integers, Tensor scales, Tensor zero, int64_t axis) {
    const Type type(integers);
    const ValueId stored = constant(name + ".quantized", std::move(integers));
    const ValueId real = value(name + ".dequantized", type, DType::Float32);
    std::vector<ValueId> inputs = {stored, constant(name + ".scale", std::move(scales))};
    if (zero.defined()) inputs.push_back(constant(name + ".zero_point", std::move(zero)));
    add("DequantizeLinear", std::move(inputs), real, axis);
    return real;
  }

  Tensor scale_tensor(const std::vector<float>& scales, int64_t axis) const {
    return Tensor::of<float>(axis < 0 ? Shape{} : Shape{static_cast<int64_t>(scales.size())}, scales);
  }

  void put_weights(const WrittenWeights& written) {
    const auto at = std::find_if(plan_.weights.begin(), plan_.weights.end(),
                                 [&](const Weights& w) { return w.node == written.node; });
    const Node node = graph_.node(written.node);
    const int64_t axis = at->axis;
    const std::vector<float>& scales = written.weights.scales;
    const std::string name = graph_.value(node.inputs[1]).name;
    const Tensor zero(DType::Int8, axis < 0 ? Shape{} : Shape{static_cast<int64_t>(scales.size())});
    graph_.node(written.node).inputs[1] =
        dequantized(name, written.weights.values, scale_tensor(scales, axis), zero, axis);
    put_bias(written.node, scales, axis);
  }

  void put_bias(NodeId id, const std::vector<float>& weight_scales, int64_t axis) {
    const Node node = graph_.node(id);
    const auto corrected = quantizers_.biases.find(id);
    const bool has_bias = node.input(2) != kNoValue;
    const int group = quantized(id) ? group_of(plan_, node.inputs[0]) : -1;
    if (corrected == quantizers_.biases.end() && (!has_bias || group < 0)) return;
    Tensor bias = corrected != quantizers_.biases.end() ? corrected->second : *graph_.constant(node.inputs[2]);
    bias = bias.reshaped({bias.size()});
    const std::string name =
        has_bias ? graph_.value(node.inputs[2]).name : cat(graph_.value(node.outputs[0]).name, ".bias");
    ValueId put = kNoValue;
    if (group < 0) {
      put = constant(name, bias);
    } else {
      const float input_scale = quantizers_.groups[group].scale;
      std::vector<float> scales;
      for (const float scale : weight_scales) scales.push_back(input_scale * scale);
      if (axis < 0) scales.assign(1, scales[0]);
      Tensor integers(DType::Int32, bias.shape());
      int32_t* out = integers.mutable_data<int32_t>();
      const std::vector<double> real = to_doubles(bias);
      for (size_t c = 0; c < real.size(); ++c) {
        const double steps = real[c] / static_cast<double>(scales[scales.size() == 1 ? 0 : c]);
        out[c] = static_cast<int32_t>(std::clamp(std::nearbyint(steps), -2147483648.0, 2147483647.0));
      }
      put = dequantized(name, std::move(integers), scale_tensor(scales, scales.size() == 1 ? -1 : 0), {},
                        scales.size() == 1 ? -1 : 0);
    }
    Node& changed = graph_.node(id);
    changed.inputs.resize(std::max<size_t>(changed.inputs.size(), 3), kNoValue);
    changed.inputs[2] = put;
  }

  // The sum behind a MatMul, which is rounded with it.
  bool is_bias(NodeId id) const {
    return graph_.node(id).op == "Add" &&
           std::any_of(plan_.ends.begin(), plan_.ends.end(), [&](const auto& end) { return end.second == id; });
  }

  // Constant operands that are numbers of the network.
  void put_constants(NodeId id) {
    const Node node = graph_.node(id);
    const Role role = role_of(node);
    const bool operands = role == Role::Computes || node.op == "Concat" || node.op == "PRelu";
    if (!operands || is_bias(id)) return;
    const DType dtype = quantizers_.groups.empty() ? DType::Int8 : quantizers_.groups[0].dtype;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor* real = graph_.constant(node.inputs[i]);
      if (real == nullptr || real->dtype() != DType::Float32) continue;
      Affine affine;
      if (node.op == "Concat") {  // of the scale of all
        affine = quantizers_.groups[group_of(plan_, node.outputs[0])];
      } else {
        const std::vector<double> numbers = to_doubles(*real);
        const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
        if (numbers.empty()) continue;
        affine = affine_of(*low, *high, dtype, dtype == DType::Int16);
      }
      graph_.node(id).inputs[i] = dequantized(graph_.value(node.inputs[i]).name, quantize_tensor(*real, affine),
                                              Tensor::scalar(affine.scale), zero_points(affine), -1);
    }
  }

  void quantize_values() {
    const Uses uses(graph_);
    const int n_values = static_cast<int>(plan_.group.size());
    for (ValueId v = 0; v < n_values; ++v) {
      const int group = group_of(plan_, v);
      if (group < 0) continue;
      const Affine& affine = quantizers_.groups[group];
      const NodeId maker = uses.producer[v];
      const std::string name = graph_.value(v).name;
      const Type type = graph_.value(v).type;
      const ValueId scale = constant(name + ".scale", Tensor::scalar(affine.scale));
      const ValueId zero = constant(name + ".zero_point", zero_points(affine));
      const ValueId stored = value(name + ".quantized", type, affine.dtype);
      if (maker >= 0 && (quantized(maker) || (plan_.integer_outputs && graph_.is_output(v)))) {
        const ValueId real = value(name + ".real", type, DType::Float32);
        for (ValueId& output : graph_.node(maker).outputs) output = output == v ? real : output;
        add("QuantizeLinear", {real, scale, zero}, stored);
        add("DequantizeLinear", {stored, scale, zero}, v);
        continue;
      }
      const ValueId rounded = value(name + ".dequantized", type, DType::Float32);
      add("QuantizeLinear", {v, scale, zero}, stored);
      add("DequantizeLinear", {stored, scale, zero}, rounded);
      for (NodeId reader : uses.readers[v]) {
        if (!quantized(reader)) continue;
        for (ValueId& input : graph_.node(reader).inputs) input = input == v ? rounded : input;
      }
    }
  }

  std::vector<NodeId> new_order() const {
    std::vector<NodeId> order = added_;
    order.insert(order.end(), order_.begin(), order_.end());
    return order;
  }

  Graph& graph_;
  const Plan& plan_;
  const Quantizers& quantizers_;
  const std::vector<NodeId> order_;
  std::vector<NodeId> added_;
};

}  // namespace

WrittenWeights quantize_node_weights(const Graph& graph, const Plan& plan, size_t i, const Quantizers& quantizers) {
  const Weights& which = plan.weights[i];
  const Node& node = graph.node(which.node);
  const Tensor& weights = *graph.constant(node.inputs[1]);
  const bool integer = plan.quantized[which.node];
  const int group = integer ? group_of(plan, node.inputs[0]) : -1;
  std::vector<double> least;
  const auto corrected = quantizers.biases.find(which.node);
  const Tensor* bias = corrected != quantizers.biases.end() ? &corrected->second : graph.constant(node.input(2));
  if (group >= 0 && bias != nullptr) {
    const size_t channels = which.axis < 0 ? 1 : weights.dim(static_cast<int>(which.axis));
    const double input_scale = static_cast<double>(quantizers.groups[group].scale);
    least.assign(channels, 0);
    const std::vector<double> real = to_doubles(*bias);
    for (size_t c = 0; c < real.size(); ++c) {
      if (!std::isfinite(real[c]))
        fail_unsupported(label_in(graph, node), ": a bias is NaN or infinite, which int32 cannot hold");
      double& of = least[channels == 1 ? 0 : c % channels];
      of = std::max(of, std::abs(real[c]) / (input_scale * kLargestBias));
    }
  }
  WrittenWeights written;
  written.node = which.node;
  written.weights = quantize_weights(weights, which.axis, least, quantizers.largest_weight);
  for (size_t c = 0; c < least.size(); ++c) {
    // The bias has the product of both scales, which float32 has to hold.
    const float input_scale = quantizers.groups[group].scale;
    if (written.weights.scales[c] * input_scale < std::numeric_limits<float>::min())
      least[c] = 2 * static_cast<double>(std::numeric_limits<float>::min()) / static_cast<double>(input_scale);
  }
  if (!least.empty()) {
    written.weights = quantize_weights(weights, which.axis, least, quantizers.largest_weight);
    const QuantizedWeights plain = quantize_weights(weights, which.axis, {}, quantizers.largest_weight);
    written.widened = plain.scales != written.weights.scales;
  }
  return written;
}

void insert_quantizers(Graph& graph, const Plan& plan, const Quantizers& quantizers,
                       const std::vector<WrittenWeights>& weights) {
  Writer(graph, plan, quantizers).run(weights);
}

}  // namespace dnn::quant
