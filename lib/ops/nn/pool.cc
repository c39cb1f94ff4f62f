// MaxPool, AveragePool, LpPool: pooling over any number of spatial axes, with strides, dilations, padding, ceil_mode.
//
// Order (reference, and compiled at -O0): the kernel's axes, outermost first. MaxPool starts at the lowest value and
// keeps `best > x ? best : x`; AveragePool sums, then divides by the number of taps that count; LpPool sums |x|^p (x*x
// for p = 2), then takes the root (sqrt for p = 2). Taps in the padding are never read; a window that lies wholly in
// it gives the lowest value, 0/0 and 0. Taps beyond the padding (ceil_mode) never count.
#include <cmath>
#include <limits>

#include "ops/conv_gradient.h"
#include "ops/outputs.h"
#include "ops/window.h"
#include "tensor/dispatch.h"

namespace dnn::pool_ops {
namespace {

enum class Kind : uint8_t { Max, Average, Lp };

// x: [N, C, D...] -> y: [N, C, O...]
std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const auto& x = context.shape(0);
    if (x.size() < 3) context.fail("input ", context.input(0).text(), " has no spatial axes");
    std::vector<Dim> out = {x[0], x[1]};
    for (const Dim& dim : window_output(context.node, {x.begin() + 2, x.end()}, {})) out.push_back(dim);
    type.shape = std::move(out);
  }
  Type indices = type;
  indices.dtype = DType::Int64;
  context.set_output(0, std::move(type));
  context.set_output(1, std::move(indices));
}

// The taps of every output along every axis that lie in the input.
using AllTaps = std::vector<std::vector<Window::Taps>>;
AllTaps all_taps(const Window& window) {
  AllTaps taps(window.rank());
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    for (int64_t o = 0; o < window.output[axis]; ++o) taps[axis].push_back(window.taps(axis, o));
  }
  return taps;
}

// The taps of one window that lie in the input, as offsets into a plane; body(offset) in order.
class WindowReader {
 public:
  // Both must outlive it.
  WindowReader(const Window& window, const AllTaps& all)
      : window_(window),
        all_(all),
        stride_(row_major_strides(window.input)),
        taps_(window.rank()),
        tap_(window.rank()) {}

  template <class Body>
  void operator()(const std::vector<int64_t>& at, const Body& body) {
    const size_t last = taps_.size() - 1;
    int64_t offset = 0;
    for (size_t i = 0; i <= last; ++i) {
      taps_[i] = all_[i][at[i]];
      if (taps_[i].count() == 0) return;
      tap_[i] = taps_[i].first;
      offset += window_.position(i, at[i], tap_[i]) * stride_[i];
    }
    const int64_t run = taps_[last].count(), step = window_.dilations[last];
    for (;;) {
      for (int64_t k = 0; k < run; ++k) body(offset + k * step);
      size_t i = last;
      while (i-- > 0) {
        offset += window_.dilations[i] * stride_[i];
        if (++tap_[i] < taps_[i].last) break;
        offset -= taps_[i].count() * window_.dilations[i] * stride_[i];
        tap_[i] = taps_[i].first;
      }
      if (i == static_cast<size_t>(-1)) return;
    }
  }

 private:
  const Window& window_;
  const AllTaps& all_;
  std::vector<int64_t> stride_;
  std::vector<Window::Taps> taps_;
  std::vector<int64_t> tap_;
};

// Calls body(plane, position, indices, reader) for each window of each plane; of different planes from any thread.
template <class Body>
void for_each_window(ThreadPool* pool, const Window& window, int64_t planes, const Body& body) {
  const int64_t positions = element_count(window.output);
  const AllTaps taps = all_taps(window);
  const double operations = static_cast<double>(planes * positions) * static_cast<double>(element_count(window.kernel));
  share(pool, planes, operations, [&](int64_t begin, int64_t end) {
    WindowReader read(window, taps);
    std::vector<int64_t> at(window.rank(), 0);
    for (int64_t plane = begin; plane < end; ++plane) {
      for (int64_t p = 0; p < positions; ++p) {
        body(plane, p, at, read);
        for (size_t i = at.size(); i-- > 0;) {
          if (++at[i] < window.output[i]) break;
          at[i] = 0;
        }
      }
    }
  });
}

