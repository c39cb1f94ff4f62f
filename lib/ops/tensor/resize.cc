// Resize: a tensor sampled at other positions along some axes: nearest element, linear or cubic interpolation.
//
// Coordinates and weights are float64, in ONNX's formulas. Where corners are aligned or a region is cropped, ONNX Runtime and
// PyTorch count with the result's whole extent, ONNX's reference evaluator with the extent before it was rounded; "reference_" in
// front of the mode asks for that. Linear and cubic work axis by axis, the last axis first; each
// result is the weighted sum of its taps in ascending order, in the tensor's dtype (float16, bfloat16: float32; integers:
// float64, rounded to even at the end), so that loops and reference give the same bits.
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/permute.h"

namespace dnn::resize_ops {
namespace {

enum class Mode { Nearest, Linear, Cubic };
enum class Rounding { PreferFloor, PreferCeil, Floor, Ceil };
enum class Coordinates { HalfPixel, HalfPixelSymmetric, PytorchHalfPixel, AlignCorners, Asymmetric, CropAndResize };

template <class Enum>
Enum choice(const Node& node, std::string_view key, std::initializer_list<std::pair<std::string_view, Enum>> names) {
  const std::string text = string_attribute(node, key);
  for (const auto& [name, value] : names) {
    if (text == name) return value;
  }
  fail_unsupported(node.label(), ": ", key, " ", quoted(text));
}

struct Settings {
  Mode mode;
  Rounding rounding;
  Coordinates coordinates;
  bool by_width = false;  // corners: of the unrounded extent
  bool antialias, exclude_outside;
  double cubic_a;
  float extrapolation;

