// The forms of Winograd's algorithm; see winograd.h.
#include "ops/winograd.h"

#include "base/error.h"
#include "base/text.h"
#include "ops/attributes.h"

namespace dnn::winograd {
namespace {

// Small numbers, each beside its negative, and their reciprocals: what they are raised to grows least, and with it the rounding.
constexpr double kPoints[] = {0, 1, -1, 2, -2, 0.5, -0.5, 0.25, -4};
constexpr int64_t kMostPoints = std::size(kPoints);

// The coefficients, lowest first, of the polynomial that is 0 at the first `points` but that numbered `without`.
std::vector<double> vanishing(int64_t points, int64_t without) {
  std::vector<double> result = {1};
  for (int64_t i = 0; i < points; ++i) {
    if (i == without) continue;
    result.insert(result.begin(), 0);
    for (size_t k = 0; k + 1 < result.size(); ++k) result[k] -= kPoints[i] * result[k + 1];
  }
  return result;
}

// The n values x^0, x^1, ..
std::vector<double> powers(double x, int64_t n) {
  std::vector<double> result = {1};
  while (static_cast<int64_t>(result.size()) < n) result.push_back(result.back() * x);
  return result;
}

Axis toom_cook(int64_t out, int64_t taps) {
  const int64_t in = out + taps - 1, points = in - 1;
  Axis a{out, taps, 1, in, {}, Matrix(out), {}};
  for (int64_t i = 0; i < points; ++i) {
    double others = 1;  // what the polynomial that is 0 at the other points is at this one
    for (int64_t k = 0; k < points; ++k) others *= k == i ? 1 : kPoints[i] - kPoints[k];
    a.input.push_back(vanishing(points, i));
    a.input.back().resize(in, 0);
    a.weights.push_back(powers(kPoints[i], taps));
    for (double& w : a.weights.back()) w /= others;
    const std::vector<double> column = powers(kPoints[i], out);
    for (size_t k = 0; k < column.size(); ++k) a.output[k].push_back(column[k]);
  }
  a.input.push_back(vanishing(points, points));  // infinity
  a.weights.emplace_back(taps, 0.0).back() = 1;
  for (int64_t k = 0; k < out; ++k) a.output[k].push_back(k + 1 == out ? 1 : 0);
  return a;
}

std::vector<double> spread(const std::vector<double>& values, int64_t extent, int64_t first) {
  std::vector<double> result(extent, 0);
  for (size_t i = 0; i < values.size(); ++i) result[static_cast<size_t>(first) + 2 * i] = values[i];
  return result;
}

}  // namespace

bool has_axis(int64_t out, int64_t taps, int64_t stride) {
  if (taps < 1 || taps > kMostIn || out < 1 || out > kMostOut) return false;
  if (stride == 2)
    return taps >= 2 && taps % 2 == 1 && has_axis(out, (taps + 1) / 2) && 2 * (out - 1) + taps <= kMostIn;
  if (taps == 1) return stride == 1 && out == 1;
  return stride == 1 && out + taps - 2 <= kMostPoints && out + taps - 1 <= kMostIn;
}

Axis axis(int64_t out, int64_t taps, int64_t stride) {
  DNN_CHECK(has_axis(out, taps, stride));
  if (stride == 1) return toom_cook(out, taps);
  Axis a{out, taps, stride, stride * (out - 1) + taps, {}, Matrix(out), {}};
  for (const int64_t first : {0, 1}) {
    const Axis part = toom_cook(out, (taps + 1 - first) / 2);
    for (const std::vector<double>& row : part.input) a.input.push_back(spread(row, a.in, first));
    for (const std::vector<double>& row : part.weights) a.weights.push_back(spread(row, taps, first));
    for (size_t i = 0; i < a.output.size(); ++i)
      a.output[i].insert(a.output[i].end(), part.output[i].begin(), part.output[i].end());
  }
  return a;
}

std::string Form::text() const {
  return cat("F(", rows.out, "x", columns.out, ", ", rows.taps, "x", columns.taps, ")",
             rows.stride * columns.stride > 1 ? cat("/", rows.stride, "x", columns.stride) : "");
}

Form form_of(const Node& node) {
  const std::vector<int64_t> tile = ints_attribute(node, "tile"), taps = ints_attribute(node, "kernel_shape"),
                             strides = ints_attribute(node, "strides");
  if (tile.size() != 2 || taps.size() != 2 || strides.size() != 2 || !has_axis(tile[0], taps[0], strides[0]) ||
      !has_axis(tile[1], taps[1], strides[1])) {
    fail_malformed(node.label(), ": WinogradConv has no form for tile [", join(tile), "], kernel_shape [", join(taps),
                   "], strides [", join(strides), "]");
  }
  return {axis(tile[0], taps[0], strides[0]), axis(tile[1], taps[1], strides[1])};
}

Tensor transform_weights(const Tensor& w, const Form& form) {
  const int64_t m = w.dim(0), c = w.dim(1);
  const auto high = static_cast<size_t>(form.rows.taps), wide = static_cast<size_t>(form.columns.taps);
  DNN_CHECK(w.dim(2) == form.rows.taps && w.dim(3) == form.columns.taps);
  Tensor u(DType::Float32, {form.products(), c, m});
  const float* in = w.data<float>();
  float* out = u.mutable_data<float>();
  for (int64_t o = 0; o < m; ++o) {
    for (int64_t k = 0; k < c; ++k, in += high * wide) {
      float* to = out + k * m + o;
      for (const std::vector<double>& row : form.rows.weights) {
        for (const std::vector<double>& column : form.columns.weights) {
          double sum = 0;
          for (size_t a = 0; a < high; ++a) {
            for (size_t b = 0; b < wide; ++b) sum += row[a] * static_cast<double>(in[a * wide + b]) * column[b];
          }
          *to = static_cast<float>(sum);
          to += c * m;
        }
      }
    }
  }
  return u;
}

}  // namespace dnn::winograd
