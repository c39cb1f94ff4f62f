// dnn.QuantizedMatMul: MatMul of two matrices of 8-bit integers less their zero points, whose sums are float32 numbers. Inputs: a [..., M, K] and
// b [..., K, N] of int8 or uint8, the axes before the last two broadcast. Made by the pass byte-products.
//
//   y = float32(sum over k of (a - a_zero_point) * (b - b_zero_point)), the sum in int32, which wraps
//
// The order of the sum changes no bit. Compiled, dot products of bytes take a as uint8 and b as int8, without their zero points:
//
//   sum = sum of a' * b' - zb' * (sum of a' along its row) - za' * (sum of b' along its column) + K * za' * zb'
//
// where a' = a + 128 of int8, b' = b - 128 of uint8, and zero points alike (Jacob et al., arXiv 1712.05877, section 2.3). b' is copied so that the
// 4 bytes that an instruction adds up lie side by side for 16 columns, the columns that follow behind the whole depth.
#include "ops/elementwise.h"
#include "ops/matmul_shape.h"
#include "ops/multiply.h"
#include "ops/ordered_sum.h"
#include "ops/outputs.h"
#include "ops/quantization.h"
#include "tensor/budget.h"

namespace dnn::quantized_matmul_ops {
namespace {

constexpr int64_t kColumns = 16, kDot = 4, kMostDots = 16;

void infer(InferContext& context) {
  for (size_t i : {0, 1}) {
    const Type& type = context.input(i);
    if (type.dtype != DType::Undefined && !is_byte(type.dtype)) context.fail("input ", i, " is ", type.text());
    if (type.shape && type.shape->size() < 2) context.fail("input ", i, " is ", type.text(), ", a matrix expected");
  }
  expect_in_type(context, "a_zero_point", context.input(0).dtype);
  expect_in_type(context, "b_zero_point", context.input(1).dtype);
  infer_matmul(context, 0, 1, DType::Float32);
}

BudgetVector<uint32_t> centred(const Tensor& tensor, int64_t zero_point) {
  BudgetVector<uint32_t> result(tensor.size());
  const auto widen = [&](const auto* from) {
    for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<uint32_t>(from[i] - zero_point);
  };
  tensor.dtype() == DType::Int8 ? widen(tensor.data<int8_t>()) : widen(tensor.data<uint8_t>());
  return result;
}

void reference(ReferenceContext& context) {
  const Tensor &a = context.input(0), &b = context.input(1);
  Tensor y = allocate_output(context, infer);
  const MatmulShape shape(context.node, a.shape(), b.shape());
  const BudgetVector<uint32_t> left = centred(a, int_attribute(context.node, "a_zero_point")),
                               right = centred(b, int_attribute(context.node, "b_zero_point"));
  float* out = y.mutable_data<float>();
  for (size_t batch = 0; batch < shape.a_offsets.size(); ++batch, out += shape.m * shape.n) {
    const MatrixView<uint32_t> rows{left.data() + shape.a_offsets[batch], shape.depth, 1},
        columns{right.data() + shape.b_offsets[batch], shape.n, 1};
    multiply<uint32_t>(context.pool, shape.m, shape.n, shape.depth, rows, columns,
                       [&](int64_t i, int64_t j, uint32_t sum) {
                         out[i * shape.n + j] = static_cast<float>(static_cast<int32_t>(sum));
                       });
  }
  context.outputs[0] = std::move(y);
}

loops::Expr integer(int64_t n) { return loops::constant_int(DType::Int32, n); }

// An operand: a buffer whose last two axes are a matrix, and what takes its numbers to the bytes of dot products.
struct Operand {
  loops::BufferRef buffer;
  int64_t zero_point, shift;  // of the bytes; what is added to the operand's

  int64_t axis(int64_t from_back) const { return buffer->shape[buffer->shape.size() - from_back]; }
  size_t batch_axes() const { return buffer->shape.size() - 2; }
};

class Lowering {
 public:
  explicit Lowering(LowerContext& context)
      : context_(context),
        a_(operand(0, "a_zero_point", DType::UInt8)),
        b_(operand(1, "b_zero_point", DType::Int8)),
        y_(context.outputs[0]),
        rows_(a_.axis(2)),
        columns_(b_.axis(1)),
        depth_(a_.axis(1)) {}

