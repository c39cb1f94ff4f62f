// Recipes of layers: convolutions, products, norms, pools, recurrent ones.
#include <numeric>

#include "base/error.h"
#include "hunt/network.h"

namespace dnn::hunt {
namespace {

// A window over axes of an image: kernel, strides, dilations and pads that fit it, as attributes.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;
};

Window window(Growth& g, const Shape& image, bool dilates, bool pads_below_kernel) {
  Window w;
  const size_t axes = image.size() - 2;
  const bool square = g.chance.is(0.6);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t extent = image[i + 2];
    const bool same = square && i > 0;
    int64_t kernel = same ? w.kernel[0] : g.chance.of<int64_t>({1, 2, 3, 3, 3, 4, 5});
    int64_t dilation = same                                            ? w.dilations[0]
                       : dilates && g.chance.is(g.common ? 0.05 : 0.2) ? g.chance.between(2, 3)
                                                                       : 1;
    if (kernel > extent) kernel = g.chance.between(1, extent);
    if ((kernel - 1) * dilation + 1 > extent) dilation = 1;
    w.kernel.push_back(kernel);
    w.dilations.push_back(dilation);
    w.strides.push_back(same ? w.strides[0] : g.chance.of<int64_t>({1, 1, 1, 2, 2, 3}));
  }
  const bool any = g.chance.is(0.6), even = g.chance.is(0.6);
  for (size_t i = 0; i < 2 * axes; ++i) {
    const int64_t kernel = w.kernel[i % axes];
    const int64_t most = pads_below_kernel ? kernel - 1 : (kernel - 1) * w.dilations[i % axes];
    w.pads.push_back(!any   ? 0
                     : even ? (pads_below_kernel ? most / 2 : (kernel / 2) * w.dilations[i % axes])
                            : g.chance.between(0, most));
  }
  return w;
}

// The window as attributes; the pads by numbers, or by a rule.
Attributes attributes(Growth& g, const Window& w, bool dilates) {
  Attributes a = {{"kernel_shape", w.kernel}, {"strides", w.strides}};
  if (dilates) a["dilations"] = w.dilations;
  if (g.chance.is(0.2)) {
    a["auto_pad"] = g.chance.of<std::string>({"SAME_UPPER", "SAME_LOWER", "VALID"});
  } else {
    a["pads"] = w.pads;
  }
  return a;
}

ValueId images(Growth& g) { return g.any(g.chance.is(0.9) ? 4 : g.chance.of({3, 5})); }

int64_t product(const std::vector<int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

Shape behind(Shape a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool convolution(Growth& g) {
  const ValueId x = images(g);
  if (x == kNoValue) return false;
  const Shape image = g.shape(x);
  const int64_t in = image[1];
  const Window w = window(g, image, true, false);
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= in; ++d) {
    if (in % d == 0) divisors.push_back(d);
  }
  const int64_t groups = g.chance.is(0.5) ? 1 : g.chance.is(0.6) ? in : g.chance.of(divisors);
  const int64_t out =
      groups * (groups == 1 ? g.chance.of<int64_t>({1, 2, 3, 4, 5, 7, 8, 16, 17}) : g.chance.between(1, 3));
  Attributes a = attributes(g, w, true);
  if (groups > 1) a["group"] = groups;
  std::vector<ValueId> inputs = {x, g.weights(behind({out, in / groups}, w.kernel), in / groups * product(w.kernel))};
  if (g.chance.is(0.6)) inputs.push_back(g.numbers({out}, -0.5, 0.5));
  g.emit("Conv", inputs, a);
  return true;
}

bool transposed(Growth& g) {
  const ValueId x = images(g);
  if (x == kNoValue) return false;
  const Shape image = g.shape(x);
  const int64_t in = image[1], groups = g.chance.is(0.7) ? 1 : in;
  const Window w = window(g, image, true, true);
  const int64_t out = g.chance.between(1, groups == 1 ? 6 : 2);
  Attributes a = {{"kernel_shape", w.kernel}, {"strides", w.strides}, {"pads", w.pads}, {"group", groups}};
  if (g.chance.is(0.3)) a["dilations"] = w.dilations;
  std::vector<int64_t> more;
  for (int64_t stride : w.strides) more.push_back(g.chance.is(0.3) ? g.chance.between(0, stride - 1) : 0);
  a["output_padding"] = more;
  // Something has to be left of each axis.
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const int64_t dilation = a.count("dilations") != 0 ? w.dilations[i] : 1;
    const int64_t full = (image[i + 2] - 1) * w.strides[i] + (w.kernel[i] - 1) * dilation + 1 + more[i];
    if (full - w.pads[i] - w.pads[i + w.kernel.size()] < 1) return false;
  }
  std::vector<ValueId> inputs = {x, g.weights(behind({in, out}, w.kernel), in / groups * product(w.kernel))};
  if (g.chance.is(0.5)) inputs.push_back(g.numbers({out * groups}, -0.5, 0.5));
  g.emit("ConvTranspose", inputs, a);
  return true;
}

