// dnn.WinogradWeights and dnn.WinogradWeightGradient: Winograd's algorithm for weights that change from run to run, and for their gradient;
// see ops/winograd.h. Made by the pass winograd.
//
// WinogradWeights: w [M, C, taps] to the right-hand matrices of a WinogradConv, [products, C, M]. With `back` they are those of the
// convolution of the output's gradient, which gives the input's: taps in the other order, M and C in each other's place, [products, M, C].
//
// WinogradWeightGradient: dw [M, C, taps] from x [N, C, H, W] and dy [N, M, H', W'], with a stride of 1. It is the transpose of the
// algorithm in w: with U = weights * w, y = output' (U . (input x)), dw is
//   weights' * sum over all tiles of ((input * x) . (output' * dy))
// so that the sum over the batch and the plane is a matrix product for each product of the form (Lavin and Gray, 2016, section 3).
//
// Order (reference): transforms as WinogradConv's; products are summed over the tiles from 0 on. Compiled: the same, contracted to FMA.
#include <algorithm>

#include "ops/outputs.h"
#include "ops/window.h"
#include "ops/winograd_tiles.h"

namespace dnn::winograd_gradients_ops {
namespace {

constexpr int64_t kLanes = 16;  // channels that lie side by side between the stages

AttributeDefs form_attributes(AttributeDefs more) {
  AttributeDefs all = {{"tile", required(AttributeType::Ints), "outputs of a tile, by axis"},
                       {"kernel_shape", required(AttributeType::Ints), "extents of the kernel"},
                       {"strides", std::vector<int64_t>{1, 1}, "step between windows"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool goes_back(const Node& node) { return int_attribute(node, "back") != 0; }

// w: [M, C, high, wide] -> u: [products, C, M], or back [products, M, C]
void infer_weights(InferContext& context) {
  const winograd::Form form = winograd::form_of(context.node);
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.input(0).fixed()) {
    const Shape w = context.input(0).fixed_shape();
    if (w.size() != 4 || w[2] != form.rows.taps || w[3] != form.columns.taps)
      context.fail("weights [", join(w), "] are not those of ", form.text());
    const bool back = goes_back(context.node);
    type.shape = std::vector<Dim>{form.products(), w[back ? 0 : 1], w[back ? 1 : 0]};
  }
  context.set_output(0, std::move(type));
}

template <class T>
Tensor weights_of(const ReferenceContext& context) {
  const Tensor& w = context.input(0);
  Tensor u = allocate_output(context, infer_weights);
  const winograd::Form form = winograd::form_of(context.node);
  const bool back = goes_back(context.node);
  const int64_t m = w.dim(0), c = w.dim(1), taps = w.dim(2) * w.dim(3);
  const T* in = w.data<T>();
  T* out = u.mutable_data<T>();
  std::vector<T> filter(taps);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t k = 0; k < c; ++k) {
      for (int64_t t = 0; t < taps; ++t) filter[t] = in[(i * c + k) * taps + (back ? taps - 1 - t : t)];
      winograd::transform_tile(form.rows.weights, form.columns.weights, filter.data(),
                               out + (back ? i * c + k : k * m + i), m * c);
    }
  }
  return u;
}

void reference_weights(ReferenceContext& context) {
  context.outputs[0] =
      context.input(0).dtype() == DType::Float64 ? weights_of<double>(context) : weights_of<float>(context);
}

// Loops v, the channels that lie side by side in u, and c.
void lower_weights(LowerContext& context) {
  using namespace loops;
  const BufferRef w = context.inputs[0], u = context.outputs[0];
  if (w->dtype != DType::Float32) return;
  const winograd::Form form = winograd::form_of(context.node);
  const bool back = goes_back(context.node);
  const int64_t high = form.rows.taps, wide = form.columns.taps, products = form.columns.products();
  const Expr v = variable("v"), c = variable("c");
  const auto at = [](int64_t i) { return constant_int(DType::Int64, i); };
  const auto from = [&](int64_t i, int64_t j) {
    return back ? load(w, {c, v, at(high - 1 - i), at(wide - 1 - j)}) : load(w, {v, c, at(i), at(j)});
  };
  const auto to = [&](int64_t i, int64_t j, const Expr& value) {
    return store(u, {at(i * products + j), c, v}, value);
  };
  Stmt body = winograd::transform_tile(w->dtype, form.rows.weights, form.columns.weights, from, to);
  context.emit("winograd", loop("v", u->shape[2], loop("c", u->shape[1], std::move(body))));
}

winograd::Tiles tiles_of_gradient(const Node& node, const Shape& x, const Shape& dy) {
  winograd::Tiles tiles(node, x, dy[1]);
  if (tiles.form.rows.stride != 1 || tiles.form.columns.stride != 1)
    fail_malformed(node.label(), ": WinogradWeightGradient has strides [", join(ints_attribute(node, "strides")),
                   "], not 1");
  if (dy != Shape{tiles.n, tiles.m, tiles.out_h, tiles.out_w})
    fail_malformed(node.label(), ": the gradient of the output has the extents [", join(dy), "], the tiles make [",
                   join(Shape{tiles.n, tiles.m, tiles.out_h, tiles.out_w}), "]");
  return tiles;
}

// x: [N, C, H, W], dy: [N, M, H', W'] -> dw: [M, C, high, wide]
void infer_gradient(InferContext& context) {
  expect_dtype(context, 1, context.input(0).dtype);
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.input(0).fixed() && context.input(1).fixed()) {
    const Shape x = context.input(0).fixed_shape(), dy = context.input(1).fixed_shape();
    if (x.size() != 4 || dy.size() != 4) context.fail("x and dy are of rank 4");
    const winograd::Tiles tiles = tiles_of_gradient(context.node, x, dy);
    type.shape = std::vector<Dim>{tiles.m, tiles.c, tiles.form.rows.taps, tiles.form.columns.taps};
  }
  context.set_output(0, std::move(type));
}

// The elements of one plane from (top, left) on, `high` x `wide` of them, 0 outside.
template <class T>
void cut(const T* plane, int64_t h, int64_t w, int64_t top, int64_t left, int64_t high, int64_t wide, T* out) {
  for (int64_t i = top; i < top + high; ++i) {
    for (int64_t j = left; j < left + wide; ++j) *out++ = i >= 0 && i < h && j >= 0 && j < w ? plane[i * w + j] : 0;
  }
}

template <class T>
Tensor gradient_of(const ReferenceContext& context) {
  using winograd::kMostIn;
  const Tensor &x = context.input(0), &dy = context.input(1);
  Tensor dw = allocate_output(context, infer_gradient);
  const winograd::Tiles e = tiles_of_gradient(context.node, x.shape(), dy.shape());
  const winograd::Axis &down = e.form.rows, &across = e.form.columns;
  const int64_t products = e.form.products(), taps = down.taps * across.taps;
  const winograd::Matrix high = winograd::transposed(down.output), wide = winograd::transposed(across.output);
  std::vector<T> v(products * e.c), g(products * e.m), sums(products * e.c * e.m);
  for (int64_t tile = 0; tile < e.count; ++tile) {
    const int64_t n = tile / (e.rows * e.columns), row = tile / e.columns % e.rows, column = tile % e.columns;
    T d[kMostIn * kMostIn];
    for (int64_t c = 0; c < e.c; ++c) {
      cut(x.data<T>() + (n * e.c + c) * e.h * e.w, e.h, e.w, row * down.out - e.top, column * across.out - e.left,
          down.in, across.in, d);
      winograd::transform_tile(down.input, across.input, d, &v[c], e.c);
    }
    for (int64_t m = 0; m < e.m; ++m) {
      cut(dy.data<T>() + (n * e.m + m) * e.out_h * e.out_w, e.out_h, e.out_w, row * down.out, column * across.out,
          down.out, across.out, d);
      winograd::transform_tile(high, wide, d, &g[m], e.m);
    }
    for (int64_t p = 0; p < products; ++p) {
      for (int64_t c = 0; c < e.c; ++c) {
        const T left = v[p * e.c + c];
        T* sum = &sums[(p * e.c + c) * e.m];
        for (int64_t m = 0; m < e.m; ++m) sum[m] += left * g[p * e.m + m];
      }
    }
  }
  const winograd::Matrix rows = winograd::transposed(down.weights), columns = winograd::transposed(across.weights);
  T* out = dw.mutable_data<T>();
  for (int64_t m = 0; m < e.m; ++m) {
    for (int64_t c = 0; c < e.c; ++c) {
      T d[kMostIn * kMostIn];
      for (int64_t p = 0; p < products; ++p) d[p] = sums[(p * e.c + c) * e.m + m];
      winograd::transform_tile(rows, columns, d, out + (m * e.c + c) * taps, 1);
    }
  }
  return dw;
}

void reference_gradient(ReferenceContext& context) {
  context.outputs[0] =
      context.input(0).dtype() == DType::Float64 ? gradient_of<double>(context) : gradient_of<float>(context);
}

// Values of all tiles between two stages: [products, blocks of kLanes channels and tiles, kLanes], so that a product of blocks reads one
// line after the other. One line more for each product keeps those of a tile out of each other's sets of the L1 cache.
struct Between {
  loops::BufferRef buffer;
  int64_t tiles;
  Between(LowerContext& context, const char* name, const winograd::Tiles& e, int64_t channels)
      : buffer(context.temporary(name, DType::Float32, {e.form.products(), channels / kLanes * e.count + 1, kLanes})),
        tiles(e.count) {}
  std::vector<loops::Expr> at(const loops::Expr& product, const loops::Expr& block, const loops::Expr& tile,
                              const loops::Expr& lane) const {
    return {product, block * tiles + tile, lane};
  }
};

// Five stages: tiles of x to V, of dy to D; for each product of the form V' times D, 16 channels of each at a time, to S; S to taps, G,
// of which the last makes dw.
void lower_gradient(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], dy = context.inputs[1], dw = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32) return;
  const winograd::Tiles e = tiles_of_gradient(context.node, x->shape, dy->shape);
  if (e.c % kLanes != 0 || e.m % kLanes != 0) return;
  const winograd::Axis &down = e.form.rows, &across = e.form.columns;
  const int64_t products = e.form.products(), wide = across.products(), c_blocks = e.c / kLanes,
                m_blocks = e.m / kLanes;
  const auto at = [](int64_t i) { return constant_int(DType::Int64, i); };
  const Expr q = variable("q"), v = variable("v"), tile = winograd::tile_number(e);

  const Between inputs(context, "V", e, e.c), outputs(context, "D", e, e.m);
  const auto tiles_to = [&](const Between& to, int64_t blocks, const winograd::Matrix& rows,
                            const winograd::Matrix& columns, const winograd::Element& from) {
    Stmt body = winograd::transform_tile(dtype, rows, columns, from, [&](int64_t i, int64_t j, const Expr& value) {
      return store(to.buffer, to.at(at(i * wide + j), q, tile, v), value);
    });
    context.emit("winograd", winograd::over_tiles(e, loop("q", blocks, loop("v", kLanes, std::move(body)))));
  };
  tiles_to(inputs, c_blocks, down.input, across.input, winograd::input_tile(e, x, q * kLanes + v));
  tiles_to(outputs, m_blocks, winograd::transposed(down.output), winograd::transposed(across.output),
           winograd::output_tile(e, dy, q * kLanes + v));

  const BufferRef sums = context.temporary("S", dtype, {products, c_blocks, m_blocks, kLanes, kLanes}),
                  sum = local_buffer("sum", dtype);
  const Expr b0 = variable("b0"), b1 = variable("b1"), b2 = variable("b2"), i0 = variable("i"), j0 = variable("j"),
             k0 = variable("k");
  const Expr product =
      load(inputs.buffer, inputs.at(b0, b1, k0, i0)) * load(outputs.buffer, outputs.at(b0, b2, k0, j0));
  Stmt body = block({alloc(sum), store(sum, {}, constant(dtype, 0)),
                     loop("k", e.count, store(sum, {}, load(sum, {}) + product)),
                     store(sums, {b0, b1, b2, i0, j0}, load(sum, {}))});
  body = loop("i", kLanes, loop("j", kLanes, std::move(body)));
  context.emit("matmul", loop("b0", products, loop("b1", c_blocks, loop("b2", m_blocks, std::move(body)))));

  // [blocks of M, C, taps, kLanes]
  const int64_t taps = down.taps * across.taps;
  const BufferRef gradients = context.temporary("G", dtype, {m_blocks, e.c, taps, kLanes});
  const Expr c = variable("c");
  const auto from = [&](int64_t i, int64_t j) { return load(sums, {at(i * wide + j), q, variable("u"), c, v}); };
  const auto to = [&](int64_t i, int64_t j, const Expr& value) {
    return store(gradients, {variable("u"), q * kLanes + c, at(i * across.taps + j), v}, value);
  };
  body = winograd::transform_tile(dtype, winograd::transposed(down.weights), winograd::transposed(across.weights), from,
                                  to);
  context.emit("winograd",
               loop("u", m_blocks, loop("q", c_blocks, loop("c", kLanes, loop("v", kLanes, std::move(body))))));

  const Expr u = variable("u"), h = variable("h"), w = variable("w");
  body = store(dw, {u * kLanes + v, c, h, w}, load(gradients, {u, c, h * across.taps + w, v}));
  body = loop("h", down.taps, loop("w", across.taps, std::move(body)));
  context.emit("map", loop("u", m_blocks, loop("v", kLanes, loop("c", e.c, std::move(body)))));
}

