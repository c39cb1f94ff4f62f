// Moving elements; see movement.h.
#include "ops/movement.h"

#include <array>

namespace dnn {
namespace {

template <size_t width>
struct Bits {
  std::array<std::byte, width> bytes;
};

template <class T>
const T* elements(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) {
    return tensor.strings().data();
  } else {
    return reinterpret_cast<const T*>(tensor.bytes().data());
  }
}
template <class T>
T* mutable_elements(Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) {
    return tensor.mutable_strings().data();
  } else {
    return reinterpret_cast<T*>(tensor.mutable_bytes());
  }
}

template <class T>
struct Tag {
  using type = T;
};
// body(Tag<T>) with a T of the dtype's size, moved but not computed with.
template <class Body>
void dispatch_storage(DType dtype, Body&& body) {
  if (dtype == DType::String) return body(Tag<std::string>{});
  switch (dtype_size(dtype)) {
    case 1: return body(Tag<Bits<1>>{});
    case 2: return body(Tag<Bits<2>>{});
    case 4: return body(Tag<Bits<4>>{});
    case 8: return body(Tag<Bits<8>>{});
    case 16: return body(Tag<Bits<16>>{});
    default: fail_unsupported("no elements of ", dtype_name(dtype), " to move");
  }
}

// The recursion of pick(): one table of offsets per output axis.
template <class T>
struct Picker {
  const T* in;
  T* out;
  const T* fill;
  const std::vector<std::vector<int64_t>>& tables;
  bool contiguous;  // the last axis walks through consecutive elements

  void walk(size_t axis, int64_t offset, bool outside) {
    if (axis == tables.size()) {
      *out++ = outside ? *fill : in[offset];
      return;
    }
    const std::vector<int64_t>& table = tables[axis];
    if (axis + 1 < tables.size()) {
      for (int64_t at : table) walk(axis + 1, offset + at, outside || at == kFill);
    } else if (outside) {
      out = std::fill_n(out, table.size(), *fill);
    } else if (contiguous) {
      out = std::copy_n(in + offset + table[0], table.size(), out);
    } else {
      for (int64_t at : table) *out++ = at == kFill ? *fill : in[offset + at];
    }
  }
};

}  // namespace

std::vector<int64_t> int_values(const Node& node, const Tensor& tensor) {
  if (!is_integer(tensor.dtype()))
    fail_malformed(node.label(), ": an integer tensor is needed, not ", Type(tensor).text());
  return to_int64s(tensor);
}

std::optional<std::vector<int64_t>> known_ints(const InferContext& context, size_t i) {
  const Tensor* tensor = context.known_input(i);
  if (tensor == nullptr) return std::nullopt;
  return int_values(context.node, *tensor);
}

int64_t known_length(const InferContext& context, size_t i) {
  if (!context.has_shape(i)) return -1;
  const std::vector<Dim>& dims = *context.inputs[i]->shape;
  if (dims.size() != 1) context.fail("input ", i, " is ", context.input(i).text(), ", one axis expected");
  return dims[0].size;
}

std::vector<Dim> to_dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

Shape to_shape(const std::vector<Dim>& dims) {
  Shape shape;
  for (const Dim& dim : dims) {
    DNN_CHECK(dim.fixed());
    shape.push_back(dim.size);
  }
  return shape;
}

std::vector<int64_t> checked_axes(const Node& node, std::vector<int64_t> axes, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  std::vector<bool> seen(rank, false);
  for (int64_t& axis : axes) {
    if (axis < -r || axis >= r) fail_malformed(node.label(), ": axis ", axis, " is out of range for rank ", rank);
    if (axis < 0) axis += r;
    if (seen[axis]) fail_malformed(node.label(), ": axis ", axis, " is given twice");
    seen[axis] = true;
  }
  return axes;
}

int64_t checked_index(const Node& node, int64_t index, int64_t extent) {
  if (index < -extent || index >= extent)
    fail_malformed(node.label(), ": index ", index, " is out of range for an extent of ", extent);
  return index < 0 ? index + extent : index;
}

