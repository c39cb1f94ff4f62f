// The scheduling steps; see steps.h.
#include "loops/steps.h"

#include <algorithm>

namespace dnn::loops {
namespace {

Expr index(int64_t value) { return constant_int(DType::Int64, value); }

}  // namespace

Stmt at_loop(const Stmt& stmt, const std::string& v, const std::function<Stmt(const Stmt&)>& change) {
  if (stmt->kind == StmtKind::For && stmt->variable == v) return change(stmt);
  if (stmt->children.empty()) return stmt;
  std::vector<Stmt> children;
  for (const Stmt& child : stmt->children) children.push_back(at_loop(child, v, change));
  return rebuild(*stmt, std::move(children));
}

Stmt split(const Stmt& stmt, const std::string& v, int64_t factor) {
  DNN_CHECK(factor >= 1);
  return at_loop(stmt, v, [&](const Stmt& l) {
    const int64_t whole = l->extent / factor, rest = l->extent % factor;
    std::vector<Stmt> parts;
    if (whole > 0) {
      const Expr at = variable(v + "_o") * index(factor) + variable(v + "_i");
      Stmt body = substitute(l->children[0], {{v, at}});
      parts.push_back(loop(v + "_o", whole, loop(v + "_i", factor, std::move(body)), l->loop));
    }
    if (rest > 0) {
      const Expr at = variable(v + "_t") + index(whole * factor);
      parts.push_back(loop(v + "_t", rest, substitute(l->children[0], {{v, at}}), l->loop));
    }
    return block(std::move(parts));
  });
}

Stmt split_overlapping(const Stmt& stmt, const std::string& v, int64_t factor) {
  return at_loop(stmt, v, [&](const Stmt& l) {
    DNN_CHECK(factor >= 1 && factor <= l->extent);
    const int64_t whole = l->extent / factor;
    std::vector<Stmt> parts = {split(loop(v, whole * factor, l->children[0], l->loop), v, factor)};
    if (whole * factor < l->extent) {
      const Expr at = variable(v + "_t") + index(l->extent - factor);
      parts.push_back(loop(v + "_t", factor, substitute(l->children[0], {{v, at}}), l->loop));
    }
    return block(std::move(parts));
  });
}

bool room_for_padding(const Stmt& stmt, const std::string& v, int64_t factor) {
  const int64_t extent = loop_extent(stmt, v), padded = (extent + factor - 1) / factor * factor;
  if (padded == extent) return true;
  for (const Access& access : accesses(stmt)) {
    for (size_t axis = 0; axis < access.indices.size(); ++axis) {
      const Expr& e = access.indices[axis];
      if (!uses_variable(e, v)) continue;
      if (e->op != Op::Variable) return false;
      const Layout& layout = access.buffer->layout;
      if (layout.capacity(access.buffer->shape, static_cast<int>(axis)) < padded) return false;
      if (access.is_store && layout.halo_high(static_cast<int>(axis)) > 0) return false;  // a border keeps its zeros
    }
  }
  return true;
}

Stmt split_padded(const Stmt& stmt, const std::string& v, int64_t factor) {
  DNN_CHECK(room_for_padding(stmt, v, factor));
  return at_loop(stmt, v, [&](const Stmt& l) {
    const Expr at = variable(v + "_o") * index(factor) + variable(v + "_i");
    return loop(v + "_o", (l->extent + factor - 1) / factor,
                loop(v + "_i", factor, substitute(l->children[0], {{v, at}})), l->loop);
  });
}

Stmt partition(const Stmt& stmt, const std::string& v, int64_t at) {
  return at_loop(stmt, v, [&](const Stmt& l) {
    DNN_CHECK(at >= 0 && at <= l->extent);
    std::vector<Stmt> parts;
    if (at > 0) parts.push_back(loop(v + "_a", at, substitute(l->children[0], {{v, variable(v + "_a")}}), l->loop));
    if (at < l->extent) {
      const Expr shifted = variable(v + "_b") + index(at);
      parts.push_back(loop(v + "_b", l->extent - at, substitute(l->children[0], {{v, shifted}}), l->loop));
    }
    return block(std::move(parts));
  });
}

Stmt fuse(const Stmt& stmt, const std::string& a, const std::string& b) {
  return at_loop(stmt, a, [&](const Stmt& outer) {
    const Stmt inner = outer->children[0];
    DNN_CHECK(inner->kind == StmtKind::For && inner->variable == b);
    const Expr both = variable(a);
    Stmt body = substitute(inner->children[0],
                           {{a, floordiv(both, index(inner->extent))}, {b, floormod(both, index(inner->extent))}});
    return loop(a, outer->extent * inner->extent, std::move(body), outer->loop);
  });
}

Stmt reorder(const Stmt& stmt, const std::vector<std::string>& order) {
  const std::vector<std::string> nest = nest_variables(stmt);
  auto named = [&](const std::string& v) { return std::find(order.begin(), order.end(), v) != order.end(); };
  std::vector<Stmt> loops;
  Stmt inner = stmt;
  size_t seen = 0;
  while (seen < order.size()) {
    if (inner->kind != StmtKind::For) fail_internal("reorder: loops ", join(order), " are not nested in ", join(nest));
    seen += named(inner->variable) ? 1 : 0;
    loops.push_back(inner);
    inner = inner->children[0];
  }
  std::map<std::string, Stmt> by_name;
  for (const Stmt& l : loops) by_name[l->variable] = l;
  size_t next = order.size();
  Stmt result = inner;
  for (size_t i = loops.size(); i-- > 0;) {
    const Stmt& l = named(loops[i]->variable) ? by_name.at(order[--next]) : loops[i];
    result = loop(l->variable, l->extent, std::move(result), l->loop);
  }
  return result;
}

namespace {

// The body of a jammed loop, with the locals that gain an axis.
class Jam {
 public:
  Jam(const Stmt& l, LoopKind kind) : v_(l->variable), extent_(l->extent), kind_(kind) {}