template <class T>
T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

// Index of a plane's element in column-major order (storage_order 1).
int64_t column_major(int64_t offset, const std::vector<int64_t>& extents) {
  int64_t result = 0, step = element_count(extents);
  for (size_t i = extents.size(); i-- > 0;) {
    step /= extents[i];
    result += offset % extents[i] * step;
    offset /= extents[i];
  }
  return result;
}

template <class T>
void pool_max(ReferenceContext& context, const Window& window) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer), indices;
  int64_t* index = nullptr;
  if (context.wants_output(1)) {
    indices = Tensor(DType::Int64, y.shape());
    index = indices.mutable_data<int64_t>();
  }
  const bool columns = flag_attribute(context.node, "storage_order");
  const int64_t plane_size = element_count(window.input), positions = element_count(window.output);
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  for_each_window(context.pool, window, x.dim(0) * x.dim(1),
                  [&](int64_t plane, int64_t position, const std::vector<int64_t>& at, WindowReader& read) {
                    const T* image = in + plane * plane_size;
                    const int64_t to = plane * positions + position;
                    Compute<T> best = lowest<Compute<T>>();
                    if (index == nullptr) {
                      read(at, [&](int64_t offset) {
                        const Compute<T> value = widen(image[offset]);
                        best = best > value ? best : value;
                      });
                      out[to] = narrow<T>(best);
                      return;
                    }
                    int64_t first = -1;  // of the largest so far
                    read(at, [&](int64_t offset) {
                      const Compute<T> value = widen(image[offset]);
                      if (first < 0 || !(best >= value)) first = offset;
                      best = best > value ? best : value;
                    });
                    out[to] = narrow<T>(best);
                    index[to] =
                        first < 0 ? -1 : plane * plane_size + (columns ? column_major(first, window.input) : first);
                  });
  context.outputs[0] = std::move(y);
  if (index != nullptr) context.outputs[1] = std::move(indices);
}

template <class T, class Gather, class Finish>
void pool_sum(ReferenceContext& context, const Window& window, const Gather& gather, const Finish& finish) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer);
  const int64_t plane_size = element_count(window.input), positions = element_count(window.output);
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  for_each_window(context.pool, window, x.dim(0) * x.dim(1),
                  [&](int64_t plane, int64_t position, const std::vector<int64_t>& at, WindowReader& read) {
                    const T* image = in + plane * plane_size;
                    Compute<T> sum = 0;
                    read(at, [&](int64_t offset) { sum += gather(widen(image[offset])); });
                    out[plane * positions + position] = narrow<T>(finish(sum, at));
                  });
  context.outputs[0] = std::move(y);
}

int64_t lp_power(const Node& node) {
  const int64_t p = int_attribute(node, "p");
  if (p < 1) fail_malformed(node.label(), ": p ", p, " must be at least 1");
  return p;
}

template <Kind kind>
void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  infer_outputs(context, infer);
  const Window window = Window::of(context.node, spatial(x.shape()), {});
  if constexpr (kind == Kind::Max) {
    if (x.dtype() == DType::Int8) return pool_max<int8_t>(context, window);
    if (x.dtype() == DType::UInt8) return pool_max<uint8_t>(context, window);
  }
  dispatch_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    if constexpr (kind == Kind::Max) {
      pool_max<T>(context, window);
    } else if constexpr (kind == Kind::Average) {
      const bool include = flag_attribute(context.node, "count_include_pad");
      std::vector<std::vector<C>> counts(window.rank());  // by axis and output
      for (size_t i = 0; i < counts.size(); ++i) {
        for (int64_t o = 0; o < window.output[i]; ++o)
          counts[i].push_back(static_cast<C>(window.counted(include, i, o)));
      }
      pool_sum<T>(
          context, window, [](C value) { return value; },
          [&](C sum, const std::vector<int64_t>& at) {
            C count = 1;
            for (size_t i = 0; i < at.size(); ++i) count *= counts[i][at[i]];
            return sum / count;
          });
    } else {
      const int64_t p = lp_power(context.node);
      const C power = static_cast<C>(p), root = C(1) / static_cast<C>(p);
      pool_sum<T>(
          context, window,
          [&](C value) {
            return p == 1 ? std::fabs(value) : p == 2 ? value * value : std::pow(std::fabs(value), power);
          },
          [&](C sum, const std::vector<int64_t>&) {
            return p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, root);
          });
    }
  });
}

