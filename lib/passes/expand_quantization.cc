// expand-quantization: QuantizeLinear and DequantizeLinear in arithmetic on real numbers, for formats that have no quantised
// operators nor 16-bit weights. The numbers stay on their grid: round half to even, then the bounds of the integers (ONNX, QuantizeLinear), which
// for a pair of the two is y = Clip(Round(x / scale), low - zero_point, high - zero_point) * scale, exactly. Constants become
// the real numbers that they stand for. Scales and zero points must be constants, per tensor or along one axis.
#include <algorithm>
#include <optional>

#include "graph/locate.h"
#include "ops/build.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/single_nodes.h"

namespace dnn {
namespace {

// Scale and zero point of a node as real numbers that broadcast along the axes of what it converts.
struct QuantizedGrid {
  Tensor scale, zero;
  double low = 0, high = 0;  // of the integers
  DType dtype = DType::Int8;

  bool same(const QuantizedGrid& other) const {
    return dtype == other.dtype && scale.identical(other.scale) && zero.identical(other.zero);
  }
};

// The bounds of an integer dtype of up to 16 bits; nothing for others.
bool set_bounds(QuantizedGrid* grid) {
  switch (grid->dtype) {
    case DType::Int8: grid->low = -128, grid->high = 127; return true;
    case DType::UInt8: grid->low = 0, grid->high = 255; return true;
    case DType::Int16: grid->low = -32768, grid->high = 32767; return true;
    case DType::UInt16: grid->low = 0, grid->high = 65535; return true;
    default: return false;
  }
}

std::optional<QuantizedGrid> quantized_grid_of(const Graph& graph, const Node& node, DType dtype) {
  const Tensor* scale = graph.constant(node.inputs[1]);
  const Tensor* zero = node.input(2) == kNoValue ? nullptr : graph.constant(node.inputs[2]);
  const Type& x = graph.value(node.inputs[0]).type;
  if (scale == nullptr || scale->dtype() != DType::Float32 || !x.shape || node.attribute_int("block_size", 0) != 0 ||
      (node.input(2) != kNoValue && zero == nullptr))
    return std::nullopt;
  const auto rank = static_cast<int64_t>(x.shape->size());
  Shape shape;
  if (scale->size() > 1) {
    int64_t axis = node.attribute_int("axis", 1);
    axis += axis < 0 ? rank : 0;
    if (scale->rank() != 1 || axis < 0 || axis >= rank) return std::nullopt;
    shape.assign(rank - axis, 1);
    shape[0] = scale->size();
  }
  QuantizedGrid grid;
  grid.dtype = dtype;
  if (!set_bounds(&grid)) return std::nullopt;
  grid.scale = scale->reshaped(shape);
  grid.zero = Tensor(DType::Float32, shape);
  if (zero != nullptr) {
    if (zero->size() != scale->size()) return std::nullopt;
    const std::vector<double> values = to_doubles(*zero);
    std::copy(values.begin(), values.end(), grid.zero.mutable_data<float>());
  }
  return grid;
}

// Arithmetic that a patch adds in place of a node; each value is called after `base`.
struct RealArithmetic {
  RealArithmetic(const Graph& graph, Patch& patch, std::string after, const Node& replaced)
      : base(std::move(after)), of(replaced), sink(graph, patch), build(sink, base) {}

  ValueId constant(const std::string& name, Tensor tensor) {
    return sink.add_constant(cat(base, ".", name), std::move(tensor));
  }
  ValueId number(const std::string& name, double value) {
    return constant(name, Tensor::scalar(static_cast<float>(value)));
  }
  // `result` is made, or else a new value.
  ValueId step(const std::string& op, std::vector<ValueId> inputs, const std::string& name, ValueId result = kNoValue,
               Attributes attributes = {}) {
    Node node;
    node.op = op;
    node.name = name.empty() ? of.name : cat(of.name, "_", name);
    node.inputs = std::move(inputs);
    if (result != kNoValue) node.outputs = {result};
    node.attributes = std::move(attributes);
    node.sources = sources_of(of);
    return build.add(std::move(node), {cat(base, ".", name)})[0];
  }
  // Round(x / scale)
  ValueId rounded(ValueId x, const QuantizedGrid& grid) {
    return step("Round", {step("Div", {x, constant("scale", grid.scale)}, "scaled")}, "rounded");
  }

  std::string base;
  const Node& of;
  PatchSink sink;
  GraphBuilder build;
};

bool all_are(const Tensor& tensor, double value) {
  const std::vector<double> values = to_doubles(tensor);
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == value; });
}

