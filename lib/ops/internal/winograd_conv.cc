// dnn.WinogradConv: a convolution of few taps by Winograd's algorithm; see ops/winograd.h. Inputs: x [N, C, H, W], transformed
// weights [products, C, M], optional bias [M]; attributes `tile` (outputs of a tile), `kernel_shape` and `strides`, each by axis,
// and `pads` as of Conv, where a negative one leaves inputs out. Made by the pass winograd.
//
// Order (reference): per tile, columns then rows are transformed, each a sum over the matrix row from 0 on; products are
// summed over c from 0 on; columns then rows are transformed back; bias last. Compiled: the same, contracted to FMA.
#include <algorithm>

#include "ops/outputs.h"
#include "ops/window.h"
#include "ops/winograd.h"

namespace dnn {
namespace {

using winograd::Axis;
using winograd::Form;
using winograd::kMostIn;
using winograd::kMostOut;
using winograd::Matrix;

struct Extents {
  Form form;
  int64_t n, c, h, w, m, out_h, out_w, rows, columns, tiles;
  int64_t top, left;
  Extents(const Node& node, const Shape& x, const Shape& u)
      : form(winograd::form_of(node)), n(x[0]), c(x[1]), h(x[2]), w(x[3]), m(u[2]) {
    if (u[0] != form.products() || u[1] != c) {
      fail_malformed(node.label(), ": WinogradConv has weights of ", u[0], " products of ", u[1], " channels; ",
                     form.text(), " of ", c, " channels takes ", form.products());
    }
    const std::vector<int64_t> pads = ints_attribute(node, "pads");
    constexpr int64_t kMostPad = int64_t{1} << 30;
    if (pads.size() != 4 ||
        std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < -kMostPad || p > kMostPad; }))
      fail_malformed(node.label(), ": WinogradConv has pads [", join(pads), "]");
    top = pads[0];
    left = pads[1];
    const auto outputs = [&](int64_t in, const Axis& axis) {
      if (in < axis.taps) fail_malformed(node.label(), ": WinogradConv has no output");
      return (in - axis.taps) / axis.stride + 1;
    };
    out_h = outputs(h + pads[0] + pads[2], form.rows);
    out_w = outputs(w + pads[1] + pads[3], form.columns);
    rows = form.rows.tiles(out_h);
    columns = form.columns.tiles(out_w);
    element_count({form.products(), n, rows + kMostRoom, columns, std::max(c, m)});  // throws where that is too many
    tiles = n * rows * columns;
  }

  // Tiles to leave room for, so that the elements of one tile, a product each, do not all fall into a few sets of the first
  // cache: they are written and read in turns. None in a batch, whose samples' parts lie side by side.
  int64_t room(int64_t channels) const {
    constexpr int64_t kLine = 16, kSets = 64, kFew = 2;
    int64_t best = 0, least = form.products();
    for (int64_t room = 0; room < kMostRoom && least > kFew && n == 1; ++room) {
      std::vector<int64_t> lines(kSets, 0);
      for (int64_t p = 0; p < form.products(); ++p)
        ++lines[static_cast<size_t>(p * (tiles + room) * channels / kLine % kSets)];
      const int64_t most = *std::max_element(lines.begin(), lines.end());
      if (most >= least) continue;
      least = most;
      best = room;
    }
    return best;
  }

 private:
  static constexpr int64_t kMostRoom = 8;
};

void infer(InferContext& context) {
  expect_dtype(context, 1, context.input(0).dtype);
  if (!context.input(0).fixed() || !context.input(1).fixed()) return;
  if (context.input(0).fixed_shape().size() != 4 || context.input(1).fixed_shape().size() != 3)
    fail_malformed(context.node.label(), ": WinogradConv takes an input of rank 4 and weights of rank 3");
  const Extents e(context.node, context.input(0).fixed_shape(), context.input(1).fixed_shape());
  const bool biased = context.has_input(2) && context.input(2).fixed();
  if (biased && (context.input(2).fixed_shape() != Shape{e.m} || context.input(2).dtype != context.input(0).dtype))
    fail_malformed(context.node.label(), ": WinogradConv of ", e.m, " channels has a bias of ",
                   context.input(2).text());
  context.set_output(0, Type(context.input(0).dtype, {e.n, e.m, e.out_h, e.out_w}));
}

