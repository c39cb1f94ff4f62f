// Faults of attributes: padding, strides, axes, kinds of pooling and resizing, activations.
#include <algorithm>
#include <cmath>

#include "faults/classes.h"
#include "ops/weights.h"

namespace dnn::faults {
namespace {

bool is_pool(const Node& node) { return is_op(node, "MaxPool") || is_op(node, "AveragePool") || is_op(node, "LpPool"); }
bool has_window(const Node& node) { return is_convolution(node) || is_pool(node); }

// Extents of the window of a convolution or pooling over two or more axes; empty otherwise.
std::vector<int64_t> window_of(const FaultContext& context) {
  const Node& node = context.read();
  if (!has_window(node)) return {};
  std::vector<int64_t> kernel = node.attribute_ints("kernel_shape");
  if (kernel.empty()) {
    const std::optional<Shape> weights = shape_of(context.graph, node.input(1));
    if (weights && weights->size() > 2) kernel.assign(weights->begin() + 2, weights->end());
  }
  return kernel;
}

std::vector<int64_t> ints(const Node& node, const std::string& key, size_t n, int64_t fallback) {
  return node.attribute_ints(key, std::vector<int64_t>(n, fallback));
}

bool explicit_pads(const Node& node) {
  const std::string how = node.attribute_string("auto_pad", "NOTSET");
  return how == "NOTSET" || how.empty();
}

bool set_ints(FaultContext& context, const std::string& key, const std::vector<int64_t>& before,
              const std::vector<int64_t>& after) {
  if (before == after) return false;
  context.graph.node(context.node).attributes[key] = after;
  context.what = cat(key, " [", join(before), "] -> [", join(after), "]");
  return true;
}

bool set_op(FaultContext& context, const std::string& op) {
  Node& node = context.graph.node(context.node);
  context.what = cat(node.op, " -> ", op);
  node.op = op;
  return true;
}

bool set_text(FaultContext& context, const std::string& key, const std::string& before, const std::string& after) {
  context.graph.node(context.node).attributes[key] = after;
  context.what = cat(key, " ", before, " -> ", after);
  return true;
}

// A Relu, Clip(0, 6) or other activation in the place of the node's.
void become(FaultContext& context, const std::string& op, const std::vector<double>& constants) {
  Graph& graph = context.graph;
  Node& node = graph.node(context.node);
  const DType dtype = graph.value(node.output(0)).type.dtype;
  context.what = cat(node.op, " -> ", op, constants.empty() ? "" : " with bounds ", join(constants));
  node.op = op;
  node.attributes.clear();
  node.inputs.resize(1);
  const std::string name = graph.value(node.output(0)).name;
  for (double x : constants) {
    const ValueId id = graph.add_constant(graph.unused_value_name(name + "_bound"), convert(Tensor::scalar(x), dtype));
    graph.node(context.node).inputs.push_back(id);
  }
}

}  // namespace

bool padding_shifted(FaultContext& context) {
  const std::vector<int64_t> kernel = window_of(context);
  const size_t n = kernel.size();
  if (n == 0 || !explicit_pads(context.read())) return false;
  const std::vector<int64_t> pads = ints(context.read(), "pads", 2 * n, 0);
  if (pads.size() != 2 * n) return false;
  std::vector<int64_t> shifted = pads;
  for (size_t i = 0; i < n; ++i) {
    const int64_t total = pads[i] + pads[n + i], begin = total / 2;
    if (total == 0) continue;
    shifted[i] = pads[i] == begin && total % 2 == 0 ? begin - 1 : total - pads[i];
    shifted[n + i] = total - shifted[i];
  }
  return set_ints(context, "pads", pads, shifted);
}

bool padding_moved(FaultContext& context) {
  const std::vector<int64_t> kernel = window_of(context);
  const size_t n = kernel.size();
  if (n == 0 || !explicit_pads(context.read())) return false;
  const std::vector<int64_t> pads = ints(context.read(), "pads", 2 * n, 0);
  if (pads.size() != 2 * n) return false;
  std::vector<int64_t> moved = pads;
  for (size_t i = 0; i < n; ++i) {
    moved[i] = 0;
    moved[n + i] = pads[i] + pads[n + i];
  }
  return set_ints(context, "pads", pads, moved);
}

bool padding_missing(FaultContext& context) {
  const std::vector<int64_t> kernel = window_of(context);
  if (kernel.empty() || !explicit_pads(context.read())) return false;
  const std::vector<int64_t> pads = ints(context.read(), "pads", 2 * kernel.size(), 0);
  return set_ints(context, "pads", pads, std::vector<int64_t>(pads.size(), 0));
}

bool pad_value(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Pad") || node.attribute_string("mode", "constant") != "constant") return false;
  const ValueId out = node.output(0);
  const DType dtype = context.graph.value(out).type.dtype;
  if (!is_float(dtype)) return false;
  const Tensor* value = context.graph.constant(node.input(2));
  const double before = value == nullptr ? 0 : to_doubles(*value)[0];
  const double after = before == 0 ? 1 : 0;
  Graph& graph = context.graph;
  const ValueId id = graph.add_constant(graph.unused_value_name(graph.value(out).name + "_fill"),
                                        convert(Tensor::scalar(after), dtype));
  std::vector<ValueId>& inputs = graph.node(context.node).inputs;
  if (inputs.size() < 3) inputs.resize(3, kNoValue);
  inputs[2] = id;
  context.what = cat("padded with ", after, " in place of ", before);
  return true;
}

bool stride_wrong(FaultContext& context) {
  const std::vector<int64_t> kernel = window_of(context);
  if (kernel.empty()) return false;
  const std::vector<int64_t> strides = ints(context.read(), "strides", kernel.size(), 1);
  std::vector<int64_t> other = strides;
  for (int64_t& s : other) s = s == 1 ? 2 : 1;
  const std::optional<Shape> out = shape_of(context.graph, context.read().output(0));
  if (out && out->size() > 2 && std::all_of(out->begin() + 2, out->end(), [](int64_t n) { return n == 1; }))
    return false;  // of a single window
  return set_ints(context, "strides", strides, other);
}

bool dilation_wrong(FaultContext& context) {
  const std::vector<int64_t> kernel = window_of(context);
  const size_t n = kernel.size();
  if (n == 0 || !explicit_pads(context.read()) || is_op(context.read(), "AveragePool")) return false;
  const std::vector<int64_t> dilations = ints(context.read(), "dilations", n, 1);
  std::vector<int64_t> pads = ints(context.read(), "pads", 2 * n, 0), other = dilations;
  if (pads.size() != 2 * n) return false;
  for (size_t i = 0; i < n; ++i) {
    if (kernel[i] % 2 == 0 || kernel[i] == 1) return false;
    const int64_t more = (kernel[i] - 1) / 2;
    other[i] = dilations[i] + 1;
    pads[i] += more;
    pads[n + i] += more;
    if (is_pool(context.read()) && (pads[i] >= kernel[i] || pads[n + i] >= kernel[i])) return false;
  }
  context.graph.node(context.node).attributes["pads"] = pads;
  return set_ints(context, "dilations", dilations, other);
}

bool pool_kind(FaultContext& context) {
  const Node& node = context.read();
  if (is_op(node, "GlobalAveragePool")) return set_op(context, "GlobalMaxPool");
  if (is_op(node, "GlobalMaxPool")) return set_op(context, "GlobalAveragePool");
  if (is_op(node, "ReduceMean")) return set_op(context, "ReduceMax");
  if (is_op(node, "AveragePool")) {
    context.graph.node(context.node).attributes.erase("count_include_pad");
    return set_op(context, "MaxPool");
  }
  if (!is_op(node, "MaxPool") || node.outputs.size() > 1) return false;
  for (int64_t d : node.attribute_ints("dilations")) {
    if (d != 1) return false;
  }
  context.graph.node(context.node).attributes.erase("storage_order");
  return set_op(context, "AveragePool");
}

bool count_include_pad(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "AveragePool")) return false;
  const std::vector<int64_t> pads = node.attribute_ints("pads");
  const bool padded = !explicit_pads(node) || std::any_of(pads.begin(), pads.end(), [](int64_t n) { return n != 0; });
  if (!padded) return false;
  const int64_t before = node.attribute_int("count_include_pad", 0);
  context.graph.node(context.node).attributes["count_include_pad"] = int64_t{1} - before;
  context.what = cat("count_include_pad ", before, " -> ", 1 - before);
  return true;
}

