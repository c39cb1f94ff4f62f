// Transpositions, a line of the cache at a time; see transpose.h.
#include "tensor/transpose.h"

#include <algorithm>
#include <cstring>

namespace dnn {
namespace {

constexpr int64_t kTile = 16;                   // of 4-byte elements: a line of the cache
constexpr size_t kSlabBytes = size_t{8} << 20;  // what is handed over at once

// One of the loops around a tile.
struct Loop {
  int64_t extent, from_stride, to_stride;
};

// The innermost axis of the result, x, against that of the array, y: to[y * to_y + x] = from[x * from_x + y * from_y].
template <size_t width>
struct Tile {
  int64_t from_x, from_y, to_y;

  void copy(const std::byte* from, int64_t n_x, int64_t n_y, std::byte* to) const {
    for (int64_t y = 0; y < n_y; ++y) {
      const std::byte* in = from + y * from_y * static_cast<int64_t>(width);
      std::byte* out = to + y * to_y * static_cast<int64_t>(width);
      for (int64_t x = 0; x < n_x; ++x) {
        std::memcpy(out, in, width);
        in += from_x * static_cast<int64_t>(width);
        out += width;
      }
    }
  }
};

template <class Body>
void nest(const std::vector<Loop>& loops, size_t depth, int64_t from, int64_t to, const Body& body) {
  if (depth == loops.size()) return body(from, to);
  const Loop& loop = loops[depth];
  for (int64_t i = 0; i < loop.extent; ++i)
    nest(loops, depth + 1, from + i * loop.from_stride, to + i * loop.to_stride, body);
}

}  // namespace

Transposition::Transposition(const std::vector<int64_t>& shape, const std::vector<int64_t>& perm, size_t element_bytes)
    : element_bytes_(element_bytes) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  for (int64_t axis : perm) {
    const size_t at = axis;
    if (shape[at] == 1) continue;
    if (!axes_.empty() && axes_.back().stride == shape[at] * strides[at]) {
      axes_.back().extent *= shape[at];
      axes_.back().stride = strides[at];
    } else {
      axes_.push_back({shape[at], strides[at]});
    }
  }
}

size_t Transposition::bytes_below(size_t depth) const {
  size_t bytes = element_bytes_;
  for (size_t i = depth; i < axes_.size(); ++i) bytes *= static_cast<size_t>(axes_[i].extent);
  return bytes;
}

namespace {

// Loops from the outermost of the result; the strides of the array, in elements.
template <size_t width>
void copy_elements(const std::byte* from, const std::vector<Loop>& loops, std::byte* to) {
  constexpr auto w = static_cast<int64_t>(width);
  const Loop x = loops.back();
  const std::vector<Loop> around(loops.begin(), loops.end() - 1);
  if (x.from_stride == 1) {  // rows stay rows
    nest(around, 0, 0, 0, [&](int64_t a, int64_t b) { std::memcpy(to + b * w, from + a * w, x.extent * w); });
    return;
  }
  const auto by_stride = [](const Loop& a, const Loop& b) { return a.from_stride < b.from_stride; };
  const auto inner = std::min_element(around.begin(), around.end(), by_stride);  // the array is read in its order
  const Loop y = inner == around.end() ? Loop{1, 1, 1} : *inner;
  std::vector<Loop> outside, inside;
  for (auto loop = around.begin(); loop != around.end(); ++loop) {
    if (loop != inner) (loop->from_stride > x.from_stride ? outside : inside).push_back(*loop);
  }
  const Tile<width> tile{x.from_stride, y.from_stride, y.to_stride};
  nest(outside, 0, 0, 0, [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < x.extent; i += kTile) {
      const int64_t n_x = std::min(kTile, x.extent - i);
      nest(inside, 0, a + i * x.from_stride, b + i, [&](int64_t c, int64_t d) {
        for (int64_t j = 0; j < y.extent; j += kTile) {
          tile.copy(from + (c + j * y.from_stride) * w, n_x, std::min(kTile, y.extent - j),
                    to + (d + j * y.to_stride) * w);
        }
      });
    }
  });
}

}  // namespace

void Transposition::copy(const std::byte* from, const Axes& axes, std::byte* to) const {
  std::vector<Loop> loops;
  int64_t below = 1;
  for (size_t i = axes.size(); i-- > 0; below *= axes[i].extent)
    loops.insert(loops.begin(), {axes[i].extent, axes[i].stride, below});
  if (loops.empty()) loops.push_back({1, 1, 1});
  switch (element_bytes_) {
    case 1: return copy_elements<1>(from, loops, to);
    case 2: return copy_elements<2>(from, loops, to);
    case 4: return copy_elements<4>(from, loops, to);
    case 8: return copy_elements<8>(from, loops, to);
    case 16: return copy_elements<16>(from, loops, to);
    default: fail_internal("elements of ", element_bytes_, " bytes are not moved");
  }
}

void Transposition::run(const std::byte* from, std::byte* to) const {
  if (bytes_below(0) > 0) copy(from, axes_, to);
}

void Transposition::run(const std::byte* from, ByteSink& to) const {
  if (bytes_below(0) == 0) return;
  if (identity()) return to.write({from, bytes_below(0)});
  std::vector<std::byte> room;
  slabs(from, 0, room, to);
}

// Axes from `depth` on, the outer ones being fixed.
void Transposition::slabs(const std::byte* from, size_t depth, std::vector<std::byte>& room, ByteSink& to) const {
  const size_t row = bytes_below(depth + 1);
  const auto at = [&](int64_t i) { return from + i * axes_[depth].stride * static_cast<int64_t>(element_bytes_); };
  if (row > kSlabBytes && depth + 1 < axes_.size()) {
    for (int64_t i = 0; i < axes_[depth].extent; ++i) slabs(at(i), depth + 1, room, to);
    return;
  }
  const auto most = static_cast<int64_t>(std::max<size_t>(1, kSlabBytes / row));
  Axes axes(axes_.begin() + static_cast<std::ptrdiff_t>(depth), axes_.end());
  for (int64_t i = 0; i < axes_[depth].extent; i += most) {
    axes[0].extent = std::min(most, axes_[depth].extent - i);
    room.resize(axes[0].extent * row);
    copy(at(i), axes, room.data());
    to.write(room);
  }
}

}  // namespace dnn
