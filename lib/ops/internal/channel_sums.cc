// dnn.ChannelSums and dnn.ChannelMoments: what batch normalisation and biases add up over the batch and all positions, for each
// channel. Made by sums of gradients (gradient.h) and by lib/train.
//
//   ChannelSums(a, b, shift): sum of a, and sum of a * (b - shift); without b the first alone.
//   ChannelMoments(x): mean and population variance.
//
// a, b, x: [N, C, D...]; shift and what is made: [C]. Order (reference, and compiled at -O0): a sum for each row, of which the sum of a
// plane, of which the sum over the batch; so rounding does not grow with the number of elements. Moments: mean and sum of squared
// differences of each plane, from which those of all follow (Chan, Golub and LeVeque, 1979).
#include "ops/gradient.h"
#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::channel_sums_ops {
namespace {

// [N, C, D...] as N planes of `rows` times `columns` for each channel.
struct Planes {
  int64_t n, channels, rows, columns;
  explicit Planes(const Shape& x)
      : n(x[0]),
        channels(x[1]),
        rows(x.size() > 3 ? element_count({x.begin() + 2, x.end() - 1}) : 1),
        columns(x.size() > 2 ? x.back() : 1) {}
  int64_t size() const { return rows * columns; }
};

void infer_channels(InferContext& context, size_t outputs) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    if (context.shape(0).size() < 2) context.fail("input ", context.input(0).text(), " has no channels");
    type.shape = std::vector<Dim>{context.shape(0)[1]};
  }
  for (size_t i = 0; i < outputs; ++i) context.set_output(i, type);
}

void infer_sums(InferContext& context) {
  const DType dtype = context.input(0).dtype;
  expect_dtype(context, 1, dtype);
  expect_dtype(context, 2, dtype);
  if (context.has_input(1) != context.has_input(2)) context.fail("b and shift come together");
  if (context.has_input(1) && context.has_shape(0) && context.has_shape(1) && context.shape(0) != context.shape(1))
    context.fail("a is ", context.input(0).text(), ", b ", context.input(1).text());
  infer_channels(context, context.has_input(1) ? 2 : 1);
}

void infer_moments(InferContext& context) { infer_channels(context, 2); }

// The sum of value(i) over a plane.
template <class C, class Value>
C sum_of(const Planes& planes, const Value& value) {
  C total = 0;
  for (int64_t row = 0, i = 0; row < planes.rows; ++row) {
    C sum = 0;
    for (int64_t column = 0; column < planes.columns; ++column, ++i) sum += value(i);
    total += sum;
  }
  return total;
}

template <class T>
void sums(ReferenceContext& context) {
  using C = Compute<T>;
  const Tensor& a = context.input(0);
  const Planes planes(a.shape());
  const bool product = context.has_input(1);
  for (size_t i = 0; i < (product ? 2U : 1U); ++i) {
    Tensor y = allocate_output(context, infer_sums, i);
    for (int64_t c = 0; c < planes.channels; ++c) {
      C total = 0;
      for (int64_t n = 0; n < planes.n; ++n) {
        const int64_t at = (n * planes.channels + c) * planes.size();
        const T* from = a.data<T>() + at;
        if (i == 0) {
          total += sum_of<C>(planes, [&](int64_t k) { return widen(from[k]); });
        } else {
          const T* other = context.input(1).data<T>() + at;
          const C shift = widen(context.input(2).data<T>()[c]);
          total += sum_of<C>(planes, [&](int64_t k) { return widen(from[k]) * (widen(other[k]) - shift); });
        }
      }
      y.mutable_data<T>()[c] = narrow<T>(total);
    }
    context.outputs[i] = std::move(y);
  }
}

template <class T>
void moments(ReferenceContext& context) {
  using C = Compute<T>;
  const Tensor& x = context.input(0);
  const Planes planes(x.shape());
  Tensor mean = allocate_output(context, infer_moments, 0), variance = allocate_output(context, infer_moments, 1);
  const C size = static_cast<C>(planes.size()), count = static_cast<C>(planes.n);
  std::vector<C> means(planes.n), squares(means.size());
  for (int64_t c = 0; c < planes.channels; ++c) {
    C sum = 0, spread = 0;
    for (int64_t n = 0; n < planes.n; ++n) {
      const T* from = x.data<T>() + (n * planes.channels + c) * planes.size();
      const size_t i = n;
      const C own = means[i] = sum_of<C>(planes, [&](int64_t k) { return widen(from[k]); }) / size;
      squares[i] = sum_of<C>(planes, [&](int64_t k) { return (widen(from[k]) - own) * (widen(from[k]) - own); });
      sum += own;
    }
    const C all = sum / count;
    for (size_t i = 0; i < means.size(); ++i) spread += squares[i] + size * ((means[i] - all) * (means[i] - all));
    mean.mutable_data<T>()[c] = narrow<T>(all);
    variance.mutable_data<T>()[c] = narrow<T>(spread / (count * size));
  }
  context.outputs[0] = std::move(mean);
  context.outputs[1] = std::move(variance);
}

