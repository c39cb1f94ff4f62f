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
  const auto offsets = window.tap_offsets();
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

// The buffers that both kinds of stages read and write.
struct Pooled {
  loops::BufferRef x, y, dy, dx;
  loops::BufferRef chosen;  // of y's shape: the tap that takes all
  Window window;
  int64_t taps = 0;
  std::vector<int64_t> steps;  // of taps, along each axis

  int64_t tap_of(int64_t k, size_t axis) const { return k / steps[axis] % window.kernel[axis]; }
  loops::Expr number(int64_t value) const { return loops::constant(x->dtype, static_cast<double>(value)); }
};

Pooled pooled_of(const LowerContext& context) {
  Pooled pooled;
  pooled.x = context.inputs[0];
  pooled.y = context.inputs[1];
  pooled.dy = context.inputs[2];
  pooled.dx = context.outputs[0];
  pooled.window = window_of(context.node, pooled.x->shape, pooled.y->shape);
  pooled.taps = element_count(pooled.window.kernel);
  pooled.steps = row_major_strides(pooled.window.kernel);
  // In the blocks of y, so that a vector of channels is one vector of these, too.
  loops::Layout blocks;
  if (pooled.y->layout.block_of(1) > 1) blocks.block(1, pooled.y->layout.block_of(1));
  pooled.chosen = std::make_shared<loops::Buffer>(loops::Buffer{"chosen", pooled.x->dtype, pooled.y->shape, blocks});
  return pooled;
}

std::vector<loops::Expr> plane_index() { return {loops::variable("n"), loops::variable("c")}; }

// for n, c, o0, o1, ..: body, the positions of these extents.
loops::Stmt over_positions(const Pooled& pooled, const std::vector<int64_t>& extents, loops::Stmt body) {
  for (size_t i = extents.size(); i-- > 0;) body = loops::loop(cat("o", i), extents[i], std::move(body));
  return loops::loop("n", pooled.x->shape[0], loops::loop("c", pooled.x->shape[1], std::move(body)));
}

// For each window, the number of the tap that takes all.
loops::Stmt choose_taps(const Pooled& pooled) {
  using namespace loops;
  const Window& window = pooled.window;
  std::vector<Expr> at = plane_index();
  for (size_t i = 0; i < window.rank(); ++i) at.push_back(variable(cat("o", i)));
  Expr first = pooled.number(pooled.taps);
  for (int64_t k = pooled.taps; k-- > 0;) {  // the first comes last, so that it stands
    std::vector<Expr> read = plane_index(), positions;
    for (size_t i = 0; i < window.rank(); ++i)
      positions.push_back(variable(cat("o", i)) * window.strides[i] +
                          (pooled.tap_of(k, i) * window.dilations[i] - window.pad_begin[i]));
    read.insert(read.end(), positions.begin(), positions.end());
    Expr value = load(pooled.x, read);
    const Expr inside = inside_window(window, positions);
    if (inside.defined()) value = loops::select(inside, value, load(pooled.y, at) - pooled.number(1));
    first = loops::select(value == load(pooled.y, at), pooled.number(k), first);
  }
  return over_positions(pooled, window.output, store(pooled.chosen, at, first));
}

// Inputs at `phase` modulo the strides: how many there are along each axis.
std::vector<int64_t> inputs_at(const Window& window, const std::vector<int64_t>& phase) {
  std::vector<int64_t> count(window.rank());
  for (size_t i = 0; i < window.rank(); ++i)
    count[i] = (window.input[i] - phase[i] + window.strides[i] - 1) / window.strides[i];
  return count;
}

// The gradient that these inputs get as tap k of a window; undefined where they are that of none.
loops::Expr part_of_tap(const Pooled& pooled, const std::vector<int64_t>& phase, int64_t k) {
  using namespace loops;
  const Window& window = pooled.window;
  const std::vector<int64_t> count = inputs_at(window, phase);
  std::vector<Expr> from = plane_index();
  Expr inside;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t shift = phase[i] + window.pad_begin[i] - pooled.tap_of(k, i) * window.dilations[i];
    if (shift % window.strides[i] != 0) return {};
    const int64_t by = shift / window.strides[i];
    from.push_back(variable(cat("o", i)) + by);
    for (const auto& [needed, condition] :
         {std::pair(by < 0, from.back() >= 0),
          std::pair(count[i] - 1 + by >= window.output[i], from.back() < window.output[i])}) {
      if (needed) inside = inside.defined() ? inside && condition : condition;
    }
  }
  Expr part = load(pooled.dy, from), which = load(pooled.chosen, from);
  if (inside.defined()) {
    part = loops::select(inside, part, pooled.number(0));
    which = loops::select(inside, which, pooled.number(-1));
  }
  return loops::select(which == pooled.number(k), part, pooled.number(0));
}

// The gradient of the inputs at `phase` modulo the strides.
loops::Stmt add_parts(const Pooled& pooled, const std::vector<int64_t>& phase) {
  using namespace loops;
  std::vector<Expr> place = plane_index();
  for (size_t i = 0; i < pooled.window.rank(); ++i)
    place.push_back(variable(cat("o", i)) * pooled.window.strides[i] + phase[i]);
  Expr sum;
  for (int64_t k = pooled.taps; k-- > 0;) {
    const Expr part = part_of_tap(pooled, phase, k);
    if (part.defined()) sum = sum.defined() ? sum + part : part;
  }
  return over_positions(pooled, inputs_at(pooled.window, phase),
                        store(pooled.dx, place, sum.defined() ? sum : pooled.number(0)));
}

// Two kinds of stages: the number of the tap that takes all, for each window; then, for the inputs of each residue of the strides,
// what the windows give.
void lower(LowerContext& context) {
  const DType dtype = context.inputs[0]->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const Pooled pooled = pooled_of(context);
  context.temporaries.push_back(pooled.chosen);
  context.emit("map", choose_taps(pooled));
  const Window& window = pooled.window;
  std::vector<int64_t> phase(window.rank(), 0);
  while (true) {
    context.emit("map", add_parts(pooled, phase));
    size_t axis = window.rank();
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