// Loops n, c, the output axes o0.., the kernel's axes k0..
template <Kind kind>
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const DType dtype = x->dtype;
  const bool real = is_float(dtype) && has_arithmetic(dtype);
  if (y == nullptr || (!real && !(kind == Kind::Max && (dtype == DType::Int8 || dtype == DType::UInt8)))) return;
  if (context.outputs.size() > 1 && context.outputs[1] != nullptr) return;
  const Window window = Window::of(context.node, spatial(x->shape), {});
  const size_t rank = window.rank();
  const Expr n = variable("n"), c = variable("c");
  std::vector<Expr> x_index = {n, c}, y_index = {n, c}, positions;
  for (size_t i = 0; i < rank; ++i) {
    const Expr o = variable(cat("o", i)), k = variable(cat("k", i));
    positions.push_back(o * window.strides[i] + k * window.dilations[i] - window.pad_begin[i]);
    x_index.push_back(positions.back());
    y_index.push_back(o);
  }
  const int64_t p = kind == Kind::Lp ? lp_power(context.node) : 0;
  const DType work = real ? dtype : DType::Int32;  // of bytes: what vectors hold
  Expr value = cast(work, load(x, x_index)), start = constant(work, 0);
  if (kind == Kind::Max) {
    start = real                   ? constant(dtype, -std::numeric_limits<double>::infinity())
            : dtype == DType::Int8 ? constant_int(work, -128)
                                   : constant_int(work, 0);
  }
  const Expr inside = inside_window(window, positions);
  if (inside.defined()) value = loops::select(inside, value, start);
  if (p == 2) value = value * value;
  if (p == 1 || p > 2) value = unary(Op::Abs, value);
  if (p > 2) value = binary(Op::Pow, value, constant(dtype, static_cast<double>(p)));
  const BufferRef sum = local_buffer(kind == Kind::Max ? "best" : "sum", work);
  const Expr so_far = load(sum, {});
  Stmt reduce = store(sum, {}, kind == Kind::Max ? loops::max(so_far, value) : so_far + value);
  for (size_t i = rank; i-- > 0;) reduce = loop(cat("k", i), window.kernel[i], std::move(reduce));
  Expr result = real ? so_far : cast(dtype, so_far);
  if (kind == Kind::Average) {
    if (element_count(window.kernel) >= int64_t{1} << 24) return;  // counts below that multiply exactly in any order
    const bool include = flag_attribute(context.node, "count_include_pad");
    Expr count = constant(dtype, 1);
    double fixed = 1;
    bool varies = false;
    for (size_t i = 0; i < rank; ++i) {
      const Expr axis = count_of_window(window, include, i, variable(cat("o", i)));
      int64_t number = 0;
      if (constant_value(axis, &number)) {
        fixed *= static_cast<double>(number);
      } else {
        count = varies ? count * cast(dtype, axis) : cast(dtype, axis);
        varies = true;
      }
    }
    result = result / (!varies ? constant(dtype, fixed) : fixed == 1 ? count : count * constant(dtype, fixed));
  }
  if (p == 2) result = unary(Op::Sqrt, result);
  if (p > 2) {
    const double root = dtype == DType::Float64 ? 1.0 / static_cast<double>(p) : double{1.0f / static_cast<float>(p)};
    result = binary(Op::Pow, result, constant(dtype, root));
  }
  Stmt body = block({alloc(sum), store(sum, {}, start), std::move(reduce), store(y, y_index, result)});
  for (size_t i = rank; i-- > 0;) body = loop(cat("o", i), window.output[i], std::move(body));
  context.emit("pool", loop("n", x->shape[0], loop("c", x->shape[1], std::move(body))));
}