void reference_sums(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(), [&](auto tag) { sums<typename decltype(tag)::type>(context); });
}
void reference_moments(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(), [&](auto tag) { moments<typename decltype(tag)::type>(context); });
}

// The index of an element of a plane, with loops d0.. over its extents.
std::vector<loops::Expr> index_of(const Shape& shape) {
  std::vector<loops::Expr> index = {loops::variable("n"), loops::variable("c")};
  for (size_t i = 2; i < shape.size(); ++i) index.push_back(loops::variable(cat("d", i - 2)));
  return index;
}

// Adds up `values` over a plane, each into a local of `totals`; the loops' names end in `mark`.
std::vector<loops::Stmt> plane_sums(const Shape& shape, const std::vector<loops::Expr>& values,
                                    const std::vector<loops::BufferRef>& totals, const std::string& mark) {
  using namespace loops;
  const DType dtype = values[0]->dtype;
  std::map<std::string, Expr> renamed;
  for (size_t i = 2; i < shape.size(); ++i) renamed[cat("d", i - 2)] = variable(cat("d", i - 2, mark));
  std::vector<Stmt> result, row, add, close;
  for (size_t i = 0; i < values.size(); ++i) {
    const BufferRef sum = local_buffer(cat("row", mark, i), dtype);
    result.push_back(store(totals[i], {}, constant(dtype, 0)));
    row.push_back(alloc(sum));
    row.push_back(store(sum, {}, constant(dtype, 0)));
    add.push_back(store(sum, {}, load(sum, {}) + substitute(values[i], renamed)));
    close.push_back(store(totals[i], {}, load(totals[i], {}) + load(sum, {})));
  }
  Stmt inner = block(add);
  if (shape.size() > 2) inner = loop(cat("d", shape.size() - 3, mark), shape.back(), std::move(inner));
  row.push_back(std::move(inner));
  row.insert(row.end(), close.begin(), close.end());
  Stmt rows = block(std::move(row));
  for (size_t i = shape.size() > 2 ? shape.size() - 1 : 2; i-- > 2;)
    rows = loop(cat("d", i - 2, mark), shape[i], std::move(rows));
  result.push_back(std::move(rows));
  return result;
}

loops::Stmt over_channels(const Planes& planes, std::vector<loops::Stmt> body) {
  return loops::loop("c", planes.channels, loops::block(std::move(body)));
}

// Two stages: sums of each plane, then over the batch.
void lower_sums(LowerContext& context) {
  using namespace loops;
  const BufferRef a = context.inputs[0];
  const DType dtype = a->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const Planes planes(a->shape);
  const Expr n = variable("n"), c = variable("c");
  const std::vector<Expr> index = index_of(a->shape);
  std::vector<Expr> values = {load(a, index)};
  if (context.has_input(1))
    values.push_back(load(a, index) * (load(context.inputs[1], index) - load(context.inputs[2], {c})));
  std::vector<BufferRef> parts, totals;
  std::vector<Stmt> body, joined;
  for (size_t i = 0; i < values.size(); ++i) {
    parts.push_back(context.temporary(cat("part", i), dtype, {planes.n, planes.channels}));
    totals.push_back(local_buffer(cat("total", i), dtype));
    body.push_back(alloc(totals[i]));
  }
  for (Stmt& s : plane_sums(a->shape, values, totals, "")) body.push_back(std::move(s));
  for (size_t i = 0; i < values.size(); ++i) {
    body.push_back(store(parts[i], {n, c}, load(totals[i], {})));
    const BufferRef sum = local_buffer(cat("sum", i), dtype);
    joined.push_back(alloc(sum));
    joined.push_back(store(sum, {}, constant(dtype, 0)));
    joined.push_back(
        loop(cat("n", i), planes.n, store(sum, {}, load(sum, {}) + load(parts[i], {variable(cat("n", i)), c}))));
    if (i < context.outputs.size() && context.outputs[i] != nullptr)
      joined.push_back(store(context.outputs[i], {c}, load(sum, {})));
  }
  context.emit("channels", loop("n", planes.n, over_channels(planes, std::move(body))));
  context.emit("channels", over_channels(planes, std::move(joined)));
}

