// Transpose, DepthToSpace, SpaceToDepth: the same elements in another order of axes or blocks.
#include "ops/build.h"
#include "ops/elementwise.h"
#include "ops/movement.h"

namespace dnn::transpose_ops {
namespace {

std::vector<int64_t> permutation(const Node& node, size_t rank) {
  std::vector<int64_t> perm = transpose_permutation(node, rank);
  if (perm.size() != rank) fail_malformed(node.label(), ": perm ", shape_text(perm), " does not fit rank ", rank);
  for (int64_t axis : perm) {
    if (axis < 0) fail_malformed(node.label(), ": perm ", shape_text(perm), " has a negative axis");
  }
  return checked_axes(node, std::move(perm), rank);
}

void infer_transpose(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const std::vector<Dim>& in = context.shape(0);
    type.shape.emplace();
    for (int64_t axis : permutation(context.node, in.size())) type.shape->push_back(in[axis]);
  }
  context.set_output(0, std::move(type));
}

void reference_transpose(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const std::vector<int64_t> perm = permutation(context.node, x.shape().size()), stride = row_major_strides(x.shape());
  Shape shape;
  for (int64_t axis : perm) shape.push_back(x.dim(static_cast<int>(axis)));
  context.outputs[0] = pick(x, shape, [&](size_t axis, int64_t i) { return i * stride[perm[axis]]; });
}

void lower_transpose(LowerContext& context) {
  const loops::BufferRef x = context.inputs[0];
  if (!has_loops(context.outputs[0])) return;
  const std::vector<int64_t> perm = permutation(context.node, x->shape.size());
  emit_map(context, context.outputs[0], [&](const std::vector<loops::Expr>& indices) {
    std::vector<loops::Expr> source(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) source[perm[i]] = indices[i];
    return loops::load(x, source);
  });
}

// Whether blocks go depth-column-row (the block's place is the outer part of the channel) or column-row-depth.
bool depth_first(const Node& node) {
  const std::string mode = string_attribute(node, "mode");
  if (mode != "DCR" && mode != "CRD") fail_malformed(node.label(), ": mode ", quoted(mode), " is not DCR or CRD");
  return mode == "DCR";
}

// [N, C * b * b, H, W] <-> [N, C, H * b, W * b]
std::vector<Dim> block_dims(const Node& node, const std::vector<Dim>& in, bool to_space) {
  const int64_t b = int_attribute(node, "blocksize");
  if (b < 1 || b > (int64_t{1} << 20)) fail_malformed(node.label(), ": blocksize ", b);
  if (in.size() != 4) fail_malformed(node.label(), ": input ", Type({}, in).text(), " is not of rank 4");
  auto scaled = [&](const Dim& dim, int64_t by, bool grow) {
    if (!dim.fixed()) return Dim();
    if (grow) return Dim(element_count({dim.size, by}));
    if (dim.size % by != 0)
      fail_malformed(node.label(), ": ", Type({}, in).text(), " does not divide by blocksize ", b);
    return Dim(dim.size / by);
  };
  return {in[0], scaled(in[1], b * b, !to_space), scaled(in[2], b, to_space), scaled(in[3], b, to_space)};
}

template <bool to_space>
void infer_blocks(InferContext& context) {
  depth_first(context.node);
  std::vector<Dim> dims(4);
  if (context.has_shape(0)) dims = block_dims(context.node, context.shape(0), to_space);
  context.set_output(0, Type(context.input(0).dtype, std::move(dims)));
}

template <bool to_space>
void reference_blocks(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Shape shape = to_shape(block_dims(context.node, to_dims(x.shape()), to_space));
  const bool outer = depth_first(context.node);
  const int64_t b = int_attribute(context.node, "blocksize");
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  const int64_t channels = to_space ? shape[1] : x.dim(1);                  // without the blocks
  const int64_t block = outer ? channels : 1, channel = outer ? 1 : b * b;  // steps in the wide channel axis
  context.outputs[0] = pick(x, shape, [&](size_t axis, int64_t i) {
    if (axis == 0) return i * stride[0];
    if (to_space) {
      if (axis == 1) return i * channel * stride[1];
      return i % b * (axis == 2 ? b : 1) * block * stride[1] + i / b * stride[axis];
    }
    if (axis > 1) return i * b * stride[axis];
    const int64_t c = outer ? i % channels : i / channel, place = outer ? i / channels : i % channel;
    return c * stride[1] + place / b * stride[2] + place % b * stride[3];
  });
}

template <bool to_space>
void lower_blocks(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!has_loops(context.outputs[0])) return;
  const bool outer = depth_first(context.node);
  const int64_t b = int_attribute(context.node, "blocksize"), channels = std::min(x->shape[1], y->shape[1]);
  emit_map(context, y, [&](const std::vector<Expr>& d) {
    if (to_space) {
      const Expr place = floormod(d[2], b) * b + floormod(d[3], b);
      const Expr c = outer ? place * channels + d[1] : d[1] * (b * b) + place;
      return load(x, {d[0], c, floordiv(d[2], b), floordiv(d[3], b)});
    }
    const Expr c = outer ? floormod(d[1], channels) : floordiv(d[1], b * b);
    const Expr place = outer ? floordiv(d[1], channels) : floormod(d[1], b * b);
    return load(x, {d[0], c, d[2] * b + floordiv(place, b), d[3] * b + floormod(place, b)});
  });
}

template <bool to_space>
OpDef define_blocks(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.since = 28;
  op.traits = {Trait::ChannelsFirst, Trait::Moves};
  op.picks = picks_from_first;
  op.attributes = {{"blocksize", required(AttributeType::Int), "extent of a block"},
                   {"mode", "DCR", "DCR or CRD: where a block's elements lie in the channels"}};
  op.infer = infer_blocks<to_space>;
  op.reference = reference_blocks<to_space>;
  op.lower = lower_blocks<to_space>;
  return op;
}

}  // namespace

OpDef define_Transpose() {
  OpDef op;
  op.name = "Transpose";
  op.since = 25;
  op.traits = {Trait::Moves};
  op.picks = picks_from_first;
  op.attributes = {{"perm", optional(AttributeType::Ints), "which axis of the input each one is; left out: reversed"}};
  op.gradient = [](GradientContext& context) {
    const std::vector<int64_t> perm = permutation(context.node, context.build.shape(context.dy()).size());
    std::vector<int64_t> inverse(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = static_cast<int64_t>(i);
    if (context.wants(0)) context.set(0, context.build.transpose(context.dy(), inverse));
  };
  op.infer = infer_transpose;
  op.reference = reference_transpose;
  op.lower = lower_transpose;
  return op;
}

OpDef define_DepthToSpace() { return define_blocks<true>("DepthToSpace"); }
OpDef define_SpaceToDepth() { return define_blocks<false>("SpaceToDepth"); }

}  // namespace dnn::transpose_ops
