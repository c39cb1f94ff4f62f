// Activations, merges of several inputs, products of matrices, and layers that rest at inference.
#include <algorithm>
#include <cmath>

#include "formats/keras/layers.h"

namespace dnn::keras {
namespace {

// Inputs of one rank: those of a lower one get axes of extent 1 behind the batch.
std::vector<ValueId> aligned(Call& call) {
  std::vector<ValueId> inputs = call.inputs();
  if (inputs.empty()) call.fail("it has no inputs");
  int64_t most = 0;
  for (ValueId v : inputs) most = std::max(most, call.rank(v));
  for (ValueId& v : inputs) {
    std::vector<int64_t> axes;
    for (int64_t i = 1; i <= most - call.rank(v); ++i) axes.push_back(i);
    if (!axes.empty()) v = call.emit("Unsqueeze", {v, call.list(axes)});
  }
  return inputs;
}

ValueId folded(Call& call, const char* op) {
  const std::vector<ValueId> inputs = aligned(call);
  ValueId y = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) y = call.emit(op, {y, inputs[i]});
  return y;
}

ValueId clip(Call& call, ValueId v, double low, double high) {
  return call.emit("Clip", {v, call.scalar(low, v), call.scalar(high, v)});
}

ValueId leaky(Call& call, ValueId v, double slope) {
  return call.emit("LeakyRelu", {v}, {{"alpha", static_cast<float>(slope)}});
}

ValueId concatenated(Call& call, const char* key) {
  const std::vector<ValueId> inputs = call.inputs();
  if (inputs.empty()) call.fail("it has no inputs");
  return call.emit("Concat", inputs, {{"axis", call.axis(key, -1, call.rank(inputs[0]))}});
}

// x over its length along an axis.
ValueId unit(Call& call, ValueId v, int64_t axis, double least) {
  const ValueId squares = call.emit("ReduceSumSquare", {v, call.list({axis})}, {{"keepdims", int64_t{1}}});
  return call.emit("Div", {v, call.emit("Sqrt", {call.emit("Max", {squares, call.scalar(least, v)})})});
}

}  // namespace

std::vector<int64_t> last_two_swapped(int64_t rank) {
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return perm;
}

ValueId apply_activation(Call& call, ValueId v, const std::string& name) {
  const auto simple = [&](const char* op) { return call.emit(op, {v}); };
  if (name == "linear") return v;
  if (name == "relu") return simple("Relu");
  if (name == "relu6") return clip(call, v, 0, 6);
  if (name == "sigmoid") return simple("Sigmoid");
  if (name == "tanh") return simple("Tanh");
  if (name == "softmax") return call.emit("Softmax", {v}, {{"axis", int64_t{-1}}});
  if (name == "log_softmax") return call.emit("LogSoftmax", {v}, {{"axis", int64_t{-1}}});
  if (name == "swish" || name == "silu") return simple("Swish");
  if (name == "gelu") return call.emit("Gelu", {v}, {{"approximate", std::string("none")}});
  if (name == "elu") return simple("Elu");
  if (name == "selu") return simple("Selu");
  if (name == "celu") return simple("Celu");
  if (name == "softplus") return simple("Softplus");
  if (name == "softsign") return simple("Softsign");
  if (name == "exponential") return simple("Exp");
  if (name == "mish") return simple("Mish");
  if (name == "leaky_relu") return leaky(call, v, 0.2);
  if (name == "hard_sigmoid")
    return call.emit("HardSigmoid", {v}, {{"alpha", call.version() < 3 ? 0.2f : 1.0f / 6}, {"beta", 0.5f}});
  if (name == "hard_silu" || name == "hard_swish") return simple("HardSwish");
  if (name == "hard_tanh") return clip(call, v, -1, 1);
  if (name == "tanh_shrink") return call.emit("Sub", {v, simple("Tanh")});
  if (name == "log_sigmoid") return call.emit("Neg", {call.emit("Softplus", {simple("Neg")})});
  call.refuse("activation '", name, "' is not read");
}

ValueId import_activation(Call& call) {
  const ValueId v = call.x();
  return call.activated(v);
}

// A threshold keeps what lies above it; what lies below falls off with the slope.
ValueId import_relu(Call& call) {
  const ValueId v = call.x();
  const double slope = call.number("negative_slope", call.number("alpha", 0)), threshold = call.number("threshold", 0);
  const bool bounded = call.has("max_value");
  const double most = call.number("max_value", 0);
  if (threshold == 0 && slope == 0) return bounded ? clip(call, v, 0, most) : call.emit("Relu", {v});
  ValueId y;
  if (threshold == 0) {
    y = leaky(call, v, slope);
  } else {
    const ValueId at = call.scalar(threshold, v);
    const ValueId below = call.emit("Mul", {call.emit("Sub", {v, at}), call.scalar(slope, v)});
    y = call.emit("Where", {call.emit("Greater", {v, at}), v, below});
  }
  return bounded ? call.emit("Min", {y, call.scalar(most, v)}) : y;
}

ValueId import_leaky_relu(Call& call) {
  return leaky(call, call.x(), call.number("negative_slope", call.number("alpha", 0.3)));
}

ValueId import_elu(Call& call) {
  return call.emit("Elu", {call.x()}, {{"alpha", static_cast<float>(call.number("alpha", 1))}});
}

ValueId import_thresholded_relu(Call& call) {
  return call.emit("ThresholdedRelu", {call.x()}, {{"alpha", static_cast<float>(call.number("theta", 1))}});
}

