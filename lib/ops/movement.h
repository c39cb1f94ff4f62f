// Moving elements: kernels, types and index loops that the reshaping, slicing, padding and gathering operators share.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ops/op.h"

namespace dnn {

// An integer tensor's values; Malformed naming the node when it is of another class of dtype.
std::vector<int64_t> int_values(const Node& node, const Tensor& tensor);
// The values of input i where they are known at compile time.
std::optional<std::vector<int64_t>> known_ints(const InferContext& context, size_t i);
// Elements of a 1-D input that holds one number per axis, or -1 when that is not known.
int64_t known_length(const InferContext& context, size_t i);

std::vector<Dim> to_dims(const Shape& shape);
// The extents; Internal unless all are fixed.
Shape to_shape(const std::vector<Dim>& dims);
// Axes made non-negative; Malformed when one is out of range or given twice.
std::vector<int64_t> checked_axes(const Node& node, std::vector<int64_t> axes, size_t rank);
// A negative index counts from the back of `extent`; Malformed when it is out of range.
int64_t checked_index(const Node& node, int64_t index, int64_t extent);

// Where pick() finds an output element: the sum over the output's axes of source(axis, index) is its element offset in x;
// kFill on any axis takes the fill value instead.
inline constexpr int64_t kFill = -1;
using PickSource = std::function<int64_t(size_t axis, int64_t index)>;
// The tensor of `output` shape whose elements lie in x where `source` says; any dtype. `fill` (null: zero, "") is a
// one-element tensor of x's dtype.
Tensor pick(const Tensor& x, const Shape& output, const PickSource& source, const Tensor* fill = nullptr);
// The tensor of `output` shape made of runs of `block` elements of x, run i from offset offsets[i] on; kFill: zeros, "".
Tensor take(const Tensor& x, const Shape& output, const std::vector<int64_t>& offsets, int64_t block = 1);
// The inverse: copies run i of `updates` to offset offsets[i] of y, in order; same dtype.
void put(const Tensor& updates, const std::vector<int64_t>& offsets, int64_t block, Tensor* y);
// Elements source .. source + n of `from` into `to` from `target` on; same dtype, in range.
void copy_elements(const Tensor& from, int64_t source, Tensor* to, int64_t target, int64_t n);

// Whether loops can move elements into this buffer: a dtype of the loop IR, and at least one element.
bool has_loops(const loops::BufferRef& output);
// Indices into a row-major tensor of shape `from` for `indices` into its reshape to `to`; axes that agree stay single.
std::vector<loops::Expr> reshaped_indices(const Shape& from, const Shape& to, const std::vector<loops::Expr>& indices);
// d0, d1, ...: the loop variables of emit_map().
std::vector<loops::Expr> map_variables(size_t rank);

// A Transpose's "perm" for inputs of that rank: where the node leaves it out, the axes reversed. Not held to the rank.
std::vector<int64_t> transpose_permutation(const Node& node, size_t rank);

}  // namespace dnn
