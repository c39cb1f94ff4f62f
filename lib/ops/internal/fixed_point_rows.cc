// dnn.FixedPointMean, dnn.TableSoftmax: TFLite's MEAN (and SUM) of numbers of 8 bits, and its SOFTMAX of them. Made by the pass
// tflite-arithmetic.
//
//   Mean:    sum = sum of x - zero over the axes, in int32; y = min(max(multiplied(sum, factor) + zero_point, low), high)
//            where the factor holds the number of elements; see ops/fixed_point.h.
//   Softmax: e = table[x - the row's largest + 255], in float32; sums run from the first element to the last;
//            y = round(e * (1 / (sum * scale))) + zero_point, within y's type. Of uint8: the integer part of that product plus 1/2.
#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/fixed_point.h"
#include "ops/movement.h"
#include "ops/outputs.h"
#include "ops/quantization.h"
#include "ops/reduce.h"
#include "ops/rows.h"

namespace dnn::fixed_point_rows_ops {
namespace {

using namespace loops;

DType target_of(const Node& node) { return dtype_from_onnx(int_attribute(node, "to")); }

std::vector<bool> axes_of(const Node& node, size_t rank) {
  std::vector<bool> reduced(rank, false);
  for (int64_t axis : checked_axes(node, ints_attribute(node, "axes"), rank)) reduced[axis] = true;
  return reduced;
}

void expect_bytes(const InferContext& context) {
  const DType dtype = context.input(0).dtype, to = target_of(context.node);
  if (dtype != DType::Undefined && !is_byte(dtype)) context.fail("input 0 is ", context.input(0).text());
  if (!is_byte(to)) context.fail("'to' is ", dtype_name(to));
}

void infer_mean(InferContext& context) {
  expect_bytes(context);
  Type type;
  type.dtype = target_of(context.node);
  if (context.has_shape(0)) {
    const auto& shape = context.shape(0);
    type.shape = reduced_shape(shape, axes_of(context.node, shape.size()), flag_attribute(context.node, "keepdims"));
  }
  context.set_output(0, std::move(type));
}

struct Mean {
  explicit Mean(const Node& node)
      : factor{static_cast<int32_t>(int_attribute(node, "multiplier")), static_cast<int>(int_attribute(node, "shift"))},
        zero(int_attribute(node, "zero")),
        zero_point(int_attribute(node, "zero_point")),
        low(int_attribute(node, "low")),
        high(int_attribute(node, "high")) {}
  FixedPoint factor;
  int64_t zero, zero_point, low, high;
};

void reference_mean(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer_mean);
  const Tensor& x = context.input(0);
  const std::vector<int64_t> in = to_int64s(x);
  const ReductionOffsets offsets(x.shape(), axes_of(context.node, x.shape().size()));
  const Mean mean(context.node);
  Tensor wide(DType::Int64, y.shape());
  for (size_t i = 0; i < offsets.kept.size(); ++i) {
    uint32_t sum = 0;
    for (int64_t inner : offsets.inner) sum += static_cast<uint32_t>(in[offsets.kept[i] + inner] - mean.zero);
    const int64_t moved = multiplied(static_cast<int32_t>(sum), mean.factor) + mean.zero_point;
    wide.mutable_data<int64_t>()[i] = std::clamp(moved, mean.low, mean.high);
  }
  context.outputs[0] = convert(wide, y.dtype());
}

void lower_mean(LowerContext& context) {
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const std::vector<bool> reduced = axes_of(context.node, x->shape.size());
  const bool keepdims = flag_attribute(context.node, "keepdims");
  const RowLoops rows(x->shape, reduced);
  const Mean mean(context.node);
  const auto integer = [](int64_t n) { return constant_int(DType::Int32, n); };
  std::vector<Expr> y_index;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i] || keepdims) y_index.push_back(reduced[i] ? constant_int(DType::Int64, 0) : variable(cat("d", i)));
  }
  const BufferRef sum = local_buffer("sum", DType::Int32);
  const Expr value = cast(DType::Int32, load(x, rows.indices("r"))) - integer(mean.zero);
  const Expr moved = multiplied(load(sum, {}), mean.factor) + integer(mean.zero_point);
  const Expr kept = loops::min(loops::max(moved, integer(mean.low)), integer(mean.high));
  context.emit("reduce", rows.around(block({alloc(sum), store(sum, {}, integer(0)),
                                            rows.along("r", store(sum, {}, load(sum, {}) + value)),
                                            store(y, y_index, cast(y->dtype, kept))})));
}

void infer_softmax(InferContext& context) {
  expect_bytes(context);
  expect_dtype(context, 1, DType::Float32);
  Type type = context.input(0);
  type.dtype = target_of(context.node);
  context.set_output(0, std::move(type));
}

struct Softmax {
  explicit Softmax(const Node& node)
      : to(target_of(node)), scale(float_attribute(node, "scale")), zero_point(int_attribute(node, "zero_point")) {}

