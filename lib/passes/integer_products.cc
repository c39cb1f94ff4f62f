// integer-products: MatMul of two quantised operands, as in attention, as a product of integers with one scale behind it. The integers are float32
// numbers, whose sums of products are exact as long as they fit 24 bits, so that kernels of real numbers give the same bits in any order. Longer sums are
// cut into parts that fit, which are added from first to last.
#include <algorithm>

#include "graph/locate.h"
#include "ops/quantization.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/stated_sums.h"

namespace dnn {
namespace {

constexpr double kExact = 1 << 24;
constexpr int64_t kMostParts = 256;

// An operand as integers: the ToReal that makes it; -1: it is none.
NodeId maker_of(const Graph& graph, const Uses& uses, ValueId value) {
  const NodeId id = value == kNoValue ? -1 : uses.producer[value];
  if (id < 0 || !is_internal(graph.node(id), "ToReal")) return -1;
  const Type& type = graph.value(value).type;
  return type.fixed() && !type.shape->empty() && is_byte(graph.value(graph.node(id).inputs[0]).type.dtype) ? id : -1;
}

double largest(const Graph& graph, const Node& to_real) {
  const DType dtype = graph.value(to_real.inputs[0]).type.dtype;
  const int64_t zero = to_real.attribute_int("zero_point", 0);
  return static_cast<double>(std::max(integer_highest(dtype) - zero, zero - integer_lowest(dtype)));
}

struct Product {
  NodeId left = -1, right = -1;  // that make the operands
  int64_t depth = 0;
  double largest = 0;  // of a product
  explicit operator bool() const { return left >= 0 && right >= 0; }
  int64_t most() const { return static_cast<int64_t>(kExact / largest); }  // that add up exactly
  int64_t parts() const { return (depth + most() - 1) / most(); }
};

Product product_of(const Graph& graph, const Uses& uses, const Node& node) {
  Product product;
  if (!is_op(node, "MatMul") || !graph.value(node.outputs[0]).type.fixed()) return product;
  product.left = maker_of(graph, uses, node.inputs[0]);
  product.right = maker_of(graph, uses, node.inputs[1]);
  if (!product) return product;
  product.depth = graph.value(node.inputs[0]).type.shape->back().size;
  if (product.depth == 0) return {};
  product.largest = largest(graph, graph.node(product.left)) * largest(graph, graph.node(product.right));
  return product;
}

float scale_of(const Node& to_real) { return std::get<float>(to_real.attributes.at("scale")); }

class Exact {
 public:
  Exact(const Graph& graph, NodeId id, const Product& product)
      : graph_(graph),
        node_(graph.node(id)),
        product_(product),
        patch_(graph, label_in(graph, node_) + " on integers") {
    patch_.remove_node(id);
  }

  Patch patch() {
    const int64_t parts = product_.parts(), length = (product_.depth + parts - 1) / parts;
    const Type& type = graph_.value(node_.outputs[0]).type;
    ValueId sum = kNoValue;
    for (int64_t from = 0; from < product_.depth; from += length) {
      const int64_t to = std::min(product_.depth, from + length);
      const ValueId left = integers(product_.left, 1, from, to), right = integers(product_.right, 2, from, to);
      const ValueId part = patch_.add_value(name("sums"), type);
      add("MatMul", {left, right}, part);
      if (sum != kNoValue) {
        const ValueId both = patch_.add_value(name("sums"), type);
        add("Add", {sum, part}, both);
        sum = both;
      } else {
        sum = part;
      }
    }
    const float scale = scale_of(graph_.node(product_.left)) * scale_of(graph_.node(product_.right));
    add("Mul", {sum, patch_.add_constant(name("scale"), Tensor::scalar(scale))}, node_.outputs[0]);
    return std::move(patch_);
  }

 private:
  std::string name(const char* what) const { return cat(graph_.value(node_.outputs[0]).name, ".", what); }

  void add(const char* op, std::vector<ValueId> inputs, ValueId output) {
    Node node;
    node.op = op;
    node.name = cat(node_.name, "_", op);
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.sources = sources_of(node_);
    patch_.add_node(std::move(node));
  }

  // Elements from .. to - 1 of the operand's last axis but `behind` - 1, less its zero point, in steps of 1. A vector has one axis.
  ValueId integers(NodeId maker, size_t behind, int64_t from, int64_t to) {
    const Node& made = graph_.node(maker);
    ValueId value = made.inputs[0];
    Type type = graph_.value(value).type;
    if (to - from < product_.depth) {
      const size_t rank = type.shape->size(), axis = rank - std::min(rank, behind);
      (*type.shape)[axis] = Dim(to - from);
      const ValueId slice = patch_.add_value(name("part"), type);
      const auto list = [&](const char* what, int64_t i) {
        return patch_.add_constant(name(what), Tensor::of<int64_t>({1}, {i}));
      };
      add("Slice", {value, list("from", from), list("to", to), list("axis", static_cast<int64_t>(axis))}, slice);
      value = slice;
    }
    type.dtype = DType::Float32;
    Node copy = made;
    copy.attributes["scale"] = 1.0F;
    copy.inputs = {value};
    copy.outputs = {patch_.add_value(name("integers"), type)};
    copy.sources = sources_of(made);
    const ValueId result = copy.outputs[0];
    patch_.add_node(std::move(copy));
    return result;
  }

  const Graph& graph_;
  const Node& node_;
  const Product product_;
  Patch patch_;
};

}  // namespace

bool is_exact_product(const Graph& graph, const Uses& uses, const Node& node) {
  const Product product = product_of(graph, uses, node);
  return product && product.parts() == 1 && scale_of(graph.node(product.left)) == 1 &&
         scale_of(graph.node(product.right)) == 1;
}

std::vector<Patch> integer_products(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Product product = product_of(graph, uses, graph.node(id));
    if (!product || product.parts() > kMostParts || is_exact_product(graph, uses, graph.node(id))) continue;
    patches.push_back(Exact(graph, id, product).patch());
  }
  return patches;
}

}  // namespace dnn