bool axis_wrong(FaultContext& context) {
  const Node& node = context.read();
  const bool softmax = is_op(node, "Softmax") || is_op(node, "LogSoftmax");
  if (!softmax && !is_op(node, "Concat") && !is_op(node, "Split")) return false;
  const std::optional<Shape> shape = shape_of(context.graph, node.input(0));
  if (!shape || shape->size() < 2) return false;
  const auto rank = static_cast<int64_t>(shape->size());
  const int64_t axis = node.attribute_int("axis", softmax ? -1 : 0), at = axis < 0 ? axis + rank : axis;
  const int64_t other = (at + 1 + static_cast<int64_t>(context.random.below(rank - 1))) % rank;
  context.graph.node(context.node).attributes["axis"] = other;
  context.what = cat("axis ", axis, " -> ", other);
  return true;
}

bool reduce_axes(FaultContext& context) {
  const Node& node = context.read();
  if (node.op.rfind("Reduce", 0) != 0 || !node.domain.empty()) return false;
  const Tensor* axes = context.graph.constant(node.input(1));
  const std::optional<Shape> shape = shape_of(context.graph, node.input(0));
  if (axes == nullptr || !shape || axes->size() == 0) return false;
  std::vector<int64_t> values = to_int64s(*axes);
  const auto rank = static_cast<int64_t>(shape->size());
  for (int64_t& a : values) a = (a < 0 ? a + rank : a) == rank - 1 ? 1 : (a < 0 ? a + rank : a) + 1;
  std::sort(values.begin(), values.end());
  if (std::unique(values.begin(), values.end()) != values.end()) return false;
  context.what = cat("axes [", join(to_int64s(*axes)), "] -> [", join(values), "]");
  put_constant(context.graph, {context.node, 1}, Tensor::of<int64_t>(axes->shape(), values));
  return true;
}