// out[i] = sum over k of matrix[i][k] * in[k] where that is not 0, `step` apart.
template <class T>
void transform(const Matrix& matrix, const T* in, int64_t in_step, T* out, int64_t out_step) {
  for (size_t i = 0; i < matrix.size(); ++i) {
    T sum = 0;
    for (size_t k = 0; k < matrix[i].size(); ++k)
      sum += static_cast<T>(matrix[i][k]) * in[static_cast<int64_t>(k) * in_step];
    out[static_cast<int64_t>(i) * out_step] = sum;
  }
}

template <class T>
void reference_of(ReferenceContext& context) {
  const Tensor &x = context.input(0), &u = context.input(1);
  Tensor y = allocate_output(context, infer);
  const Extents e(context.node, x.shape(), u.shape());
  const Axis &down = e.form.rows, &across = e.form.columns;
  const int64_t high = down.products(), wide = across.products();
  const T *in = x.data<T>(), *weights = u.data<T>();
  T* out = y.mutable_data<T>();
  std::vector<T> v(static_cast<size_t>(high * wide * e.c));
  for (int64_t tile = 0; tile < e.tiles; ++tile) {
    const int64_t n = tile / (e.rows * e.columns), row = tile / e.columns % e.rows, column = tile % e.columns;
    for (int64_t c = 0; c < e.c; ++c) {
      T d[kMostIn * kMostIn], t[kMostIn * kMostIn];
      for (int64_t i = 0; i < down.in; ++i) {
        for (int64_t j = 0; j < across.in; ++j) {
          const int64_t h = row * down.out * down.stride + i - e.top,
                        w = column * across.out * across.stride + j - e.left;
          const bool inside = h >= 0 && h < e.h && w >= 0 && w < e.w;
          d[i * across.in + j] = inside ? in[((n * e.c + c) * e.h + h) * e.w + w] : 0;
        }
      }
      for (int64_t j = 0; j < across.in; ++j) transform(down.input, d + j, across.in, t + j, across.in);
      for (int64_t i = 0; i < high; ++i)
        transform(across.input, t + i * across.in, 1, &v[static_cast<size_t>(i * wide * e.c + c)], e.c);
    }
    for (int64_t m = 0; m < e.m; ++m) {
      T products[kMostIn * kMostIn], t[kMostOut * kMostIn], result[kMostOut * kMostOut];
      for (int64_t p = 0; p < high * wide; ++p) {
        T sum = 0;
        for (int64_t c = 0; c < e.c; ++c) sum += v[static_cast<size_t>(p * e.c + c)] * weights[(p * e.c + c) * e.m + m];
        products[p] = sum;
      }
      for (int64_t j = 0; j < wide; ++j) transform(down.output, products + j, wide, t + j, wide);
      for (int64_t i = 0; i < down.out; ++i) transform(across.output, t + i * wide, 1, result + i * across.out, 1);
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

// The sum over k of row[k] * terms[k], zeros left out.
loops::Expr combination(const std::vector<double>& row, const std::function<loops::Expr(int64_t)>& term) {
  loops::Expr sum;
  for (size_t k = 0; k < row.size(); ++k) {
    if (row[k] == 0) continue;
    const loops::Expr x = term(static_cast<int64_t>(k));
    if (!sum.defined()) {
      sum = row[k] == 1 ? x : x * row[k];
    } else {
      sum = row[k] == 1 ? sum + x : row[k] == -1 ? sum - x : sum + x * row[k];
    }
  }
  return sum;
}

// `body` for each tile: loops n, r, s and the channel loop v.
loops::Stmt over_tiles(const Extents& e, int64_t channels, loops::Stmt body) {
  using loops::loop;
  return loop("n", e.n, loop("r", e.rows, loop("s", e.columns, loop("v", channels, std::move(body)))));
}

// Three stages: input tiles to V [products, tiles, C]; V times the weights to P [products, tiles, M]; P to output tiles.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], u = context.inputs[1], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32) return;
  const Extents e(context.node, x->shape, u->shape);
  const Axis &down = e.form.rows, &across = e.form.columns;
  const int64_t high = down.products(), wide = across.products();
  const BufferRef inputs = context.temporary("V", dtype, {high * wide, e.tiles + e.room(e.c), e.c}),
                  products = context.temporary("P", dtype, {high * wide, e.tiles + e.room(e.m), e.m});
  const Expr n = variable("n"), r = variable("r"), s = variable("s"), v = variable("v");
  const Expr tile = (n * e.rows + r) * e.columns + s;
  const auto at = [](int64_t i) { return constant_int(DType::Int64, i); };
  const auto row_of = [](const Matrix& matrix, int64_t i) -> const std::vector<double>& {
    return matrix[static_cast<size_t>(i)];
  };

  const BufferRef d = local_buffer("d", dtype, {down.in, across.in}), t = local_buffer("t", dtype, {high, across.in});
  std::vector<Stmt> in = {alloc(d), alloc(t)};
  for (int64_t j = 0; j < across.in; ++j) {
    for (int64_t i = 0; i < down.in; ++i) {
      const Expr h = r * (down.out * down.stride) + (i - e.top), w = s * (across.out * across.stride) + (j - e.left);
      const Expr inside = at(0) <= h && h < at(e.h) && at(0) <= w && w < at(e.w);
      in.push_back(store(d, {at(i), at(j)}, loops::select(inside, load(x, {n, v, h, w}), constant(dtype, 0))));
    }
    for (int64_t i = 0; i < high; ++i) {
      const auto term = [&](int64_t k) { return load(d, {at(k), at(j)}); };
      in.push_back(store(t, {at(i), at(j)}, combination(row_of(down.input, i), term)));
    }
  }
  for (int64_t i = 0; i < high; ++i) {
    for (int64_t j = 0; j < wide; ++j) {
      const auto term = [&](int64_t k) { return load(t, {at(i), at(k)}); };
      in.push_back(store(inputs, {at(i * wide + j), tile, v}, combination(row_of(across.input, j), term)));
    }
  }
  context.emit("winograd", over_tiles(e, e.c, block(std::move(in))));

  const Expr b = variable("b0"), i0 = variable("i"), j0 = variable("j"), k0 = variable("k");
  const BufferRef sum = local_buffer("sum", dtype);
  Stmt product =
      block({alloc(sum), store(sum, {}, constant(dtype, 0)),
             loop("k", e.c, store(sum, {}, load(sum, {}) + load(inputs, {b, i0, k0}) * load(u, {b, k0, j0}))),
             store(products, {b, i0, j0}, load(sum, {}))});
  context.emit("matmul", loop("b0", high * wide, loop("i", e.tiles, loop("j", e.m, std::move(product)))));

  const BufferRef p = local_buffer("p", dtype, {high, wide}), q = local_buffer("q", dtype, {down.out, wide});
  std::vector<Stmt> out = {alloc(p), alloc(q)};
  for (int64_t j = 0; j < wide; ++j) {
    for (int64_t i = 0; i < high; ++i)
      out.push_back(store(p, {at(i), at(j)}, load(products, {at(i * wide + j), tile, v})));
    for (int64_t i = 0; i < down.out; ++i) {
      const auto term = [&](int64_t k) { return load(p, {at(k), at(j)}); };
      out.push_back(store(q, {at(i), at(j)}, combination(row_of(down.output, i), term)));
    }
  }
  for (int64_t i = 0; i < down.out; ++i) {
    for (int64_t j = 0; j < across.out; ++j) {
      const Expr h = r * down.out + i, w = s * across.out + j;
      const auto term = [&](int64_t k) { return load(q, {at(i), at(k)}); };
      Expr value = combination(row_of(across.output, j), term);
      if (context.has_input(2)) value = value + load(context.inputs[2], {v});
      Stmt one = store(y, {n, v, h, w}, value);
      // The last tile of an axis may hang over its end.
      if (e.out_w % across.out != 0 && j >= e.out_w % across.out) one = if_then(w < at(e.out_w), std::move(one));
      if (e.out_h % down.out != 0 && i >= e.out_h % down.out) one = if_then(h < at(e.out_h), std::move(one));
      out.push_back(std::move(one));
    }
  }
  context.emit("winograd", over_tiles(e, e.m, block(std::move(out))));
}

// Of the convolution it stands for, so that levels compare.
double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const Extents e(node, inputs[0], inputs[1]);
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

}  // namespace dnn