  explicit Settings(const Node& node)
      : mode(
            choice<Mode>(node, "mode", {{"nearest", Mode::Nearest}, {"linear", Mode::Linear}, {"cubic", Mode::Cubic}})),
        rounding(choice<Rounding>(node, "nearest_mode",
                                  {{"round_prefer_floor", Rounding::PreferFloor},
                                   {"round_prefer_ceil", Rounding::PreferCeil},
                                   {"floor", Rounding::Floor},
                                   {"ceil", Rounding::Ceil}})),
        coordinates(choice<Coordinates>(node, "coordinate_transformation_mode",
                                        {{"half_pixel", Coordinates::HalfPixel},
                                         {"half_pixel_symmetric", Coordinates::HalfPixelSymmetric},
                                         {"pytorch_half_pixel", Coordinates::PytorchHalfPixel},
                                         {"align_corners", Coordinates::AlignCorners},
                                         {"asymmetric", Coordinates::Asymmetric},
                                         {"tf_crop_and_resize", Coordinates::CropAndResize},
                                         {"reference_align_corners", Coordinates::AlignCorners},
                                         {"reference_tf_crop_and_resize", Coordinates::CropAndResize}})),
        by_width(starts_with(string_attribute(node, "coordinate_transformation_mode"), "reference_")),
        antialias(flag_attribute(node, "antialias")),
        exclude_outside(flag_attribute(node, "exclude_outside")),
        cubic_a(float_attribute(node, "cubic_coeff_a")),
        extrapolation(float_attribute(node, "extrapolation_value")) {
    if (antialias && mode == Mode::Nearest) fail_unsupported(node.label(), ": antialias with mode nearest");
  }
};

// One axis of the tensor: `width` is the output extent before it was rounded to `out`.
struct Axis {
  int64_t in, out;
  double scale = 1, width = 0;
  double begin = 0, end = 1;  // region of interest
  bool resized = false;
};

// Attribute axes, or all.
std::vector<int64_t> resize_axes(const Node& node, size_t rank) {
  std::vector<int64_t> axes = ints_attribute(node, "axes");
  if (!node.has_attribute("axes")) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  return checked_axes(node, std::move(axes), rank);
}

std::vector<double> numbers(const Node& node, const Tensor* tensor, size_t expected, const char* what) {
  if (tensor == nullptr || tensor->size() == 0) return {};
  std::vector<double> values = to_doubles(*tensor);
  if (values.size() != expected)
    fail_malformed(node.label(), ": ", values.size(), " ", what, ", ", expected, " expected");
  for (double value : values) {
    if (!std::isfinite(value)) fail_malformed(node.label(), ": ", what, " that are not finite");
  }
  return values;
}

// The largest extent that a resize may ask for: beyond it float64 does not count in ones.
constexpr double kLargestExtent = 0x1p52;

// What the inputs say about the axes; `extents` are the input's, -1 where not known (the axis then gets out = -1, or
// the size that is given).
std::vector<Axis> plan(const Node& node, const std::vector<int64_t>& extents, const Tensor* roi, const Tensor* scales,
                       const Tensor* sizes) {
  const std::vector<int64_t> axes = resize_axes(node, extents.size());
  std::vector<Axis> result;
  for (int64_t extent : extents) result.push_back({extent, extent});
  const std::vector<double> region = numbers(node, roi, 2 * axes.size(), "roi values"),
                            factors = numbers(node, scales, axes.size(), "scales"),
                            targets = numbers(node, sizes, axes.size(), "sizes");
  if (factors.empty() == targets.empty() && !axes.empty())
    fail_malformed(node.label(), ": one of scales and sizes must be given");
  const std::string policy = string_attribute(node, "keep_aspect_ratio_policy");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    fail_unsupported(node.label(), ": keep_aspect_ratio_policy ", quoted(policy));
  bool known = true;
  double common = policy == "not_smaller" ? 0 : std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = result[axes[i]];
    known = known && axis.in >= 0;
    if (factors.empty()) {
      if (targets[i] < 0) fail_malformed(node.label(), ": sizes ", shape_text(int_values(node, *sizes)));
      axis.scale = targets[i] / static_cast<double>(axis.in);
      common = policy == "not_smaller" ? std::max(common, axis.scale) : std::min(common, axis.scale);
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = result[axes[i]];
    const auto in = static_cast<double>(axis.in);
    if (!region.empty()) {
      axis.begin = region[i];
      axis.end = region[axes.size() + i];
    }
    if (!factors.empty()) {
      if (factors[i] <= 0) fail_malformed(node.label(), ": scale ", factors[i], " is not positive");
      axis.scale = factors[i];
      axis.width = axis.scale * in;
    } else {
      if (policy != "stretch") axis.scale = common;
      axis.width = policy == "stretch" ? targets[i] : axis.scale * in;
    }
    const double out = policy != "stretch" && factors.empty() ? std::floor(axis.width + 0.5) : std::floor(axis.width);
    if (axis.in < 0 && (policy != "stretch" || !factors.empty())) {
      if (axis.scale != 1) axis.out = -1;
      continue;
    }
    if (axis.in == 0 && out != 0) fail_malformed(node.label(), ": an extent of 0 cannot be resized to ", out);
    if (!(out < kLargestExtent)) fail_malformed(node.label(), ": an extent of ", out, " is too large");
    axis.out = static_cast<int64_t>(out);
    axis.resized = axis.out != axis.in || axis.scale != 1 || axis.begin != 0 || axis.end != 1;
  }
  if (!known && policy != "stretch" && factors.empty()) {
    for (int64_t i : axes) result[i].out = -1;
  }
  return result;
}

void infer(InferContext& context) {
  const Settings settings(context.node);
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    std::vector<Dim> dims = context.shape(0);
    auto empty = [&](size_t i) { return !context.has_input(i) || known_length(context, i) == 0; };
    const bool ready =
        (empty(2) || context.known_input(2) != nullptr) && (empty(3) || context.known_input(3) != nullptr);
    if (ready) {
      std::vector<int64_t> extents;
      for (const Dim& dim : dims) extents.push_back(dim.size);
      const std::vector<Axis> axes =
          plan(context.node, extents, nullptr, context.known_input(2), context.known_input(3));
      for (size_t i = 0; i < dims.size(); ++i) {
        if (axes[i].out >= 0) {
          dims[i] = Dim(axes[i].out);
        } else if (axes[i].scale != 1) {
          dims[i] = Dim();
        }
      }
    } else {
      for (int64_t axis : resize_axes(context.node, dims.size())) dims[axis] = Dim();
    }
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
}

// The formulas below are written once for numbers (double) and once for loops (Expr of float64).
double floor_of(double x) { return std::floor(x); }
double ceil_of(double x) { return std::ceil(x); }
double abs_of(double x) { return std::fabs(x); }
loops::Expr floor_of(loops::Expr x) { return loops::unary(loops::Op::Floor, std::move(x)); }
loops::Expr ceil_of(loops::Expr x) { return loops::unary(loops::Op::Ceil, std::move(x)); }
loops::Expr abs_of(loops::Expr x) { return loops::unary(loops::Op::Abs, std::move(x)); }

// The input position that output position `y` shows.
template <class E>
E coordinate(const Settings& settings, const Axis& axis, E y) {
  using elementwise::like;
  const auto last = static_cast<double>(axis.in - 1);
  const double extent = settings.by_width ? axis.width : static_cast<double>(axis.out);
  switch (settings.coordinates) {
    case Coordinates::AlignCorners: return extent == 1 ? like(y, 0) : y * last / (extent - 1);
    case Coordinates::Asymmetric: return y / axis.scale;
    case Coordinates::CropAndResize: {
      const double size = axis.end - axis.begin;
      const E within = extent == 1 ? like(y, size * last / 2) : y * size * last / (extent - 1);
      return within + axis.begin * last;
    }
    case Coordinates::PytorchHalfPixel:
      if (axis.out <= 1) return like(y, 0);
      break;
    case Coordinates::HalfPixelSymmetric: {
      const double centre = static_cast<double>(axis.in) / 2;
      const double offset = centre * (1 - static_cast<double>(axis.out) / axis.width);
      return (y + 0.5) / axis.scale - 0.5 + offset;
    }
    case Coordinates::HalfPixel: break;
  }
  return (y + 0.5) / axis.scale - 0.5;
}

// The element nearest to position `x`; the one on its left is base, so that x - base lies in (0, 1].
template <class E>
E nearest(const Settings& settings, const Axis& axis, E x) {
  using elementwise::like;
  using elementwise::max;
  using elementwise::min;
  using elementwise::select;
  const E base = ceil_of(x) - 1.0;
  const E ratio = x - base;
  E index = base + 1.0;
  if (settings.rounding == Rounding::PreferFloor) index = select(ratio <= like(x, 0.5), base, index);
  if (settings.rounding == Rounding::PreferCeil) index = select(ratio < like(x, 0.5), base, index);
  if (settings.rounding == Rounding::Floor) index = floor_of(x);
  return min(max(index, like(x, 0)), like(x, static_cast<double>(axis.in - 1)));
}

// The interpolation filter at a distance of `d` >= 0 elements.
template <class E>
E filter(const Settings& settings, E d) {
  using elementwise::like;
  using elementwise::max;
  using elementwise::select;
  if (settings.mode == Mode::Linear) return max(like(d, 1) - d, like(d, 0));
  const double a = settings.cubic_a;  // Keys 1981, equation (4)
  const E near = ((a + 2) * d - (a + 3)) * d * d + 1.0, far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return select(d <= like(d, 1), near, select(d < like(d, 2), far, like(d, 0)));
}

// The elements that contribute to one output position: count of them from base + first on, the filter stretched.
struct Footprint {
  double stretch = 1;
  int64_t first, count;