bool pool(Growth& g) {
  const ValueId x = images(g);
  if (x == kNoValue) return false;
  const std::string op =
      g.chance.is(g.common ? 0 : 0.2) ? "LpPool" : g.chance.of<std::string>({"MaxPool", "AveragePool"});
  const Window w = window(g, g.shape(x), !g.common, true);
  Attributes a = attributes(g, w, !g.common);
  if (g.chance.is(0.3)) a["ceil_mode"] = int64_t{1};
  if (op == "AveragePool") a["count_include_pad"] = g.chance.between(0, 1);
  if (op == "LpPool") a["p"] = g.chance.between(1, 3);
  g.emit(op, {x}, a);
  return true;
}

bool global_pool(Growth& g) {
  const ValueId x = images(g);
  if (x == kNoValue) return false;
  g.emit(g.chance.of<std::string>({"GlobalAveragePool", "GlobalAveragePool", "GlobalMaxPool"}), {x});
  return true;
}

bool batch_norm(Growth& g) {
  const ValueId x = images(g);
  if (x == kNoValue) return false;
  const Shape c = {g.shape(x)[1]};
  Attributes a;
  if (g.chance.is(0.5)) a["epsilon"] = g.chance.of({1e-3F, 1e-2F});
  g.emit("BatchNormalization",
         {x, g.numbers(c, 0.5, 1.5), g.numbers(c, -0.5, 0.5), g.numbers(c, -0.5, 0.5), g.numbers(c, 0.2, 2)}, a);
  return true;
}

// Norms by statistics of what they read. Epsilon keeps them from amplifying rounding where nothing varies.
bool statistics_norm(Growth& g) {
  const ValueId x = images(g);
  if (x == kNoValue) return false;
  const int64_t channels = g.shape(x)[1];
  const Shape c = {channels};
  const float epsilon = g.chance.of({1e-2F, 0.1F});
  switch (g.chance.between(0, 2)) {
    case 0:
      g.emit("InstanceNormalization", {x, g.numbers(c, 0.5, 1.5), g.numbers(c, -0.5, 0.5)}, {{"epsilon", epsilon}});
      return true;
    case 1: {
      const int64_t groups = channels % 2 == 0 ? g.chance.of<int64_t>({1, 2, channels}) : 1;
      g.emit("GroupNormalization", {x, g.numbers(c, 0.5, 1.5), g.numbers(c, -0.5, 0.5)},
             {{"epsilon", epsilon}, {"num_groups", groups}});
      return true;
    }
    default:
      g.emit("LRN", {x},
             {{"size", g.chance.between(1, 5)},
              {"alpha", g.chance.of({1e-4F, 0.1F})},
              {"bias", g.chance.of({1.0F, 2.0F})}});
      return true;
  }
}