  // The stages: a where dot products cannot read it as it lies, b, sums of rows and of columns, the products.
  void emit() {
    using namespace loops;
    const BufferRef left = left_bytes(), right = right_bytes();
    const BufferRef of_rows = b_.zero_point == 0 ? nullptr : row_sums(),
                    of_columns = a_.zero_point == 0 ? nullptr : column_sums();
    Expr start = wrapped(depth_ * a_.zero_point * b_.zero_point);
    if (of_rows != nullptr) start = start - load(of_rows, at(a_, {row_})) * integer(b_.zero_point);
    if (of_columns != nullptr) start = start - load(of_columns, at(b_, {column_})) * integer(a_.zero_point);
    const BufferRef sum = local_buffer("sum", DType::Int32);
    const Expr product = cast(DType::Int32, load(left, at(a_, {row_, deep_}))) *
                         cast(DType::Int32, load(right, at(b_, {deep_, column_})));
    std::vector<Expr> y_index = batch();
    y_index.insert(y_index.end(), {row_, column_});
    Stmt body = block({alloc(sum), store(sum, {}, start), loop("c", depth_, store(sum, {}, load(sum, {}) + product)),
                       store(y_, y_index, cast(DType::Float32, load(sum, {})))});
    body = loop("m", columns_, loop("o0", rows_, std::move(body)));
    for (size_t axis = y_->shape.size() - 2; axis-- > 0;) body = loop(cat("b", axis), y_->shape[axis], std::move(body));
    context_.emit("quantized_matmul", std::move(body));
  }

 private:
  Operand operand(size_t i, const char* zero_point, DType wanted) const {
    const loops::BufferRef& buffer = context_.inputs[i];
    const int64_t shift = buffer->dtype == wanted ? 0 : wanted == DType::UInt8 ? 128 : -128;
    return {buffer, int_attribute(context_.node, zero_point) + shift, shift};
  }

  static loops::Expr wrapped(int64_t n) { return integer(static_cast<int32_t>(static_cast<uint32_t>(n))); }

  std::vector<loops::Expr> batch() const {
    std::vector<loops::Expr> indices;
    for (size_t axis = 0; axis + 2 < y_->shape.size(); ++axis) indices.push_back(loops::variable(cat("b", axis)));
    return indices;
  }

  // The operand's own batch axes at those of the result, then `last`.
  std::vector<loops::Expr> at(const Operand& operand, const std::vector<loops::Expr>& last) const {
    const Shape leading(operand.buffer->shape.begin(), operand.buffer->shape.end() - 2);
    std::vector<loops::Expr> indices = broadcast_indices(leading, batch());
    indices.insert(indices.end(), last.begin(), last.end());
    return indices;
  }

  // Loops over the operand's own batch axes, around `body`.
  void emit_for(const Operand& operand, const char* pattern, loops::Stmt body) {
    const size_t skipped = y_->shape.size() - 2 - operand.batch_axes();
    for (size_t axis = operand.batch_axes(); axis-- > 0;) {
      if (operand.buffer->shape[axis] != 1)
        body = loops::loop(cat("b", axis + skipped), operand.buffer->shape[axis], std::move(body));
    }
    context_.emit(pattern, std::move(body));
  }

  Shape own_shape(const Operand& operand, const Shape& last) const {
    Shape shape(operand.buffer->shape.begin(), operand.buffer->shape.end() - 2);
    shape.insert(shape.end(), last.begin(), last.end());
    return shape;
  }

  // The number as one of `dtype`, by way of int32.
  static loops::Expr byte(const Operand& operand, DType dtype, loops::Expr number) {
    if (operand.shift == 0) return number;
    return loops::cast(dtype, loops::cast(DType::Int32, std::move(number)) + integer(operand.shift));
  }

  // Rows of a have whole dot products.
  bool has_room() const {
    const int axis = static_cast<int>(a_.batch_axes()) + 1;
    return a_.buffer->layout.capacity(a_.buffer->shape, axis) % kDot == 0;
  }

  // a' as uint8 with rows of whole dot products, whose last bytes may be anything: those of b' are 0 there.
  loops::BufferRef left_bytes() {
    using namespace loops;
    if (a_.shift == 0 && lies_in_rows(*a_.buffer) && has_room()) return a_.buffer;
    const auto last = static_cast<int>(a_.batch_axes()) + 1;
    BufferRef copy = context_.temporary("A", DType::UInt8, a_.buffer->shape, Layout().block(last, kMostDots));
    emit_for(
        a_, "map",
        loop("o0", rows_,
             loop("c", depth_,
                  store(copy, at(a_, {row_, deep_}), byte(a_, DType::UInt8, load(a_.buffer, at(a_, {row_, deep_})))))));
    return copy;
  }

  // b' in blocks; 0 beyond its depth and its columns.
  loops::BufferRef right_bytes() {
    using namespace loops;
    const int64_t high = (depth_ + kMostDots - 1) / kMostDots * kMostDots,
                  wide = (columns_ + kColumns - 1) / kColumns * kColumns;
    const auto k = static_cast<int>(b_.batch_axes()), n = k + 1;
    std::vector<int> order;
    for (int axis = 0; axis < k; ++axis) order.push_back(axis);
    order.insert(order.end(), {n, k});
    BufferRef packed = context_.temporary("B", DType::Int8, own_shape(b_, {high, wide}),
                                          Layout().block(n, kColumns).block(k, kDot).order(order));
    if (high > depth_ || wide > columns_) clear(packed);
    const Expr group = variable("k"), of_group = variable("q");
    const auto copy = [&](const Expr& at_depth) {
      return store(packed, at(b_, {at_depth, column_}),
                   byte(b_, DType::Int8, load(b_.buffer, at(b_, {at_depth, column_}))));
    };
    const int64_t whole = depth_ / kDot;
    if (whole > 0)
      emit_for(b_, "map", loop("k", whole, loop("m", columns_, loop("q", kDot, copy(group * kDot + of_group)))));
    if (depth_ % kDot != 0)
      emit_for(b_, "map", loop("q", depth_ % kDot, loop("m", columns_, copy(of_group + whole * kDot))));
    return packed;
  }

