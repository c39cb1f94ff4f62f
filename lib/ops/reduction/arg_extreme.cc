// ArgMax and ArgMin: the position of the largest or smallest element along an axis; the first NaN counts as both.
#include "ops/elementwise.h"
#include "ops/permute.h"
#include "ops/reduce.h"

namespace dnn::arg_extreme_ops {
namespace {

struct Search {
  size_t axis;
  bool keepdims, last, max;
  std::vector<bool> reduced;

  Search(const Node& node, int64_t rank, bool max_wanted)
      : keepdims(flag_attribute(node, "keepdims")), last(flag_attribute(node, "select_last_index")), max(max_wanted) {
    const int64_t given = int_attribute(node, "axis");
    if (given < -rank || given >= rank)
      fail_malformed(node.label(), ": axis ", given, " is out of range for rank ", rank);
    axis = static_cast<size_t>(given < 0 ? given + rank : given);
    reduced.resize(rank, false);
    reduced[axis] = true;
  }
  // Whether x, found after `best`, takes its place. Works on numbers and on loop expressions.
  template <class T>
  auto better(T x, T best) const {
    using elementwise::is_nan;
    const auto further = last ? (max ? x >= best : x <= best) : (max ? x > best : x < best);
    const auto nan = last ? is_nan(x) : is_nan(x) && !is_nan(best);
    return nan || (further && !is_nan(best));
  }
};

bool is_max(const Node& node) { return node.op == "ArgMax"; }

void infer(InferContext& context) {
  Type type;
  type.dtype = DType::Int64;
  if (context.has_shape(0)) {
    const std::vector<Dim>& shape = context.shape(0);
    const Search search(context.node, static_cast<int64_t>(shape.size()), is_max(context.node));
    if (shape[search.axis].size == 0) context.fail("axis ", search.axis, " of ", context.input(0).text(), " is empty");
    type.shape = reduced_shape(shape, search.reduced, search.keepdims);
  }
  context.set_output(0, std::move(type));
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Search search(context.node, x.rank(), is_max(context.node));
  const int64_t n = x.shape()[search.axis];
  if (n == 0) context.fail("axis ", search.axis, " of ", shape_text(x.shape()), " is empty");
  const int64_t stride = row_major_strides(x.shape())[search.axis];
  const ReductionOffsets offsets(x.shape(), search.reduced);
  Tensor y(DType::Int64, reduced_shape(x.shape(), search.reduced, search.keepdims));
  int64_t* out = y.mutable_data<int64_t>();
  internal::dispatch_domain<Domain::Numbers>(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = x.data<T>();
    for (size_t i = 0; i < offsets.kept.size(); ++i) {
      const T* from = in + offsets.kept[i];
      int64_t at = 0;
      for (int64_t k = 1; k < n; ++k) {
        if (search.better(widen(from[k * stride]), widen(from[at * stride]))) at = k;
      }
      out[i] = at;
    }
  });
  context.outputs[0] = std::move(y);
}

void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!loops::has_arithmetic(x->dtype)) return;
  const Search search(context.node, static_cast<int64_t>(x->shape.size()), is_max(context.node));
  std::vector<Expr> x_index, y_index;
  for (size_t i = 0; i < x->shape.size(); ++i) {
    const bool reduced = i == search.axis;
    x_index.push_back(variable(reduced ? "r" : cat("d", i)));
    if (!reduced || search.keepdims) y_index.push_back(reduced ? constant_int(DType::Int64, 0) : x_index.back());
  }
  std::vector<Expr> first = x_index;
  first[search.axis] = constant_int(DType::Int64, 0);
  const BufferRef best = local_buffer("best", x->dtype), at = local_buffer("at", DType::Int64);
  const Expr value = load(x, x_index), r = variable("r");
  const Expr better = search.better(value, load(best, {}));
  Stmt body =
      block({alloc(best), alloc(at), store(best, {}, load(x, first)), store(at, {}, constant_int(DType::Int64, 0)),
             loop("r", x->shape[search.axis],
                  block({store(at, {}, loops::select(r > 0 && better, r, load(at, {}))),
                         store(best, {}, loops::select(load(at, {}) == r, value, load(best, {})))})),
             store(y, y_index, load(at, {}))});
  for (size_t i = x->shape.size(); i-- > 0;) {
    if (i != search.axis) body = loop(cat("d", i), x->shape[i], std::move(body));
  }
  context.emit("row", std::move(body));
}

OpDef arg_op(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.since = 13;
  op.traits = kNoTraits;
  op.attributes = {{"axis", 0, "axis that is reduced"},
                   {"keepdims", 1, "reduced axes stay, with extent 1"},
                   {"select_last_index", 0, "of equal values the last counts"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.no_gradient = true;
  op.permute = permute_reduced_axis;
  return op;
}

}  // namespace

OpDef define_ArgMax() { return arg_op("ArgMax"); }
OpDef define_ArgMin() { return arg_op("ArgMin"); }

}  // namespace dnn::arg_extreme_ops
