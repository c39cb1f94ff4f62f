// dnn.StatedSoftmax, StatedMean, StatedSum and StatedLayerNormalization: the operators of those names along the last axis, whose bits every level, instruction
// set and device shares. Sums are in one order (ops/ordered_sum.h); each product, quotient and root is rounded to float32 by itself
// (docs/explanation/integers.md). Made by the pass integer-functions.
//
// The exponentials of StatedSoftmax are the stated divisor's (loops/stated.h) less 1: within 4e-6, and whole multiples of 2^-23. Those of a "relative" one are the
// stated exponential's less that of its bound, so that what is masked is 0.
#include <cmath>
#include <limits>

#include "loops/stated.h"
#include "ops/op.h"
#include "ops/ordered_sum.h"
#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::stated_rows_ops {
namespace {

enum class Kind : uint8_t { Softmax, Mean, Sum, LayerNormalization };

// Kinds of one number a row.
constexpr bool reduces(Kind kind) { return kind == Kind::Mean || kind == Kind::Sum; }

template <Kind kind>
void infer(InferContext& context) {
  expect_float(context, 0);
  Type y = context.input(0);
  if (y.shape && y.shape->empty()) context.fail("input 0 has no axes");
  if (reduces(kind) && y.shape) y.shape->back() = Dim(1);
  context.set_output(0, std::move(y));
}

template <class T>
void softmax(const ReferenceContext& context, const T* x, T* y, int64_t size) {
  const T scale = static_cast<T>(float_attribute(context.node, "scale"));
  T best = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < size; ++i) best = best > x[i] ? best : x[i];
  best *= scale;
  const bool relative = int_attribute(context.node, "relative") != 0;
  const T least = loops::stated_exponential(static_cast<T>(-loops::kStatedExponent));
  for (int64_t i = 0; i < size; ++i) {
    y[i] = relative ? loops::stated_exponential(x[i] * scale - best) - least
                    : loops::stated_divisor(best - x[i] * scale) - T(1);
  }
  const T sum = ordered_sum<T>(size, [&](int64_t i) { return y[i]; });
  for (int64_t i = 0; i < size; ++i) y[i] = y[i] / sum;
}

template <class T>
T sum_of(const T* x, int64_t size) {
  return ordered_sum<T>(size, [&](int64_t i) { return x[i]; });
}

template <class T>
T mean_of(const T* x, int64_t size) {
  return sum_of(x, size) / static_cast<T>(size);
}

template <class T>
void layer_normalization(const ReferenceContext& context, const T* x, T* y, int64_t size) {
  const T *scale = context.input(1).data<T>(), *bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
  const T mean = mean_of(x, size), epsilon = static_cast<T>(float_attribute(context.node, "epsilon"));
  for (int64_t i = 0; i < size; ++i) y[i] = x[i] - mean;
  const T variance = ordered_sum<T>(size, [&](int64_t i) { return y[i] * y[i]; }) / static_cast<T>(size);
  const T inverse = T(1) / std::sqrt(variance + epsilon);
  for (int64_t i = 0; i < size; ++i) y[i] = y[i] * inverse * scale[i] + (bias == nullptr ? T(0) : bias[i]);
}

template <Kind kind>
void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer<kind>);
  const int64_t size = x.shape().back(), rows = size == 0 ? 0 : x.size() / size;
  const auto compute = [&](auto tag) {
    using T = decltype(tag);
    for (int64_t r = 0; r < rows; ++r) {
      const T* in = x.data<T>() + r * size;
      if (kind == Kind::Softmax) softmax(context, in, y.mutable_data<T>() + r * size, size);
      if (kind == Kind::Mean) y.mutable_data<T>()[r] = mean_of(in, size);
      if (kind == Kind::Sum) y.mutable_data<T>()[r] = sum_of(in, size);
      if (kind == Kind::LayerNormalization) layer_normalization(context, in, y.mutable_data<T>() + r * size, size);
    }
  };
  if (x.dtype() == DType::Float32) {
    compute(float());
  } else if (x.dtype() == DType::Float64) {
    compute(double());
  } else {
    fail_unsupported(context.node.label(), ": of ", dtype_name(x.dtype()));
  }
  context.outputs[0] = std::move(y);
}

// Rows up to this long, whose numbers are kept from one pass over them to the next; those of longer ones are computed again.
constexpr int64_t kKeptRow = 8192;

// The loops of one row, d0, d1, ... around.
class Row {
 public:
  explicit Row(LowerContext& context)
      : context_(context),
        x(context.inputs[0]),
        y(context.outputs[0]),
        dtype(x->dtype),
        size(x->shape.back()),
        lanes(lies_in_rows(*x) ? loops::LoopKind::Vector : loops::LoopKind::Serial) {}

