// MelWeightMatrix: [spectrogram bins, mel bins], a triangle of height 1 for each mel bin, on the scale mel(f) = 2595 log10(1 + f / 700).
//
// Edges and peaks are the bins of the spectrogram that hold them, floor((length + 1) * hertz / rate), in float64, as ONNX's reference has
// it. A triangle whose lower edge is its peak has that one element.
#include <algorithm>
#include <cmath>

#include "ops/op.h"

namespace dnn::mel_weight_matrix_ops {
namespace {

constexpr int64_t kMostBins = int64_t{1} << 24;

int64_t integer_of(const Node& node, const Tensor& tensor, const char* what, int64_t least) {
  if (tensor.size() != 1 || !is_integer(tensor.dtype()))
    fail_malformed(node.label(), ": ", what, " is not one integer");
  const int64_t n = to_int64s(tensor)[0];
  if (n < least || n > kMostBins) fail_malformed(node.label(), ": ", what, " ", n, " is out of range");
  return n;
}

double number_of(const Node& node, const Tensor& tensor, const char* what) {
  if (tensor.size() != 1 || !is_float(tensor.dtype())) fail_malformed(node.label(), ": ", what, " is not one number");
  return to_doubles(tensor)[0];
}

int64_t mel_bins(const Node& node, const Tensor& tensor) { return integer_of(node, tensor, "num_mel_bins", 0); }
int64_t spectrogram_bins(const Node& node, const Tensor& tensor) {
  return integer_of(node, tensor, "dft_length", 1) / 2 + 1;
}

DType dtype_of(const Node& node) {
  const int64_t code = int_attribute(node, "output_datatype");
  const DType dtype = dtype_from_onnx(code);
  if (dtype == DType::Undefined) fail_malformed(node.label(), ": output_datatype ", code, " is none");
  if (!is_float(dtype) && !is_integer(dtype)) fail_unsupported(node.label(), ": numbers of ", dtype_name(dtype));
  return dtype;
}

void infer(InferContext& context) {
  Type type(dtype_of(context.node), {Dim(), Dim()});
  if (const Tensor* length = context.known_input(1)) (*type.shape)[0] = spectrogram_bins(context.node, *length);
  if (const Tensor* bins = context.known_input(0)) (*type.shape)[1] = mel_bins(context.node, *bins);
  context.set_output(0, std::move(type));
}

double mel_of(double hertz) { return 2595 * std::log1p(hertz / 700) / std::log(10.0); }
double hertz_of(double mel) { return 700 * std::expm1(mel / 2595 * std::log(10.0)); }

void reference(ReferenceContext& context) {
  const Node& node = context.node;
  const int64_t bins = mel_bins(node, context.input(0)), rows = spectrogram_bins(node, context.input(1));
  const auto length = static_cast<double>(to_int64s(context.input(1))[0]);
  const auto rate = static_cast<double>(integer_of(node, context.input(2), "sample_rate", 1));
  const double low = mel_of(number_of(node, context.input(3), "lower_edge_hertz")),
               high = mel_of(number_of(node, context.input(4), "upper_edge_hertz"));
  if (bins > kMostBins / rows) fail_malformed(node.label(), ": ", rows, " times ", bins, " weights are out of range");
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = hertz_of(low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2));
    const double bin = std::floor((length + 1) * hertz / rate);
    if (!(bin >= 0 && bin <= static_cast<double>(rows)))
      fail_malformed(node.label(), ": ", hertz, " hertz is out of range");
    edges.push_back(static_cast<int64_t>(bin));
  }
  Tensor weights(DType::Float64, {rows, bins});
  double* out = weights.mutable_data<double>();
  std::fill_n(out, weights.size(), 0.0);
  const auto set = [&](int64_t row, int64_t bin, double weight) {
    if (row < rows) out[row * bins + bin] = weight;
  };
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t from = edges[i], peak = edges[i + 1], to = edges[i + 2];
    if (peak == from) set(peak, i, 1);
    for (int64_t row = from; row <= peak && peak > from; ++row)
      set(row, i, static_cast<double>(row - from) / static_cast<double>(peak - from));
    for (int64_t row = peak; row < to && to > peak; ++row)
      set(row, i, static_cast<double>(to - row) / static_cast<double>(to - peak));
  }
  context.outputs[0] = convert(weights, dtype_of(node));
}

}  // namespace

OpDef define_MelWeightMatrix() {
  OpDef op;
  op.name = "MelWeightMatrix";
  op.since = 17;
  op.min_inputs = op.max_inputs = 5;
  op.traits = {Trait::Float32};
  op.attributes = {{"output_datatype", 1, "dtype of the result"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::mel_weight_matrix_ops