  Stmt push(const Stmt& s) {
    switch (s->kind) {
      case StmtKind::Block: {
        std::vector<Stmt> children;
        for (const Stmt& child : s->children) children.push_back(push(child));
        return block(std::move(children));
      }
      case StmtKind::Alloc: {
        Shape shape = {extent_};
        shape.insert(shape.end(), s->buffer->shape.begin(), s->buffer->shape.end());
        grown_[s->buffer.get()] = local_buffer(s->buffer->name, s->buffer->dtype, shape);
        return alloc(grown_[s->buffer.get()]);
      }
      case StmtKind::For:
        if (s->loop == LoopKind::Serial || s->loop == LoopKind::Parallel) return rebuild(*s, {push(s->children[0])});
        break;
      case StmtKind::If:  // what it declares grows too
        if (accesses(if_then(s->value, block({}))).empty() && !uses_variable(s->value, v_)) {
          std::vector<Stmt> children;
          for (const Stmt& child : s->children) children.push_back(push(child));
          return rebuild(*s, std::move(children));
        }
        break;
      default: break;
    }
    return loop(v_, extent_, grow(s), kind_);
  }

 private:
  Stmt grow(const Stmt& s) {
    Stmt reads = rewrite_expressions(s, [&](const Expr& e) {
      if (e->op != Op::Load) return e;
      auto found = grown_.find(e->buffer.get());
      if (found == grown_.end()) return e;
      return load(found->second, with_v(e->args));
    });
    return grow_stores(reads);
  }

  Stmt grow_stores(const Stmt& s) {
    if (s->kind == StmtKind::Store) {
      auto found = grown_.find(s->buffer.get());
      return found == grown_.end() ? s : store(found->second, with_v(s->indices), s->value);
    }
    if (s->children.empty()) return s;
    std::vector<Stmt> children;
    for (const Stmt& child : s->children) children.push_back(grow_stores(child));
    return rebuild(*s, std::move(children));
  }

  std::vector<Expr> with_v(const std::vector<Expr>& indices) const {
    std::vector<Expr> result = {variable(v_)};
    result.insert(result.end(), indices.begin(), indices.end());
    return result;
  }

