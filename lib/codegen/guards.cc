// Conditions on indices; see guards.h.
#include "codegen/guards.h"

#include <vector>

#include "codegen/inner_loops.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Whether `condition`, of loop variables alone, fails only where an index of `read` lies outside of the tensor.
bool guards_extents(const Expr& condition, const Expr& read, const Ranges& ranges) {
  int64_t value = 0;
  if (constant_value(simplify(condition, ranges), &value)) return value != 0;
  if (condition->op == Op::And)
    return guards_extents(condition->args[0], read, ranges) && guards_extents(condition->args[1], read, ranges);
  if ((condition->op != Op::Lt && condition->op != Op::Le) || condition->args[0]->dtype != DType::Int64) return false;
  const Expr one = constant_int(DType::Int64, condition->op == Op::Lt ? 1 : 0);
  const Expr slack = condition->args[1] - condition->args[0] - one;  // the condition fails where this is negative
  for (size_t axis = 0; axis < read->args.size(); ++axis) {
    const Expr last = constant_int(DType::Int64, read->buffer->shape[axis] - 1);
    for (const Expr& inside : {read->args[axis], last - read->args[axis]}) {
      if (constant_value(simplify(slack - inside, ranges), &value) && value >= 0) return true;
    }
  }
  return false;
}

// The comparisons that a condition is made of, where it is one of index expressions joined by "and".
bool comparisons(const Expr& condition, std::vector<Expr>* out) {
  if (condition->op == Op::And) return comparisons(condition->args[0], out) && comparisons(condition->args[1], out);
  if ((condition->op != Op::Lt && condition->op != Op::Le) || condition->args[0]->dtype != DType::Int64) return false;
  out->push_back(condition);
  return true;
}

// The turns of the loop over v in which all conditions on it hold whatever else turns; low > high: none. `guarded` says
// whether there are any conditions on it.
Interval inside(const Stmt& body, const std::string& v, bool* guarded) {
  std::vector<Expr> all;
  bool known = true;
  rewrite_expressions(body, [&](const Expr& e) {
    if (e->op == Op::Select && uses_variable(e->args[0], v) && index_condition(e->args[0]))
      known = known && comparisons(e->args[0], &all);
    return e;
  });
  *guarded = !known || !all.empty();
  const int64_t extent = loop_extent(body, v);
  Interval result{0, -1};
  if (!known) return result;
  Ranges ranges = loop_ranges(body);
  for (int64_t turn = 0; turn < extent; ++turn) {
    ranges[v] = {turn, turn};
    bool holds = true;
    for (const Expr& e : all) {
      Interval slack{};
      holds = holds && (!uses_variable(e, v) || (bounds(simplify(e->args[1] - e->args[0], ranges), ranges, &slack) &&
                                                 slack.low >= (e->op == Op::Lt ? 1 : 0)));
    }
    if (!holds && result.low <= result.high) break;
    if (holds && result.low > result.high) result.low = turn;
    if (holds) result.high = turn;
  }
  return result;
}

}  // namespace

Stmt drop_guards(const Stmt& body, bool any_number) {
  const Ranges ranges = loop_ranges(body);
  return rewrite_expressions(body, [&](const Expr& e) {
    if (e->op != Op::Select || e->args[1]->op != Op::Load || e->args[2]->op != Op::Constant || e->args[2]->f != 0 ||
        (e->args[2]->i != 0 && !any_number) || !e->args[1]->buffer->layout.has_halo()) {
      return e;
    }
    const Expr& read = e->args[1];
    const Buffer& buffer = *read->buffer;
    for (size_t axis = 0; axis < read->args.size(); ++axis) {
      const int a = static_cast<int>(axis);
      Interval range{};
      if (!bounds(simplify(read->args[axis], ranges), ranges, &range)) return e;
      if (range.low < -buffer.layout.halo_low(a) || range.high >= buffer.shape[axis] + buffer.layout.halo_high(a))
        return e;
    }
    return guards_extents(e->args[0], read, ranges) ? read : e;
  });
}

std::string set_apart_inside(Stmt* body, const std::string& v) {
  bool guarded = false;
  const Interval range = inside(*body, v, &guarded);
  if (range.low > range.high) return guarded ? "" : v;
  std::string name = v;
  if (range.high + 1 < loop_extent(*body, v)) {
    *body = partition(*body, name, range.high + 1);
    name += "_a";
  }
  if (range.low > 0) {
    *body = partition(*body, name, range.low);
    name += "_b";
  }
  *body = simplify(*body);
  return loop_extent(*body, name) > 0 ? name : "";
}

Stmt version_inside(const Stmt& body, const std::string& v) {
  bool guarded = false;
  const Interval range = inside(body, v, &guarded);
  if (!guarded || range.low > range.high) return body;
  return at_loop(body, v, [&](const Stmt& l) {
    const Expr turn = variable(v);
    const Stmt without = simplify(l->children[0], {{v, range}});
    const Expr condition =
        constant_int(DType::Int64, range.low) <= turn && turn <= constant_int(DType::Int64, range.high);
    return loop(v, l->extent, if_then(condition, without, l->children[0]), l->loop);
  });
}

}  // namespace dnn::codegen
