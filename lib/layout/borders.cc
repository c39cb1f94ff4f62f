// Pads into attributes; see borders.h.
#include "layout/borders.h"

#include <algorithm>
#include <cfloat>

#include "ops/quantization.h"
#include "ops/weights.h"

namespace dnn {
namespace {

struct Borders {
  std::vector<int64_t> pads;  // of the spatial axes: begins, then ends
  double value = 0;
  bool below = false;  // no element of the tensor is less than the value
};

// Whether a node makes nothing below zero.
bool makes_no_negatives(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return false;
  const Tensor* low = node.op == "Clip" ? graph.constant(node.input(1)) : nullptr;
  return node.op == "Relu" || (low != nullptr && low->size() == 1 && to_doubles(*low)[0] >= 0);
}

// What a Pad adds around the spatial axes; nothing where it does more than that, or what is not known.
std::optional<Borders> borders_of(const Graph& graph, const Node& pad) {
  const Type& type = graph.value(pad.inputs[0]).type;
  const Tensor* list = graph.constant(pad.input(1));
  if (pad.op != "Pad" || !pad.domain.empty() || pad.attribute_string("mode", "constant") != "constant" || !type.shape ||
      (!is_float(type.dtype) && !is_byte(type.dtype)) || list == nullptr || pad.input(3) != kNoValue)
    return std::nullopt;
  Borders result;
  if (pad.input(2) != kNoValue) {
    const Tensor* value = graph.constant(pad.input(2));
    if (value == nullptr || value->size() != 1) return std::nullopt;
    result.value = to_doubles(*value)[0];
  }
  const size_t rank = type.shape->size();
  const std::vector<int64_t> pads = to_int64s(*list);
  if (rank < 3 || pads.size() != 2 * rank) return std::nullopt;
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || (i % rank < 2 && pads[i] != 0)) return std::nullopt;
    if (i % rank >= 2) result.pads.push_back(pads[i]);
  }
  return result;
}

bool same_everywhere(const std::vector<int64_t>& list, int64_t wanted) {
  return std::all_of(list.begin(), list.end(), [&](int64_t x) { return x == wanted; });
}

// Whether a node computes the same with these borders among its own.
bool can_take(const Graph& graph, const Node& node, ValueId padded, const Borders& borders) {
  const bool quantized = node.domain == kInternalDomain && node.op == "QuantizedConv";
  if ((!node.domain.empty() && !quantized) || node.inputs[0] != padded ||
      std::count(node.inputs.begin(), node.inputs.end(), padded) != 1)
    return false;
  const std::string border = node.attribute_string("auto_pad", "NOTSET");
  if (border != "NOTSET" && border != "VALID") return false;
  const std::vector<int64_t> own = node.attribute_ints("pads"), kernel = node.attribute_ints("kernel_shape");
  if (!own.empty() && own.size() != borders.pads.size()) return false;
  if (quantized) return borders.value == static_cast<double>(node.attribute_int("padding", 0));
  if (!is_float(graph.value(padded).type.dtype)) return false;
  if (is_convolution(node)) return borders.value == 0;
  if (kernel.size() * 2 != borders.pads.size() || node.attribute_int("ceil_mode", 0) != 0 || !same_everywhere(own, 0) ||
      !same_everywhere(node.attribute_ints("dilations"), 1))
    return false;
  // Every window holds an element of the tensor.
  for (size_t i = 0; i < borders.pads.size(); ++i) {
    if (borders.pads[i] >= kernel[i % kernel.size()]) return false;
  }
  if (node.op == "AveragePool") return borders.value == 0;
  const bool lowest = borders.value <= (graph.value(padded).type.dtype == DType::Float16 ? -65504.0 : -FLT_MAX);
  return node.op == "MaxPool" && node.outputs.size() == 1 && (lowest || borders.below);
}

void take(Node& node, ValueId x, const Borders& borders) {
  std::vector<int64_t> pads = node.attribute_ints("pads", std::vector<int64_t>(borders.pads.size(), 0));
  for (size_t i = 0; i < pads.size(); ++i) pads[i] += borders.pads[i];
  node.inputs[0] = x;
  node.attributes["pads"] = pads;
  node.attributes.erase("auto_pad");
  if (node.op == "AveragePool") node.attributes["count_include_pad"] = int64_t{1};
}

// The borders of a Pad that all readers of what it makes can take; nothing where one cannot.
std::optional<Borders> taken_by_readers(const Graph& graph, const Uses& uses, const Node& pad) {
  if (pad.op != "Pad" || graph.is_output(pad.outputs[0])) return std::nullopt;
  std::optional<Borders> borders = borders_of(graph, pad);
  const NodeId maker = uses.producer[pad.inputs[0]];
  if (borders && maker >= 0) borders->below = borders->value <= 0 && makes_no_negatives(graph, graph.node(maker));
  const std::vector<NodeId>& readers = uses.readers[pad.outputs[0]];
  const bool taken = borders && std::all_of(readers.begin(), readers.end(), [&](NodeId r) {
                       return can_take(graph, graph.node(r), pad.outputs[0], *borders);
                     });
  return taken ? borders : std::nullopt;
}

}  // namespace

void fold_pads(Graph& graph) {
  const Uses uses(graph);
  for (const NodeId id : std::vector<NodeId>(graph.order())) {
    const Node& pad = graph.node(id);
    const std::optional<Borders> borders = taken_by_readers(graph, uses, pad);
    if (!borders) continue;
    const ValueId x = pad.inputs[0];
    for (NodeId reader : uses.readers[pad.outputs[0]]) take(graph.node(reader), x, *borders);
    graph.remove_node(id);
  }
}

std::vector<Patch> pads_into_readers(const Graph& graph) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (const NodeId id : graph.order()) {
    const Node& pad = graph.node(id);
    const std::optional<Borders> borders = taken_by_readers(graph, uses, pad);
    if (!borders) continue;
    for (NodeId reader : uses.readers[pad.outputs[0]]) {
      Node node = graph.node(reader);
      node.sources.clear();
      for (const Node* from : {&pad, &graph.node(reader)}) {
        if (from->sources.empty()) node.sources.push_back(from->name);
        node.sources.insert(node.sources.end(), from->sources.begin(), from->sources.end());
      }
      take(node, pad.inputs[0], *borders);
      Patch patch(graph, pad.label() + " into " + node.label());
      patch.add_node(std::move(node));
      patch.remove_node(reader);
      patches.push_back(std::move(patch));
    }
  }
  return patches;
}

}  // namespace dnn
