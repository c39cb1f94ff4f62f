// DFT, STFT: discrete Fourier transforms by their sums, in float64 with exact indices into one table of angles.
//
// X[k] = sum over n from 0 on of x[n] * exp(-2 pi i k n / N); the inverse has the other sign and divides by N. Results
// are rounded once, to the tensor's type.
#include <cmath>
#include <complex>

#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::dft_ops {
namespace {

using Complex = std::complex<double>;
constexpr double kPi = 3.14159265358979323846;
constexpr int64_t kLongest = int64_t{1} << 30;

// exp(sign * 2 pi i k / n) for k < n.
std::vector<Complex> turns(int64_t n, double sign) {
  std::vector<Complex> table(n);
  for (int64_t k = 0; k < n; ++k) {
    const double angle = sign * 2 * kPi * static_cast<double>(k) / static_cast<double>(n);
    table[k] = {std::cos(angle), std::sin(angle)};
  }
  return table;
}

// The first `bins` values of the transform of x, zero-padded or cut to the table's length.
std::vector<Complex> transform(const std::vector<Complex>& x, const std::vector<Complex>& table, int64_t bins) {
  const auto n = static_cast<int64_t>(table.size()), used = std::min(n, static_cast<int64_t>(x.size()));
  std::vector<Complex> result;
  for (int64_t k = 0; k < bins; ++k) {
    double real = 0, imaginary = 0;
    for (int64_t i = 0, at = 0; i < used; ++i, at = at + k < n ? at + k : at + k - n) {
      const Complex &value = x[i], &turn = table[at];
      real += value.real() * turn.real() - value.imag() * turn.imag();
      imaginary += value.real() * turn.imag() + value.imag() * turn.real();
    }
    result.emplace_back(real, imaginary);
  }
  return result;
}

// The whole spectrum of a real signal of n values from its first half.
std::vector<Complex> mirrored(std::vector<Complex> half, int64_t n) {
  half.resize(n / 2 + 1);
  if (n > 0) half[0] = half[0].real();
  if (n % 2 == 0) half.back() = half.back().real();
  std::vector<Complex> whole(half.begin(), half.begin() + static_cast<std::ptrdiff_t>(std::min<int64_t>(n, n / 2 + 1)));
  for (int64_t k = n / 2 + 1; k < n; ++k) whole.push_back(std::conj(half[n - k]));
  return whole;
}

int64_t number(const Node& node, const Tensor& tensor, const char* what) {
  if (tensor.size() != 1) fail_malformed(node.label(), ": ", what, " must be one number, not ", tensor.size());
  return to_int64s(tensor)[0];
}

struct Flags {
  explicit Flags(const Node& node)
      : inverse(takes_attribute(node, "inverse") && flag_attribute(node, "inverse")),
        onesided(flag_attribute(node, "onesided")) {}
  bool inverse, onesided;
};

// What the axis becomes: length of the transform, extent of the output.
struct Lengths {
  int64_t transform, output;
};

Lengths lengths_of(const Node& node, const Flags& flags, int64_t extent, const Tensor* asked) {
  const bool half_in = flags.inverse && flags.onesided;
  const int64_t n = asked != nullptr ? number(node, *asked, "dft_length") : half_in ? 2 * (extent - 1) : extent;
  if (n < 1 || n > kLongest) fail_malformed(node.label(), ": a transform of ", n, " values");
  return {n, flags.onesided && !flags.inverse ? n / 2 + 1 : n};
}

// x: [D..., 1 or 2]; dft_length: []; axis: []
void infer_dft(InferContext& context) {
  expect_float(context, 0);
  expect_dtype(context, 2, DType::Int64);
  const Flags flags(context.node);
  Type type;
  type.dtype = context.input(0).dtype;
  // ONNX's cases for it expect the rounding errors of one float32 FFT, above their own tolerance.
  if (flags.inverse && !flags.onesided && type.dtype != DType::Float64 && type.dtype != DType::Undefined)
    fail_unsupported(context.node.label(), ": the complex inverse DFT of ", dtype_name(type.dtype),
                     ", only of float64");
  if (context.has_shape(0)) {
    std::vector<Dim> shape = context.shape(0);
    const auto rank = static_cast<int64_t>(shape.size());
    if (rank < 2) context.fail("input ", context.input(0).text(), " has no signal axis");
    const Dim parts = shape.back();
    if (parts.fixed() && parts.size != 1 && parts.size != 2)
      context.fail("input ", context.input(0).text(), ": the last axis must be 1 (real) or 2 (complex)");
    if (parts.fixed() && flags.onesided && parts.size != (flags.inverse ? 2 : 1))
      context.fail("onesided takes ", flags.inverse ? "a complex spectrum" : "a real signal", ", not ",
                   context.input(0).text());
    shape.back() = Dim(flags.onesided && flags.inverse ? 1 : 2);
    const bool known_axis = !context.has_input(2) || context.known_input(2) != nullptr;
    if (known_axis) {
      const int64_t axis =
          context.axis(context.has_input(2) ? number(context.node, *context.known_input(2), "axis") : -2, rank);
      if (axis == rank - 1) context.fail("axis ", axis, " holds the parts of the numbers");
      Dim& dim = shape[axis];
      const Tensor* asked = context.has_input(1) ? context.known_input(1) : nullptr;
      if (asked != nullptr || (!context.has_input(1) && dim.fixed())) {
        dim = lengths_of(context.node, flags, dim.fixed() ? dim.size : 1, asked).output;
      } else {
        dim = Dim();
      }
    } else {
      for (size_t i = 0; i + 1 < shape.size(); ++i) shape[i] = Dim();
    }
    type.shape = std::move(shape);
  }
  context.set_output(0, std::move(type));
}

void dft(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Tensor y = allocate_output(context, infer_dft);
  const Flags flags(context.node);
  const int64_t rank = x.rank(), parts = x.shape().back();
  int64_t axis = context.has_input(2) ? number(context.node, context.input(2), "axis") : -2;
  if (axis < 0) axis += rank;
  const auto at = static_cast<std::ptrdiff_t>(axis);
  const int64_t extent = x.dim(static_cast<int>(axis));
  const Lengths lengths = lengths_of(context.node, flags, extent, context.has_input(1) ? context.inputs[1] : nullptr);
  const int64_t outer = element_count({x.shape().begin(), x.shape().begin() + at}),
                inner = element_count({x.shape().begin() + at + 1, x.shape().end() - 1});
  const std::vector<double> in = to_doubles(x);
  Tensor wide(DType::Float64, y.shape());
  double* out = wide.mutable_data<double>();
  const std::vector<Complex> table = turns(lengths.transform, flags.inverse ? 1 : -1);
  const int64_t out_parts = y.shape().back();
  std::vector<Complex> signal;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      signal.clear();
      for (int64_t k = 0; k < extent; ++k) {
        const size_t from = ((o * extent + k) * inner + i) * parts;
        signal.emplace_back(in[from], parts == 2 ? in[from + 1] : 0);
      }
      if (flags.inverse && flags.onesided) signal = mirrored(std::move(signal), lengths.transform);
      const std::vector<Complex> result = transform(signal, table, lengths.output);
      const double scale = flags.inverse ? static_cast<double>(lengths.transform) : 1;
      for (int64_t k = 0; k < lengths.output; ++k) {
        double* to = out + ((o * lengths.output + k) * inner + i) * out_parts;
        to[0] = result[k].real() / scale;
        if (out_parts == 2) to[1] = result[k].imag() / scale;
      }
    }
  }
  context.outputs[0] = convert(wide, x.dtype());
}