double flops(const Node& node, const std::vector<Shape>&, const std::vector<Shape>& outputs) {
  return static_cast<double>(element_count(ints_attribute(node, "kernel_shape"))) *
         static_cast<double>(element_count(outputs[0]));
}

// A convolution of each plane by ones is the sum that AveragePool divides.
void gradient_average(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  const Shape x = build.shape(context.input(0));
  const DType dtype = build.dtype(context.dy());
  const Window window = Window::of(context.node, spatial(x), {});
  const bool include = flag_attribute(context.node, "count_include_pad");
  Shape counts_shape = {1, 1}, ones_shape = {x[1], 1};
  counts_shape.insert(counts_shape.end(), window.output.begin(), window.output.end());
  ones_shape.insert(ones_shape.end(), window.kernel.begin(), window.kernel.end());
  std::vector<double> counts;
  for (int64_t p = 0; p < element_count(window.output); ++p) {
    double count = 1;
    int64_t rest = p;
    for (size_t i = window.rank(); i-- > 0; rest /= window.output[i])
      count *= static_cast<double>(window.counted(include, i, rest % window.output[i]));
    counts.push_back(count);
  }
  const ValueId divisors = build.store("counts", convert(Tensor::of(counts_shape, counts), dtype));
  const std::vector<double> ones(element_count(ones_shape), 1);
  const ValueId filters = build.store("ones", convert(Tensor::of(ones_shape, ones), dtype));
  const ValueId share = build.emit("Div", {context.dy(), divisors});
  context.set(0, conv_input_gradient(build, share, filters, window, x[1]));
}

// The first of the largest elements of a window, in row-major order, takes all.
void gradient_max(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  const Window window = Window::of(context.node, spatial(build.shape(context.input(0))), {});
  Node node;
  node.op = "MaxPoolGradient";
  node.domain = kInternalDomain;
  node.inputs = {context.input(0), context.output(0), context.dy()};
  std::vector<int64_t> pads = window.pad_begin;
  for (size_t i = 0; i < window.rank(); ++i)
    pads.push_back(window.position(i, window.output[i] - 1, window.kernel[i] - 1) + 1 - window.input[i]);
  node.attributes = {
      {"kernel_shape", window.kernel}, {"strides", window.strides}, {"dilations", window.dilations}, {"pads", pads}};
  context.set(0, build.add(std::move(node), {build.name() + "/input"})[0]);
}

template <Kind kind>
OpDef pool(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.since = 22;
  op.max_outputs = kind == Kind::Max ? 2 : 1;
  op.traits = kind == Kind::Max ? Traits{Trait::ChannelsFirst, Trait::Moves} : Traits{Trait::ChannelsFirst};
  op.infer = infer;
  op.reference = reference<kind>;
  op.lower = lower<kind>;
  op.flops = flops;
  if (kind == Kind::Average) op.gradient = gradient_average;
  if (kind == Kind::Max) op.gradient = gradient_max;
  if (kind == Kind::Max) op.picks = [](const Node& node) { return node.output(1) == kNoValue ? 1 : 0; };
  return op;
}

}  // namespace

OpDef define_MaxPool() {
  return with_attributes(pool<Kind::Max>("MaxPool"),
                         window_attributes(true, {{"ceil_mode", 0, "a last window may reach beyond the end"},
                                                  {"storage_order", 0, "1: indices count columns first"}}));
}
OpDef define_AveragePool() {
  return with_attributes(pool<Kind::Average>("AveragePool"),
                         window_attributes(true, {{"ceil_mode", 0, "a last window may reach beyond the end"},
                                                  {"count_include_pad", 0, "padding counts in the mean"}}));
}
OpDef define_LpPool() {
  return with_attributes(pool<Kind::Lp>("LpPool"),
                         window_attributes(true, {{"ceil_mode", 0, "a last window may reach beyond the end"},
                                                  {"p", 2, "exponent of the norm"}}));
}

}  // namespace dnn::pool_ops
