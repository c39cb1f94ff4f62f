// Shapes and activations of recurrent operators; see recurrent.h.
#include "ops/recurrent.h"

#include <algorithm>
#include <cmath>

#include "ops/outputs.h"

namespace dnn {
namespace {

int64_t direction_count(const Node& node) {
  const std::string direction = string_attribute(node, "direction");
  if (direction == "bidirectional") return 2;
  if (direction == "forward" || direction == "reverse") return 1;
  fail_malformed(node.label(), ": direction ", quoted(direction), " is not forward, reverse or bidirectional");
}

// Malformed unless every known extent of input i is the wanted one.
void expect_shape(const InferContext& context, size_t i, const std::vector<Dim>& wanted) {
  if (!context.has_shape(i)) return;
  const auto& dims = context.shape(i);
  bool fits = dims.size() == wanted.size();
  for (size_t k = 0; fits && k < dims.size(); ++k)
    fits = !dims[k].fixed() || !wanted[k].fixed() || dims[k].size == wanted[k].size;
  if (!fits)
    context.fail("input ", i, " is ", context.input(i).text(), ", ", Type(DType::Undefined, wanted).text(),
                 " expected");
}

Dim times(const Dim& dim, int64_t factor) { return dim.fixed() ? Dim(element_count({dim.size, factor})) : Dim(); }

}  // namespace

AttributeDefs recurrent_attributes(AttributeDefs more) {
  AttributeDefs schema = {
      {"activation_alpha", optional(AttributeType::Floats), "in order, of the activations that have one"},
      {"activation_beta", optional(AttributeType::Floats), "in order, of the activations that have one"},
      {"activations", optional(AttributeType::Strings), "names, by direction and gate; left out: the usual ones"},
      {"clip", optional(AttributeType::Float), "bound of what the activations take; left out: none"},
      {"direction", "forward", "forward, reverse or bidirectional"},
      {"hidden_size", optional(AttributeType::Int), "neurons; left out: as the weights say"},
      {"layout", 0, "0: steps first; 1: batch first"}};
  schema.insert(schema.end(), more.begin(), more.end());
  return schema;
}

void infer_recurrent(InferContext& context, int64_t gates, bool has_cell) {
  const DType dtype = context.input(0).dtype;
  const Node& node = context.node;
  for (size_t i : {0, 1, 2, 3, 5, 6, 7}) {
    expect_float(context, i);
    expect_dtype(context, i, dtype);
  }
  expect_dtype(context, 4, DType::Int32);
  const int64_t directions = direction_count(node), layout = int_attribute(node, "layout");
  if (layout != 0 && layout != 1) context.fail("layout ", layout, " is not 0 or 1");
  Dim steps, batch, inputs, hidden;
  if (context.has_shape(0)) {
    const auto& x = context.shape(0, 3);
    steps = x[layout == 0 ? 0 : 1];
    batch = x[layout == 0 ? 1 : 0];
    inputs = x[2];
  }
  if (context.has_shape(2)) hidden = context.shape(2, 3)[2];
  const int64_t declared = int_attribute(node, "hidden_size");
  if (declared > 0) {
    if (hidden.fixed() && hidden.size != declared)
      context.fail("hidden_size ", declared, " with recurrent weights ", context.input(2).text());
    hidden = Dim(declared);
  }
  const Dim d(directions);
  const std::vector<Dim> state = layout == 0 ? std::vector<Dim>{d, batch, hidden} : std::vector<Dim>{batch, d, hidden};
  expect_shape(context, 1, {d, times(hidden, gates), inputs});
  expect_shape(context, 2, {d, times(hidden, gates), hidden});
  expect_shape(context, 3, {d, times(hidden, 2 * gates)});
  expect_shape(context, 4, {batch});
  expect_shape(context, 5, state);
  if (has_cell) {
    expect_shape(context, 6, state);
    expect_shape(context, 7, {d, times(hidden, 3)});
  }
  const std::vector<Dim> y =
      layout == 0 ? std::vector<Dim>{steps, d, batch, hidden} : std::vector<Dim>{batch, steps, d, hidden};
  context.set_output(0, Type(dtype, y));
  context.set_output(1, Type(dtype, state));
  context.set_output(2, Type(dtype, state));
}

Recurrence recurrence_of(const ReferenceContext& context, int64_t gates) {
  const Tensor &x = context.input(0), &w = context.input(1);
  const bool batch_first = int_attribute(context.node, "layout") == 1;
  return {x.dim(batch_first ? 1 : 0), x.dim(batch_first ? 0 : 1), x.dim(2), w.dim(1) / gates, w.dim(0), batch_first};
}

bool runs_backward(const Node& node, int64_t d) { return d == 1 || string_attribute(node, "direction") == "reverse"; }

std::vector<int64_t> sequence_lengths(const ReferenceContext& context, const Recurrence& extents) {
  if (!context.has_input(4)) return std::vector<int64_t>(extents.batch, extents.steps);
  std::vector<int64_t> lengths = to_int64s(context.input(4));
  for (int64_t length : lengths) {
    if (length < 0 || length > extents.steps) context.fail("a sequence of ", length, " steps among ", extents.steps);
  }
  return lengths;
}

std::vector<Activation> gate_activations(const Node& node, int64_t directions,
                                         const std::vector<std::string>& defaults) {
  std::vector<std::string> names;
  auto found = node.attributes.find("activations");
  if (found == node.attributes.end()) {
    for (int64_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  } else if (const auto* given = std::get_if<std::vector<std::string>>(&found->second)) {
    names = *given;
  }
  if (names.size() != defaults.size() * static_cast<size_t>(directions))
    fail_malformed(node.label(), ": ", names.size(), " activations, ", defaults.size(), " for each direction expected");
  const std::vector<float> alphas = floats_attribute(node, "activation_alpha"),
                           betas = floats_attribute(node, "activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  // Values are consumed by the activations that take one, in order.
  const auto alpha = [&](double fallback) {
    return next_alpha < alphas.size() ? double{alphas[next_alpha++]} : fallback;
  };
  const auto beta = [&](double fallback) { return next_beta < betas.size() ? double{betas[next_beta++]} : fallback; };
  std::vector<Activation> result;
  for (std::string name : names) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (name == "relu") {
      result.emplace_back([](double x) { return x > 0 ? x : 0; });
    } else if (name == "tanh") {
      result.emplace_back([](double x) { return std::tanh(x); });
    } else if (name == "sigmoid") {
      result.emplace_back([](double x) { return 1 / (1 + std::exp(-x)); });
    } else if (name == "softsign") {
      result.emplace_back([](double x) { return x / (1 + std::fabs(x)); });
    } else if (name == "softplus") {
      result.emplace_back([](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
    } else if (name == "affine") {
      result.emplace_back([a = alpha(1), b = beta(0)](double x) { return a * x + b; });
    } else if (name == "leakyrelu") {
      result.emplace_back([a = alpha(0.01f)](double x) { return x >= 0 ? x : a * x; });
    } else if (name == "thresholdedrelu") {
      result.emplace_back([a = alpha(1)](double x) { return x > a ? x : 0; });
    } else if (name == "scaledtanh") {
      result.emplace_back([a = alpha(1), b = beta(1)](double x) { return a * std::tanh(b * x); });
    } else if (name == "hardsigmoid") {
      result.emplace_back([a = alpha(0.2f), b = beta(0.5f)](double x) { return std::clamp(a * x + b, 0.0, 1.0); });
    } else if (name == "elu") {
      result.emplace_back([a = alpha(1)](double x) { return x >= 0 ? x : a * std::expm1(x); });
    } else {
      fail_unsupported(node.label(), ": activation ", quoted(name));
    }
  }
  const float clip = float_attribute(node, "clip");
  if (node.has_attribute("clip") && clip > 0) {
    for (Activation& activation : result) {
      activation = [inner = activation, limit = double{clip}](double x) { return inner(std::clamp(x, -limit, limit)); };
    }
  }
  return result;
}

}  // namespace dnn