  Footprint(const Settings& settings, const Axis& axis) {
    if (settings.antialias) stretch = std::min(axis.scale, 1.0);
    first = static_cast<int64_t>(std::floor((settings.mode == Mode::Linear ? -1.0 : -2.0) / stretch)) + 1;
    count = 2 - 2 * first;
  }
};

template <class E>
E tap_weight(const Settings& settings, const Axis& axis, const Footprint& footprint, E x, E tap) {
  using elementwise::like;
  using elementwise::select;
  const E base = ceil_of(x) - 1.0;
  const E place = tap + static_cast<double>(footprint.first);
  E weight = filter(settings, abs_of((place - (x - base)) * footprint.stretch));
  if (!settings.exclude_outside) return weight;
  const E index = base + place;
  const E inside = select(index < like(x, static_cast<double>(axis.in)), weight, like(x, 0));
  return select(index < like(x, 0), like(x, 0), inside);
}

template <class E>
E tap_index(const Axis& axis, const Footprint& footprint, E x, E tap) {
  using elementwise::like;
  using elementwise::max;
  using elementwise::min;
  const E index = ceil_of(x) - 1.0 + (tap + static_cast<double>(footprint.first));
  return min(max(index, like(x, 0)), like(x, static_cast<double>(axis.in - 1)));
}

bool normalised(const Settings& settings) { return settings.antialias || settings.exclude_outside; }

bool extrapolated(const Settings& settings, const Axis& axis, int64_t y) {
  if (settings.coordinates != Coordinates::CropAndResize || !axis.resized) return false;
  const double x = coordinate(settings, axis, static_cast<double>(y));
  return x < 0 || x > static_cast<double>(axis.in - 1);
}

int64_t nearest_index(const Settings& settings, const Axis& axis, int64_t y) {
  if (!axis.resized) return y;
  return static_cast<int64_t>(nearest(settings, axis, coordinate(settings, axis, static_cast<double>(y))));
}

// x resampled along one axis: [outer, in, inner] -> [outer, out, inner].
template <class T>
Tensor interpolate_axis(const Settings& settings, const Axis& axis, const Tensor& x, size_t at) {
  Shape shape = x.shape();
  shape[at] = axis.out;
  Tensor y(x.dtype(), shape);
  if (y.size() == 0) return y;
  const Footprint footprint(settings, axis);
  const size_t n = footprint.count;
  std::vector<int64_t> index;
  std::vector<T> weight;
  std::vector<double> row(n);
  for (int64_t o = 0; o < axis.out; ++o) {
    const double position = coordinate(settings, axis, static_cast<double>(o));
    double sum = 0;
    for (size_t k = 0; k < n; ++k) {
      const auto tap = static_cast<double>(k);
      index.push_back(static_cast<int64_t>(tap_index(axis, footprint, position, tap)));
      row[k] = tap_weight(settings, axis, footprint, position, tap);
      sum += row[k];
    }
    const double total = sum == 0 ? 1 : sum;
    for (double value : row) weight.push_back(static_cast<T>(normalised(settings) ? value / total : value));
  }
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < at; ++i) outer *= shape[i];
  for (size_t i = at + 1; i < shape.size(); ++i) inner *= shape[i];
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  for (int64_t a = 0; a < outer; ++a, in += axis.in * inner) {
    for (int64_t o = 0; o < axis.out; ++o, out += inner) {
      const int64_t* taps = index.data() + o * footprint.count;
      const T* weights = weight.data() + o * footprint.count;
      for (int64_t b = 0; b < inner; ++b) {
        T sum = weights[0] * in[taps[0] * inner + b];
        for (size_t k = 1; k < n; ++k) sum += weights[k] * in[taps[k] * inner + b];
        out[b] = sum;
      }
    }
  }
  return y;
}

// Float64 results in an integer dtype: rounded to even and clamped to its range.
Tensor rounded(const Tensor& x, DType to) {
  Tensor y(to, x.shape());
  dispatch_numeric(to, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      const double low = static_cast<double>(std::numeric_limits<T>::min()),
                   high = std::ldexp(1.0, std::numeric_limits<T>::digits);  // one above the largest
      const double* in = x.data<double>();
      T* out = y.mutable_data<T>();
      for (int64_t i = 0; i < x.size(); ++i) {
        const double value = std::nearbyint(in[i]);
        out[i] = value >= high ? std::numeric_limits<T>::max()
                 : value > low ? static_cast<T>(value)
                               : static_cast<T>(low);
      }
    }
  });
  return y;
}

