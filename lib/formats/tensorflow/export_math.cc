// Element by element, reductions, products of matrices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "formats/tensorflow/exports.h"
#include "ops/attributes.h"
#include "ops/equation.h"

namespace dnn::tensorflow {
namespace {

// f(a, b, ...) as a step on the way.
Edge step(Export& e, const char* op, const std::vector<Edge>& inputs) {
  return e.add(e.step(op, op).in(inputs).type("T", e.dtype(0)));
}

NodeBuilder last(Export& e, const char* op, const std::vector<Edge>& inputs) {
  NodeBuilder node = e.last(op);
  node.in(inputs).type("T", e.dtype(0));
  return node;
}

// Along the last axis, or between transpositions that bring `axis` there.
void along_last(Export& e, const char* op, int64_t axis) {
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  if (axis < 0) axis += rank;
  if (axis == rank - 1) return e.finish(last(e, op, {e.input(0)}));
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm.back());
  const Edge order = e.ints(perm);
  const auto swap = [&](NodeBuilder node, const Edge& from) {
    node.in(from).in(order).type("T", e.dtype(0)).type("Tperm", DT_INT32);
    return node;
  };
  const Edge x = e.add(swap(e.step("Transpose", "Transpose"), e.input(0)));
  const Edge y = step(e, op, {x});
  e.finish(swap(e.last("Transpose"), y));
}

std::vector<int64_t> reduced_axes(Export& e) {
  std::vector<int64_t> axes;
  if (e.has_input(1)) axes = e.known_ints(1, "list of axes");
  if (axes.empty() && e.node().attribute_int("noop_with_empty_axes", 0) == 0) {
    axes.resize(e.shape(0).size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

NodeBuilder& reduction(Export& e, NodeBuilder& node, const Edge& x) {
  const Edge axes = e.ints(reduced_axes(e));
  return node.in({x, axes})
      .type("T", e.dtype(0))
      .type("Tidx", DT_INT32)
      .flag("keep_dims", e.node().attribute_int("keepdims", 1) != 0);
}

bool untyped(const std::string& op) { return op == "LogicalAnd" || op == "LogicalOr" || op == "LogicalNot"; }

// A bias of [units] from a constant that broadcasts to [rows, units]; nothing when it varies over rows.
std::optional<Tensor> row_bias(const Tensor& c, int64_t units, double beta) {
  const bool single = c.size() == 1;
  if (!single && (c.size() != units || c.shape().back() != units)) return std::nullopt;
  if (!single && beta == 1) return c.reshaped({units});
  std::vector<double> values = to_doubles(c);
  if (single) values.assign(units, values[0]);
  for (double& v : values) v *= beta;
  return convert(Tensor::of<double>({units}, values), c.dtype());
}

Tensor scaled(const Tensor& tensor, double by) {
  if (by == 1) return tensor;
  std::vector<double> values = to_doubles(tensor);
  for (double& v : values) v *= by;
  return convert(Tensor::of<double>(tensor.shape(), values), tensor.dtype());
}

}  // namespace

void write_unary(Export& e) {
  if (e.node().op == "IsInf" &&
      (e.node().attribute_int("detect_negative", 1) == 0 || e.node().attribute_int("detect_positive", 1) == 0))
    e.refuse("infinities of one sign");
  NodeBuilder node = e.last(e.as());
  node.in(e.input(0));
  if (!untyped(e.as())) node.type("T", e.dtype(0));
  e.finish(std::move(node));
}

void write_binary(Export& e) {
  std::string op = e.as();
  if (op == "RealDiv" && is_integer(e.type(0).dtype)) op = "TruncateDiv";
  NodeBuilder node = e.last(op);
  node.in({e.input(0), e.input(1)});
  if (!untyped(op)) node.type("T", e.dtype(0));
  e.finish(std::move(node));
}

void write_variadic(Export& e) {
  const size_t n = e.node().inputs.size();
  if (n < 2) return e.finish(last(e, "Identity", {e.input(0)}));
  Edge y = e.input(0);
  for (size_t i = 1; i + 1 < n; ++i) y = step(e, e.as(), {y, e.input(i)});
  e.finish(last(e, e.as(), {y, e.input(n - 1)}));
}

void write_sum(Export& e) {
  bool alike = true;
  for (size_t i = 1; i < e.node().inputs.size(); ++i) alike = alike && e.type(i) == e.type(0);
  std::vector<Edge> inputs;
  for (size_t i = 0; i < e.node().inputs.size(); ++i) inputs.push_back(e.input(i));
  if (!alike) {  // AddN does not broadcast
    Edge y = inputs[0];
    for (size_t i = 1; i + 1 < inputs.size(); ++i) y = step(e, "AddV2", {y, inputs[i]});
    return e.finish(last(e, "AddV2", {y, inputs.back()}));
  }
  e.finish(std::move(last(e, "AddN", inputs).integer("N", static_cast<int64_t>(inputs.size()))));
}

void write_mod(Export& e) {
  const bool truncates = e.node().attribute_int("fmod", 0) != 0;
  e.finish(last(e, truncates ? "TruncateMod" : "FloorMod", {e.input(0), e.input(1)}));
}

void write_reduce(Export& e) {
  NodeBuilder node = e.last(e.as());
  e.finish(std::move(reduction(e, node, e.input(0))));
}

void write_arg_extreme(Export& e) {
  const Node& node = e.node();
  if (node.attribute_int("select_last_index", 0) != 0) e.refuse("the last of equal elements");
  const int64_t axis = node.attribute_int("axis", 0);
  const bool keep = node.attribute_int("keepdims", 1) != 0;
  const Edge at = e.integer(axis);
  NodeBuilder made = keep ? e.step(e.as()) : e.last(e.as());
  made.in({e.input(0), at}).type("T", e.dtype(0)).type("Tidx", DT_INT32).type("output_type", DT_INT64);
  if (!keep) return e.finish(std::move(made));
  const Edge index = e.add(std::move(made));
  e.finish(e.last("ExpandDims").in({index, at}).type("T", DT_INT64).type("Tdim", DT_INT32));
}

void write_top_k(Export& e) {
  const Node& node = e.node();
  if (node.attribute_int("largest", 1) == 0) e.refuse("the smallest elements");
  const int64_t axis = node.attribute_int("axis", -1);
  if (axis != -1 && axis != static_cast<int64_t>(e.shape(0).size()) - 1) e.refuse("along axis ", axis);
  const Edge k = e.integer(e.known_ints(1, "number of elements").at(0));
  NodeBuilder made = e.last("TopKV2");
  made.in({e.input(0), k}).type("T", e.dtype(0)).flag("sorted", node.attribute_int("sorted", 1) != 0);
  const Edge edge = e.add(std::move(made));
  if (node.outputs[0] != kNoValue) e.file().bind(node.outputs[0], edge);
  if (!e.file().is_read(node.output(1))) return;
  const Edge wide = e.add(NodeBuilder("Cast", e.file().name_of(node.outputs[1]))
                              .in(edge + ":1")
                              .type("SrcT", DT_INT32)
                              .type("DstT", DT_INT64));
  e.file().bind(node.outputs[1], wide);
}

void write_cumsum(Export& e) {
  const Node& node = e.node();
  const Edge axis = e.integer(e.known_ints(1, "axis").at(0));
  NodeBuilder made = last(e, "Cumsum", {e.input(0), axis});
  made.type("Tidx", DT_INT32).flag("exclusive", node.attribute_int("exclusive", 0) != 0);
  e.finish(std::move(made.flag("reverse", node.attribute_int("reverse", 0) != 0)));
}

void write_cast(Export& e) {
  e.finish(e.last("Cast").in(e.input(0)).type("SrcT", e.dtype(0)).type("DstT", e.output_dtype()));
}

void write_clip(Export& e) {
  const double infinite = std::numeric_limits<double>::infinity();
  const double low = e.has_input(1) ? to_doubles(e.known(1, "lower bound"))[0] : -infinite;
  const double high = e.has_input(2) ? to_doubles(e.known(2, "upper bound"))[0] : infinite;
  const auto bound = [&](size_t i, const char* what) {  // itself: not every integer is a double
    return e.store("number", e.known(i, what).reshaped({}));
  };
  const Edge x = e.input(0);
  if (low == 0 && high == 6) return e.finish(last(e, "Relu6", {x}));
  if (low == 0 && high == infinite) return e.finish(last(e, "Relu", {x}));
  if (!e.has_input(1) && !e.has_input(2)) return e.finish(last(e, "Identity", {x}));
  if (!e.has_input(2)) return e.finish(last(e, "Maximum", {x, bound(1, "lower bound")}));
  if (!e.has_input(1)) return e.finish(last(e, "Minimum", {x, bound(2, "upper bound")}));
  e.finish(last(e, "ClipByValue", {x, bound(1, "lower bound"), bound(2, "upper bound")}));
}

void write_elu(Export& e) {
  if (e.node().attribute_float("alpha", 1) != 1) e.refuse("alpha is not 1");
  e.finish(last(e, "Elu", {e.input(0)}));
}

void write_leaky_relu(Export& e) {
  NodeBuilder node = last(e, "LeakyRelu", {e.input(0)});
  e.finish(std::move(node.number("alpha", e.node().attribute_float("alpha", 0.01f))));
}

// x for x > 0, else slope * x, as relu(x) - slope * relu(-x).
void write_prelu(Export& e) {
  const Edge x = e.input(0), minus = step(e, "Neg", {x}), below = step(e, "Relu", {minus});
  const Edge above = step(e, "Relu", {x}), slope = e.input(1), falling = step(e, "Mul", {slope, below});
  e.finish(last(e, "Sub", {above, falling}));
}

// x / 2 * (1 + erf(x / sqrt(2))), or with tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
void write_gelu(Export& e) {
  const Edge x = e.input(0);
  Edge gate;
  if (e.node().attribute_string("approximate", "none") == "tanh") {
    const Edge cube = step(e, "Mul", {step(e, "Square", {x}), x});
    const Edge sum = step(e, "AddV2", {x, step(e, "Mul", {e.number(0.044715), cube})});
    gate = step(e, "Tanh", {step(e, "Mul", {e.number(std::sqrt(2 / std::acos(-1.0))), sum})});
  } else {
    gate = step(e, "Erf", {step(e, "Mul", {x, e.number(std::sqrt(0.5))})});
  }
  const Edge half = step(e, "Mul", {e.number(0.5), x}), open = step(e, "AddV2", {e.number(1), gate});
  e.finish(last(e, "Mul", {half, open}));
}

// max(0, min(1, alpha * x + beta))
void write_hard_sigmoid(Export& e) {
  const Node& node = e.node();
  const Edge product = step(e, "Mul", {e.input(0), e.number(static_cast<double>(node.attribute_float("alpha", 0.2f)))});
  const Edge line = step(e, "AddV2", {product, e.number(static_cast<double>(node.attribute_float("beta", 0.5f)))});
  e.finish(last(e, "ClipByValue", {line, e.number(0), e.number(1)}));
}

void write_hard_swish(Export& e) {
  const Edge gate = step(e, "Relu6", {step(e, "AddV2", {e.input(0), e.number(3)})});
  const Edge share = step(e, "Mul", {gate, e.number(1.0 / 6)});
  e.finish(last(e, "Mul", {e.input(0), share}));
}

// x * sigmoid(alpha x)
void write_swish(Export& e) {
  const double alpha = static_cast<double>(e.node().attribute_float("alpha", 1));
  const Edge x = e.input(0), line = alpha == 1 ? x : step(e, "Mul", {x, e.number(alpha)});
  e.finish(last(e, "Mul", {x, step(e, "Sigmoid", {line})}));
}

void write_mish(Export& e) {
  const Edge gate = step(e, "Tanh", {step(e, "Softplus", {e.input(0)})});
  e.finish(last(e, "Mul", {e.input(0), gate}));
}

void write_softmax(Export& e) { along_last(e, e.as(), e.node().attribute_int("axis", -1)); }

// (x - mean) / sqrt(mean of squares + epsilon) * scale + bias, over the last axes.
void write_layer_normalization(Export& e) {
  const Node& node = e.node();
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) e.refuse("its mean or deviation as outputs");
  }
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  int64_t first = node.attribute_int("axis", -1);
  if (first < 0) first += rank;
  std::vector<int64_t> axes;
  for (int64_t i = first; i < rank; ++i) axes.push_back(i);
  const Edge list = e.ints(axes), x = e.input(0);
  const auto mean = [&](const Edge& of, const char* what) {
    return e.add(
        e.step("Mean", what).in({of, list}).type("T", e.dtype(0)).type("Tidx", DT_INT32).flag("keep_dims", true));
  };
  const Edge centre = mean(x, "mean");
  const Edge variance = mean(step(e, "SquaredDifference", {x, centre}), "variance");
  const Edge shifted =
      step(e, "AddV2", {variance, e.number(static_cast<double>(node.attribute_float("epsilon", 1e-5f)))});
  const Edge centred = step(e, "Sub", {x, centre}), by = step(e, "Rsqrt", {shifted});
  const Edge normal = step(e, "Mul", {centred, by});
  const bool biased = e.has_input(2);
  if (!biased) return e.finish(last(e, "Mul", {normal, e.input(1)}));
  const Edge weighted = step(e, "Mul", {normal, e.input(1)});
  e.finish(last(e, "AddV2", {weighted, e.input(2)}));
}

void write_where(Export& e) {
  e.finish(e.last("SelectV2").in({e.input(0), e.input(1), e.input(2)}).type("T", e.dtype(1)));
}

// alpha * A * B + beta * C, mostly MatMul and BiasAdd.
void write_gemm(Export& e) {
  const Node& node = e.node();
  const double alpha = static_cast<double>(node.attribute_float("alpha", 1)),
               beta = static_cast<double>(node.attribute_float("beta", 1));
  const Tensor* b = e.constant(1);
  bool turned = node.attribute_int("transB", 0) != 0;
  Edge weight;
  if (b != nullptr) {
    weight = e.store_input(1, scaled(turned ? transposed(*b, {1, 0}) : *b, alpha));
    turned = false;
  } else {
    weight = e.input(1);
    if (alpha != 1) weight = step(e, "Mul", {weight, e.number(alpha)});
  }
  const bool biased = e.has_input(2) && beta != 0;
  NodeBuilder product = biased ? e.step("MatMul") : e.last("MatMul");
  product.in({e.input(0), weight}).type("T", e.dtype(0));
  product.flag("transpose_a", node.attribute_int("transA", 0) != 0).flag("transpose_b", turned);
  if (!biased) return e.finish(std::move(product));
  const Edge y = e.add(std::move(product));
  const Tensor* c = e.constant(2);
  if (c != nullptr) {
    if (const auto row = row_bias(*c, e.output_shape()[1], beta))
      return e.finish(last(e, "BiasAdd", {y, e.store_input(2, *row)}));
  }
  Edge term = e.input(2);
  if (beta != 1) term = step(e, "Mul", {term, e.number(beta)});
  e.finish(last(e, "AddV2", {y, term}));
}

void write_matmul(Export& e) {
  const size_t a = e.shape(0).size(), b = e.shape(1).size();
  if (a < 2 || b < 2) e.refuse("an operand of rank 1");
  e.finish(last(e, a == 2 && b == 2 ? "MatMul" : "BatchMatMulV2", {e.input(0), e.input(1)}));
}

void write_einsum(Export& e) {
  if (e.node().inputs.size() > 2) e.refuse("more than two operands");
  std::vector<Edge> inputs;
  for (size_t i = 0; i < e.node().inputs.size(); ++i) inputs.push_back(e.input(i));
  NodeBuilder node = last(e, "Einsum", inputs);
  // TensorFlow has no implicit results.
  node.text("equation", explicit_equation(string_attribute(e.node(), "equation")))
      .integer("N", static_cast<int64_t>(inputs.size()));
  e.finish(std::move(node));
}

}  // namespace dnn::tensorflow