  std::string v_;
  int64_t extent_;
  LoopKind kind_;
  std::map<const Buffer*, BufferRef> grown_;
};

}  // namespace

Stmt jam(const Stmt& stmt, const std::string& v, LoopKind kind) {
  return at_loop(stmt, v, [&](const Stmt& l) { return Jam(l, kind).push(l->children[0]); });
}

namespace {

// What carry_sums() takes apart: the nest from `outer` on, and the block in it.
struct Sums {
  std::vector<Stmt> nest;
  BufferRef t;
  std::vector<Stmt> before, after;  // the reduction; allocations are not among `before`
  Stmt reduction, final_store;
};

void find_stores(const Stmt& s, std::vector<Stmt>* out) {
  if (s->kind == StmtKind::Store) out->push_back(s);
  for (const Stmt& child : s->children) find_stores(child, out);
}

bool take_apart(const Stmt& outer, const std::string& r, Sums* sums) {
  Stmt inner = outer;
  for (; inner->kind == StmtKind::For; inner = inner->children[0]) sums->nest.push_back(inner);
  if (inner->kind != StmtKind::Block) return false;
  for (const Stmt& s : inner->children) {
    if (s->kind == StmtKind::Alloc && sums->t == nullptr) {
      sums->t = s->buffer;
    } else if (s->kind == StmtKind::For && s->variable == r && sums->reduction == nullptr) {
      sums->reduction = s;
    } else if (s->kind == StmtKind::Alloc && sums->reduction == nullptr) {
      return false;
    } else {
      (sums->reduction == nullptr ? sums->before : sums->after).push_back(s);
    }
  }
  if (sums->reduction == nullptr || sums->t == nullptr || !sums->t->shape.empty()) return false;
  std::vector<Stmt> stores;
  for (const Stmt& s : sums->before) find_stores(s, &stores);
  find_stores(sums->reduction, &stores);
  for (const Stmt& s : stores) {
    if (s->buffer != sums->t) return false;
  }
  stores.clear();
  for (const Stmt& s : sums->after) find_stores(s, &stores);
  for (const Stmt& s : stores) {
    if (s->buffer->scope != Scope::Global) continue;
    const bool own = std::find(sums->after.begin(), sums->after.end(), s) != sums->after.end();
    if (!own || sums->final_store != nullptr || s->buffer->dtype != sums->t->dtype) return false;
    sums->final_store = s;
  }
  return sums->final_store != nullptr;
}

}  // namespace

bool can_carry_sums(const Stmt& stmt, const std::string& outer, const std::string& r) {
  bool found = false, can = true;
  at_loop(stmt, outer, [&](const Stmt& l) {
    Sums sums;
    found = true;
    can = can && take_apart(l, r, &sums);
    return l;
  });
  return found && can;
}

Stmt carry_sums(const Stmt& stmt, const std::string& outer, const std::string& r) {
  DNN_CHECK(can_carry_sums(stmt, outer, r));
  return at_loop(stmt, outer, [&](const Stmt& l) {
    Sums sums;
    take_apart(l, r, &sums);
    const BufferRef& y = sums.final_store->buffer;
    const std::vector<Expr>& at = sums.final_store->indices;
    const Expr part = variable(r), last = index(sums.reduction->extent - 1);
    Stmt body =
        block({alloc(sums.t), if_then(part <= 0, block(sums.before), store(sums.t, {}, load(y, at))),
               sums.reduction->children[0], if_then(last <= part, block(sums.after), store(y, at, load(sums.t, {})))});
    for (size_t i = sums.nest.size(); i-- > 0;)
      body = loop(sums.nest[i]->variable, sums.nest[i]->extent, std::move(body), sums.nest[i]->loop);
    return loop(r, sums.reduction->extent, std::move(body));
  });
}

namespace {

// Whether e reads the global memory of `stored` or any local, or u.
bool hangs_on(const Expr& e, const std::string& u, const std::vector<Stmt>& stored) {
  if (e->op == Op::Variable) return e->name == u;
  if (e->op == Op::Load) {
    if (e->buffer->scope == Scope::Local) return true;
    for (const Stmt& s : stored)
      if (s->buffer == e->buffer) return true;
  }
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& arg) { return hangs_on(arg, u, stored); });
}

bool is_load(const Expr& e, const BufferRef& t) { return e->op == Op::Load && e->buffer == t; }