  // As one row of bytes.
  void clear(const loops::BufferRef& packed) {
    using namespace loops;
    auto row = std::make_shared<Buffer>(*packed);
    row->shape = {packed->layout.element_count(packed->shape)};
    row->layout = {};
    context_.emit("map", loop("d0", row->shape[0], store(row, {variable("d0")}, constant_int(DType::Int8, 0))));
  }

  // Sums of a' along its rows.
  loops::BufferRef row_sums() {
    using namespace loops;
    BufferRef sums = context_.temporary("R", DType::Int32, own_shape(a_, {rows_}));
    const BufferRef parts = local_buffer("parts", DType::Int32, {kPartialSums}),
                    joined = local_buffer("joined", DType::Int32, {kPartialSums});
    const LoopKind lanes = lies_in_rows(*a_.buffer) ? LoopKind::Vector : LoopKind::Serial;
    const Expr whole = variable("c");
    const auto number = [&](const Expr& k) { return cast(DType::Int32, load(a_.buffer, at(a_, {row_, k}))); };
    const auto each = [&](const char* name, const std::function<Stmt(Expr)>& statement) {
      return loop(name, kPartialSums, statement(variable(name)), lanes);
    };
    // In memory, where single ones of them are read.
    std::vector<Stmt> body = {alloc(parts), each("z", [&](const Expr& l) { return store(parts, {l}, integer(0)); }),
                              loop("c", depth_ / kPartialSums,
                                   each("l",
                                        [&](const Expr& l) {
                                          return store(parts, {l}, load(parts, {l}) + number(whole * kPartialSums + l));
                                        })),
                              alloc(joined),
                              each("j", [&](const Expr& l) { return store(joined, {l}, load(parts, {l})); })};
    std::vector<Expr> terms = {wrapped(depth_ * a_.shift)};
    for (int64_t l = 0; l < kPartialSums; ++l) terms.push_back(load(joined, {loops::constant_int(DType::Int64, l)}));
    for (int64_t k = depth_ / kPartialSums * kPartialSums; k < depth_; ++k)
      terms.push_back(number(loops::constant_int(DType::Int64, k)));
    // In pairs, as each of a chain of them would wait for the one before.
    for (; terms.size() > 1; terms.resize((terms.size() + 1) / 2)) {
      for (size_t i = 0; 2 * i < terms.size(); ++i)
        terms[i] = 2 * i + 1 < terms.size() ? terms[2 * i] + terms[2 * i + 1] : terms[2 * i];
    }
    body.push_back(store(sums, at(a_, {row_}), terms[0]));
    emit_for(a_, "row_sums", loop("o0", rows_, block(std::move(body))));
    return sums;
  }

  // Sums of b' along its columns; of none where blocks are filled up.
  loops::BufferRef column_sums() {
    using namespace loops;
    const int64_t wide = (columns_ + kColumns - 1) / kColumns * kColumns;
    BufferRef sums = context_.temporary("S", DType::Int32, own_shape(b_, {wide}));
    const BufferRef sum = local_buffer("sum", DType::Int32);
    const Expr number = cast(DType::Int32, load(b_.buffer, at(b_, {deep_, column_})));
    Stmt body = block({alloc(sum), store(sum, {}, wrapped(depth_ * b_.shift)),
                       loop("c", depth_, store(sum, {}, load(sum, {}) + number)),
                       store(sums, at(b_, {column_}), load(sum, {}))});
    emit_for(b_, "column_sums", loop("m", columns_, std::move(body)));
    return sums;
  }

  LowerContext& context_;
  const Operand a_, b_;
  const loops::BufferRef y_;
  const int64_t rows_, columns_, depth_;
  const loops::Expr row_ = loops::variable("o0"), column_ = loops::variable("m"), deep_ = loops::variable("c");
};

void lower(LowerContext& context) {
  if (element_count(context.outputs[0]->shape) == 0 || context.inputs[0]->shape.back() == 0) return;
  Lowering(context).emit();
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  return 2.0 * static_cast<double>(inputs[0].back()) * static_cast<double>(element_count(outputs[0]));
}

}  // namespace

OpDef define_QuantizedMatMul() {
  OpDef op;
  op.name = "QuantizedMatMul";
  op.domain = kInternalDomain;
  op.min_inputs = 2;
  op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = {{"a_zero_point", 0, "of a"}, {"b_zero_point", 0, "of b"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  op.no_gradient = true;
  return op;
}

}  // namespace dnn::quantized_matmul_ops