void reference(ReferenceContext& context) {
  const Settings settings(context.node);
  const Tensor& x = context.input(0);
  auto optional = [&](size_t i) { return context.has_input(i) ? &context.input(i) : nullptr; };
  const std::vector<Axis> axes = plan(context.node, x.shape(), optional(1), optional(2), optional(3));
  Shape shape;
  for (const Axis& axis : axes) shape.push_back(axis.out);
  std::vector<std::vector<bool>> outside(axes.size());
  bool any_outside = false;
  if (settings.coordinates == Coordinates::CropAndResize) {
    if (!context.has_input(1)) context.fail("tf_crop_and_resize needs a roi");
    if (element_count(shape) > 0) {
      for (size_t i = 0; i < axes.size(); ++i) {
        for (int64_t o = 0; o < axes[i].out; ++o) {
          outside[i].push_back(extrapolated(settings, axes[i], o));
          any_outside = any_outside || outside[i].back();
        }
      }
    }
  }
  Tensor y;
  if (settings.mode == Mode::Nearest) {
    const std::vector<int64_t> stride = row_major_strides(x.shape());
    y = pick(x, shape, [&](size_t i, int64_t o) { return nearest_index(settings, axes[i], o) * stride[i]; });
  } else {
    const DType dtype = x.dtype();
    const bool wide = is_float(dtype) && dtype != DType::Float64;
    if (!is_float(dtype) && !is_integer(dtype))
      fail_unsupported(context.node.label(), ": no interpolation of ", dtype_name(dtype));
    y = convert(x, wide ? DType::Float32 : DType::Float64);
    for (size_t i = axes.size(); i-- > 0;) {
      if (!axes[i].resized) continue;
      y = wide ? interpolate_axis<float>(settings, axes[i], y, i) : interpolate_axis<double>(settings, axes[i], y, i);
    }
    if (is_integer(dtype) && dtype_bits(dtype) < 8)
      fail_unsupported(context.node.label(), ": no interpolation of ", dtype_name(dtype));
    y = is_integer(dtype) ? rounded(y, dtype) : convert(y, dtype);
  }
  if (any_outside) {
    const Tensor value = convert(Tensor::scalar<float>(settings.extrapolation), x.dtype());
    const std::vector<int64_t> stride = row_major_strides(shape);
    y = pick(
        y, shape, [&](size_t i, int64_t o) { return outside[i][o] ? kFill : o * stride[i]; }, &value);
  }
  context.outputs[0] = std::move(y);
}