bool loads(const Expr& e, const BufferRef& t) {
  return is_load(e, t) || std::any_of(e->args.begin(), e->args.end(), [&](const Expr& arg) { return loads(arg, t); });
}

Stmt start_sum(const Stmt& s, const std::string& u, const std::vector<Stmt>& stored) {
  const std::vector<Stmt>& parts = s->children;
  if (parts.size() < 4 || parts[0]->kind != StmtKind::Alloc || parts[1]->kind != StmtKind::Store ||
      parts[2]->kind != StmtKind::For)
    return s;
  const BufferRef& t = parts[0]->buffer;
  const Expr& zero = parts[1]->value;
  if (!t->shape.empty() || parts[1]->buffer != t || zero->op != Op::Constant || zero->f != 0 || zero->i != 0) return s;
  std::vector<Stmt> sums;
  find_stores(parts[2], &sums);
  if (std::any_of(sums.begin(), sums.end(), [&](const Stmt& sum) { return sum->buffer != t; })) return s;
  int uses = 0;
  bool guarded = false;  // where a condition stands around e, or a loop, e may not be read before it
  Expr start;
  std::vector<Stmt> rest = {parts[0], parts[1], parts[2]};
  for (size_t i = 3; i < parts.size(); ++i) {
    // What is stored to t once more is no sum of these.
    if (!parts[i]->children.empty() || (parts[i]->kind == StmtKind::Store && parts[i]->buffer == t)) return s;
    rest.push_back(rewrite_expressions(parts[i], [&](const Expr& e) {
      uses += is_load(e, t) ? 1 : 0;
      guarded = guarded || (e->op == Op::Select && (loads(e->args[1], t) || loads(e->args[2], t)));
      for (const size_t side : {0, 1}) {
        // The innermost sum alone: what is added to it in turn is added as before.
        if (!start.defined() && e->op == Op::Add && is_load(e->args[side], t) &&
            !hangs_on(e->args[1 - side], u, stored)) {
          start = e->args[1 - side];
          return e->args[side];
        }
      }
      return e;
    }));
  }
  if (uses != 1 || guarded || !start.defined()) return s;
  rest[1] = store(t, {}, start);
  return block(std::move(rest));
}

Stmt start_each(const Stmt& stmt, const std::string& u, const std::vector<Stmt>& stored) {
  if (stmt->children.empty()) return stmt;
  std::vector<Stmt> children;
  for (const Stmt& child : stmt->children) children.push_back(start_each(child, u, stored));
  const Stmt result = rebuild(*stmt, std::move(children));
  return result->kind == StmtKind::Block ? start_sum(result, u, stored) : result;
}

}  // namespace

Stmt start_sums(const Stmt& stmt, const std::string& u) {
  std::vector<Stmt> stored;
  find_stores(stmt, &stored);
  return start_each(stmt, u, stored);
}

Stmt with_kind(const Stmt& stmt, const std::string& v, LoopKind kind) {
  return at_loop(stmt, v, [&](const Stmt& l) { return loop(v, l->extent, l->children[0], kind); });
}

namespace {
// The map nest's store and, outermost first, its variables; false when it is not `for d..: y[d..] = value`.
bool map_nest(const Stmt& stmt, std::vector<std::string>* variables, Stmt* store_stmt) {
  Stmt inner = stmt;
  while (inner->kind == StmtKind::For) {
    variables->push_back(inner->variable);
    inner = inner->children[0];
  }
  if (inner->kind != StmtKind::Store || inner->indices.size() != variables->size()) return false;
  for (size_t i = 0; i < variables->size(); ++i) {
    if (inner->indices[i]->op != Op::Variable || inner->indices[i]->name != (*variables)[i]) return false;
  }
  *store_stmt = inner;
  return true;
}
}  // namespace

bool can_inline_consumer(const BufferRef& t, const Stmt& consumer) {
  std::vector<std::string> variables;
  Stmt target;
  if (!map_nest(consumer, &variables, &target) || target->buffer->shape != t->shape) return false;
  bool at_own_indices = true;
  rewrite(target->value, [&](const Expr& e) {
    if (e->op != Op::Load || e->buffer != t) return e;
    for (size_t i = 0; i < variables.size(); ++i) {
      int64_t zero = 1;  // an axis of extent 1 is read at 0
      const bool pinned = t->shape[i] == 1 && constant_value(e->args[i], &zero) && zero == 0;
      if (!pinned && (e->args[i]->op != Op::Variable || e->args[i]->name != variables[i])) at_own_indices = false;
    }
    return e;
  });
  return at_own_indices;
}

