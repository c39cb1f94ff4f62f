// Tiles and transforms of Winograd's algorithm; see winograd_tiles.h.
#include "ops/winograd_tiles.h"

#include <algorithm>

#include "ops/attributes.h"

namespace dnn::winograd {
namespace {

using loops::Expr;
using loops::Stmt;

Expr index(int64_t i) { return loops::constant_int(DType::Int64, i); }

// The sum over k of row[k] * terms[k], zeros left out.
Expr combination(const std::vector<double>& row, const std::function<Expr(int64_t)>& term) {
  Expr sum;
  for (size_t k = 0; k < row.size(); ++k) {
    if (row[k] == 0) continue;
    const Expr x = term(static_cast<int64_t>(k));
    if (!sum.defined()) {
      sum = row[k] == 1 ? x : x * row[k];
    } else {
      sum = row[k] == 1 ? sum + x : row[k] == -1 ? sum - x : sum + x * row[k];
    }
  }
  return sum;
}

// x[n, channel, r * step[0] + i - before[0], s * step[1] + j - before[1]], 0 outside.
Element plane_tile(const loops::BufferRef& x, const Expr& channel, std::array<int64_t, 2> step,
                   std::array<int64_t, 2> before) {
  return [=](int64_t i, int64_t j) {
    const Expr h = loops::variable("r") * step[0] + (i - before[0]),
               w = loops::variable("s") * step[1] + (j - before[1]);
    const Expr inside = index(0) <= h && h < index(x->shape[2]) && index(0) <= w && w < index(x->shape[3]);
    return loops::select(inside, loops::load(x, {loops::variable("n"), channel, h, w}), loops::constant(x->dtype, 0));
  };
}

}  // namespace

Tiles::Tiles(const Node& node, const Shape& x, int64_t channels_out)
    : form(form_of(node)), n(x[0]), c(x[1]), h(x[2]), w(x[3]), m(channels_out) {
  const std::vector<int64_t> pads = ints_attribute(node, "pads");
  constexpr int64_t kMostPad = int64_t{1} << 30;
  if (pads.size() != 4 ||
      std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < -kMostPad || p > kMostPad; }))
    fail_malformed(node.label(), ": ", node.op, " has pads [", join(pads), "]");
  top = pads[0];
  left = pads[1];
  const auto outputs = [&](int64_t in, const Axis& axis) {
    if (in < axis.taps) fail_malformed(node.label(), ": ", node.op, " has no output");
    return (in - axis.taps) / axis.stride + 1;
  };
  out_h = outputs(h + pads[0] + pads[2], form.rows);
  out_w = outputs(w + pads[1] + pads[3], form.columns);
  rows = form.rows.tiles(out_h);
  columns = form.columns.tiles(out_w);
  element_count({form.products(), n, rows + kMostRoom, columns, std::max(c, m)});  // throws where that is too many
  count = n * rows * columns;
}

Stmt transform_tile(DType dtype, const Matrix& down, const Matrix& across, const Element& from, const StoreElement& to,
                    const std::array<const char*, 2>& names) {
  const auto high = static_cast<int64_t>(down.size()), wide = static_cast<int64_t>(across.size()),
             in_high = static_cast<int64_t>(down[0].size()), in_wide = static_cast<int64_t>(across[0].size());
  const loops::BufferRef d = loops::local_buffer(names[0], dtype, {in_high, in_wide}),
                         t = loops::local_buffer(names[1], dtype, {high, in_wide});
  std::vector<Stmt> all = {loops::alloc(d), loops::alloc(t)};
  for (int64_t j = 0; j < in_wide; ++j) {
    for (int64_t i = 0; i < in_high; ++i) all.push_back(loops::store(d, {index(i), index(j)}, from(i, j)));
    for (int64_t i = 0; i < high; ++i) {
      const auto term = [&](int64_t k) { return loops::load(d, {index(k), index(j)}); };
      all.push_back(loops::store(t, {index(i), index(j)}, combination(down[i], term)));
    }
  }
  for (int64_t i = 0; i < high; ++i) {
    for (int64_t j = 0; j < wide; ++j) {
      const auto term = [&](int64_t k) { return loops::load(t, {index(i), index(k)}); };
      all.push_back(to(i, j, combination(across[j], term)));
    }
  }
  return loops::block(std::move(all));
}

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix[0].size(), std::vector<double>(matrix.size()));
  for (size_t i = 0; i < matrix.size(); ++i) {
    for (size_t k = 0; k < matrix[i].size(); ++k) result[k][i] = matrix[i][k];
  }
  return result;
}

Element input_tile(const Tiles& tiles, const loops::BufferRef& x, const Expr& channel) {
  const Axis &down = tiles.form.rows, &across = tiles.form.columns;
  return plane_tile(x, channel, {down.out * down.stride, across.out * across.stride}, {tiles.top, tiles.left});
}

Element output_tile(const Tiles& tiles, const loops::BufferRef& y, const Expr& channel) {
  return plane_tile(y, channel, {tiles.form.rows.out, tiles.form.columns.out}, {0, 0});
}

Stmt over_tiles(const Tiles& tiles, Stmt body) {
  using loops::loop;
  return loop("n", tiles.n, loop("r", tiles.rows, loop("s", tiles.columns, std::move(body))));
}

Expr tile_number(const Tiles& tiles) {
  return (loops::variable("n") * tiles.rows + loops::variable("r")) * tiles.columns + loops::variable("s");
}

}  // namespace dnn::winograd