ValueId import_prelu(Call& call) {
  const ValueId v = call.x();
  return call.emit("PRelu", {v, call.weight(0, "alpha")});
}

ValueId softmax_over(Call& call, const char* op, ValueId v, std::vector<int64_t> axes) {
  const int64_t rank = call.rank(v);
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) call.fail("an axis out of rank ", rank);
  }
  if (axes.size() == 1) return call.emit(op, {v}, {{"axis", axes[0]}});
  if (axes.empty() || op != std::string("Softmax")) call.refuse(axes.size(), " axes");
  const ValueId all = call.list(axes);
  const Attributes keep = {{"keepdims", int64_t{1}}};
  const ValueId e = call.emit("Exp", {call.emit("Sub", {v, call.emit("ReduceMax", {v, all}, keep)})});
  return call.emit("Div", {e, call.emit("ReduceSum", {e, all}, keep)});
}

ValueId import_softmax(Call& call) {
  return softmax_over(call, "Softmax", call.x(),
                      call.has("axis") ? call.list_option("axis") : std::vector<int64_t>{-1});
}

ValueId import_identity(Call& call) { return call.emit("Identity", {call.x()}); }

ValueId import_dropout(Call& call) {
  const ValueId v = call.x();
  const double rate = call.number("rate", call.number("p", 0.5));
  return call.emit("Dropout", {v, call.store("rate", Tensor::scalar(static_cast<float>(rate)))});
}

ValueId import_add(Call& call) {
  const std::vector<ValueId> inputs = aligned(call);
  return inputs.size() == 2 ? call.emit("Add", inputs) : call.emit("Sum", inputs);
}
ValueId import_average(Call& call) { return call.emit("Mean", aligned(call)); }
ValueId import_maximum(Call& call) { return call.emit("Max", aligned(call)); }
ValueId import_minimum(Call& call) { return call.emit("Min", aligned(call)); }
ValueId import_multiply(Call& call) { return folded(call, "Mul"); }
ValueId import_subtract(Call& call) {
  if (call.inputs().size() != 2) call.fail(call.inputs().size(), " inputs, not 2");
  return folded(call, "Sub");
}
ValueId import_concatenate(Call& call) { return concatenated(call, "axis"); }

ValueId import_merge(Call& call) {
  const std::string mode = call.text("mode", "sum");
  if (mode == "sum") return import_add(call);
  if (mode == "mul") return import_multiply(call);
  if (mode == "ave") return import_average(call);
  if (mode == "max") return import_maximum(call);
  if (mode == "concat") return concatenated(call, "concat_axis");
  call.refuse("mode '", mode, "' is not read");
}

// For each sample, the products summed over one axis of each input.
ValueId import_dot(Call& call) {
  if (call.inputs().size() != 2) call.fail(call.inputs().size(), " inputs, not 2");
  ValueId a = call.inputs()[0], b = call.inputs()[1];
  const int64_t ranks[] = {call.rank(a), call.rank(b)};
  std::vector<int64_t> axes = call.has("axes") ? call.list_option("axes") : std::vector<int64_t>{-1};
  if (axes.size() == 1) axes.push_back(axes[0]);
  if (axes.size() != 2) call.fail(axes.size(), " axes");
  for (size_t i : {0, 1}) {
    if (axes[i] < 0) axes[i] += ranks[i];
    if (axes[i] < 1 || axes[i] >= ranks[i]) call.fail("axis ", axes[i], " of rank ", ranks[i]);
  }
  if (call.flag("normalize", false)) {
    a = unit(call, a, axes[0], 1e-12);
    b = unit(call, b, axes[1], 1e-12);
  }
  if (ranks[0] == 2 && ranks[1] == 2)
    return call.emit("ReduceSum", {call.emit("Mul", {a, b}), call.list({1})}, {{"keepdims", int64_t{1}}});
  if (ranks[0] != 3 || ranks[1] != 3) call.refuse("inputs of ranks ", ranks[0], " and ", ranks[1]);
  if (axes[0] == 1) a = call.transpose(a, last_two_swapped(3));
  if (axes[1] == 2) b = call.transpose(b, last_two_swapped(3));
  return call.emit("MatMul", {a, b});
}

// Any product with a kernel; the bias has axes of extent 1 where it is the same along them.
ValueId import_einsum_dense(Call& call) {
  const ValueId y =
      call.emit("Einsum", {call.x(), call.weight(0, "kernel")}, {{"equation", call.text("equation", "")}});
  if (!call.has("bias_axes")) return call.activated(y);
  call.option("bias_axes");
  return call.activated(call.emit("Add", {y, call.weight(1, "bias")}));
}

ValueId import_dense(Call& call) {
  const ValueId v = call.x();
  const bool bias = call.flag("use_bias", call.flag("bias", true));
  if (call.stored(0, "kernel").rank() != 2)
    call.fail("a kernel of shape ", shape_text(call.stored(0, "kernel").shape()));
  const ValueId kernel = call.weight(0, "kernel");
  if (call.rank(v) == 2) {
    std::vector<ValueId> inputs = {v, kernel};
    if (bias) inputs.push_back(call.weight(1, "bias"));
    return call.activated(call.emit("Gemm", std::move(inputs)));
  }
  const ValueId product = call.emit("MatMul", {v, kernel});
  return call.activated(bias ? call.emit("Add", {product, call.weight(1, "bias")}) : product);
}

}  // namespace dnn::keras