// (o * a + b) // c that gives nearest_index() for every o, where there is one.
bool exact_index(const Settings& settings, const Axis& axis, const loops::Expr& o, loops::Expr* result) {
  const int64_t common = std::gcd(axis.in, axis.out), p = axis.in / common, q = axis.out / common;
  for (const auto& [a, b, c] :
       {std::array<int64_t, 3>{p, 0, q}, {2 * p, p - 1, 2 * q}, {2 * p, p, 2 * q}, {p, q - 1, q}}) {
    bool same = true;
    for (int64_t i = 0; i < axis.out && same; ++i) same = nearest_index(settings, axis, i) == (i * a + b) / c;
    if (!same) continue;
    loops::Expr flat = a == 1 ? o : o * a;
    if (b != 0) flat = flat + b;
    *result = c == 1 ? flat : loops::floordiv(flat, c);
    return true;
  }
  return false;
}

loops::Expr as_double(const std::string& variable) { return loops::cast(DType::Float64, loops::variable(variable)); }

// One "map" stage; indices that integers cannot give exactly come from a table that a stage of its own fills.
void lower_nearest(LowerContext& context, const Settings& settings, const std::vector<Axis>& axes) {
  using namespace loops;
  std::vector<BufferRef> tables(axes.size());
  std::vector<Expr> exact(axes.size());
  const std::vector<Expr> d = map_variables(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].resized) {
      exact[i] = d[i];
    } else if (!exact_index(settings, axes[i], d[i], &exact[i])) {
      tables[i] = context.temporary(cat("index", i), DType::Int64, {axes[i].out});
      const Expr index = nearest(settings, axes[i], coordinate(settings, axes[i], as_double("o")));
      context.emit("map", loop("o", axes[i].out, store(tables[i], {variable("o")}, cast(DType::Int64, index))));
    }
  }
  emit_map(context, context.outputs[0], [&](const std::vector<Expr>& indices) {
    std::vector<Expr> source;
    for (size_t i = 0; i < indices.size(); ++i)
      source.push_back(tables[i] == nullptr ? exact[i] : load(tables[i], {indices[i]}));
    return load(context.inputs[0], source);
  });
}

// Stages that fill the tables of one axis: index [out, taps] and weight [out, taps].
std::pair<loops::BufferRef, loops::BufferRef> emit_tables(LowerContext& context, const Settings& settings,
                                                          const Axis& axis, size_t at, DType dtype) {
  using namespace loops;
  const Footprint footprint(settings, axis);
  const Shape shape = {axis.out, footprint.count};
  const Expr o = variable("o"), k = variable("k"), x = coordinate(settings, axis, as_double("o")), tap = as_double("k");
  auto emit = [&](const BufferRef& table, const Expr& value) {
    context.emit("map", loop("o", axis.out, loop("k", footprint.count, store(table, {o, k}, value))));
  };
  const BufferRef index = context.temporary(cat("index", at), DType::Int64, shape);
  emit(index, cast(DType::Int64, tap_index(axis, footprint, x, tap)));
  const BufferRef weight = context.temporary(cat("weight", at), dtype, shape);
  const Expr raw = tap_weight(settings, axis, footprint, x, tap);
  if (!normalised(settings)) {
    emit(weight, cast(dtype, raw));
    return {index, weight};
  }
  const BufferRef share = context.temporary(cat("share", at), DType::Float64, shape);
  emit(share, raw);
  const BufferRef sum = local_buffer("sum", DType::Float64);
  const Expr total = load(sum, {}), zero = constant(DType::Float64, 0), one = constant(DType::Float64, 1);
  const Stmt add = loop("k", footprint.count, store(sum, {}, total + load(share, {o, k})));
  const Expr scaled = load(share, {o, variable("j")}) / loops::select(total == zero, one, total);
  const Stmt divide = loop("j", footprint.count, store(weight, {o, variable("j")}, cast(dtype, scaled)));
  context.emit("row", loop("o", axis.out, block({alloc(sum), store(sum, {}, zero), add, divide})));
  return {index, weight};
}

