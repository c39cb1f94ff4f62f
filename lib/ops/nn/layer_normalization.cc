// LayerNormalization, RMSNormalization: each row (the axes from `axis` on) by its own statistics.
//
// Order (reference, and compiled at -O0), along the row in row-major order: mean = sum(x) / n; variance = sum of
// (x - mean)^2, / n; r = 1 / sqrt(variance + epsilon); y = (x - mean) * r * scale + B. RMSNormalization takes
// variance = sum(x * x) / n and y = x * r * scale. 16-bit floats are computed in float32 and rounded once, except that
// the normalised value is rounded to their type before it is scaled, as stash_type 1 asks.
#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/outputs.h"
#include "ops/rows.h"

namespace dnn::layer_normalization_ops {
namespace {

// x: [D0.., R0..] with rows R from `axis` on; scale, B broadcast to x's shape.
size_t row_axis(const Node& node, size_t rank) {
  const int64_t axis = int_attribute(node, "axis"), r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) fail_malformed(node.label(), ": axis ", axis, " is out of range for rank ", rank);
  return axis < 0 ? axis + r : axis;
}

// The type of Mean and InvStdDev. Statistics are computed in float32 (float64 for float64 inputs).
DType stash_type(const Node& node) {
  const DType stash = dtype_from_onnx(int_attribute(node, "stash_type"));
  if (stash != DType::Float32 && stash != DType::Float64)
    fail_unsupported(node.label(), ": stash_type ", dtype_name(stash), ": only float32 is supported");
  return stash;
}

void check_parameter(const InferContext& context, size_t i) {
  if (!context.has_shape(0) || !context.has_shape(i)) return;
  const auto &x = context.shape(0), &p = context.shape(i);
  bool fits = p.size() <= x.size();
  for (size_t k = 0; fits && k < p.size(); ++k) {
    const Dim& to = x[x.size() - p.size() + k];
    fits = !p[k].fixed() || p[k].size == 1 || !to.fixed() || p[k].size == to.size;
  }
  if (!fits)
    context.fail("input ", i, " of ", context.input(i).text(), " does not broadcast to ", context.input(0).text());
}

void infer(InferContext& context) {
  const Type& x = context.input(0);
  for (size_t i = 0; i < 3; ++i) expect_float(context, i);
  for (size_t i = 1; i < 3; ++i) check_parameter(context, i);
  Type y = x, statistics;
  const bool rms = context.node.op == "RMSNormalization";
  if (rms) {
    y.dtype = context.input(1).dtype;
  } else {
    expect_dtype(context, 1, x.dtype);
    expect_dtype(context, 2, x.dtype);
  }
  statistics.dtype = stash_type(context.node);
  if (x.shape) {
    statistics.shape = x.shape;
    for (size_t i = row_axis(context.node, x.shape->size()); i < x.shape->size(); ++i) (*statistics.shape)[i] = Dim(1);
  }
  context.set_output(0, std::move(y));
  context.set_output(1, statistics);
  context.set_output(2, statistics);
}

// A parameter's elements in the order of x's (broadcast), computed in C.
template <class C>
struct Parameter {
  Parameter(const Tensor& tensor, const Shape& x, size_t axis) : values(convert(tensor, kDTypeOf<C>)) {
    const Shape row(x.begin() + static_cast<std::ptrdiff_t>(axis), x.end());
    whole_row = tensor.shape() == row;
    if (!whole_row) offsets = broadcast_offsets(x, {tensor.shape()})[0];
    data = values.template data<C>();
  }
  C at(int64_t start, int64_t i) const { return data[whole_row ? i : offsets[start + i]]; }
  Tensor values;
  bool whole_row = false;
  std::vector<int64_t> offsets;
  const C* data = nullptr;
};

template <class T, class Y>
void compute(ReferenceContext& context, const Tensor& x, Tensor& y, bool rms) {
  using C = Compute<T>;
  const size_t axis = row_axis(context.node, x.shape().size());
  const auto epsilon = static_cast<C>(float_attribute(context.node, "epsilon"));
  const int64_t size = element_count({x.shape().begin() + static_cast<std::ptrdiff_t>(axis), x.shape().end()});
  const int64_t rows = element_count({x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(axis)});
  const Parameter<C> scale(context.input(1), x.shape(), axis);
  const bool has_bias = context.has_input(2);
  const Parameter<C> bias(context.input(has_bias ? 2 : 1), x.shape(), axis);
  const T* in = x.data<T>();
  Y* out = y.mutable_data<Y>();
  std::vector<C> means, inverses;
  for (int64_t r = 0; r < rows; ++r, in += size, out += size) {
    C mean = 0, squares = 0;
    if (!rms) {
      for (int64_t i = 0; i < size; ++i) mean += widen(in[i]);
      mean = mean / static_cast<C>(size);
    }
    for (int64_t i = 0; i < size; ++i) {
      const C d = rms ? widen(in[i]) : widen(in[i]) - mean;
      squares += d * d;
    }
    const C inverse = C(1) / std::sqrt(squares / static_cast<C>(size) + epsilon);
    for (int64_t i = 0; i < size; ++i) {
      const C d = rms ? widen(in[i]) : widen(in[i]) - mean;
      C value = widen(narrow<T>(d * inverse)) * scale.at(r * size, i);
      if (has_bias) value = value + bias.at(r * size, i);
      out[i] = static_cast<Y>(value);
    }
    means.push_back(mean);
    inverses.push_back(inverse);
  }
  if (rms) return;
  const std::vector<Type> types = infer_outputs(context, infer);
  for (size_t i = 1; i < context.outputs.size(); ++i) {
    if (context.wants_output(i))
      context.outputs[i] = convert(Tensor::of<C>(types[i].fixed_shape(), i == 1 ? means : inverses), types[i].dtype);
  }
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer);
  const bool rms = context.node.op == "RMSNormalization";
  dispatch_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (y.dtype() == x.dtype()) return compute<T, T>(context, x, y, rms);
    if constexpr (!std::is_same_v<T, double>) {
      if (y.dtype() == DType::Float32) return compute<T, float>(context, x, y, rms);
    }
    fail_unsupported(context.node.op, " of ", dtype_name(x.dtype()), " with a scale of ", dtype_name(y.dtype()));
  });
  context.outputs[0] = std::move(y);
}

// Loops d0.. over the rows; then r.., s.., t.. along the row's axes.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  for (const BufferRef& input : context.inputs) {
    if (input != nullptr && input->dtype != dtype) return;
  }
  for (size_t i = 1; i < context.outputs.size(); ++i) {
    if (context.outputs[i] != nullptr && context.outputs[i]->dtype != dtype) return;
  }
  const bool rms = context.node.op == "RMSNormalization";
  const size_t rank = x->shape.size(), axis = row_axis(context.node, rank);
  std::vector<bool> in_row(rank, false);
  std::fill(in_row.begin() + static_cast<std::ptrdiff_t>(axis), in_row.end(), true);
  const RowLoops rows(x->shape, in_row);
  const Expr n = constant(dtype, static_cast<double>(rows.size())), zero = constant(dtype, 0);
  const Expr epsilon = constant(dtype, float_attribute(context.node, "epsilon"));
  const BufferRef mean = local_buffer("mean", dtype), inverse = local_buffer("inverse", dtype);
  const auto deviation = [&](const char* along) {
    const Expr value = load(x, rows.indices(along));
    return rms ? value : value - load(mean, {});
  };
  std::vector<Stmt> body;
  if (!rms) {
    body = {alloc(mean), store(mean, {}, zero),
            rows.along("r", store(mean, {}, load(mean, {}) + load(x, rows.indices("r")))),
            store(mean, {}, load(mean, {}) / n)};
  }
  const Expr d = deviation("s");
  body.push_back(alloc(inverse));
  body.push_back(store(inverse, {}, zero));
  body.push_back(rows.along("s", store(inverse, {}, load(inverse, {}) + d * d)));
  body.push_back(store(inverse, {}, constant(dtype, 1) / unary(Op::Sqrt, load(inverse, {}) / n + epsilon)));
  const std::vector<Expr> at = rows.indices("t");
  const auto parameter = [&](size_t i) {
    return load(context.inputs[i], broadcast_indices(context.inputs[i]->shape, at));
  };
  Expr result = deviation("t") * load(inverse, {}) * parameter(1);
  if (context.has_input(2)) result = result + parameter(2);
  body.push_back(rows.along("t", store(y, at, result)));
  for (size_t i = 1; i < context.outputs.size(); ++i) {
    if (context.outputs[i] == nullptr) continue;
    std::vector<Expr> index(rank, constant_int(DType::Int64, 0));
    for (size_t k = 0; k < axis; ++k) index[k] = variable(cat("d", k));
    body.push_back(store(context.outputs[i], index, load(i == 1 ? mean : inverse, {})));
  }
  context.emit("row", rows.around(block(std::move(body))));
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return 8.0 * static_cast<double>(element_count(inputs[0]));
}