bool concat_order(FaultContext& context) {
  Node& node = context.graph.node(context.node);
  if (!is_op(node, "Concat") || node.inputs.size() < 2) return false;
  if (!is_float(context.graph.value(node.output(0)).type.dtype)) return false;
  const size_t a = context.random.below(node.inputs.size() - 1);
  if (node.inputs[a] == node.inputs[a + 1]) return false;
  std::swap(node.inputs[a], node.inputs[a + 1]);
  context.what = cat("operands ", a, " and ", a + 1, " exchanged");
  return true;
}

bool operands_swapped(FaultContext& context) {
  Node& node = context.graph.node(context.node);
  if (!is_op(node, "Sub") && !is_op(node, "Div")) return false;
  if (node.inputs[0] == node.inputs[1] || !is_float(context.graph.value(node.output(0)).type.dtype)) return false;
  std::swap(node.inputs[0], node.inputs[1]);
  context.what = "operands exchanged";
  return true;
}

bool resize_mode(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Resize") && !is_op(node, "Upsample")) return false;
  const std::string mode = node.attribute_string("mode", "nearest");
  return set_text(context, "mode", mode, mode == "nearest" ? "linear" : "nearest");
}

bool resize_coordinates(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Resize")) return false;
  const std::string key = "coordinate_transformation_mode", before = node.attribute_string(key, "half_pixel");
  return set_text(context, key, before,
                  before == "asymmetric" || before == "align_corners" ? "half_pixel" : "asymmetric");
}

bool activation_other(FaultContext& context) {
  const Node& node = context.read();
  if (!is_float(context.graph.value(node.output(0)).type.dtype)) return false;
  if (is_op(node, "Relu")) {
    become(context, "Clip", {0, context.random.below(2) == 0 ? 6.0 : 1.0});
  } else if (is_op(node, "Clip")) {
    become(context, "Relu", {});
  } else if (is_op(node, "Sigmoid")) {
    become(context, "HardSigmoid", {});
  } else if (is_op(node, "HardSigmoid")) {
    become(context, "Sigmoid", {});
  } else if (is_op(node, "LeakyRelu") || is_op(node, "PRelu") || is_op(node, "HardSwish") || is_op(node, "Gelu") ||
             is_op(node, "Elu") || is_op(node, "Tanh")) {
    become(context, "Relu", {});
  } else {
    return false;
  }
  return true;
}

bool gelu_approximation(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Gelu")) return false;
  const std::string before = node.attribute_string("approximate", "none");
  return set_text(context, "approximate", before, before == "none" ? "tanh" : "none");
}

bool operator_other(FaultContext& context) {
  const Node& node = context.read();
  if (!is_float(context.graph.value(node.output(0)).type.dtype)) return false;
  if (is_op(node, "Add")) return set_op(context, context.random.below(2) == 0 ? "Sub" : "Mul");
  if (is_op(node, "Sub") || is_op(node, "Mul")) return set_op(context, "Add");
  if (is_op(node, "Div")) return set_op(context, "Mul");
  return false;
}

bool group_wrong(FaultContext& context) {
  Node& node = context.graph.node(context.node);
  if (!is_convolution(node) || node.attribute_int("group", 1) <= 2) return false;
  // Each group is given the next one's filters, as where channels of a group are laid side by side in another order.
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place) return false;
  const Tensor& weights = tensor_at(context.graph, *place);
  const int64_t groups = node.attribute_int("group", 1), filters = weights.dim(0), each = filters / groups;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < filters; ++i) order.push_back(each > 1 ? i % groups * each + i / groups : (i + 1) % filters);
  Tensor moved = along_axis(weights, 0, order);
  if (moved.identical(weights)) return false;
  put_constant(context.graph, *place, std::move(moved));
  context.what = "filters of the groups in another order";
  return true;
}

}  // namespace dnn::faults
