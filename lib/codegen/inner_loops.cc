// Vectors inside a task; see inner_loops.h.
#include "codegen/inner_loops.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "loops/steps.h"

namespace dnn::codegen {

using namespace loops;

Ranges loop_ranges(const Stmt& stmt) {
  Ranges ranges;
  std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
    if (s->kind == StmtKind::For) ranges[s->variable] = {0, s->extent - 1};
    for (const Stmt& child : s->children) visit(child);
  };
  visit(stmt);
  return ranges;
}

bool index_condition(const Expr& e) {
  if (e->dtype == DType::Int64) return true;
  // What a number is read by, or chosen by in its turn, is no part of what this one compares.
  if (e->op == Op::Load || e->op == Op::Select) return false;
  return std::any_of(e->args.begin(), e->args.end(), [](const Expr& a) { return index_condition(a); });
}

bool vectorises(const Stmt& stmt, const std::string& v, DType dtype, const Ranges& ranges, bool locals_grow) {
  for (const Access& access : accesses(stmt)) {
    if (access.buffer->dtype != dtype) return false;  // a local truth value, too: there are no vectors of those
    const bool local = access.buffer->scope == Scope::Local;
    if (local && (locals_grow || access.buffer->shape.empty())) continue;
    int64_t step = 0;
    const Expr offset = simplify(flat_offset(*access.buffer, access.indices), ranges);
    if (!linear_coefficient(offset, v, ranges, &step) || step < 0 || step > 1) return false;
    if (access.is_store && step != 1) return false;
  }
  bool plain = true;
  rewrite_expressions(stmt, [&](const Expr& e) {
    if (e->op == Op::Select && index_condition(e->args[0]) && uses_variable(e->args[0], v)) plain = false;
    if (e->op == Op::Cast && uses_variable(e, v)) plain = false;
    return e;
  });
  return plain;
}

bool stores_only(const Stmt& stmt) {
  std::set<const Buffer*> stored, read;
  for (const Access& access : accesses(stmt)) {
    if (access.buffer->scope == Scope::Global) (access.is_store ? stored : read).insert(access.buffer.get());
  }
  return std::none_of(stored.begin(), stored.end(), [&](const Buffer* b) { return read.count(b) != 0; });
}

Stmt vector_split(const Stmt& stmt, const std::string& v, int64_t lanes, bool twice, std::vector<std::string>* names) {
  const int64_t whole = loop_extent(stmt, v);
  // What is left would be several narrow vectors, or some and a scalar: one vector is less.
  if (twice && whole > lanes && std::popcount(static_cast<uint64_t>(whole % lanes)) > 1) {
    names->insert(names->end(), {v + "_i", v + "_t"});
    return split_overlapping(stmt, v, lanes);
  }
  Stmt body = stmt;
  std::string rest = v;
  for (int64_t width = lanes; width >= 2; width /= 2) {
    const int64_t extent = loop_extent(body, rest);
    if (extent < width) continue;
    body = split(body, rest, width);
    names->push_back(rest + "_i");
    if (extent % width == 0) break;
    rest += "_t";
  }
  return body;
}

Stmt padded_vector_split(const Stmt& stmt, const std::string& v, int64_t lanes, bool twice,
                         std::vector<std::string>* names) {
  if (!room_for_padding(stmt, v, lanes)) return vector_split(stmt, v, lanes, twice, names);
  names->push_back(v + "_i");
  return split_padded(stmt, v, lanes);
}

namespace {

bool holds_loop(const Stmt& s) {
  return s->kind == StmtKind::For || std::any_of(s->children.begin(), s->children.end(), holds_loop);
}

bool reads(const Expr& e, const Buffer* buffer) {
  if (e->op == Op::Load && e->buffer.get() == buffer) return true;
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return reads(a, buffer); });
}

class Inner {
 public:
  Inner(const Stmt& body, DType dtype, int64_t lanes, bool reassociate)
      : ranges_(loop_ranges(body)), dtype_(dtype), lanes_(lanes), reassociate_(reassociate) {}

  Stmt visit(const Stmt& s) {
    if (s->kind == StmtKind::For && !holds_loop(s->children[0])) return innermost(s);
    if (s->children.empty()) return s;
    std::vector<Stmt> children;
    for (const Stmt& child : s->children) children.push_back(visit(child));
    return rebuild(*s, std::move(children));
  }

