// Col2Im: the columns of blocks (im2col's form) added back into the image they were cut from.
//
// Each element sums the blocks that cover it in the order of the block's elements, row-major, from 0 on.
#include <algorithm>

#include "ops/multiply.h"
#include "ops/outputs.h"
#include "ops/window.h"

namespace dnn::col2im_ops {
namespace {

// x: [N, C * prod(block), L], image_shape: [S], block_shape: [S] -> y: [N, C, image...]
// The window that cut the blocks; L must be the number of its positions.
Window window_of(const Node& node, const std::vector<int64_t>& image, const std::vector<int64_t>& block) {
  if (image.empty() || image.size() != block.size())
    fail_malformed(node.label(), ": image_shape ", shape_text(image), " and block_shape ", shape_text(block),
                   " differ in rank");
  element_count(image);  // refuses negative extents
  return Window::of(node, image, block);
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  const Tensor *image = context.known_input(1), *block = context.known_input(2);
  for (size_t i = 1; i < 3; ++i) expect_dtype(context, i, DType::Int64);
  if (image != nullptr && block != nullptr) {
    const Window window = window_of(context.node, to_int64s(*image), to_int64s(*block));
    Dim batch, channels;
    if (context.has_shape(0)) {
      const auto& x = context.shape(0, 3);
      const int64_t taps = element_count(window.kernel), positions = element_count(window.output);
      if (x[1].fixed() && x[1].size % taps != 0) context.fail(x[1].size, " rows do not divide into blocks of ", taps);
      if (x[2].fixed() && x[2].size != positions)
        context.fail(x[2].size, " columns for ", positions, " blocks of ", shape_text(window.kernel), " in ",
                     shape_text(window.input));
      batch = x[0];
      if (x[1].fixed()) channels = x[1].size / taps;
    }
    std::vector<Dim> shape = {batch, channels};
    for (int64_t extent : window.input) shape.emplace_back(extent);
    type.shape = std::move(shape);
  }
  context.set_output(0, std::move(type));
}

template <class T>
void compute(const Tensor& x, Tensor& y, const BudgetVector<int64_t>& offsets) {
  using S = Sum<T>;
  const int64_t planes = y.dim(0) * y.dim(1), plane = planes == 0 ? 0 : y.size() / planes;
  std::vector<S> sums(plane);
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  for (int64_t image = 0; image < planes; ++image, out += plane) {
    std::fill(sums.begin(), sums.end(), S(0));
    for (int64_t offset : offsets) {
      const S value = static_cast<S>(widen(*in++));
      if (offset >= 0) sums[offset] += value;
    }
    for (int64_t i = 0; i < plane; ++i) out[i] = static_cast<T>(sums[i]);
  }
}

void reference(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer);
  const std::vector<int64_t> image = to_int64s(context.input(1)), block = to_int64s(context.input(2));
  const auto offsets = window_of(context.node, image, block).tap_offsets();
  dispatch_numeric(y.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && sizeof(T) < 4) {
      fail_unsupported("no Col2Im of ", dtype_name(kDTypeOf<T>), " tensors");
    } else {
      compute<T>(context.input(0), y, offsets);
    }
  });
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_Col2Im() {
  OpDef op;
  op.name = "Col2Im";
  op.since = 18;
  op.min_inputs = op.max_inputs = 3;
  op.traits = {Trait::Moves};
  op.attributes = {{"strides", per_axis(1), "step between windows"},
                   {"dilations", per_axis(1), "step between the elements of the kernel"},
                   {"pads", per_axis(0), "begins, then ends"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::col2im_ops
