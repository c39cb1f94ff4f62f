// HannWindow, HammingWindow, BlackmanWindow: a + b cos(2 pi n / N) + c cos(4 pi n / N), computed in float64; N is the
// length, or one less where the window is not periodic.
#include <cmath>

#include "ops/op.h"

namespace dnn::window_functions_ops {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 40;

int64_t size_of(const Node& node, const Tensor& size) {
  if (size.size() != 1 || !is_integer(size.dtype())) fail_malformed(node.label(), ": size is not one integer");
  const int64_t n = to_int64s(size)[0];
  if (n < 0 || n > kMaxSize) fail_malformed(node.label(), ": size ", n, " is out of range");
  return n;
}

DType dtype_of(const Node& node) {
  const int64_t code = int_attribute(node, "output_datatype");
  const DType dtype = dtype_from_onnx(code);
  if (dtype == DType::Undefined) fail_malformed(node.label(), ": output_datatype ", code, " is none");
  if (!is_float(dtype) && !is_integer(dtype)) fail_unsupported(node.label(), ": ", node.op, " of ", dtype_name(dtype));
  return dtype;
}

void infer(InferContext& context) {
  Type type(dtype_of(context.node), {Dim()});
  if (const Tensor* size = context.known_input(0)) type.shape = std::vector<Dim>{size_of(context.node, *size)};
  context.set_output(0, std::move(type));
}

struct Coefficients {
  double constant, first, second;
};
constexpr Coefficients kHann = {0.5, -0.5, 0}, kHamming = {25.0 / 46, -21.0 / 46, 0}, kBlackman = {0.42, -0.5, 0.08};

template <const Coefficients& k>
void reference(ReferenceContext& context) {
  constexpr double kTwoPi = 6.28318530717958647693;
  const DType dtype = dtype_of(context.node);
  const int64_t n = size_of(context.node, context.input(0));
  const int64_t period = flag_attribute(context.node, "periodic") ? n : n - 1;
  Tensor values(DType::Float64, {n});
  double* out = values.mutable_data<double>();
  for (int64_t i = 0; i < n; ++i) {
    // A window of one element is its middle.
    const double angle = period == 0 ? kTwoPi / 2 : kTwoPi * static_cast<double>(i) / static_cast<double>(period);
    out[i] = k.constant + k.first * std::cos(angle) + k.second * std::cos(2 * angle);
  }
  context.outputs[0] = convert(values, dtype);
}

OpDef window_op(std::string name, void (*kernel)(ReferenceContext&)) {
  OpDef op;
  op.name = std::move(name);
  op.since = 17;
  op.traits = {Trait::Float32};
  op.attributes = {{"output_datatype", 1, "dtype of the result"},
                   {"periodic", 1, "the window repeats after its length, not after one less"}};
  op.infer = infer;
  op.reference = kernel;
  return op;
}

}  // namespace

OpDef define_BlackmanWindow() { return window_op("BlackmanWindow", reference<kBlackman>); }
OpDef define_HammingWindow() { return window_op("HammingWindow", reference<kHamming>); }
OpDef define_HannWindow() { return window_op("HannWindow", reference<kHann>); }

}  // namespace dnn::window_functions_ops