bool layer_norm(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = g.chance.is(0.7) ? rank - 1 : g.chance.between(0, rank - 1);
  const Shape rest(shape.begin() + axis, shape.end());
  const bool mean = g.chance.is(0.7);
  std::vector<ValueId> inputs = {x, g.numbers(rest, 0.5, 1.5)};
  if (mean && g.chance.is(0.7)) inputs.push_back(g.numbers(rest, -0.5, 0.5));
  g.emit(mean ? "LayerNormalization" : "RMSNormalization", inputs,
         {{"axis", g.chance.is(0.5) ? axis : axis - rank}, {"epsilon", g.chance.of({1e-2F, 0.1F})}});
  return true;
}

bool gemm(Growth& g) {
  const ValueId x = g.any(2);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const bool ta = g.chance.is(0.15), tb = g.chance.is(0.5);
  const int64_t k = shape[ta ? 0 : 1], m = shape[ta ? 1 : 0], n = g.chance.between(1, 12);
  std::vector<ValueId> inputs = {x, g.weights(tb ? Shape{n, k} : Shape{k, n}, k)};
  if (g.chance.is(0.7))
    inputs.push_back(g.numbers(g.chance.of<Shape>({{n}, {n}, {1, n}, {m, n}, {m, 1}, {}}), -0.5, 0.5));
  Attributes a = {{"transA", int64_t{ta}}, {"transB", int64_t{tb}}};
  if (g.chance.is(0.2)) a["alpha"] = 0.5F;
  if (g.chance.is(0.2)) a["beta"] = 0.25F;
  g.emit("Gemm", inputs, a);
  return true;
}

