// dnn.MaxPoolGradient: the gradient of MaxPool's input, from x, y and dy. The first of the largest elements of a window, in row-major
// order, takes all. Attributes of MaxPool, with `pads` for exactly the outputs that y has. Made by MaxPool's gradient.
//
// Order (reference and compiled): an element adds up what it gets of the windows that it lies in, from its last tap to its first.
#include <algorithm>
#include <numeric>

#include "ops/outputs.h"
#include "ops/window.h"
#include "tensor/dispatch.h"

namespace dnn::max_pool_gradient_ops {
namespace {

std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

void infer(InferContext& context) {
  expect_dtype(context, 1, context.input(0).dtype);
  expect_dtype(context, 2, context.input(0).dtype);
  context.set_output(0, context.input(0));
}

Window window_of(const Node& node, const Shape& x, const Shape& y) {
  Window window = Window::of(node, spatial(x), {});
  if (window.output != spatial(y))
    fail_malformed(node.label(), ": y is [", join(y), "], the window makes [", join(window.output), "]");
  return window;
}

template <class T>
void compute(ReferenceContext& context) {
  using S = Compute<T>;
  const Tensor &x = context.input(0), &y = context.input(1), &dy = context.input(2);
  Tensor dx = allocate_output(context, infer);
  const Window window = window_of(context.node, x.shape(), y.shape());
  const std::vector<int64_t> offsets = window.tap_offsets();
  const int64_t plane = element_count(window.input), positions = element_count(window.output),
                taps = element_count(window.kernel);
  share(context.pool, x.dim(0) * x.dim(1), static_cast<double>(y.size() * taps), [&](int64_t begin, int64_t end) {
    std::vector<int64_t> first(positions);
    std::vector<S> sums(plane);
    for (int64_t i = begin; i < end; ++i) {
      const T *from = x.data<T>() + i * plane, *best = y.data<T>() + i * positions,
              *part = dy.data<T>() + i * positions;
      std::fill(first.begin(), first.end(), int64_t{-1});
      std::fill(sums.begin(), sums.end(), S(0));
      for (int64_t p = 0; p < positions; ++p) {
        for (int64_t k = 0; k < taps && first[p] < 0; ++k) {
          const int64_t at = offsets[k * positions + p];
          if (at >= 0 && widen(from[at]) == widen(best[p])) first[p] = k;
        }
      }
      for (int64_t k = taps; k-- > 0;) {
        for (int64_t p = 0; p < positions; ++p) {
          if (first[p] == k) sums[offsets[k * positions + p]] += widen(part[p]);
        }
      }
      for (int64_t p = 0; p < plane; ++p) dx.mutable_data<T>()[i * plane + p] = narrow<T>(sums[p]);
    }
  });
  context.outputs[0] = std::move(dx);
}

void reference(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(), [&](auto tag) { compute<typename decltype(tag)::type>(context); });
}

// Two kinds of stages: the number of the tap that takes all, for each window; then, for the inputs of each residue of the strides,
// what the windows give.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.inputs[1], dy = context.inputs[2], dx = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const Window window = window_of(context.node, x->shape, y->shape);
  const size_t rank = window.rank();
  const int64_t taps = element_count(window.kernel);
  const auto real = [&](int64_t value) { return constant(dtype, static_cast<double>(value)); };
  // In the blocks of y, so that a vector of channels is one vector of these, too.
  loops::Layout blocks;
  if (y->layout.block_of(1) > 1) blocks.block(1, y->layout.block_of(1));
  const BufferRef chosen = std::make_shared<Buffer>(Buffer{"chosen", dtype, y->shape, blocks});
  context.temporaries.push_back(chosen);
  const std::vector<Expr> plane = {variable("n"), variable("c")};
  const std::vector<int64_t> steps = row_major_strides(window.kernel);
  const auto tap_of = [&](int64_t k, size_t axis) { return k / steps[axis] % window.kernel[axis]; };

  std::vector<Expr> at = plane;
  for (size_t i = 0; i < rank; ++i) at.push_back(variable(cat("o", i)));
  Expr first = real(taps);
  for (int64_t k = taps; k-- > 0;) {  // the first comes last, so that it stands
    std::vector<Expr> read = plane, positions;
    for (size_t i = 0; i < rank; ++i)
      positions.push_back(variable(cat("o", i)) * window.strides[i] +
                          (tap_of(k, i) * window.dilations[i] - window.pad_begin[i]));
    read.insert(read.end(), positions.begin(), positions.end());
    Expr value = load(x, read);
    const Expr inside = inside_window(window, positions);
    if (inside.defined()) value = loops::select(inside, value, load(y, at) - constant(dtype, 1));
    first = loops::select(value == load(y, at), real(k), first);
  }
  Stmt body = store(chosen, at, first);
  for (size_t i = rank; i-- > 0;) body = loop(cat("o", i), window.output[i], std::move(body));
  context.emit("map", loop("n", x->shape[0], loop("c", x->shape[1], std::move(body))));

  std::vector<int64_t> phase(rank, 0);
  while (true) {
    std::vector<int64_t> count(rank);
    std::vector<Expr> place = plane;
    for (size_t i = 0; i < rank; ++i) {
      count[i] = (window.input[i] - phase[i] + window.strides[i] - 1) / window.strides[i];
      place.push_back(variable(cat("o", i)) * window.strides[i] + phase[i]);
    }
    Expr sum;
    for (int64_t k = taps; k-- > 0;) {
      std::vector<Expr> from = plane;
      Expr inside;
      bool reads = true;
      for (size_t i = 0; i < rank; ++i) {
        const int64_t shift = phase[i] + window.pad_begin[i] - tap_of(k, i) * window.dilations[i];
        reads = reads && shift % window.strides[i] == 0;
        const int64_t by = shift / window.strides[i];
        from.push_back(variable(cat("o", i)) + by);
        for (const auto& [needed, condition] :
             {std::pair(by < 0, from.back() >= 0),
              std::pair(count[i] - 1 + by >= window.output[i], from.back() < window.output[i])}) {
          if (needed) inside = inside.defined() ? inside && condition : condition;
        }
      }
      if (!reads) continue;
      Expr part = load(dy, from), which = load(chosen, from);
      if (inside.defined()) {
        part = loops::select(inside, part, constant(dtype, 0));
        which = loops::select(inside, which, real(-1));
      }
      part = loops::select(which == real(k), part, constant(dtype, 0));
      sum = sum.defined() ? sum + part : part;
    }
    Stmt one = store(dx, place, sum.defined() ? sum : constant(dtype, 0));
    for (size_t i = rank; i-- > 0;) one = loop(cat("o", i), count[i], std::move(one));
    context.emit("map", loop("n", x->shape[0], loop("c", x->shape[1], std::move(one))));
    size_t axis = rank;
    while (axis > 0 && ++phase[axis - 1] == std::min(window.strides[axis - 1], window.input[axis - 1]))
      phase[--axis] = 0;
    if (axis == 0) return;
  }
}

double flops(const Node& node, const std::vector<Shape>&, const std::vector<Shape>& outputs) {
  return static_cast<double>(element_count(ints_attribute(node, "kernel_shape"))) *
         static_cast<double>(element_count(outputs[0]));
}

}  // namespace

OpDef define_MaxPoolGradient() {
  OpDef op;
  op.name = "MaxPoolGradient";
  op.domain = kInternalDomain;
  op.min_inputs = op.max_inputs = 3;
  op.traits = kNoTraits;
  op.attributes = window_attributes(true);
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn::max_pool_gradient_ops
