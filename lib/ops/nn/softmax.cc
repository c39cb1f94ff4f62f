// Softmax, LogSoftmax, Hardmax: along one axis.
//
// Order (reference, and compiled at -O0), along the axis from 0 on: the largest (`best > x ? best : x` from the lowest
// value on), then e = exp(x - largest) and their sum, then e / sum, or (x - largest) - log(sum). 16-bit floats are rounded
// after each of these steps, as in the operators' ONNX function bodies. Hardmax is 1 at the first largest element.
#include <cmath>
#include <limits>

#include "ops/gradient.h"
#include "ops/outputs.h"
#include "ops/permute.h"
#include "tensor/dispatch.h"

namespace dnn::softmax_ops {
namespace {

enum class Kind : uint8_t { Soft, LogSoft, Hard };

void infer(InferContext& context) {
  expect_float(context, 0);
  const int64_t axis = int_attribute(context.node, "axis");
  if (context.has_shape(0) && !context.shape(0).empty())
    context.axis(axis, static_cast<int64_t>(context.shape(0).size()));
  context.set_output(0, context.input(0));
}

// Rows along `axis`: `outer` x `inner` of them, each of `size` elements `inner` apart.
struct Rows {
  int64_t outer = 1, size = 1, inner = 1;
  Rows(const Node& node, const Shape& shape) {
    if (shape.empty()) return;
    const auto rank = static_cast<int64_t>(shape.size());
    int64_t axis = int_attribute(node, "axis");
    if (axis < 0) axis += rank;
    for (int64_t i = 0; i < rank; ++i) {
      (i < axis ? outer : i == axis ? size : inner) *= shape[i];
    }
  }
};

template <Kind kind, class T>
void row(const T* in, T* out, int64_t size, int64_t step) {
  using C = Compute<T>;
  C best = -std::numeric_limits<C>::infinity();
  int64_t first = 0;
  for (int64_t i = 0; i < size; ++i) {
    const C x = widen(in[i * step]);
    if (i == 0 || !(best >= x)) first = i;
    best = best > x ? best : x;
  }
  if constexpr (kind == Kind::Hard) {
    for (int64_t i = 0; i < size; ++i) out[i * step] = narrow<T>(i == first ? C(1) : C(0));
  } else {
    const auto rounded = [](C value) { return widen(narrow<T>(value)); };
    const auto shifted = [&](int64_t i) { return rounded(widen(in[i * step]) - best); };
    C sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += rounded(std::exp(shifted(i)));
    sum = rounded(sum);
    const C shift = rounded(std::log(sum));
    for (int64_t i = 0; i < size; ++i) {
      out[i * step] = narrow<T>(kind == Kind::Soft ? rounded(std::exp(shifted(i))) / sum : shifted(i) - shift);
    }
  }
}

template <Kind kind>
void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer);
  const Rows rows(context.node, x.shape());
  dispatch_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    for (int64_t o = 0; o < rows.outer && rows.size > 0; ++o) {
      for (int64_t i = 0; i < rows.inner; ++i) {
        const int64_t start = o * rows.size * rows.inner + i;
        row<kind, T>(in + start, out + start, rows.size, rows.inner);
      }
    }
  });
  context.outputs[0] = std::move(y);
}

// Rows up to this long keep their exponentials; longer ones compute them twice.
constexpr int64_t kKeptRow = 4096;

// Loops d0.. over all other axes, then r0, r1, s1, r2 along the row, each of one statement so that it can run in vectors.
template <Kind kind>
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const auto rank = static_cast<int64_t>(x->shape.size());
  if (rank == 0) return;
  int64_t axis = int_attribute(context.node, "axis");
  if (axis < 0) axis += rank;
  const auto indices = [&](const char* along) {
    std::vector<Expr> result;
    for (int64_t i = 0; i < rank; ++i) result.push_back(variable(i == axis ? along : cat("d", i)));
    return result;
  };
  const int64_t size = x->shape[axis];
  const bool kept = kind == Kind::Soft && size <= kKeptRow;
  const BufferRef best = local_buffer("best", dtype), sum = local_buffer("sum", dtype),
                  power = local_buffer("power", dtype, {size});
  const auto shifted = [&](const char* along) { return load(x, indices(along)) - load(best, {}); };
  const Expr r1 = variable("r1"), r2 = variable("r2");
  std::vector<Stmt> body = {alloc(best), alloc(sum)};
  if (kept) body.push_back(alloc(power));
  body.push_back(store(best, {}, constant(dtype, -std::numeric_limits<double>::infinity())));
  body.push_back(loop("r0", size, store(best, {}, loops::max(load(best, {}), load(x, indices("r0"))))));
  body.push_back(store(sum, {}, constant(dtype, 0)));
  const Expr e = unary(Op::Exp, shifted("r1"));
  if (kept) {
    body.push_back(loop("r1", size, store(power, {r1}, e)));
    body.push_back(loop("s1", size, store(sum, {}, load(sum, {}) + load(power, {variable("s1")}))));
  } else {
    body.push_back(loop("r1", size, store(sum, {}, load(sum, {}) + e)));
  }
  Expr result;
  if (kind == Kind::Soft) {
    result = (kept ? load(power, {r2}) : unary(Op::Exp, shifted("r2"))) / load(sum, {});
  } else {
    body.push_back(store(sum, {}, unary(Op::Log, load(sum, {}))));
    result = shifted("r2") - load(sum, {});
  }
  body.push_back(loop("r2", size, store(y, indices("r2"), result)));
  Stmt nest = block(std::move(body));
  for (int64_t i = rank; i-- > 0;) {
    if (i != axis) nest = loop(cat("d", i), x->shape[i], std::move(nest));
  }
  context.emit("row", std::move(nest));
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return 4.0 * static_cast<double>(element_count(inputs[0]));
}

// Soft: y (dy - sum(dy y)); log of it: dy - exp(y) sum(dy).
template <Kind kind>
void gradient(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  const ValueId y = context.output(0), dy = context.dy();
  const std::vector<int64_t> axis = {int_attribute(context.node, "axis")};
  const auto node = [&](const char* op, ValueId a, ValueId b) { return build.emit(op, {a, b}); };
  if (kind == Kind::Soft) {
    context.set(0, node("Mul", y, node("Sub", dy, reduce_sum(build, node("Mul", dy, y), axis, true))));
  } else {
    context.set(0, node("Sub", dy, node("Mul", build.emit("Exp", {y}), reduce_sum(build, dy, axis, true))));
  }
}

template <Kind kind>
OpDef softmax(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.since = 13;
  op.traits = kNoTraits;
  op.attributes = {{"axis", -1, "axis that is normalised"}};
  op.infer = infer;
  op.reference = reference<kind>;
  if (kind != Kind::Hard) op.lower = lower<kind>;
  op.flops = flops;
  op.permute = permute_axis;
  if (kind != Kind::Hard) op.gradient = gradient<kind>;
  return op;
}

}  // namespace

OpDef define_Softmax() { return softmax<Kind::Soft>("Softmax"); }
OpDef define_LogSoftmax() { return softmax<Kind::LogSoft>("LogSoftmax"); }
OpDef define_Hardmax() { return softmax<Kind::Hard>("Hardmax"); }

}  // namespace dnn::softmax_ops