struct Frames {
  int64_t count, step, length, bins;
};

// Frames of a signal; `window_length` -1 without a window.
Frames frames_of(const Node& node, int64_t signal, const Tensor& step, const Tensor* asked, int64_t window_length) {
  Frames frames{};
  frames.step = number(node, step, "frame_step");
  frames.length = asked != nullptr ? number(node, *asked, "frame_length") : window_length >= 0 ? window_length : signal;
  if (window_length >= 0 && window_length != frames.length)
    fail_malformed(node.label(), ": a window of ", window_length, " for frames of ", frames.length);
  if (frames.step < 1 || frames.length < 1 || frames.length > signal)
    fail_malformed(node.label(), ": frames of ", frames.length, " every ", frames.step, " of a signal of ", signal);
  frames.count = (signal - frames.length) / frames.step + 1;
  frames.bins = Flags(node).onesided ? frames.length / 2 + 1 : frames.length;
  return frames;
}

// signal: [B, L, 1 or 2]; frame_step: []; window: [F]; frame_length: []
void infer_stft(InferContext& context) {
  expect_float(context, 0);
  expect_dtype(context, 2, context.input(0).dtype);
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const auto& signal = context.shape(0, 3);
    if (signal[2].fixed() && signal[2].size != 1 && signal[2].size != 2)
      context.fail("signal ", context.input(0).text(), ": the last axis must be 1 (real) or 2 (complex)");
    if (signal[2].size == 2 && Flags(context.node).onesided)
      context.fail("onesided takes a real signal, not ", context.input(0).text());
    std::vector<Dim> shape = {signal[0], Dim(), Dim(), Dim(2)};
    const Dim window = context.has_shape(2) ? context.shape(2, 1)[0] : Dim();
    const bool known = context.known_input(1) != nullptr && (!context.has_input(2) || window.fixed()) &&
                       (!context.has_input(3) || context.known_input(3) != nullptr);
    if (known && signal[1].fixed()) {
      const Frames frames =
          frames_of(context.node, signal[1].size, *context.known_input(1),
                    context.has_input(3) ? context.known_input(3) : nullptr, context.has_input(2) ? window.size : -1);
      shape[1] = frames.count;
      shape[2] = frames.bins;
    }
    type.shape = std::move(shape);
  }
  context.set_output(0, std::move(type));
}

