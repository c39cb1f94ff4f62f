// Layout: how the elements of a tensor lie in memory: which axes are blocked, in which order, and with which border.
#pragma once
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace dnn::loops {

// One physical dimension: coordinate (index[axis] + halo_low[axis]) / divisor, reduced modulo `extent` unless it is the
// axis's outermost part.
struct LayoutDim {
  int axis;
  int64_t divisor;
  int64_t extent;
  bool outermost;
};

// The physical dims, outermost first, of a tensor of a given shape. Axes whose blocks do not divide them are padded up;
// a halo adds elements before and after an axis, so that indices -low .. extent + high - 1 are addressable.
class Layout {
 public:
  Layout() = default;  // row-major, no halo
  // Comma-joined parts, axes by number: "1/16" moves the inner 16 of axis 1 innermost (several apply in order),
  // "h2+1+1" pads axis 2 by one before and after, "p0.2.3.1" permutes the outer axes. "" is row-major.
  static Layout parse(const std::string& text);  // throws Malformed
  std::string text() const;

  Layout& block(int axis, int64_t factor);
  Layout& halo(int axis, int64_t low, int64_t high);  // the larger of this and an earlier halo of the axis
  Layout& order(std::vector<int> outer_axes);
  bool row_major() const { return blocks_.empty() && halos_.empty() && order_.empty(); }
  bool operator==(const Layout&) const = default;

  int64_t halo_low(int axis) const;
  int64_t halo_high(int axis) const;
  bool has_halo() const { return !halos_.empty(); }
  int64_t block_of(int axis) const;  // product of the axis's block factors
  // Elements addressable along `axis` from its logical zero on, padding and high halo included.
  int64_t capacity(const Shape& shape, int axis) const;
  std::vector<LayoutDim> dims(const Shape& shape) const;
  int64_t element_count(const Shape& shape) const;  // physical, with padding and halo

 private:
  struct Block {
    int axis;
    int64_t factor;
    bool operator==(const Block&) const = default;
  };
  struct Halo {
    int axis;
    int64_t low, high;
    bool operator==(const Halo&) const = default;
  };
  std::vector<Block> blocks_;
  std::vector<Halo> halos_;
  std::vector<int> order_;
};

// The tensor's elements laid out so: a 1-D tensor of layout.element_count(shape) elements, padding and halo zero.
Tensor pack(const Tensor& tensor, const Layout& layout);
// The inverse: the logical tensor of `shape` out of its packed form.
Tensor unpack(const Tensor& packed, const Shape& shape, const Layout& layout);

}  // namespace dnn::loops