// One pass per axis, the last axis first, through temporaries.
void lower_interpolation(LowerContext& context, const Settings& settings, const std::vector<Axis>& axes) {
  using namespace loops;
  BufferRef from = context.inputs[0];
  const DType dtype = from->dtype;
  size_t last = axes.size();
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].resized) last = i;
  }
  for (size_t i = axes.size(); i-- > 0;) {
    if (!axes[i].resized) continue;
    const auto [index, weight] = emit_tables(context, settings, axes[i], i, dtype);
    Shape shape = from->shape;
    shape[i] = axes[i].out;
    const BufferRef to = i == last ? context.outputs[0] : context.temporary(cat("pass", i), dtype, shape);
    const int64_t n = index->shape[1];
    const std::vector<Expr> d = map_variables(axes.size());
    auto term = [&, index = index, weight = weight](const Expr& k) {
      std::vector<Expr> source = d;
      source[i] = load(index, {d[i], k});
      return load(weight, {d[i], k}) * load(from, source);
    };
    const BufferRef sum = local_buffer("sum", dtype);
    Stmt body;
    if (n <= 4) {
      Expr value = term(0);
      for (int64_t k = 1; k < n; ++k) value = value + term(k);
      body = store(to, d, value);
    } else {
      const Expr k = variable("k");
      body = block({alloc(sum), store(sum, {}, term(0)), loop("k", n - 1, store(sum, {}, load(sum, {}) + term(k + 1))),
                    store(to, d, load(sum, {}))});
    }
    for (size_t axis = axes.size(); axis-- > 0;) body = loop(cat("d", axis), to->shape[axis], std::move(body));
    context.emit(n <= 4 ? "map" : "reduce", std::move(body));
    from = to;
  }
}

// Where scales and sizes are known, and nothing is extrapolated.
void lower(LowerContext& context) {
  const loops::BufferRef x = context.inputs[0], y = context.outputs[0];
  const Settings settings(context.node);
  if (!has_loops(y) || settings.coordinates == Coordinates::CropAndResize) return;
  for (size_t i = 2; i <= 3; ++i) {
    if (context.has_input(i) && context.constant(i) == nullptr) return;
  }
  const std::vector<Axis> axes = plan(context.node, x->shape, nullptr, context.constant(2), context.constant(3));
  const bool copies = std::none_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.resized; });
  if (settings.mode == Mode::Nearest || copies) {
    lower_nearest(context, settings, axes);
  } else if (is_float(x->dtype)) {
    lower_interpolation(context, settings, axes);
  }
}

double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const Settings settings(node);
  if (settings.mode == Mode::Nearest) return 0;
  double per_output = 0;
  for (size_t i = 0; i < inputs[0].size(); ++i) {
    if (inputs[0][i] == outputs[0][i]) continue;
    Axis axis{inputs[0][i], outputs[0][i]};
    axis.scale = static_cast<double>(axis.out) / static_cast<double>(std::max<int64_t>(1, axis.in));
    if (axis.out > 0) per_output += 2.0 * static_cast<double>(Footprint(settings, axis).count);
  }
  return per_output * static_cast<double>(element_count(outputs[0]));
}

}  // namespace

OpDef define_Resize() {
  OpDef op;
  op.name = "Resize";
  op.since = 19;
  op.max_inputs = 4;
  op.traits = kNoTraits;
  op.attributes = {
      {"antialias", 0, "the kernel widens where the image shrinks"},
      {"axes", optional(AttributeType::Ints), "axes that roi, scales and sizes list; left out: all"},
      {"coordinate_transformation_mode", "half_pixel", "how places in the result become places in the input"},
      {"cubic_coeff_a", -0.75F, "coefficient of the cubic kernel"},
      {"exclude_outside", 0, "elements outside have no weight"},
      {"extrapolation_value", 0.0F, "what lies outside of the region of tf_crop_and_resize"},
      {"keep_aspect_ratio_policy", "stretch", "stretch, not_larger or not_smaller"},
      {"mode", "nearest", "nearest, linear or cubic"},
      {"nearest_mode", "round_prefer_floor", "round_prefer_floor, round_prefer_ceil, floor or ceil"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.permute = permute_listed_axes;
  op.picks = [](const Node& node) {
    const Settings settings(node);
    return settings.mode == Mode::Nearest && settings.coordinates != Coordinates::CropAndResize ? 1 : 0;
  };
  op.flops = flops;
  return op;
}

}  // namespace dnn::resize_ops
