// ScatterElements, ScatterND, TensorScatter: a tensor with elements or slices replaced or combined, by index tensors.
//
// Updates apply in their row-major order: of two without reduction the later stays; add and mul round after each.
#include "ops/indexing.h"
#include "ops/movement.h"
#include "tensor/dispatch.h"

namespace dnn::scatter_ops {
namespace {

void infer_same(InferContext& context) { context.set_output(0, context.input(0)); }

template <class T>
T combine(const std::string& reduction, T a, T b) {
  using C = Compute<T>;
  const C x = widen(a), y = widen(b);
  if (reduction == "max") return x != x || x > y ? a : b;  // a NaN stays
  if (reduction == "min") return x != x || x < y ? a : b;
  if constexpr (std::is_integral_v<T>) {  // wraps
    const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
    return static_cast<T>(reduction == "add" ? ux + uy : ux * uy);
  } else {
    return narrow<T>(reduction == "add" ? x + y : x * y);
  }
}

// y[offset i + j] = f(y[offset i + j], updates[i, j])
void apply(const Node& node, const Tensor& updates, const std::vector<int64_t>& offsets, int64_t block, Tensor* y) {
  const std::string reduction = string_attribute(node, "reduction");
  if (reduction == "none") return put(updates, offsets, block, y);
  if (reduction != "add" && reduction != "mul" && reduction != "max" && reduction != "min")
    fail_malformed(node.label(), ": reduction ", quoted(reduction), " is not none, add, mul, max or min");
  dispatch_numeric(y->dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      fail_unsupported(node.label(), ": reduction ", reduction, " of bool");
    } else {
      const T* in = updates.data<T>();
      T* out = y->mutable_data<T>();
      for (int64_t offset : offsets) {
        for (int64_t j = 0; j < block; ++j) out[offset + j] = combine<T>(reduction, out[offset + j], *in++);
      }
    }
  });
}

void check_updates(const ReferenceContext& context, const Tensor& updates, const Shape& shape) {
  const DType dtype = context.input(0).dtype();
  if (updates.dtype() != dtype || updates.shape() != shape)
    context.fail("updates ", Type(updates).text(), ", ", Type(dtype, to_dims(shape)).text(), " expected");
}

void reference_elements(ReferenceContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1), &updates = context.input(2);
  if (data.rank() == 0) context.fail("a scalar has no axis to scatter to");
  check_updates(context, updates, indices.shape());
  const int64_t axis = checked_axes(context.node, {int_attribute(context.node, "axis")}, data.shape().size())[0];
  Tensor y = data;
  apply(context.node, updates, element_offsets(context.node, data.shape(), indices, axis), 1, &y);
  context.outputs[0] = std::move(y);
}

void reference_nd(ReferenceContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1), &updates = context.input(2);
  const auto [offsets, block] = tuple_offsets(context.node, data.shape(), indices, 0);
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), data.shape().begin() + static_cast<std::ptrdiff_t>(indices.shape().back()),
               data.shape().end());
  check_updates(context, updates, shape);
  Tensor y = data;
  apply(context.node, updates, offsets, block, &y);
  context.outputs[0] = std::move(y);
}

// past_cache: [N, A..., S, B...], update: [N, A..., s, B...], write_indices: [N]
void reference_cache(ReferenceContext& context) {
  const Tensor &past = context.input(0), &update = context.input(1);
  const std::string mode = string_attribute(context.node, "mode");
  if (mode != "linear" && mode != "circular") context.fail("mode ", quoted(mode), " is not linear or circular");
  if (past.rank() < 2) context.fail("past_cache ", Type(past).text(), " has no sequence axis beside the batch");
  const auto axis =
      static_cast<size_t>(checked_axes(context.node, {int_attribute(context.node, "axis")}, past.shape().size())[0]);
  Shape wanted = past.shape();
  if (axis == 0 || update.rank() != past.rank() || update.shape()[axis] > past.shape()[axis])
    context.fail("update ", Type(update).text(), " does not fit past_cache ", Type(past).text(), " along axis ", axis);
  wanted[axis] = update.shape()[axis];
  check_updates(context, update, wanted);
  std::vector<int64_t> start(past.dim(0), 0);
  if (context.has_input(2)) start = int_values(context.node, context.input(2));
  const int64_t total = past.shape()[axis], n = update.shape()[axis];
  if (static_cast<int64_t>(start.size()) != past.dim(0)) context.fail(start.size(), " write_indices");
  for (int64_t at : start) {
    if (at < 0 || (mode == "linear" && at > total - n))
      context.fail("write index ", at, " for ", n, " of ", total, " places");
  }
  int64_t inner = 1, prefixes = 1;
  for (size_t i = axis + 1; i < past.shape().size(); ++i) inner *= past.shape()[i];
  for (size_t i = 0; i < axis; ++i) prefixes *= past.shape()[i];
  std::vector<int64_t> offsets;
  for (int64_t prefix = 0; prefix < prefixes && n > 0; ++prefix) {
    const int64_t first = start[prefix / (prefixes / past.dim(0))] % total;
    for (int64_t i = 0; i < n; ++i) offsets.push_back((prefix * total + (first + i) % total) * inner);
  }
  Tensor y = past;
  if (inner > 0) put(update, offsets, inner, &y);
  context.outputs[0] = std::move(y);
}

OpDef define(std::string name, int since, int min_inputs, void (*reference)(ReferenceContext&)) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.min_inputs = min_inputs;
  op.max_inputs = 3;
  op.traits = {Trait::Moves};
  op.infer = infer_same;
  op.reference = reference;
  return op;
}

}  // namespace

OpDef define_ScatterElements() {
  return with_attributes(define("ScatterElements", 18, 3, reference_elements),
                         {{"axis", 0, "axis that is indexed"}, {"reduction", "none", "none, add, mul, max or min"}});
}
OpDef define_ScatterND() {
  return with_attributes(define("ScatterND", 18, 3, reference_nd),
                         {{"reduction", "none", "none, add, mul, max or min"}});
}
OpDef define_TensorScatter() {
  return with_attributes(define("TensorScatter", 24, 2, reference_cache),
                         {{"axis", -2, "axis of the steps"}, {"mode", "linear", "linear or circular"}});
}

}  // namespace dnn::scatter_ops
