// dnn.WinogradConv: a 3x3 convolution of stride 1 by Winograd's algorithm; see ops/winograd.h. Inputs: x [N, C, H, W],
// transformed weights [products, C, M], of 36 products by F(4x4, 3x3), of 16 by F(2x2, 3x3), optional bias [M]; attribute
// `pads` as of Conv. Made by the pass winograd.
//
// Order (reference): per tile, columns then rows are transformed, each a sum over the matrix row from 0 on; products are
// summed over c from 0 on; columns then rows are transformed back; bias last. Compiled: the same, contracted to FMA.
#include "ops/outputs.h"
#include "ops/winograd.h"

namespace dnn {
namespace {

using winograd::Form;
using winograd::kMostIn;
using winograd::kMostOut;

struct Extents {
  const Form& form;
  int64_t n, c, h, w, m, out_h, out_w, rows, columns, tiles;
  int64_t top, left;
  Extents(const Node& node, const Shape& x, const Shape& u)
      : form(winograd::form_of(u[0])), n(x[0]), c(x[1]), h(x[2]), w(x[3]), m(u[2]) {
    const std::vector<int64_t> pads = node.attribute_ints("pads", {0, 0, 0, 0});
    top = pads[0];
    left = pads[1];
    out_h = h + pads[0] + pads[2] - 2;
    out_w = w + pads[1] + pads[3] - 2;
    rows = form.tiles(out_h);
    columns = form.tiles(out_w);
    tiles = n * rows * columns;
  }
};

void infer(InferContext& context) {
  expect_dtype(context, 1, context.input(0).dtype);
  if (!context.input(0).fixed() || !context.input(1).fixed()) return;
  if (context.input(0).fixed_shape().size() != 4 || context.input(1).fixed_shape().size() != 3)
    fail_malformed(context.node.label(), ": WinogradConv takes an input of rank 4 and weights of rank 3");
  const Extents e(context.node, context.input(0).fixed_shape(), context.input(1).fixed_shape());
  context.set_output(0, Type(context.input(0).dtype, {e.n, e.m, e.out_h, e.out_w}));
}

// out[i] = sum over k of matrix[i][k] * in[k] where that is not 0, `step` apart.
template <class T>
void transform(const winograd::Matrix& matrix, const T* in, int64_t in_step, T* out, int64_t out_step) {
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
  const Form& form = e.form;
  const int64_t size = form.in, part = form.out, n_products = form.products();
  const T *in = x.data<T>(), *weights = u.data<T>();
  T* out = y.mutable_data<T>();
  std::vector<T> v(static_cast<size_t>(n_products * e.c));
  for (int64_t tile = 0; tile < e.tiles; ++tile) {
    const int64_t n = tile / (e.rows * e.columns), row = tile / e.columns % e.rows, column = tile % e.columns;
    for (int64_t c = 0; c < e.c; ++c) {
      T d[kMostIn * kMostIn], t[kMostIn * kMostIn];
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t j = 0; j < size; ++j) {
          const int64_t h = row * part + i - e.top, w = column * part + j - e.left;
          const bool inside = h >= 0 && h < e.h && w >= 0 && w < e.w;
          d[i * size + j] = inside ? in[((n * e.c + c) * e.h + h) * e.w + w] : 0;
        }
      }
      for (int64_t j = 0; j < size; ++j) transform(form.input, d + j, size, t + j, size);
      for (int64_t i = 0; i < size; ++i)
        transform(form.input, t + i * size, 1, &v[static_cast<size_t>(i * size * e.c + c)], e.c);
    }
    for (int64_t m = 0; m < e.m; ++m) {
      T products[kMostIn * kMostIn], t[kMostOut * kMostIn], result[kMostOut * kMostOut];
      for (int64_t p = 0; p < n_products; ++p) {
        T sum = 0;
        for (int64_t c = 0; c < e.c; ++c) sum += v[static_cast<size_t>(p * e.c + c)] * weights[(p * e.c + c) * e.m + m];
        products[p] = sum;
      }
      for (int64_t j = 0; j < size; ++j) transform(form.output, products + j, size, t + j, size);
      for (int64_t i = 0; i < part; ++i) transform(form.output, t + i * size, 1, result + i * part, 1);
      for (int64_t i = 0; i < part; ++i) {
        for (int64_t j = 0; j < part; ++j) {
          const int64_t h = row * part + i, w = column * part + j;
          if (h >= e.out_h || w >= e.out_w) continue;
          const T bias = context.has_input(2) ? context.input(2).data<T>()[m] : 0;
          out[((n * e.m + m) * e.out_h + h) * e.out_w + w] = result[i * part + j] + bias;
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
  const Form& form = e.form;
  const int64_t size = form.in, part = form.out;
  const BufferRef inputs = context.temporary("V", dtype, {form.products(), e.tiles, e.c}),
                  products = context.temporary("P", dtype, {form.products(), e.tiles, e.m});
  const Expr n = variable("n"), r = variable("r"), s = variable("s"), v = variable("v");
  const Expr tile = (n * e.rows + r) * e.columns + s;
  const auto at = [](int64_t i) { return constant_int(DType::Int64, i); };

  const BufferRef d = local_buffer("d", dtype, {size, size}), t = local_buffer("t", dtype, {size, size});
  std::vector<Stmt> in = {alloc(d), alloc(t)};
  for (int64_t j = 0; j < size; ++j) {
    for (int64_t i = 0; i < size; ++i) {
      const Expr h = r * part + (i - e.top), w = s * part + (j - e.left);
      const Expr inside = at(0) <= h && h < at(e.h) && at(0) <= w && w < at(e.w);
      in.push_back(store(d, {at(i), at(j)}, loops::select(inside, load(x, {n, v, h, w}), constant(dtype, 0))));
    }
    for (int64_t i = 0; i < size; ++i) {
      const auto term = [&](int64_t k) { return load(d, {at(k), at(j)}); };
      in.push_back(store(t, {at(i), at(j)}, combination(form.input[static_cast<size_t>(i)], term)));
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      const auto term = [&](int64_t k) { return load(t, {at(i), at(k)}); };
      in.push_back(store(inputs, {at(i * size + j), tile, v}, combination(form.input[static_cast<size_t>(j)], term)));
    }
  }
  context.emit("winograd", over_tiles(e, e.c, block(std::move(in))));

  const Expr b = variable("b0"), i0 = variable("i"), j0 = variable("j"), k0 = variable("k");
  const BufferRef sum = local_buffer("sum", dtype);
  Stmt product =
      block({alloc(sum), store(sum, {}, constant(dtype, 0)),
             loop("k", e.c, store(sum, {}, load(sum, {}) + load(inputs, {b, i0, k0}) * load(u, {b, k0, j0}))),
             store(products, {b, i0, j0}, load(sum, {}))});
  context.emit("matmul", loop("b0", form.products(), loop("i", e.tiles, loop("j", e.m, std::move(product)))));

  const BufferRef p = local_buffer("p", dtype, {size, size}), q = local_buffer("q", dtype, {part, size});
  std::vector<Stmt> out = {alloc(p), alloc(q)};
  for (int64_t j = 0; j < size; ++j) {
    for (int64_t i = 0; i < size; ++i)
      out.push_back(store(p, {at(i), at(j)}, load(products, {at(i * size + j), tile, v})));
    for (int64_t i = 0; i < part; ++i) {
      const auto term = [&](int64_t k) { return load(p, {at(k), at(j)}); };
      out.push_back(store(q, {at(i), at(j)}, combination(form.output[static_cast<size_t>(i)], term)));
    }
  }
  for (int64_t i = 0; i < part; ++i) {
    for (int64_t j = 0; j < part; ++j) {
      const Expr h = r * part + i, w = s * part + j;
      const auto term = [&](int64_t k) { return load(q, {at(i), at(k)}); };
      Expr value = combination(form.output[static_cast<size_t>(j)], term);
      if (context.has_input(2)) value = value + load(context.inputs[2], {v});
      Stmt one = store(y, {n, v, h, w}, value);
      // The last tile of an axis may hang over its end.
      if (e.out_w % part != 0 && j >= e.out_w % part) one = if_then(w < at(e.out_w), std::move(one));
      if (e.out_h % part != 0 && i >= e.out_h % part) one = if_then(h < at(e.out_h), std::move(one));
      out.push_back(std::move(one));
    }
  }
  context.emit("winograd", over_tiles(e, e.m, block(std::move(out))));
}

// Of the convolution it stands for, so that levels compare.
double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  return 18.0 * static_cast<double>(inputs[0][1]) * static_cast<double>(element_count(outputs[0]));
}

}  // namespace

namespace winograd {

const Form& f4x4() {
  static const Form form = {4,
                            6,
                            {{4, 0, -5, 0, 1, 0},
                             {0, -4, -4, 1, 1, 0},
                             {0, 4, -4, -1, 1, 0},
                             {0, -2, -1, 2, 1, 0},
                             {0, 2, -1, -2, 1, 0},
                             {0, 4, 0, -5, 0, 1}},
                            {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
                            {{1.0 / 4, 0, 0},
                             {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                             {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                             {1.0 / 24, 1.0 / 12, 1.0 / 6},
                             {1.0 / 24, -1.0 / 12, 1.0 / 6},
                             {0, 0, 1}}};
  return form;
}

const Form& f2x2() {
  static const Form form = {2,
                            4,
                            {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                            {{1, 1, 1, 0}, {0, 1, -1, -1}},
                            {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}};
  return form;
}

const Form& form_of(int64_t products) {
  for (const Form* form : {&f4x4(), &f2x2()}) {
    if (form->products() == products) return *form;
  }
  fail_malformed("WinogradConv has weights of ", products, " products; it takes 36 or 16");
}

Tensor transform_weights(const Tensor& w, const Form& form) {
  const int64_t m = w.dim(0), c = w.dim(1);
  const auto size = static_cast<size_t>(form.in);
  Tensor u(DType::Float32, {form.products(), c, m});
  const float* in = w.data<float>();
  float* out = u.mutable_data<float>();
  for (int64_t o = 0; o < m; ++o) {
    for (int64_t k = 0; k < c; ++k, in += 9) {
      for (size_t i = 0; i < size; ++i) {
        for (size_t j = 0; j < size; ++j) {
          double sum = 0;
          for (size_t a = 0; a < 3; ++a) {
            for (size_t b = 0; b < 3; ++b)
              sum += form.weights[i][a] * static_cast<double>(in[a * 3 + b]) * form.weights[j][b];
          }
          out[(static_cast<int64_t>(i * size + j) * c + k) * m + o] = static_cast<float>(sum);
        }
      }
    }
  }
  return u;
}

}  // namespace winograd

OpDef define_WinogradConv() {
  OpDef op;
  op.name = "WinogradConv";
  op.domain = kInternalDomain;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn
