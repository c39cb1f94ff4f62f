// TopK: the k largest or smallest elements along an axis, with their indices; ties go to the lower index. A NaN counts
// as larger than any number.
#include <algorithm>
#include <numeric>

#include "ops/movement.h"
#include "tensor/dispatch.h"

namespace dnn::topk_ops {
namespace {

size_t topk_axis(const Node& node, size_t rank) {
  if (rank == 0) fail_malformed(node.label(), ": a scalar has no axis");
  return checked_axes(node, {int_attribute(node, "axis")}, rank)[0];
}

int64_t topk_count(const Node& node, const std::vector<int64_t>& k, int64_t extent) {
  if (k.size() != 1 || k[0] < 0 || (extent >= 0 && k[0] > extent))
    fail_malformed(node.label(), ": K ", shape_text(k), " of an extent of ", extent);
  return k[0];
}

void infer(InferContext& context) {
  Type values;
  values.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    std::vector<Dim> dims = context.shape(0);
    Dim& dim = dims[topk_axis(context.node, dims.size())];
    const auto k = known_ints(context, 1);
    dim = k ? Dim(topk_count(context.node, *k, dim.size)) : Dim();
    values.shape = std::move(dims);
  }
  Type indices = values;
  indices.dtype = DType::Int64;
  context.set_output(0, std::move(values));
  context.set_output(1, std::move(indices));
}

template <class T>
bool less(T a, T b) {
  const auto x = widen(a), y = widen(b);
  return x < y || (y != y && x == x);
}

template <class T>
void select_top(const Tensor& x, size_t axis, bool largest, Tensor* values, Tensor* indices) {
  const int64_t n = x.shape()[axis], k = values->shape()[axis];
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= x.shape()[i];
  for (size_t i = axis + 1; i < x.shape().size(); ++i) inner *= x.shape()[i];
  std::vector<int64_t> order(n);
  const T* in = x.data<T>();
  T* out = values->mutable_data<T>();
  int64_t* at = indices->mutable_data<int64_t>();
  for (int64_t a = 0; a < outer; ++a) {
    for (int64_t b = 0; b < inner; ++b) {
      const T* row = in + a * n * inner + b;
      std::iota(order.begin(), order.end(), int64_t{0});
      std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                        [&](int64_t i, int64_t j) {
                          const T u = row[i * inner], v = row[j * inner];
                          if (less(u, v)) return !largest;
                          if (less(v, u)) return largest;
                          return i < j;
                        });
      for (int64_t i = 0; i < k; ++i) {
        const int64_t to = (a * k + i) * inner + b;
        at[to] = order[i];
        out[to] = row[at[to] * inner];
      }
    }
  }
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const size_t axis = topk_axis(context.node, x.shape().size());
  const int64_t k = topk_count(context.node, int_values(context.node, context.input(1)), x.shape()[axis]);
  Shape shape = x.shape();
  shape[axis] = k;
  Tensor values(x.dtype(), shape), indices(DType::Int64, shape);
  if (values.size() > 0) {
    dispatch_numeric(x.dtype(), [&](auto tag) {
      select_top<typename decltype(tag)::type>(x, axis, flag_attribute(context.node, "largest"), &values, &indices);
    });
  }
  context.outputs[0] = std::move(values);
  if (context.wants_output(1)) context.outputs[1] = std::move(indices);
}

}  // namespace

OpDef define_TopK() {
  OpDef op;
  op.name = "TopK";
  op.since = 24;
  op.min_inputs = op.max_inputs = 2;
  op.max_outputs = 2;
  op.traits = {Trait::Moves};
  op.attributes = {{"axis", -1, "axis that is searched"},
                   {"largest", 1, "the largest elements, not the smallest"},
                   {"sorted", 1, "in order"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::topk_ops