  std::vector<loops::Expr> at(loops::Expr i) const {
    std::vector<loops::Expr> indices;
    for (size_t k = 0; k + 1 < x->shape.size(); ++k) indices.push_back(loops::variable(cat("d", k)));
    indices.push_back(std::move(i));
    return indices;
  }
  loops::Expr in(loops::Expr i) const { return loops::load(x, at(std::move(i))); }
  loops::Expr number(double value) const { return loops::constant(dtype, value); }
  loops::BufferRef local(const char* name, const Shape& shape = {}) {
    loops::BufferRef buffer = loops::local_buffer(name, dtype, shape);
    add(loops::alloc(buffer));
    return buffer;
  }
  void add(loops::Stmt statement) { body_.push_back(std::move(statement)); }
  void each(const char* name, const std::function<loops::Stmt(loops::Expr)>& statement) {
    add(loops::loop(name, size, statement(loops::variable(name))));
  }
  // Reads term(i), out of memory called `name` where the row is short.
  std::function<loops::Expr(loops::Expr)> keep(const char* name, const char* index,
                                               const std::function<loops::Expr(loops::Expr)>& term) {
    if (size > kKeptRow) return term;
    const loops::BufferRef kept = local(name, {size});
    each(index, [&](const loops::Expr& i) { return loops::store(kept, {i}, term(i)); });
    return [kept](const loops::Expr& i) { return loops::load(kept, {i}); };
  }
  loops::Expr sum(const char* name, const std::function<loops::Expr(loops::Expr)>& term) {
    const loops::BufferRef total = local(name);
    for (loops::Stmt& s : ordered_sum(total, size, name, lanes, term)) add(std::move(s));
    return loops::load(total, {});
  }
  void emit() {
    loops::Stmt nest = loops::block(std::move(body_));
    for (size_t k = x->shape.size() - 1; k-- > 0;) nest = loops::loop(cat("d", k), x->shape[k], std::move(nest));
    context_.emit("row", std::move(nest));
  }

 private:
  LowerContext& context_;
  std::vector<loops::Stmt> body_;

 public:
  const loops::BufferRef x, y;
  const DType dtype;
  const int64_t size;
  const loops::LoopKind lanes;
};

// The stated exponential of its lower bound.
double least(DType dtype) {
  return dtype == DType::Float64 ? loops::stated_exponential(-loops::kStatedExponent)
                                 : loops::stated_exponential(static_cast<float>(-loops::kStatedExponent));
}

void softmax(Row& row, const LowerContext& context) {
  using namespace loops;
  const float factor = float_attribute(context.node, "scale");
  const auto scaled = [&](const Expr& e) { return factor == 1 ? e : e * row.number(factor); };
  const BufferRef best = row.local("best");
  row.add(store(best, {}, row.number(-std::numeric_limits<double>::infinity())));
  row.each("r0", [&](const Expr& i) { return store(best, {}, loops::max(load(best, {}), row.in(i))); });
  if (factor != 1) row.add(store(best, {}, scaled(load(best, {}))));
  const bool relative = int_attribute(context.node, "relative") != 0;
  const auto power = row.keep("power", "r1", [&](const Expr& i) {
    if (relative)
      return unary(Op::StatedExponential, scaled(row.in(i)) - load(best, {})) - row.number(least(row.dtype));
    return unary(Op::StatedDivisor, load(best, {}) - scaled(row.in(i))) - row.number(1);
  });
  const Expr sum = row.sum("sum", power);
  row.each("r2", [&](const Expr& i) { return store(row.y, row.at(i), power(i) / sum); });
}

loops::Expr whole_sum(Row& row) {
  return row.sum("sum", [&](const loops::Expr& i) { return row.in(i); });
}

loops::Expr mean(Row& row) {
  const loops::BufferRef mean = row.local("mean");
  row.add(loops::store(mean, {}, whole_sum(row) / row.number(static_cast<double>(row.size))));
  return loops::load(mean, {});
}

void layer_normalization(Row& row, const LowerContext& context) {
  using namespace loops;
  const Expr middle = mean(row);
  const BufferRef inverse = row.local("inverse");
  const auto off = row.keep("off", "r0", [&](const Expr& i) { return row.in(i)-middle; });
  const Expr squares = row.sum("squares", [&](const Expr& i) { return off(i) * off(i); });
  const Expr variance = squares / row.number(static_cast<double>(row.size));
  row.add(store(inverse, {},
                row.number(1) / unary(Op::Sqrt, variance + row.number(float_attribute(context.node, "epsilon")))));
  row.each("r1", [&](const Expr& i) {
    const Expr scaled = off(i) * load(inverse, {}) * load(context.inputs[1], {i});
    return store(row.y, row.at(i),
                 context.has_input(2) ? scaled + load(context.inputs[2], {i}) : scaled + row.number(0));
  });
}

template <Kind kind>
void lower(LowerContext& context) {
  const loops::BufferRef& x = context.inputs[0];
  if ((x->dtype != DType::Float32 && x->dtype != DType::Float64) || x->shape.back() == 0) return;
  Row row(context);
  if (kind == Kind::Softmax) softmax(row, context);
  if (kind == Kind::LayerNormalization) layer_normalization(row, context);
  if (reduces(kind)) {
    const loops::Expr result = kind == Kind::Mean ? mean(row) : whole_sum(row);
    row.add(loops::store(row.y, row.at(0), result));
  }
  row.emit();
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return 4.0 * static_cast<double>(element_count(inputs[0]));
}

template <Kind kind>
OpDef stated_row(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.domain = kInternalDomain;
  op.traits = kNoTraits;
  op.infer = infer<kind>;
  op.reference = reference<kind>;
  op.lower = lower<kind>;
  op.flops = flops;
  op.no_gradient = true;
  return op;
}

}  // namespace

OpDef define_StatedSoftmax() {
  OpDef op = stated_row<Kind::Softmax>("StatedSoftmax");
  op.attributes = {{"scale", 1.0F, "of what is read, above 0"},
                   {"relative", 0, "1: errors are small beside each number, not beside 1"}};
  return op;
}
OpDef define_StatedMean() { return stated_row<Kind::Mean>("StatedMean"); }
OpDef define_StatedSum() { return stated_row<Kind::Sum>("StatedSum"); }
OpDef define_StatedLayerNormalization() {
  OpDef op = stated_row<Kind::LayerNormalization>("StatedLayerNormalization");
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.attributes = {{"epsilon", 1e-5F, "added to the variance"}};
  return op;
}

}  // namespace dnn::stated_rows_ops