// With n the normalised row and g = dy * scale: dx = r (g - mean(g) - n mean(g n)), of RMSNormalization without mean(g).
void gradient(GradientContext& context) {
  for (size_t i = 1; i < context.output_gradients.size(); ++i) {
    if (context.output_gradients[i] != kNoValue)
      fail_unsupported(context.node.label(), ": no gradient of its statistics");
  }
  GraphBuilder& build = context.build;
  const bool rms = context.node.op == "RMSNormalization";
  const ValueId x = context.input(0), scale = context.input(1), dy = context.dy();
  const auto rank = static_cast<int64_t>(build.shape(x).size());
  std::vector<int64_t> axes;
  for (auto i = static_cast<int64_t>(row_axis(context.node, rank)); i < rank; ++i) axes.push_back(i);
  const auto node = [&](const char* op, ValueId a, ValueId b) { return build.emit(op, {a, b}); };
  const auto mean_of = [&](ValueId v) { return build.emit("ReduceMean", {v, build.list(axes)}); };
  const ValueId centred = rms ? x : node("Sub", x, mean_of(x));
  const ValueId epsilon = build.number(double{float_attribute(context.node, "epsilon")}, build.dtype(x));
  const ValueId deviation = build.emit("Sqrt", {node("Add", mean_of(node("Mul", centred, centred)), epsilon)});
  const ValueId normal = node("Div", centred, deviation);
  if (context.wants(0)) {
    const ValueId g = node("Mul", dy, scale);
    ValueId rest = node("Sub", g, node("Mul", normal, mean_of(node("Mul", g, normal))));
    if (!rms) rest = node("Sub", rest, mean_of(g));
    context.set(0, node("Div", rest, deviation));
  }
  if (context.wants(1)) context.set(1, sum_to(build, node("Mul", dy, normal), build.shape(scale)));
  if (context.wants(2)) context.set(2, sum_to(build, dy, build.shape(context.input(2))));
}

}  // namespace

OpDef define_LayerNormalization() {
  OpDef op;
  op.name = "LayerNormalization";
  op.since = 17;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.max_outputs = 3;
  op.traits = kNoTraits;
  op.attributes = {{"axis", -1, "first of the axes that are normalised"},
                   {"epsilon", 1e-5F, "added to the variance"},
                   {"stash_type", 1, "dtype of the statistics"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  op.gradient = gradient;
  return op;
}

OpDef define_RMSNormalization() {
  OpDef op = define_LayerNormalization();
  op.name = "RMSNormalization";
  op.since = 23;
  op.max_inputs = 2;
  op.max_outputs = 1;
  return op;
}

}  // namespace dnn::layer_normalization_ops
