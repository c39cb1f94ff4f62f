// dnn.WinogradConv: a convolution of few taps by Winograd's algorithm; see ops/winograd.h. Inputs: x [N, C, H, W], transformed
// weights [products, C, M], optional bias [M]; attributes `tile` (outputs of a tile), `kernel_shape` and `strides`, each by axis,
// and `pads` as of Conv, where a negative one leaves inputs out. Made by the pass winograd.
//
// Order (reference): per tile, columns then rows are transformed, each a sum over the matrix row from 0 on; products are
// summed over c from 0 on; columns then rows are transformed back; bias last. Compiled: the same, contracted to FMA.
#include <algorithm>

#include "ops/outputs.h"
#include "ops/window.h"
#include "ops/winograd_tiles.h"

namespace dnn::winograd_conv_ops {
namespace {

using winograd::Axis;
using winograd::kMostIn;
using winograd::kMostOut;
using winograd::Tiles;
using winograd::transform_tile;

// Tiles to leave room for, so that the elements of one tile, a product each, do not all fall into a few sets of the first
// cache: they are written and read in turns. None in a batch, whose samples' parts lie side by side.
int64_t room(const Tiles& tiles, int64_t channels) {
  constexpr int64_t kLine = 16, kSets = 64, kFew = 2;
  int64_t best = 0, least = tiles.form.products();
  for (int64_t room = 0; room < winograd::kMostRoom && least > kFew && tiles.n == 1; ++room) {
    std::vector<int64_t> lines(kSets, 0);
    for (int64_t p = 0; p < tiles.form.products(); ++p) ++lines[p * (tiles.count + room) * channels / kLine % kSets];
    const int64_t most = *std::max_element(lines.begin(), lines.end());
    if (most >= least) continue;
    least = most;
    best = room;
  }
  return best;
}

Tiles tiles_of(const Node& node, const Shape& x, const Shape& u) {
  Tiles tiles(node, x, u[2]);
  if (u[0] != tiles.form.products() || u[1] != tiles.c) {
    fail_malformed(node.label(), ": WinogradConv has weights of ", u[0], " products of ", u[1], " channels; ",
                   tiles.form.text(), " of ", tiles.c, " channels takes ", tiles.form.products());
  }
  return tiles;
}

void infer(InferContext& context) {
  expect_dtype(context, 1, context.input(0).dtype);
  if (!context.input(0).fixed() || !context.input(1).fixed()) return;
  if (context.input(0).fixed_shape().size() != 4 || context.input(1).fixed_shape().size() != 3)
    fail_malformed(context.node.label(), ": WinogradConv takes an input of rank 4 and weights of rank 3");
  const Tiles e = tiles_of(context.node, context.input(0).fixed_shape(), context.input(1).fixed_shape());
  const bool biased = context.has_input(2) && context.input(2).fixed();
  if (biased && (context.input(2).fixed_shape() != Shape{e.m} || context.input(2).dtype != context.input(0).dtype))
    fail_malformed(context.node.label(), ": WinogradConv of ", e.m, " channels has a bias of ",
                   context.input(2).text());
  context.set_output(0, Type(context.input(0).dtype, {e.n, e.m, e.out_h, e.out_w}));
}

template <class T>
void reference_of(ReferenceContext& context) {
  const Tensor &x = context.input(0), &u = context.input(1);
  Tensor y = allocate_output(context, infer);
  const Tiles e = tiles_of(context.node, x.shape(), u.shape());
  const Axis &down = e.form.rows, &across = e.form.columns;
  const int64_t high = down.products(), wide = across.products();
  const T *in = x.data<T>(), *weights = u.data<T>();
  T* out = y.mutable_data<T>();
  std::vector<T> v(high * wide * e.c);
  for (int64_t tile = 0; tile < e.count; ++tile) {
    const int64_t n = tile / (e.rows * e.columns), row = tile / e.columns % e.rows, column = tile % e.columns;
    for (int64_t c = 0; c < e.c; ++c) {
      T d[kMostIn * kMostIn];
      for (int64_t i = 0; i < down.in; ++i) {
        for (int64_t j = 0; j < across.in; ++j) {
          const int64_t h = row * down.out * down.stride + i - e.top,
                        w = column * across.out * across.stride + j - e.left;
          const bool inside = h >= 0 && h < e.h && w >= 0 && w < e.w;
          d[i * across.in + j] = inside ? in[((n * e.c + c) * e.h + h) * e.w + w] : 0;
        }
      }
      transform_tile(down.input, across.input, d, &v[c], e.c);
    }
    for (int64_t m = 0; m < e.m; ++m) {
      T products[kMostIn * kMostIn], result[kMostOut * kMostOut];
      for (int64_t p = 0; p < high * wide; ++p) {
        T sum = 0;
        for (int64_t c = 0; c < e.c; ++c) sum += v[p * e.c + c] * weights[(p * e.c + c) * e.m + m];
        products[p] = sum;
      }
      transform_tile(down.output, across.output, products, result, 1);
      for (int64_t i = 0; i < down.out; ++i) {
        for (int64_t j = 0; j < across.out; ++j) {
          const int64_t h = row * down.out + i, w = column * across.out + j;
          if (h >= e.out_h || w >= e.out_w) continue;
          const T bias = context.has_input(2) ? context.input(2).data<T>()[m] : 0;
          out[((n * e.m + m) * e.out_h + h) * e.out_w + w] = result[i * across.out + j] + bias;
        }
      }
    }
  }
  context.outputs[0] = std::move(y);
}

void reference(ReferenceContext& context) {
  if (context.input(0).dtype() == DType::Float64) {
    reference_of<double>(context);
  } else {
    reference_of<float>(context);
  }
}

// Three stages: input tiles to V [products, tiles, C]; V times the weights to P [products, tiles, M]; P to output tiles.
void lower(LowerContext& context) {
  using namespace loops;
  using namespace winograd;
  const BufferRef x = context.inputs[0], u = context.inputs[1], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32) return;
  const Tiles e = tiles_of(context.node, x->shape, u->shape);
  const Axis &down = e.form.rows, &across = e.form.columns;
  const int64_t products = e.form.products(), wide = across.products();
  const BufferRef inputs = context.temporary("V", dtype, {products, e.count + room(e, e.c), e.c}),
                  outputs = context.temporary("P", dtype, {products, e.count + room(e, e.m), e.m});
  const Expr v = variable("v"), tile = tile_number(e);
  const auto at = [](int64_t i) { return constant_int(DType::Int64, i); };

