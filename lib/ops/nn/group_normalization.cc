// InstanceNormalization, GroupNormalization: each group of channels of each sample by its own statistics.
//
// Order (reference, and compiled at -O0), over a group's elements in row-major order: mean = sum(x) / n; variance = sum
// of (x - mean)^2, / n; y = (x - mean) / sqrt(variance + epsilon) * scale + B. 16-bit floats are computed in float32;
// GroupNormalization rounds the normalised value to their type before it is scaled, as stash_type 1 asks.
#include <cmath>

#include "ops/outputs.h"
#include "ops/rows.h"
#include "tensor/dispatch.h"

namespace dnn::group_normalization_ops {
namespace {

// x: [N, C, D...], scale, B: [C]
bool by_instance(const Node& node) { return node.op == "InstanceNormalization"; }

int64_t group_count(const Node& node, int64_t channels) {
  if (by_instance(node)) return channels;
  const int64_t groups = int_attribute(node, "num_groups");
  if (groups < 1 || channels % groups != 0)
    fail_malformed(node.label(), ": num_groups ", groups, " does not divide ", channels, " channels");
  return groups;
}

void infer(InferContext& context) {
  for (size_t i = 0; i < 3; ++i) {
    expect_float(context, i);
    expect_dtype(context, i, context.input(0).dtype);
  }
  const DType stash =
      by_instance(context.node) ? DType::Float32 : dtype_from_onnx(int_attribute(context.node, "stash_type"));
  if (stash != DType::Float32 && stash != DType::Float64)
    fail_unsupported(context.node.label(), ": stash_type ", dtype_name(stash), ": only float32 is supported");
  if (context.has_shape(0)) {
    const auto& x = context.shape(0);
    if (x.size() < 2) context.fail("input ", context.input(0).text(), " has no channels");
    if (x[1].fixed()) group_count(context.node, x[1].size);
    for (size_t i = 1; i < 3; ++i) {
      if (!context.has_shape(i)) continue;
      const Dim length = context.shape(i, 1)[0];
      if (length.fixed() && x[1].fixed() && length.size != x[1].size)
        context.fail("input ", i, " is ", context.input(i).text(), ", but ", context.input(0).text(), " has ",
                     x[1].size, " channels");
    }
  }
  context.set_output(0, context.input(0));
}

template <class T>
void compute(ReferenceContext& context, Tensor& y) {
  using C = Compute<T>;
  const Tensor& x = context.input(0);
  const auto epsilon = static_cast<C>(float_attribute(context.node, "epsilon"));
  const bool staged = !by_instance(context.node);
  const int64_t channels = x.dim(1), plane = element_count({x.shape().begin() + 2, x.shape().end()});
  if (y.size() == 0) return;
  const int64_t groups = group_count(context.node, channels), per_group = channels / groups, size = per_group * plane;
  const T *in = x.data<T>(), *scale = context.input(1).data<T>(), *bias = context.input(2).data<T>();
  T* out = y.mutable_data<T>();
  for (int64_t row = 0; row < x.dim(0) * groups; ++row, in += size, out += size) {
    C mean = 0, squares = 0;
    for (int64_t i = 0; i < size; ++i) mean += widen(in[i]);
    mean = mean / static_cast<C>(size);
    for (int64_t i = 0; i < size; ++i) squares += (widen(in[i]) - mean) * (widen(in[i]) - mean);
    const C deviation = std::sqrt(squares / static_cast<C>(size) + epsilon);
    for (int64_t i = 0; i < size; ++i) {
      const int64_t c = row % groups * per_group + i / plane;
      C value = (widen(in[i]) - mean) / deviation;
      if (staged) value = widen(narrow<T>(value));
      out[i] = narrow<T>(value * widen(scale[c]) + widen(bias[c]));
    }
  }
}

void reference(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer);
  dispatch_float(y.dtype(), [&](auto tag) { compute<typename decltype(tag)::type>(context, y); });
  context.outputs[0] = std::move(y);
}

// Loops d0 (samples) and d1 (groups); then r.., s.., t.. over the group's channels and positions.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const int64_t groups = group_count(context.node, x->shape[1]);
  if (groups == 0) return;
  const int64_t per_group = x->shape[1] / groups;
  Shape split = {x->shape[0], groups, per_group};
  split.insert(split.end(), x->shape.begin() + 2, x->shape.end());
  std::vector<bool> in_row(split.size(), true);
  in_row[0] = in_row[1] = false;
  const RowLoops rows(split, in_row);
  const auto at = [&](const char* along) {  // [sample, group, channel of the group, ...] -> x's indices
    std::vector<Expr> indices = rows.indices(along);
    indices[1] = indices[1] * per_group + indices[2];
    indices.erase(indices.begin() + 2);
    return indices;
  };
  const Expr n = constant(dtype, static_cast<double>(rows.size()));
  const BufferRef mean = local_buffer("mean", dtype), deviation = local_buffer("deviation", dtype);
  const auto centred = [&](const char* along) { return load(x, at(along)) - load(mean, {}); };
  const Expr epsilon = constant(dtype, float_attribute(context.node, "epsilon")), square = centred("s") * centred("s");
  const Expr channel = at("t")[1];
  const Expr result =
      centred("t") / load(deviation, {}) * load(context.inputs[1], {channel}) + load(context.inputs[2], {channel});
  context.emit("row", rows.around(block({alloc(mean), alloc(deviation), store(mean, {}, constant(dtype, 0)),
                                         rows.along("r", store(mean, {}, load(mean, {}) + load(x, at("r")))),
                                         store(mean, {}, load(mean, {}) / n), store(deviation, {}, constant(dtype, 0)),
                                         rows.along("s", store(deviation, {}, load(deviation, {}) + square)),
                                         store(deviation, {}, unary(Op::Sqrt, load(deviation, {}) / n + epsilon)),
                                         rows.along("t", store(y, at("t"), result))})));
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return 8.0 * static_cast<double>(element_count(inputs[0]));
}

OpDef normalization(std::string name, int since) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.min_inputs = op.max_inputs = 3;
  op.traits = op.name == "InstanceNormalization" ? Traits{Trait::ChannelsFirst} : kNoTraits;
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace

OpDef define_InstanceNormalization() {
  return with_attributes(normalization("InstanceNormalization", 22), {{"epsilon", 1e-5F, "added to the variance"}});
}
OpDef define_GroupNormalization() {
  return with_attributes(normalization("GroupNormalization", 21),
                         {{"epsilon", 1e-5F, "added to the variance"},
                          {"num_groups", required(AttributeType::Int), "groups of channels"},
                          {"stash_type", 1, "dtype of the statistics"}});
}

}  // namespace dnn::group_normalization_ops
