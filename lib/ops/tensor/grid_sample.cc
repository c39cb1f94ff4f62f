// GridSample: a tensor sampled at the positions that a grid of normalised coordinates names; any number of spatial axes.
//
// Coordinates are taken to elements in the grid's precision (float32 at least), weights are float64. A result sums its
// taps in ascending order, the last spatial axis first. With a border, ONNX Runtime and PyTorch bring each element of a cubic
// kernel inside; padding_mode "reference_border" brings the position inside first, as ONNX's reference evaluator does.
#include <array>
#include <cmath>

#include "ops/movement.h"
#include "tensor/dispatch.h"

namespace dnn::grid_sample_ops {
namespace {

enum class Mode { Nearest, Linear, Cubic };
enum class Padding { Zeros, Border, ReferenceBorder, Reflection };

Mode sample_mode(const Node& node) {
  const std::string mode = string_attribute(node, "mode");
  if (mode == "nearest") return Mode::Nearest;
  if (mode == "linear" || mode == "bilinear") return Mode::Linear;
  if (mode == "cubic" || mode == "bicubic") return Mode::Cubic;
  fail_malformed(node.label(), ": mode ", quoted(mode), " is not nearest, linear or cubic");
}

Padding padding_mode(const Node& node) {
  const std::string mode = string_attribute(node, "padding_mode");
  if (mode == "zeros") return Padding::Zeros;
  if (mode == "border") return Padding::Border;
  if (mode == "reference_border") return Padding::ReferenceBorder;
  if (mode == "reflection") return Padding::Reflection;
  fail_malformed(node.label(), ": padding_mode ", quoted(mode), " is not zeros, border or reflection");
}

// x: [N, C, D1, ..., Dr], grid: [N, O1, ..., Or, r] -> [N, C, O1, ..., Or]
void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0) && context.has_shape(1)) {
    const auto &x = context.shape(0), &grid = context.shape(1);
    const auto rank = static_cast<int64_t>(x.size()) - 2;
    if (rank < 1 || grid.size() != x.size() || (grid.back().fixed() && grid.back().size != rank))
      context.fail("grid ", context.input(1).text(), " does not fit input ", context.input(0).text());
    std::vector<Dim> dims = {x[0].fixed() ? x[0] : grid[0], x[1]};
    dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
}

// One spatial axis of the input: where it reflects, and how it treats what lies outside.
struct Axis {
  int64_t extent;
  double low, high;
  Padding padding;

  bool is_border() const { return padding == Padding::Border || padding == Padding::ReferenceBorder; }
  // Mirrored at both ends until it lies between them.
  double reflect(double x) const {
    const double range = high - low;
    if (range <= 0) return low;
    if (x >= low && x <= high) return x;
    const double beyond = x < low ? low - x : x - high, rest = std::fmod(beyond, range);
    const bool even = std::fmod(std::floor(beyond / range), 2) == 0;
    return (x < low) == even ? low + rest : high - rest;
  }
  double clamp(double x) const { return std::min(std::max(x, 0.0), static_cast<double>(extent - 1)); }
  // A position brought inside, as the padding wants it.
  double settle(double x) const {
    if (x >= low && x <= high) return x;
    return is_border() ? clamp(x) : padding == Padding::Reflection ? reflect(x) : x;
  }
  // The element at a whole index; kFill stands for zero.
  int64_t element(double index) const {
    if (index >= 0 && index < static_cast<double>(extent)) return static_cast<int64_t>(index);
    if (padding == Padding::Zeros) return kFill;
    return static_cast<int64_t>(clamp(is_border() ? index : std::trunc(reflect(index))));
  }
};

// Elements and weights of one position along one axis.
struct Taps {
  int count = 0;
  std::array<int64_t, 4> index{};
  std::array<double, 4> weight{};
};

Taps taps_of(const Axis& axis, Mode mode, double x) {
  Taps taps;
  auto add = [&](double index, double weight) {
    taps.index[taps.count] = axis.element(index);
    taps.weight[taps.count] = weight;
    ++taps.count;
  };
  if (mode == Mode::Nearest) {
    add(axis.settle(std::nearbyint(x)), 1);
    return taps;
  }
  if (mode != Mode::Cubic || axis.padding != Padding::Border) x = axis.settle(x);
  const double base = std::floor(x), t = x - base;
  if (mode == Mode::Linear) {
    add(base, 1 - t);
    add(base + 1, t);
    return taps;
  }
  constexpr double kA = -0.75;  // Keys 1981, equation (4)
  auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  add(base - 1, far(t + 1));
  add(base, near(t));
  add(base + 1, near(1 - t));
  add(base + 2, far(2 - t));
  return taps;
}