  int64_t of(float product) const {
    const int64_t integer =
        to == DType::UInt8 ? static_cast<int64_t>(std::floor(product + 0.5f)) : rounded_away(product) + zero_point;
    return std::clamp(integer, integer_lowest(to), integer_highest(to));
  }
  // The largest of it and 0, which it is: nothing may fuse the product with what is added.
  Expr of(const Expr& multiplied) const {
    const auto number = [](double n) { return constant(DType::Float32, n); };
    const auto integer = [](int64_t n) { return constant_int(DType::Int32, n); };
    const Expr product = loops::max(multiplied, number(0)), even = unary(Op::RoundEven, product);
    const Expr away = loops::select(product - even == number(0.5), even + number(1), even);
    const Expr whole = to == DType::UInt8 ? cast(DType::Int32, unary(Op::Floor, product + number(0.5)))
                                          : cast(DType::Int32, away) + integer(zero_point);
    return cast(to, loops::min(loops::max(whole, integer(integer_lowest(to))), integer(integer_highest(to))));
  }

  DType to;
  float scale;
  int64_t zero_point;
};

void reference_softmax(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer_softmax);
  const Tensor& x = context.input(0);
  const std::vector<int64_t> in = to_int64s(x);
  const float* table = context.input(1).data<float>();
  const Softmax softmax(context.node);
  const int64_t size = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
  Tensor wide(DType::Int64, y.shape());
  for (int64_t start = 0; size > 0 && start < x.size(); start += size) {
    const int64_t* row = in.data() + start;
    const int64_t most = *std::max_element(row, row + size);
    float sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += table[row[i] - most + 255];
    const float inverse = 1 / (sum * softmax.scale);
    for (int64_t i = 0; i < size; ++i)
      wide.mutable_data<int64_t>()[start + i] = softmax.of(table[row[i] - most + 255] * inverse);
  }
  context.outputs[0] = convert(wide, y.dtype());
}

void lower_softmax(LowerContext& context) {
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (x->shape.empty()) return;
  const Softmax softmax(context.node);
  std::vector<bool> last(x->shape.size(), false);
  last.back() = true;
  const RowLoops rows(x->shape, last);
  const BufferRef most = local_buffer("most", DType::Int32), sum = local_buffer("sum", DType::Float32),
                  inverse = local_buffer("inverse", DType::Float32);
  const auto number = [&](const char* along) { return cast(DType::Int32, load(x, rows.indices(along))); };
  const auto power = [&](const char* along) {
    return load(context.inputs[1],
                {cast(DType::Int64, number(along) - load(most, {}) + constant_int(DType::Int32, 255))});
  };
  context.emit(
      "row",
      rows.around(block(
          {alloc(most), alloc(sum), alloc(inverse), store(most, {}, constant_int(DType::Int32, -128)),
           rows.along("m", store(most, {}, loops::max(load(most, {}), number("m")))),
           store(sum, {}, constant(DType::Float32, 0)), rows.along("s", store(sum, {}, load(sum, {}) + power("s"))),
           store(inverse, {}, constant(DType::Float32, 1) / (load(sum, {}) * constant(DType::Float32, softmax.scale))),
           rows.along("r", store(y, rows.indices("r"), softmax.of(power("r") * load(inverse, {}))))})));
}

OpDef internal_op(const char* name) {
  OpDef op;
  op.name = name;
  op.domain = kInternalDomain;
  op.traits = kNoTraits;
  op.no_gradient = true;
  return op;
}

}  // namespace

OpDef define_FixedPointMean() {
  OpDef op = internal_op("FixedPointMean");
  op.infer = infer_mean;
  op.reference = reference_mean;
  op.lower = lower_mean;
  op.attributes = {{"axes", required(AttributeType::Ints), "axes that are reduced"},
                   {"keepdims", 1, "0: they are gone from the result"},
                   {"zero", 0, "the number that stands for zero in x"},
                   {"multiplier", required(AttributeType::Int), "of the factor"},
                   {"shift", required(AttributeType::Int), "of the factor"},
                   {"zero_point", 0, "of y"},
                   {"low", required(AttributeType::Int), "the least number in y"},
                   {"high", required(AttributeType::Int), "the largest"},
                   {"to", required(AttributeType::Int), "dtype of y"}};
  return op;
}

OpDef define_TableSoftmax() {
  OpDef op = internal_op("TableSoftmax");
  op.min_inputs = op.max_inputs = 2;
  op.infer = infer_softmax;
  op.reference = reference_softmax;
  op.lower = lower_softmax;
  op.attributes = {{"scale", required(AttributeType::Float), "real number of a step of y"},
                   {"zero_point", 0, "of y"},
                   {"to", required(AttributeType::Int), "dtype of y"}};
  return op;
}

}  // namespace dnn::fixed_point_rows_ops
