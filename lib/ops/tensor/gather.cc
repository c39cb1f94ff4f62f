// Gather: slices of a tensor along one axis, by index.
#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/movement.h"

namespace dnn::gather_ops {
namespace {

// data: [A..., n, B...], indices: [I...] -> [A..., I..., B...]
template <class Extents>
Extents gathered(const Extents& data, const Extents& indices, size_t axis) {
  const auto split = data.begin() + static_cast<std::ptrdiff_t>(axis);
  Extents out(data.begin(), split);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), split + 1, data.end());
  return out;
}

size_t gather_axis(const Node& node, size_t rank) {
  if (rank == 0) fail_malformed(node.label(), ": a scalar has no axis to gather from");
  return checked_axes(node, {int_attribute(node, "axis")}, rank)[0];
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const size_t axis = gather_axis(context.node, context.shape(0).size());
    if (context.has_shape(1)) type.shape = gathered(context.shape(0), context.shape(1), axis);
  }
  context.set_output(0, std::move(type));
}

// The indices, counted from the front and in range.
std::vector<int64_t> checked_indices(const Node& node, const Tensor& tensor, int64_t extent) {
  std::vector<int64_t> indices = int_values(node, tensor);
  for (int64_t& index : indices) index = checked_index(node, index, extent);
  return indices;
}

void reference(ReferenceContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1);
  const size_t axis = gather_axis(context.node, data.shape().size());
  const std::vector<int64_t> at = checked_indices(context.node, indices, data.shape()[axis]);
  const Shape rows = {static_cast<int64_t>(at.size())};
  const std::vector<int64_t> stride = row_major_strides(data.shape());
  const Tensor y = pick(data, gathered(data.shape(), rows, axis),
                        [&](size_t i, int64_t index) { return (i == axis ? at[index] : index) * stride[i]; });
  context.outputs[0] = y.reshaped(gathered(data.shape(), indices.shape(), axis));
}

// Only where the indices are known: loops cannot refuse one that is out of range.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef data = context.inputs[0], y = context.outputs[0];
  if (!has_loops(y) || context.constant(1) == nullptr) return;
  const size_t axis = gather_axis(context.node, data->shape.size()), rank = context.shape(1).size();
  const Tensor& tensor = *context.constant(1);
  const std::vector<int64_t> at = checked_indices(context.node, tensor, data->shape[axis]);
  // Evenly spaced indices are part of the loops, others are read.
  const int64_t step = at.size() > 1 ? at[1] - at[0] : 0;
  bool even = true, counted_from_back = false;
  for (size_t i = 0; i < at.size(); ++i) even = even && at[i] == at[0] + static_cast<int64_t>(i) * step;
  for (int64_t index : to_int64s(tensor)) counted_from_back = counted_from_back || index < 0;
  emit_map(context, y, [&](const std::vector<Expr>& d) {
    const auto first = d.begin() + static_cast<std::ptrdiff_t>(axis), last = first + static_cast<std::ptrdiff_t>(rank);
    const std::vector<Expr> within(first, last);
    std::vector<Expr> source(d.begin(), first);
    if (even) {
      const Expr flat = reshaped_indices({static_cast<int64_t>(at.size())}, context.shape(1), within)[0];
      source.push_back(flat * step + at[0]);
    } else {
      const Expr index = cast(DType::Int64, load(context.inputs[1], within));
      source.push_back(counted_from_back ? loops::select(index < 0, index + data->shape[axis], index) : index);
    }
    source.insert(source.end(), last, d.end());
    return load(data, source);
  });
}

// Where each index comes once, an element of dx is one of dy, or the zero that is put behind dy. Otherwise the gradient is the sum of
// as many such tensors as the most frequent index has places.
void gradient(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  const Tensor* known = build.known(context.input(1));
  if (known == nullptr) fail_unsupported(context.node.label(), ": a gradient needs indices that are constant");
  const Shape shape = build.shape(context.input(0));
  const size_t axis = gather_axis(context.node, shape.size());
  const std::vector<int64_t> at = checked_indices(context.node, *known, shape[axis]);
  const auto count = static_cast<int64_t>(at.size());
  std::vector<int64_t> begin(shape.size()), end(shape.size());
  end[axis] = 1;
  const ValueId dy = pad_with_zeros(build, reshape_to(build, context.dy(), gathered(shape, {count}, axis)), begin, end);
  std::vector<std::vector<int64_t>> rounds(1, std::vector<int64_t>(shape[axis], count));
  for (int64_t i = 0; i < count; ++i) {
    const size_t element = at[i];
    size_t round = 0;
    while (round < rounds.size() && rounds[round][element] != count) ++round;
    if (round == rounds.size()) rounds.emplace_back(shape[axis], count);
    rounds[round][element] = i;
  }
  ValueId dx = kNoValue;
  for (const std::vector<int64_t>& round : rounds) {
    const ValueId part = build.emit("Gather", {dy, build.list(round)}, {{"axis", static_cast<int64_t>(axis)}});
    dx = dx == kNoValue ? part : build.emit("Add", {dx, part});
  }
  context.set(0, dx);
}

}  // namespace

OpDef define_Gather() {
  OpDef op;
  op.name = "Gather";
  op.since = 13;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.picks = picks_from_first;
  op.attributes = {{"axis", 0, "axis that is indexed"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.gradient = gradient;
  return op;
}

}  // namespace dnn::gather_ops