  Stmt in =
      transform_tile(dtype, down.input, across.input, input_tile(e, x, v), [&](int64_t i, int64_t j, const Expr& d) {
        return store(inputs, {at(i * wide + j), tile, v}, d);
      });
  context.emit("winograd", over_tiles(e, loop("v", e.c, std::move(in))));

  const Expr b = variable("b0"), i0 = variable("i"), j0 = variable("j"), k0 = variable("k");
  const BufferRef sum = local_buffer("sum", dtype);
  Stmt product =
      block({alloc(sum), store(sum, {}, constant(dtype, 0)),
             loop("k", e.c, store(sum, {}, load(sum, {}) + load(inputs, {b, i0, k0}) * load(u, {b, k0, j0}))),
             store(outputs, {b, i0, j0}, load(sum, {}))});
  context.emit("matmul", loop("b0", products, loop("i", e.count, loop("j", e.m, std::move(product)))));

  const auto from = [&](int64_t i, int64_t j) { return load(outputs, {at(i * wide + j), tile, v}); };
  const auto to = [&](int64_t i, int64_t j, Expr value) {
    const Expr h = variable("r") * down.out + i, w = variable("s") * across.out + j;
    if (context.has_input(2)) value = value + load(context.inputs[2], {v});
    Stmt one = store(y, {variable("n"), v, h, w}, value);
    // The last tile of an axis may hang over its end.
    if (e.out_w % across.out != 0 && j >= e.out_w % across.out) one = if_then(w < at(e.out_w), std::move(one));
    if (e.out_h % down.out != 0 && i >= e.out_h % down.out) one = if_then(h < at(e.out_h), std::move(one));
    return one;
  };
  Stmt out = transform_tile(dtype, down.output, across.output, from, to, {"p", "q"});
  context.emit("winograd", over_tiles(e, loop("v", e.m, std::move(out))));
}

// Of the convolution it stands for, so that levels compare.
double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const Tiles e = tiles_of(node, inputs[0], inputs[1]);
  const Axis &rows = e.form.rows, &columns = e.form.columns;
  const std::vector<int64_t> pads = ints_attribute(node, "pads");
  const Window window{{rows.taps, columns.taps},
                      {rows.stride, columns.stride},
                      {1, 1},
                      {pads[0], pads[1]},
                      {pads[2], pads[3]},
                      {e.h, e.w},
                      {e.out_h, e.out_w}};
  return 2 * static_cast<double>(outputs[0][0] * e.m * e.c) * window.taps_inside();
}

}  // namespace

OpDef define_WinogradConv() {
  OpDef op;
  op.name = "WinogradConv";
  op.domain = kInternalDomain;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.traits = kNoTraits;
  op.attributes = {{"tile", required(AttributeType::Ints), "outputs of a tile, by axis"},
                   {"kernel_shape", required(AttributeType::Ints), "extents of the kernel"},
                   {"strides", std::vector<int64_t>{1, 1}, "step between windows"},
                   {"pads", std::vector<int64_t>{0, 0, 0, 0}, "begins, then ends"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn::winograd_conv_ops
