// dnn.FixedPointSum, dnn.FixedPointProduct: TFLite's ADD, SUB and MUL of two operands of 8 bits, with an activation behind them; and
// dnn.ByteTable, any function of one number of 8 bits. Made by the pass tflite-arithmetic. Products are those of ops/fixed_point.h.
//
//   Sum:     term = multiplied((x - zero) * 2^left, factor), of each operand
//            y = min(max(multiplied(term_a + sign * term_b, factor) + zero_point, low), high)
//   Product: y = min(max(multiplied((a - a_zero) * (b - b_zero), factor) + zero_point, low), high)
//   Table:   y = table[x - the least number of x's type]
#include <algorithm>

#include "ops/elementwise.h"
#include "ops/fixed_point.h"
#include "ops/movement.h"
#include "ops/outputs.h"
#include "ops/quantization.h"

namespace dnn::fixed_point_maps_ops {
namespace {

using loops::Expr;

DType target_of(const Node& node) { return dtype_from_onnx(int_attribute(node, "to")); }

void expect_byte(const InferContext& context, size_t i) {
  const DType dtype = context.input(i).dtype;
  if (dtype != DType::Undefined && !is_byte(dtype)) context.fail("input ", i, " is ", context.input(i).text());
}

void infer_pair(InferContext& context) {
  for (const size_t i : {0, 1}) expect_byte(context, i);
  infer_elementwise(context);
  Type type = context.outputs[0];
  type.dtype = target_of(context.node);
  if (!is_byte(type.dtype)) context.fail("'to' is ", dtype_name(type.dtype));
  context.set_output(0, std::move(type));
}

FixedPoint factor_of(const Node& node, const std::string& which) {
  return {static_cast<int32_t>(int_attribute(node, which + "multiplier")),
          static_cast<int>(int_attribute(node, which + "shift"))};
}

// The end of both operators.
struct Result {
  explicit Result(const Node& node)
      : factor(factor_of(node, "")),
        zero(int_attribute(node, "zero_point")),
        low(int_attribute(node, "low")),
        high(int_attribute(node, "high")) {}
  int64_t of(int32_t wide) const { return std::clamp(multiplied(wide, factor) + zero, low, high); }
  Expr of(const Expr& wide) const {
    const auto integer = [](int64_t n) { return loops::constant_int(DType::Int32, n); };
    return loops::min(loops::max(multiplied(wide, factor) + integer(zero), integer(low)), integer(high));
  }
  FixedPoint factor;
  int64_t zero, low, high;
};

// An attribute of one operand.
std::string named(const std::string& which, const char* what) { return which + what; }

struct Term {
  Term(const Node& node, const std::string& which)
      : factor(factor_of(node, which)),
        zero(int_attribute(node, named(which, "zero"))),
        left(int_attribute(node, "left")) {}
  int32_t of(int32_t x) const { return multiplied((x - static_cast<int32_t>(zero)) * (1 << left), factor); }
  Expr of(const Expr& x) const {
    const Expr moved = (loops::cast(DType::Int32, x) - loops::constant_int(DType::Int32, zero)) *
                       loops::constant_int(DType::Int32, int64_t{1} << left);
    return multiplied(moved, factor);
  }
  FixedPoint factor;
  int64_t zero, left;
};

// y of each pair of elements, as `wide` makes it of two numbers.
template <class Wide>
void reference_pair(ReferenceContext& context, const Wide& wide) {
  Tensor y = allocate_output(context, infer_pair);
  const Result result(context.node);
  const std::vector<int64_t> a = to_int64s(context.input(0)), b = to_int64s(context.input(1));
  Tensor all(DType::Int64, y.shape());
  int64_t* out = all.mutable_data<int64_t>();
  for_each_run(context.pool, y.shape(), context.input(0).shape(), context.input(1).shape(),
               [&](const BroadcastRun& run) {
                 for (int64_t i = 0; i < run.count; ++i) {
                   const int64_t left = a[run.a + i * run.step_a], right = b[run.b + i * run.step_b];
                   out[run.begin + i] = result.of(wide(static_cast<int32_t>(left), static_cast<int32_t>(right)));
                 }
               });
  context.outputs[0] = convert(all, y.dtype());
}

void sum(ReferenceContext& context) {
  const Term first(context.node, "a_"), second(context.node, "b_");
  const auto sign = static_cast<int32_t>(int_attribute(context.node, "sign"));
  reference_pair(context, [&](int32_t a, int32_t b) { return first.of(a) + sign * second.of(b); });
}

Expr sum_element(const Node& node, const std::vector<Expr>& inputs) {
  const Expr a = Term(node, "a_").of(inputs[0]), b = Term(node, "b_").of(inputs[1]);
  return loops::cast(target_of(node), Result(node).of(int_attribute(node, "sign") < 0 ? a - b : a + b));
}

void product(ReferenceContext& context) {
  const auto zero_a = static_cast<int32_t>(int_attribute(context.node, "a_zero")),
             zero_b = static_cast<int32_t>(int_attribute(context.node, "b_zero"));
  reference_pair(context, [&](int32_t a, int32_t b) { return (a - zero_a) * (b - zero_b); });
}

Expr product_element(const Node& node, const std::vector<Expr>& inputs) {
  const auto moved = [&](size_t i, const char* zero) {
    return loops::cast(DType::Int32, inputs[i]) - loops::constant_int(DType::Int32, int_attribute(node, zero));
  };
  return loops::cast(target_of(node), Result(node).of(moved(0, "a_zero") * moved(1, "b_zero")));
}

OpDef pair_op(std::string name, void (*reference)(ReferenceContext&),
              Expr (*element)(const Node&, const std::vector<Expr>&), AttributeDefs attributes) {
  OpDef op;
  op.name = std::move(name);
  op.domain = kInternalDomain;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.infer = infer_pair;
  op.reference = reference;
  op.lower = lower_elementwise;
  op.element = element;
  op.no_gradient = true;
  op.attributes = std::move(attributes);
  const AttributeDefs common = {{"a_zero", 0, "the number that stands for zero in the first operand"},
                                {"b_zero", 0, "in the second"},
                                {"multiplier", required(AttributeType::Int), "of the result's factor"},
                                {"shift", required(AttributeType::Int), "of the result's factor"},
                                {"zero_point", 0, "of y"},
                                {"low", required(AttributeType::Int), "the least number in y"},
                                {"high", required(AttributeType::Int), "the largest"},
                                {"to", required(AttributeType::Int), "dtype of y"}};
  op.attributes.insert(op.attributes.end(), common.begin(), common.end());
  return op;
}

constexpr int64_t kEntries = 256;

void infer_table(InferContext& context) {
  expect_byte(context, 0);
  if (context.has_shape(1)) {
    const auto& shape = context.shape(1, 1);
    if (shape[0].fixed() && shape[0].size != kEntries) context.fail("table ", context.input(1).text());
  }
  Type type = context.input(0);
  type.dtype = context.input(1).dtype;
  context.set_output(0, std::move(type));
}

void look_up(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  std::vector<int64_t> at = to_int64s(x);
  for (int64_t& index : at) index -= integer_lowest(x.dtype());
  infer_outputs(context, infer_table);
  context.outputs[0] = take(context.input(1), x.shape(), at);
}

void lower_table(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0];
  if (!has_loops(context.outputs[0])) return;
  emit_map(context, context.outputs[0], [&](const std::vector<Expr>& indices) {
    return load(context.inputs[1],
                {cast(DType::Int64, load(x, indices)) - constant_int(DType::Int64, integer_lowest(x->dtype))});
  });
}

}  // namespace

OpDef define_FixedPointSum() {
  return pair_op("FixedPointSum", sum, sum_element,
                 {{"left", required(AttributeType::Int), "bits by which operands are shifted left"},
                  {"sign", 1, "-1: the difference"},
                  {"a_multiplier", required(AttributeType::Int), "of the first operand's factor"},
                  {"a_shift", required(AttributeType::Int), "of the first operand's factor"},
                  {"b_multiplier", required(AttributeType::Int), "of the second operand's factor"},
                  {"b_shift", required(AttributeType::Int), "of the second operand's factor"}});
}

OpDef define_FixedPointProduct() { return pair_op("FixedPointProduct", product, product_element, {}); }

OpDef define_ByteTable() {
  OpDef op;
  op.name = "ByteTable";
  op.domain = kInternalDomain;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Activates};
  op.infer = infer_table;
  op.reference = look_up;
  op.lower = lower_table;
  op.no_gradient = true;
  return op;
}

}  // namespace dnn::fixed_point_maps_ops