// The flops of the gradient it stands for, so that levels compare.
double flops_gradient(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  const winograd::Tiles e = tiles_of_gradient(node, inputs[0], inputs[1]);
  const std::vector<int64_t> pads = ints_attribute(node, "pads");
  const Window window{{e.form.rows.taps, e.form.columns.taps},
                      {1, 1},
                      {1, 1},
                      {pads[0], pads[1]},
                      {pads[2], pads[3]},
                      {e.h, e.w},
                      {e.out_h, e.out_w}};
  return 2 * static_cast<double>(e.n * e.m * e.c) * window.taps_inside();
}

}  // namespace

OpDef define_WinogradWeights() {
  OpDef op;
  op.name = "WinogradWeights";
  op.domain = kInternalDomain;
  op.traits = kNoTraits;
  op.attributes = form_attributes({{"back", 0, "for the gradient of the convolution's input"}});
  op.infer = infer_weights;
  op.reference = reference_weights;
  op.lower = lower_weights;
  return op;
}

OpDef define_WinogradWeightGradient() {
  OpDef op;
  op.name = "WinogradWeightGradient";
  op.domain = kInternalDomain;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = form_attributes({{"pads", std::vector<int64_t>{0, 0, 0, 0}, "begins, then ends"}});
  op.infer = infer_gradient;
  op.reference = reference_gradient;
  op.lower = lower_gradient;
  op.flops = flops_gradient;
  return op;
}

}  // namespace dnn::winograd_gradients_ops
