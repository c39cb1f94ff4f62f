// MaxUnpool: the values of a MaxPool back at the places that its indices name, zeros elsewhere.
//
// Indices count in the result, as those of a MaxPool of a tensor of that shape do: in output_shape where it is given, as in ONNX Runtime
// and PyTorch. ONNX's reference evaluator counts in the shape that the window's attributes give back and adds zeros behind it
// (formats/onnx/reference.h). Where two values name one place, the later one stays.
#include <algorithm>

#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::max_unpool_ops {
namespace {

constexpr int64_t kParameterLimit = int64_t{1} << 30;

// x, indices: [N, C, D...]; the shape before pooling, unknown where x's is.
std::vector<Dim> unpooled(const Node& node, const std::vector<Dim>& x) {
  if (x.size() < 3) fail_malformed(node.label(), ": the input has no spatial axes");
  const size_t rank = x.size() - 2;
  const std::vector<int64_t> kernel = ints_attribute(node, "kernel_shape"),
                             strides = ints_attribute(node, "strides", rank),
                             pads = ints_attribute(node, "pads", 2 * rank);
  if (kernel.size() != rank || strides.size() != rank || pads.size() != 2 * rank)
    fail_malformed(node.label(), ": kernel_shape, strides and pads must cover the ", rank, " spatial axes");
  std::vector<Dim> shape = {x[0], x[1]};
  for (size_t i = 0; i < rank; ++i) {
    for (int64_t value : {kernel[i], strides[i], pads[i] + 1, pads[rank + i] + 1}) {
      if (value < 1 || value > kParameterLimit) fail_malformed(node.label(), ": a window parameter is out of range");
    }
    if (!x[i + 2].fixed()) {
      shape.emplace_back();
      continue;
    }
    const int64_t extent =
        x[i + 2].size > kParameterLimit ? -1 : (x[i + 2].size - 1) * strides[i] - pads[i] - pads[rank + i] + kernel[i];
    if (extent < 0) fail_malformed(node.label(), ": axis ", i + 2, " has no extent to go back to");
    shape.emplace_back(extent);
  }
  return shape;
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  expect_float(context, 0);
  expect_dtype(context, 1, DType::Int64);
  expect_dtype(context, 2, DType::Int64);
  if (context.has_shape(0)) {
    const auto& x = context.shape(0);
    std::vector<Dim> shape = unpooled(context.node, x);
    if (context.has_shape(1) && context.input(0).fixed() && context.input(1).fixed() &&
        context.input(0).fixed_shape() != context.input(1).fixed_shape())
      context.fail("indices ", context.input(1).text(), " do not fit ", context.input(0).text());
    if (context.has_input(2)) {
      const Tensor* asked = context.known_input(2);
      const std::vector<Dim> least = shape;
      shape.assign(x.size(), Dim());
      if (asked != nullptr) {
        const std::vector<int64_t> extents = to_int64s(*asked);
        if (extents.size() != x.size())
          context.fail("output_shape has ", extents.size(), " extents for ", x.size(), " axes");
        for (size_t i = 0; i < extents.size(); ++i) {
          if (least[i].fixed() && (extents[i] < least[i].size || (i < 2 && extents[i] != least[i].size)))
            context.fail("output_shape ", shape_text(extents), " is smaller than the unpooled ",
                         Type(DType::Undefined, least).text());
          if (least[i].fixed()) shape[i] = extents[i];
        }
      }
    }
    type.shape = std::move(shape);
  }
  context.set_output(0, std::move(type));
}

void reference(ReferenceContext& context) {
  const Tensor &x = context.input(0), &indices = context.input(1);
  Tensor y = allocate_output(context, infer);
  dispatch_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t place = indices.data<int64_t>()[i];
      if (place < 0 || place >= y.size()) context.fail("index ", place, " is outside of ", shape_text(y.shape()));
      out[place] = in[i];
    }
  });
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_MaxUnpool() {
  OpDef op;
  op.name = "MaxUnpool";
  op.since = 22;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.traits = {Trait::Moves};
  op.attributes = {{"kernel_shape", required(AttributeType::Ints), "extents of the kernel"},
                   {"strides", per_axis(1), "step between windows"},
                   {"pads", per_axis(0), "begins, then ends"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::max_unpool_ops