void stft(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Tensor y = allocate_output(context, infer_stft);
  const int64_t window_length = context.has_input(2) ? context.input(2).size() : -1, parts = x.dim(2);
  const Frames frames = frames_of(context.node, x.dim(1), context.input(1),
                                  context.has_input(3) ? context.inputs[3] : nullptr, window_length);
  const std::vector<double> in = to_doubles(x);
  std::vector<double> window(frames.length, 1);
  if (context.has_input(2)) window = to_doubles(context.input(2));
  const std::vector<Complex> table = turns(frames.length, -1);
  Tensor wide(DType::Float64, y.shape());
  double* out = wide.mutable_data<double>();
  std::vector<Complex> frame(frames.length);
  for (int64_t b = 0; b < x.dim(0); ++b) {
    for (int64_t f = 0; f < frames.count; ++f) {
      for (int64_t i = 0; i < frames.length; ++i) {
        const size_t from = (b * x.dim(1) + f * frames.step + i) * parts;
        const double weight = window[i];
        frame[i] = {in[from] * weight, parts == 2 ? in[from + 1] * weight : 0};
      }
      for (const Complex& value : transform(frame, table, frames.bins)) {
        *out++ = value.real();
        *out++ = value.imag();
      }
    }
  }
  context.outputs[0] = convert(wide, x.dtype());
}

}  // namespace

OpDef define_DFT() {
  OpDef op;
  op.name = "DFT";
  op.since = 20;
  op.min_inputs = 1;
  op.max_inputs = 3;
  op.traits = kNoTraits;
  op.attributes = {{"inverse", 0, "the inverse transform"},
                   {"onesided", 0, "the non-negative frequencies of a real signal"}};
  op.infer = infer_dft;
  op.reference = dft;
  return op;
}

OpDef define_STFT() {
  OpDef op;
  op.name = "STFT";
  op.since = 17;
  op.min_inputs = 2;
  op.max_inputs = 4;
  op.traits = kNoTraits;
  op.attributes = {{"onesided", 1, "the non-negative frequencies of a real signal"}};
  op.infer = infer_stft;
  op.reference = stft;
  return op;
}

}  // namespace dnn::dft_ops