// A QuantizeLinear whose only readers are DequantizeLinear of the same grid, as arithmetic in one go; its zero point must be
// one for all, as bounds are.
std::optional<Patch> pair(const Graph& graph, const Uses& uses, NodeId id, const QuantizedGrid& grid) {
  const Node& node = graph.node(id);
  const ValueId q = node.outputs[0];
  const std::vector<NodeId>& readers = uses.readers[q];
  const double zero = grid.zero.data<float>()[0];
  if (readers.empty() || graph.is_output(q) || !all_are(grid.zero, zero)) return std::nullopt;
  for (NodeId reader : readers) {
    const Node& back = graph.node(reader);
    if (!is_op(back, "DequantizeLinear") || back.inputs[0] != q) return std::nullopt;
    const std::optional<QuantizedGrid> other = quantized_grid_of(graph, back, grid.dtype);
    if (!other || !grid.same(*other)) return std::nullopt;
  }
  const Node& first = graph.node(readers[0]);
  Patch patch(graph, label_in(graph, node) + " and " + label_in(graph, first) + " spelt out");
  patch.place_at(id);
  RealArithmetic steps(graph, patch, graph.value(q).name, node);
  const ValueId kept = steps.step("Clip",
                                  {steps.rounded(node.inputs[0], grid), steps.number("low", grid.low - zero),
                                   steps.number("high", grid.high - zero)},
                                  "clipped");
  const ValueId y = steps.step("Mul", {kept, steps.constant("factor", grid.scale)}, "", first.outputs[0]);
  patch.remove_node(id);
  for (NodeId reader : readers) patch.remove_node(reader);
  for (size_t i = 1; i < readers.size(); ++i) patch.redirect(graph.node(readers[i]).outputs[0], y);
  return patch;
}

Patch quantize(const Graph& graph, NodeId id, const QuantizedGrid& grid) {
  const Node& node = graph.node(id);
  Patch patch(graph, label_in(graph, node) + " spelt out");
  RealArithmetic steps(graph, patch, graph.value(node.outputs[0]).name, node);
  ValueId x = steps.rounded(node.inputs[0], grid);
  if (!all_are(grid.zero, 0)) x = steps.step("Add", {x, steps.constant("zero_point", grid.zero)}, "moved");
  x = steps.step("Clip", {x, steps.number("low", grid.low), steps.number("high", grid.high)}, "clipped");
  steps.step("Cast", {x}, "", node.outputs[0], {{"to", static_cast<int64_t>(grid.dtype)}});
  patch.remove_node(id);
  return patch;
}

Patch dequantize(const Graph& graph, NodeId id, const QuantizedGrid& grid) {
  const Node& node = graph.node(id);
  Patch patch(graph, label_in(graph, node) + " spelt out");
  RealArithmetic steps(graph, patch, graph.value(node.outputs[0]).name, node);
  ValueId x = steps.step("Cast", {node.inputs[0]}, "real", kNoValue, {{"to", static_cast<int64_t>(DType::Float32)}});
  if (!all_are(grid.zero, 0)) x = steps.step("Sub", {x, steps.constant("zero_point", grid.zero)}, "moved");
  steps.step("Mul", {x, steps.constant("scale", grid.scale)}, "", node.outputs[0]);
  patch.remove_node(id);
  return patch;
}

// A node that makes float32 of 16 bits.
bool widens_half(const Graph& graph, const Node& node) {
  if (!is_op(node, "Cast") || graph.value(node.outputs[0]).type.dtype != DType::Float32) return false;
  const DType from = graph.value(node.inputs[0]).type.dtype;
  return from == DType::Float16 || from == DType::BFloat16;
}

}  // namespace

std::vector<Patch> expand_quantization(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool to_integers = is_op(node, "QuantizeLinear");
    const bool widening = widens_half(graph, node);
    if (!to_integers && !widening && !is_op(node, "DequantizeLinear")) continue;
    std::optional<Patch> patch;
    if (!to_integers) patch = computed(graph, id, graph.value(node.inputs[0]).name + ".real");
    const ValueId integers = to_integers ? node.outputs[0] : node.inputs[0];
    const ValueId real = to_integers ? node.inputs[0] : node.outputs[0];
    const std::optional<QuantizedGrid> grid =
        widening ? std::nullopt : quantized_grid_of(graph, node, graph.value(integers).type.dtype);
    if (!patch && grid && graph.value(real).type.dtype == DType::Float32) {
      if (to_integers) {
        patch = pair(graph, uses, id, *grid);
        if (!patch) patch = quantize(graph, id, *grid);
      } else {
        patch = dequantize(graph, id, *grid);
      }
    }
    if (patch) patches.push_back(std::move(*patch));
  }
  return patches;
}

}  // namespace dnn