Stmt inline_consumer(const Stmt& producer, const BufferRef& t, const Stmt& consumer) {
  DNN_CHECK(can_inline_consumer(t, consumer));
  std::vector<std::string> variables;
  Stmt target;
  map_nest(consumer, &variables, &target);
  int named = 0;
  std::function<Stmt(const Stmt&)> visit = [&](const Stmt& s) -> Stmt {
    if (s->kind == StmtKind::Store && s->buffer == t) {
      std::map<std::string, Expr> at;
      for (size_t i = 0; i < variables.size(); ++i) at[variables[i]] = s->indices[i];
      int reads = 0;
      rewrite(target->value, [&](const Expr& e) {
        reads += e->op == Op::Load && e->buffer == t ? 1 : 0;
        return e;
      });
      // A value read more than once gets a name, so that it is computed once.
      const BufferRef once = local_buffer(t->name + "_element" + (named == 0 ? "" : std::to_string(named)), t->dtype);
      const bool direct = reads <= 1 || s->value->op == Op::Load;
      Expr value = rewrite(target->value, [&](const Expr& e) {
        if (e->op == Op::Load && e->buffer == t) return direct ? s->value : load(once, {});
        if (e->op != Op::Variable) return e;
        auto found = at.find(e->name);
        return found == at.end() ? e : found->second;
      });
      Stmt result = store(target->buffer, s->indices, std::move(value));
      named += direct ? 0 : 1;
      return direct ? result : block({alloc(once), store(once, {}, s->value), std::move(result)});
    }
    if (s->children.empty()) return s;
    std::vector<Stmt> children;
    for (const Stmt& child : s->children) children.push_back(visit(child));
    return rebuild(*s, std::move(children));
  };
  return visit(producer);
}

Stmt contract_fma(const Stmt& stmt) {
  return rewrite_expressions(stmt, [](const Expr& e) {
    if (e->op != Op::Add || !is_float(e->dtype)) return e;
    if (e->args[1]->op == Op::Mul) return fma(e->args[1]->args[0], e->args[1]->args[1], e->args[0]);
    if (e->args[0]->op == Op::Mul) return fma(e->args[0]->args[0], e->args[0]->args[1], e->args[1]);
    return e;
  });
}

int64_t loop_extent(const Stmt& stmt, const std::string& v) {
  if (stmt->kind == StmtKind::For && stmt->variable == v) return stmt->extent;
  for (const Stmt& child : stmt->children) {
    if (const int64_t extent = loop_extent(child, v)) return extent;
  }
  return 0;
}

LoopKind outer_kind(const Stmt& stmt, const std::string& v) {
  for (Stmt outer = stmt; outer->kind == StmtKind::For; outer = outer->children[0]) {
    if (outer->variable == v) return outer->loop;
  }
  return LoopKind::Unrolled;
}

std::vector<std::string> nest_variables(const Stmt& stmt) {
  std::vector<std::string> result;
  for (Stmt inner = stmt; inner->kind == StmtKind::For; inner = inner->children[0]) result.push_back(inner->variable);
  return result;
}

namespace {
void collect(const Expr& e, std::vector<Access>* out) {
  if (e->op == Op::Load) out->push_back({e->buffer, e->args, false});
  for (const Expr& arg : e->args) collect(arg, out);
}
void collect(const Stmt& s, std::vector<Access>* out) {
  for (const Expr& e : s->indices) collect(e, out);
  if (s->value.defined()) collect(s->value, out);
  if (s->kind == StmtKind::Store) out->push_back({s->buffer, s->indices, true});
  for (const Stmt& child : s->children) collect(child, out);
}
}  // namespace

std::vector<Access> accesses(const Stmt& stmt) {
  std::vector<Access> result;
  collect(stmt, &result);
  return result;
}

}  // namespace dnn::loops