void lower_moments(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const Planes planes(x->shape);
  const Expr n = variable("n"), c = variable("c");
  const auto number = [&](int64_t value) { return constant(dtype, static_cast<double>(value)); };
  const BufferRef means = context.temporary("means", dtype, {planes.n, planes.channels}),
                  squares = context.temporary("squares", dtype, {planes.n, planes.channels});
  const BufferRef total = local_buffer("total", dtype), mean = local_buffer("mean", dtype),
                  spread = local_buffer("spread", dtype);
  const Expr value = load(x, index_of(x->shape)), apart = value - load(mean, {});
  std::vector<Stmt> body = {alloc(total), alloc(mean), alloc(spread)};
  for (Stmt& s : plane_sums(x->shape, {value}, {total}, "")) body.push_back(std::move(s));
  body.push_back(store(mean, {}, load(total, {}) / number(planes.size())));
  for (Stmt& s : plane_sums(x->shape, {apart * apart}, {spread}, "s")) body.push_back(std::move(s));
  body.push_back(store(means, {n, c}, load(mean, {})));
  body.push_back(store(squares, {n, c}, load(spread, {})));
  context.emit("channels", loop("n", planes.n, over_channels(planes, std::move(body))));

  const Expr of_all = load(means, {variable("n2"), c}) - load(mean, {});
  std::vector<Stmt> joined = {
      alloc(total),
      alloc(mean),
      alloc(spread),
      store(total, {}, number(0)),
      loop("n1", planes.n, store(total, {}, load(total, {}) + load(means, {variable("n1"), c}))),
      store(mean, {}, load(total, {}) / number(planes.n)),
      store(spread, {}, number(0)),
      loop("n2", planes.n,
           store(spread, {},
                 load(spread, {}) + (load(squares, {variable("n2"), c}) + number(planes.size()) * (of_all * of_all))))};
  if (context.outputs[0] != nullptr) joined.push_back(store(context.outputs[0], {c}, load(mean, {})));
  if (context.outputs.size() > 1 && context.outputs[1] != nullptr)
    joined.push_back(store(context.outputs[1], {c}, load(spread, {}) / number(planes.n * planes.size())));
  context.emit("channels", over_channels(planes, std::move(joined)));
}

double flops_sums(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return (node.input(1) == kNoValue ? 1.0 : 4.0) * static_cast<double>(element_count(inputs[0]));
}

double flops_moments(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return 4.0 * static_cast<double>(element_count(inputs[0]));
}

// dx = dmean / n + dvariance * 2 (x - mean) / n
void gradient_moments(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  const ValueId x = context.input(0);
  const Shape shape = build.shape(x);
  const DType dtype = build.dtype(x);
  const int64_t summed = element_count(shape) / std::max<int64_t>(1, shape[1]);
  const auto count = static_cast<double>(summed);
  Shape broadcast(shape.size(), 1);
  broadcast[1] = shape[1];
  const auto node = [&](const char* op, ValueId a, ValueId b) { return build.emit(op, {a, b}); };
  const auto scaled = [&](ValueId v, double factor) {
    return reshape_to(build, node("Mul", v, build.number(factor, dtype)), broadcast);
  };
  ValueId dx = kNoValue;
  if (const ValueId dvariance = context.output_gradients[1]; dvariance != kNoValue) {
    const ValueId centered = node("Sub", x, reshape_to(build, context.output(0), broadcast));
    dx = node("Mul", centered, scaled(dvariance, 2 / count));
  }
  if (const ValueId dmean = context.output_gradients[0]; dmean != kNoValue) {
    const ValueId part = scaled(dmean, 1 / count);
    dx = dx == kNoValue ? expand_to(build, part, shape) : node("Add", dx, part);
  }
  if (dx != kNoValue) context.set(0, dx);
}

}  // namespace

OpDef define_ChannelSums() {
  OpDef op;
  op.name = "ChannelSums";
  op.domain = kInternalDomain;
  op.max_inputs = 3;
  op.max_outputs = 2;
  op.traits = kNoTraits;
  op.infer = infer_sums;
  op.reference = reference_sums;
  op.lower = lower_sums;
  op.flops = flops_sums;
  return op;
}

OpDef define_ChannelMoments() {
  OpDef op;
  op.name = "ChannelMoments";
  op.domain = kInternalDomain;
  op.min_outputs = op.max_outputs = 2;
  op.traits = kNoTraits;
  op.infer = infer_moments;
  op.reference = reference_moments;
  op.lower = lower_moments;
  op.flops = flops_moments;
  op.gradient = gradient_moments;
  return op;
}

}  // namespace dnn::channel_sums_ops
