// Unique: the distinct elements, or slices along an axis, sorted or in the order of their first occurrence. NaNs count
// as equal to each other and larger than any number; slices sort by their elements in row-major order.
#include <algorithm>
#include <numeric>

#include "ops/movement.h"

namespace dnn::unique_ops {
namespace {

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (!context.node.has_attribute("axis")) {
    type.shape = {Dim()};
  } else if (context.has_shape(0)) {
    std::vector<Dim> dims = context.shape(0);
    dims[checked_axes(context.node, {int_attribute(context.node, "axis")}, dims.size())[0]] = Dim();
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
  for (size_t i = 1; i < 4; ++i) context.set_output(i, Type(DType::Int64, {Dim()}));
}

struct Groups {
  std::vector<int64_t> first, inverse, count;  // item of first occurrence; group of each item; items of each group
};

// Groups n items of `block` keys each; `compare` is -1, 0 or 1.
template <class T, class Compare>
Groups group(const std::vector<T>& keys, int64_t n, bool sorted, Compare compare) {
  const int64_t block = n == 0 ? 0 : static_cast<int64_t>(keys.size()) / n;
  auto order_of = [&](int64_t i, int64_t j) {
    for (int64_t k = 0; k < block; ++k) {
      const int c = compare(keys[i * block + k], keys[j * block + k]);
      if (c != 0) return c;
    }
    return 0;
  };
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return order_of(i, j) < 0; });
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order_of(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.count.push_back(0);
    }
    ++groups.count.back();
    groups.inverse[order[i]] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  if (sorted) return groups;
  std::vector<size_t> by_occurrence(groups.first.size()), place(groups.first.size());
  std::iota(by_occurrence.begin(), by_occurrence.end(), size_t{0});
  std::sort(by_occurrence.begin(), by_occurrence.end(),
            [&](size_t i, size_t j) { return groups.first[i] < groups.first[j]; });
  Groups result;
  for (size_t i = 0; i < by_occurrence.size(); ++i) {
    place[by_occurrence[i]] = i;
    result.first.push_back(groups.first[by_occurrence[i]]);
    result.count.push_back(groups.count[by_occurrence[i]]);
  }
  for (int64_t at : groups.inverse) result.inverse.push_back(static_cast<int64_t>(place[at]));
  return result;
}

template <class T>
int compare_plain(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}
int compare_doubles(double a, double b) {
  if (a != a || b != b) return (a != a ? 1 : 0) - (b != b ? 1 : 0);
  return compare_plain(a, b);
}

Groups group_tensor(const Tensor& x, int64_t n, bool sorted) {
  if (x.dtype() == DType::String) return group(x.strings(), n, sorted, compare_plain<std::string>);
  if (is_float(x.dtype())) return group(to_doubles(x), n, sorted, compare_doubles);
  std::vector<int64_t> keys = to_int64s(x);
  if (x.dtype() == DType::UInt64) {  // keeps the order of unsigned numbers
    for (int64_t& key : keys) key = static_cast<int64_t>(static_cast<uint64_t>(key) ^ (uint64_t{1} << 63));
  }
  return group(keys, n, sorted, compare_plain<int64_t>);
}

void reference(ReferenceContext& context) {
  const bool flat = !context.node.has_attribute("axis");
  const Tensor x = flat ? context.input(0).reshaped({context.input(0).size()}) : context.input(0);
  const auto axis =
      static_cast<size_t>(checked_axes(context.node, {int_attribute(context.node, "axis")}, x.shape().size())[0]);
  // The axis moved to the front makes each item a run of elements.
  Shape front = {x.shape()[axis]};
  std::vector<size_t> source = {axis};
  for (size_t i = 0; i < x.shape().size(); ++i) {
    if (i == axis) continue;
    front.push_back(x.shape()[i]);
    source.push_back(i);
  }
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  const Tensor items = pick(x, front, [&](size_t i, int64_t index) { return index * stride[source[i]]; });
  const Groups groups = group_tensor(items, front[0], flag_attribute(context.node, "sorted"));
  Shape shape = x.shape();
  shape[axis] = static_cast<int64_t>(groups.first.size());
  context.outputs[0] =
      pick(x, shape, [&](size_t i, int64_t index) { return (i == axis ? groups.first[index] : index) * stride[i]; });
  auto list = [&](size_t output, const std::vector<int64_t>& values) {
    if (context.wants_output(output))
      context.outputs[output] = Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
  };
  list(1, groups.first);
  list(2, groups.inverse);
  list(3, groups.count);
}

}  // namespace

OpDef define_Unique() {
  OpDef op;
  op.name = "Unique";
  op.since = 28;
  op.max_outputs = 4;
  op.traits = {Trait::Moves};
  op.attributes = {
      {"axis", optional(AttributeType::Int), "axis whose slices are compared; left out: the flattened tensor"},
      {"sorted", 1, "in order"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::unique_ops