Tensor pick(const Tensor& x, const Shape& output, const PickSource& source, const Tensor* fill) {
  Tensor y(x.dtype(), output);
  if (y.size() == 0) return y;
  std::vector<std::vector<int64_t>> tables(output.size());
  for (size_t axis = 0; axis < output.size(); ++axis) {
    tables[axis].reserve(output[axis]);
    for (int64_t i = 0; i < output[axis]; ++i) tables[axis].push_back(source(axis, i));
  }
  bool contiguous = !tables.empty() && tables.back()[0] != kFill;
  if (contiguous) {
    const std::vector<int64_t>& last = tables.back();
    for (size_t i = 1; i < last.size() && contiguous; ++i) contiguous = last[i] == last[i - 1] + 1;
  }
  const Tensor zero = fill == nullptr ? Tensor(x.dtype(), {}) : *fill;
  if (zero.dtype() != x.dtype() || zero.size() != 1) fail_internal("pick: the fill value is not one of x's elements");
  dispatch_storage(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Picker<T>{elements<T>(x), mutable_elements<T>(y), elements<T>(zero), tables, contiguous}.walk(0, 0, false);
  });
  return y;
}

Tensor take(const Tensor& x, const Shape& output, const std::vector<int64_t>& offsets, int64_t block) {
  Tensor y(x.dtype(), output);
  DNN_CHECK(y.size() == static_cast<int64_t>(offsets.size()) * block);
  if (y.size() == 0) return y;
  dispatch_storage(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = elements<T>(x);
    T* out = mutable_elements<T>(y);
    for (int64_t offset : offsets) {
      DNN_CHECK(offset == kFill || (offset >= 0 && offset + block <= x.size()));
      if (offset != kFill) std::copy_n(in + offset, block, out);
      out += block;
    }
  });
  return y;
}

void put(const Tensor& updates, const std::vector<int64_t>& offsets, int64_t block, Tensor* y) {
  DNN_CHECK(updates.dtype() == y->dtype() && updates.size() == static_cast<int64_t>(offsets.size()) * block);
  dispatch_storage(y->dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = elements<T>(updates);
    T* out = mutable_elements<T>(*y);
    for (int64_t offset : offsets) {
      DNN_CHECK(offset >= 0 && offset + block <= y->size());
      std::copy_n(in, block, out + offset);
      in += block;
    }
  });
}

void copy_elements(const Tensor& from, int64_t source, Tensor* to, int64_t target, int64_t n) {
  DNN_CHECK(from.dtype() == to->dtype() && source >= 0 && target >= 0 && source + n <= from.size() &&
            target + n <= to->size());
  dispatch_storage(from.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::copy_n(elements<T>(from) + source, n, mutable_elements<T>(*to) + target);
  });
}

bool has_loops(const loops::BufferRef& output) {
  return element_count(output->shape) > 0 && loops::has_arithmetic(output->dtype);
}

std::vector<loops::Expr> reshaped_indices(const Shape& from, const Shape& to, const std::vector<loops::Expr>& indices) {
  using loops::Expr;
  const Expr zero = loops::constant_int(DType::Int64, 0);
  std::vector<Expr> result(from.size(), zero);
  if (element_count(from) == 0) return result;
  // The shortest runs of axes on both sides with equal element counts map onto each other.
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const size_t first_i = i, first_j = j;
    int64_t from_count = i < from.size() ? from[i++] : 1, to_count = j < to.size() ? to[j++] : 1;
    while (from_count != to_count) {
      if (from_count < to_count) {
        from_count *= from[i++];
      } else {
        to_count *= to[j++];
      }
    }
    Expr flat = zero;
    int64_t stride = to_count;
    for (size_t axis = first_j; axis < j; ++axis) {
      stride /= to[axis];
      if (to[axis] == 1) continue;
      const Expr term = stride == 1 ? indices[axis] : indices[axis] * stride;
      flat = flat.get() == zero.get() ? term : flat + term;
    }
    stride = from_count;
    bool outermost = true;
    for (size_t axis = first_i; axis < i; ++axis) {
      stride /= from[axis];
      if (from[axis] == 1) continue;
      Expr index = stride == 1 ? flat : loops::floordiv(flat, stride);
      if (!outermost) index = loops::floormod(index, from[axis]);
      result[axis] = index;
      outermost = false;
    }
  }
  return result;
}

std::vector<loops::Expr> map_variables(size_t rank) {
  std::vector<loops::Expr> variables;
  for (size_t i = 0; i < rank; ++i) variables.push_back(loops::variable(cat("d", i)));
  return variables;
}

std::vector<int64_t> transpose_permutation(const Node& node, size_t rank) {
  if (node.has_attribute("perm")) return ints_attribute(node, "perm");
  std::vector<int64_t> reversed;
  for (size_t i = rank; i-- > 0;) reversed.push_back(static_cast<int64_t>(i));
  return reversed;
}

}  // namespace dnn