 private:
  Stmt innermost(const Stmt& l) {
    const Stmt& s = l->children[0];
    if (l->loop != LoopKind::Serial || s->kind != StmtKind::Store || l->extent < lanes_) return l;
    const bool scalar = s->buffer->scope == Scope::Local && s->buffer->shape.empty();
    if (scalar) return reassociate_ ? reduction(l) : l;
    // Each element on its own: what is stored is not read at another place.
    if (reads(s->value, s->buffer.get()) || !vectorises(s, l->variable, dtype_, ranges_, false)) return l;
    std::vector<std::string> vectors;
    Stmt result = vector_split(l, l->variable, lanes_, true, &vectors);
    for (const std::string& v : vectors) result = with_kind(result, v, LoopKind::Vector);
    return result;
  }

  // for v: a = a + f(v)   ->   parts = 0..; for v_o: for lane: parts[lane] += f; for lane: a = a + parts[lane]; the rest of v
  Stmt reduction(const Stmt& l) {
    const Stmt& s = l->children[0];
    const Op op = s->value->op;
    if (op != Op::Add && op != Op::Max && op != Op::Min) return l;
    const auto is_total = [&](const Expr& e) { return e->op == Op::Load && e->buffer == s->buffer; };
    const size_t at = is_total(s->value->args[0]) ? 0 : 1;
    const Expr &total = s->value->args[at], &term = s->value->args[1 - at];
    const std::string& v = l->variable;
    const int64_t whole = l->extent / lanes_;
    if (!is_total(total) || reads(term, s->buffer.get()) || s->buffer->dtype != dtype_ || whole < 2 ||
        !uses_variable(term, v) || !vectorises(s, v, dtype_, ranges_, false)) {
      return l;
    }
    const BufferRef parts = local_buffer(s->buffer->name + "_parts_" + v, dtype_, {lanes_});
    const BufferRef joined = local_buffer(s->buffer->name + "_joined_" + v, dtype_, {lanes_});
    const auto with = [&](const Expr& a, const Expr& b) { return at == 0 ? binary(op, a, b) : binary(op, b, a); };
    const auto lane_loop = [&](const std::string& lane, Stmt body, LoopKind kind) {
      return loop(lane, lanes_, std::move(body), kind);
    };
    const std::string a = v + "_a", i = v + "_i", o = v + "_o", b = v + "_b", j = v + "_j", t = v + "_t";
    const Expr start = op == Op::Add ? constant(dtype_, 0) : total;
    const Expr here = substitute(term, {{v, variable(o) * constant_int(DType::Int64, lanes_) + variable(i)}});
    std::vector<Stmt> result = {
        alloc(parts), lane_loop(a, store(parts, {variable(a)}, start), LoopKind::Vector),
        loop(o, whole,
             lane_loop(i, store(parts, {variable(i)}, with(load(parts, {variable(i)}), here)), LoopKind::Vector))};
    const int64_t rest = l->extent - whole * lanes_;
    if (rest > 0 && op != Op::Add) {  // what has been seen may be seen again
      const Expr last = substitute(term, {{v, variable(t) + constant_int(DType::Int64, l->extent - lanes_)}});
      result.push_back(
          lane_loop(t, store(parts, {variable(t)}, with(load(parts, {variable(t)}), last)), LoopKind::Vector));
    }
    result.insert(
        result.end(),
        {// Lanes are read from memory, so that the partial results themselves stay in a register.
         alloc(joined), lane_loop(b, store(joined, {variable(b)}, load(parts, {variable(b)})), LoopKind::Vector)});
    // In pairs, as each of a chain of them would wait for the one before.
    for (int64_t n = lanes_ / 2; n >= 1; n /= 2) {
      const Expr pair = with(load(joined, {variable(j)}), load(joined, {variable(j) + constant_int(DType::Int64, n)}));
      result.push_back(loop(j, n, store(joined, {variable(j)}, pair), n > 1 ? LoopKind::Vector : LoopKind::Unrolled));
    }
    result.push_back(store(s->buffer, {}, with(total, load(joined, {Expr(0)}))));
    if (rest > 0 && op == Op::Add) {
      const Expr last = substitute(term, {{v, variable(t) + constant_int(DType::Int64, whole * lanes_)}});
      result.push_back(loop(t, rest, store(s->buffer, {}, with(total, last))));
    }
    return block(std::move(result));
  }

  Ranges ranges_;
  DType dtype_;
  int64_t lanes_;
  bool reassociate_;
};

}  // namespace

Stmt vectorise_inner(const Stmt& body, DType dtype, int64_t lanes, bool reassociate) {
  return Inner(body, dtype, lanes, reassociate).visit(body);
}

}  // namespace dnn::codegen