// Coordinate -1 .. 1 to elements; what is not finite goes far outside.
template <class G>
double denormalise(G n, int64_t extent, bool align_corners) {
  const G length = static_cast<G>(extent);
  const double x =
      align_corners ? static_cast<double>((n + 1) / 2 * (length - 1)) : static_cast<double>(((n + 1) * length - 1) / 2);
  constexpr double kFar = 1e9;
  return x != x ? -kFar : std::min(std::max(x, -kFar), kFar);
}

template <class T>
Compute<T> weighted(const T* x, const std::vector<Taps>& taps, const std::vector<int64_t>& stride, size_t axis) {
  if (axis == taps.size()) return widen(*x);
  Compute<T> sum = 0;
  for (size_t k = 0; k < static_cast<size_t>(taps[axis].count); ++k) {
    const int64_t index = taps[axis].index[k];
    const Compute<T> value =
        index == kFill ? Compute<T>(0) : weighted(x + index * stride[axis + 2], taps, stride, axis + 1);
    const Compute<T> term = static_cast<Compute<T>>(static_cast<Compute<T>>(taps[axis].weight[k]) * value);
    sum = k == 0 ? term : static_cast<Compute<T>>(sum + term);
  }
  return sum;
}

template <class T>
void sample(const Tensor& x, const std::vector<double>& positions, const std::vector<Axis>& axes, Mode mode,
            Tensor* y) {
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  const size_t rank = axes.size();
  const int64_t channels = x.dim(1), places = y->size() / (x.dim(0) * channels);
  T* out = y->mutable_data<T>();
  std::vector<Taps> taps(rank);
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t p = 0; p < places; ++p) {
      const double* position = positions.data() + (n * places + p) * static_cast<int64_t>(rank);
      for (size_t i = 0; i < rank; ++i) taps[i] = taps_of(axes[i], mode, position[i]);
      for (int64_t c = 0; c < channels; ++c) {
        const T* image = x.data<T>() + n * stride[0] + c * stride[1];
        T& result = out[(n * channels + c) * places + p];
        if (mode != Mode::Nearest) {
          result = narrow<T>(weighted(image, taps, stride, 0));
          continue;
        }
        int64_t offset = 0;
        bool inside = true;
        for (size_t i = 0; i < rank; ++i) {
          inside = inside && taps[i].index[0] != kFill;
          offset += taps[i].index[0] * stride[i + 2];
        }
        if (inside) result = image[offset];
      }
    }
  }
}

void reference(ReferenceContext& context) {
  const Tensor &x = context.input(0), &grid = context.input(1);
  const Mode mode = sample_mode(context.node);
  const Padding padding = padding_mode(context.node);
  const bool align = flag_attribute(context.node, "align_corners");
  const size_t rank = std::max(0, x.rank() - 2);
  if (rank < 1 || grid.rank() != x.rank() || grid.shape().back() != static_cast<int64_t>(rank) ||
      grid.dim(0) != x.dim(0)) {
    context.fail("grid ", Type(grid).text(), " does not fit input ", Type(x).text());
  }
  if (mode != Mode::Nearest && !is_float(x.dtype()))
    fail_unsupported(context.node.label(), ": interpolation of ", dtype_name(x.dtype()));
  Shape shape = {x.dim(0), x.dim(1)};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  Tensor y(x.dtype(), shape);
  std::vector<Axis> axes;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = x.shape()[i + 2];
    const auto length = static_cast<double>(extent);
    axes.push_back({extent, align ? 0 : -0.5, align ? length - 1 : length - 0.5, padding});
    if (extent == 0 && y.size() > 0) context.fail("nothing to sample in ", Type(x).text());
  }
  // The grid names the last spatial axis first.
  std::vector<double> positions;
  const bool wide = grid.dtype() == DType::Float64;
  const Tensor numbers = convert(grid, wide ? DType::Float64 : DType::Float32);
  for (int64_t i = 0; i < numbers.size(); ++i) {
    const size_t axis = rank - 1 - static_cast<size_t>(i) % rank;
    const int64_t from = i - i % static_cast<int64_t>(rank) + static_cast<int64_t>(axis);
    const int64_t extent = axes[static_cast<size_t>(i) % rank].extent;
    positions.push_back(wide ? denormalise(numbers.data<double>()[from], extent, align)
                             : denormalise(numbers.data<float>()[from], extent, align));
  }
  if (y.size() > 0) {
    dispatch_numeric(x.dtype(), [&](auto tag) { sample<typename decltype(tag)::type>(x, positions, axes, mode, &y); });
  }
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_GridSample() {
  OpDef op;
  op.name = "GridSample";
  op.since = 22;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = {{"align_corners", 0, "whether the corner elements of both grids lie on each other"},
                   {"mode", "linear", "nearest, linear or cubic"},
                   {"padding_mode", "zeros", "zeros, border or reflection"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::grid_sample_ops