bool matmul(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  Shape shape = g.shape(x);
  const int64_t k = shape.back(), n = g.chance.between(1, 9);
  if (shape.size() >= 2 && g.chance.is(0.25)) {  // by itself, turned round
    std::vector<int64_t> perm(shape.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    const ValueId y = g.like(x);
    const ValueId product = g.emit("MatMul", {x, g.emit("Transpose", {y}, {{"perm", perm}})});
    g.emit("Mul", {product, g.number(static_cast<float>(1 / std::sqrt(static_cast<double>(k))))});
    return true;
  }
  Shape w = {k, n};
  if (shape.size() > 2 && g.chance.is(0.3)) {  // a matrix for each of the batch
    for (size_t i = shape.size() - 2; i-- > 0;) w.insert(w.begin(), g.chance.is(0.7) ? shape[i] : 1);
  }
  g.emit("MatMul", {x, g.chance.is(0.1) ? g.weights({k}, k) : g.weights(w, k)});
  return true;
}

bool attention(Growth& g) {
  const ValueId x = g.any(3);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);  // [batch, length, width]
  const int64_t width = shape[2], heads = width % 4 == 0 ? g.chance.of<int64_t>({1, 2, 4}) : 1, head = width / heads;
  const auto projected = [&] {
    const ValueId p = g.emit("MatMul", {x, g.weights({width, width}, width)});
    const ValueId split = g.emit("Reshape", {p, g.net.list({shape[0], shape[1], heads, head})});
    return g.emit("Transpose", {split}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  };
  const ValueId q = projected(), k = projected(), v = projected();
  const ValueId turned = g.emit("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  const ValueId scores = g.emit(
      "Mul", {g.emit("MatMul", {q, turned}), g.number(static_cast<float>(1 / std::sqrt(static_cast<double>(head))))});
  const ValueId mixed = g.emit("MatMul", {g.emit("Softmax", {scores}, {{"axis", int64_t{-1}}}), v});
  const ValueId back = g.emit("Transpose", {mixed}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  g.emit("Add", {g.emit("Reshape", {back, g.net.list(shape)}), x});
  return true;
}

bool einsum(Growth& g) {
  const ValueId x = g.any(3);
  if (x == kNoValue) return false;
  const Shape s = g.shape(x);
  const int64_t n = g.chance.between(1, 6);
  switch (g.chance.between(0, 3)) {
    case 0: g.emit("Einsum", {x, g.weights({s[2], n}, s[2])}, {{"equation", std::string("abc,cd->abd")}}); break;
    case 1: g.emit("Einsum", {x, g.weights({s[0], n, s[2]}, s[2])}, {{"equation", std::string("abc,adc->abd")}}); break;
    case 2: g.emit("Einsum", {x}, {{"equation", std::string("abc->cab")}}); break;
    default: g.emit("Einsum", {x, g.weights({s[1], s[2]}, s[1])}, {{"equation", std::string("...bc,bc->...c")}}); break;
  }
  return true;
}

bool recurrent(Growth& g) {
  const ValueId x = g.any(3);  // [length, batch, width]
  if (x == kNoValue) return false;
  const Shape s = g.shape(x);
  const std::string op = g.chance.of<std::string>({"LSTM", "GRU", "RNN"});
  const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1, hidden = g.chance.between(1, 5);
  const std::string direction = g.chance.of<std::string>({"forward", "reverse", "bidirectional"});
  const int64_t d = direction == "bidirectional" ? 2 : 1;
  std::vector<ValueId> inputs = {x, g.weights({d, gates * hidden, s[2]}, s[2]),
                                 g.weights({d, gates * hidden, hidden}, hidden)};
  if (g.chance.is(0.7)) inputs.push_back(g.numbers({d, 2 * gates * hidden}, -0.5, 0.5));
  Attributes a = {{"hidden_size", hidden}, {"direction", direction}};
  if (op == "GRU") a["linear_before_reset"] = g.chance.between(0, 1);
  g.emit_many(op, inputs, a, g.chance.is(0.5) ? 1 : op == "LSTM" ? 3 : 2);
  return true;
}

// A block as residual networks have it.
bool residual(Growth& g) {
  const ValueId x = g.any(4);
  if (x == kNoValue) return false;
  const int64_t c = g.shape(x)[1], k = g.chance.of<int64_t>({1, 3});
  const std::vector<int64_t> pads(4, k / 2);
  ValueId y = g.emit("Conv", {x, g.weights({c, c, k, k}, c * k * k), g.numbers({c}, -0.5, 0.5)},
                     {{"kernel_shape", std::vector<int64_t>{k, k}}, {"pads", pads}});
  if (g.chance.is(0.5)) y = g.emit("Relu", {y});
  y = g.emit("Add", {y, x});
  if (g.chance.is(0.7)) g.emit("Relu", {y});
  return true;
}

// A gate per channel, as Squeeze-and-Excitation has it.
bool gate(Growth& g) {
  const ValueId x = g.any(4);
  if (x == kNoValue) return false;
  const int64_t c = g.shape(x)[1], few = g.chance.between(1, 4);
  const ValueId p = g.emit("GlobalAveragePool", {x});
  const ValueId r = g.emit("Relu", {g.emit("Conv", {p, g.weights({few, c, 1, 1}, c), g.numbers({few}, -0.5, 0.5)})});
  const ValueId e = g.emit("Conv", {r, g.weights({c, few, 1, 1}, few)});
  g.emit("Mul", {x, g.emit(g.chance.of<std::string>({"Sigmoid", "HardSigmoid"}), {e})});
  return true;
}

}  // namespace

std::vector<Recipe> layer_recipes() {
  return {{"convolution", 6, kOnImages, convolution},
          {"transposed convolution", 1, kOnImages, transposed},
          {"pool", 2, kOnImages, pool},
          {"global pool", 0.5, kOnImages, global_pool},
          {"batch norm", 2, kOnImages, batch_norm},
          {"norm by statistics", 0.7, kAny, statistics_norm},
          {"layer norm", 1, kTransformer, layer_norm},
          {"Gemm", 2, kEach, gemm},
          {"MatMul", 2, kTransformer, matmul},
          {"attention", 1.5, kTransformer, attention},
          {"Einsum", 0.5, kAny, einsum},
          {"recurrent", 0.4, kAny, recurrent},
          {"residual block", 1, kOnImages, residual},
          {"gate", 0.7, kOnImages, gate}};
}

}  // namespace dnn::hunt
