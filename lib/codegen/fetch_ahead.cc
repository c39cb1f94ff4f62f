// Prefetches in reductions; see fetch_ahead.h.
#include "codegen/fetch_ahead.h"

#include <algorithm>

#include "codegen/inner_loops.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Lines before one run: more than are on their way at once wait, and are much code.
constexpr int64_t kMostAtOnce = 128;

// How many statements on vectors s runs.
int64_t vectors_in(const Stmt& s) {
  if (s->children.empty()) return 1;
  int64_t vectors = 0;
  for (const Stmt& child : s->children) vectors += vectors_in(child);
  const bool counts = s->kind == StmtKind::For && s->loop != LoopKind::Vector && s->loop != LoopKind::Matrix;
  return counts ? vectors * s->extent : vectors;
}

class Fetches {
 public:
  Fetches(const Stmt& chunk, const Ranges& ranges, const FetchLoops& loops, const std::set<const Buffer*>& constants)
      : chunk_(*chunk), ranges_(ranges), loops_(loops), constants_(constants), runs_(runs_of(chunk->children[0])) {}

  Stmt run() { return rebuild(chunk_, {visit(chunk_.children[0])}); }

 private:
  bool in_turn(const StmtNode& s) const { return s.kind == StmtKind::For && s.variable != loops_.shared; }
  bool is_inner(const StmtNode& s) const { return s.kind == StmtKind::For && s.variable == loops_.inner; }

  // How many times loops `inner` run in s, where all turns of `shared` count as one.
  int64_t runs_of(const Stmt& s) const {
    if (is_inner(*s)) return 1;
    int64_t runs = 0;
    for (const Stmt& child : s->children) runs += runs_of(child);
    return in_turn(*s) ? runs * s->extent : runs;
  }

  Stmt visit(const Stmt& s) {
    if (is_inner(*s)) {
      Expr run = before_;  // which one of those of a chunk it is
      int64_t here = 1;
      for (size_t i = around_.size(); i-- > 0; here *= around_[i]->extent)
        run = run + variable(around_[i]->variable) * constant_int(DType::Int64, here);
      before_ += here;
      return with_fetches(s, run);
    }
    if (s->children.empty()) return s;
    if (in_turn(*s)) around_.push_back(s);
    std::vector<Stmt> children;
    for (const Stmt& child : s->children) children.push_back(visit(child));
    if (in_turn(*s)) around_.pop_back();
    return rebuild(*s, std::move(children));
  }

  Stmt with_fetches(const Stmt& inner, const Expr& run) const {
    std::map<std::string, Expr> begin;
    for (const Stmt& l : around_) begin[l->variable] = 0;
    for (const auto& [name, range] : loop_ranges(inner)) begin[name] = 0;
    std::vector<Stmt> result;
    std::set<const Buffer*> seen;
    for (const Access& access : accesses(inner)) {
      const Buffer& buffer = *access.buffer;
      if (constants_.count(&buffer) == 0 || buffer.shape.size() < 2 || !seen.insert(&buffer).second) continue;
      const int64_t line = 64 / static_cast<int64_t>(dtype_size(buffer.dtype));
      const int64_t elements = next(access, begin);
      if (elements <= 0) continue;
      // Where a group does more runs than it has lines, these come in time by themselves.
      if (loops_.chunks == loops_.groups && elements / line < runs_) continue;
      const int64_t wrapped = next_group(access, begin), share = (elements / line + runs_ - 1) / runs_;
      if (share > kMostAtOnce) continue;
      const Expr last = constant_int(DType::Int64, chunk_.extent - 1), near = constant_int(DType::Int64, elements);
      const Expr ahead = wrapped <= 0 || wrapped == elements ? near
                                                             : loops::select(last <= variable(chunk_.variable),
                                                                             constant_int(DType::Int64, wrapped), near);
      std::vector<Expr> here;
      for (const Expr& e : access.indices) here.push_back(substitute(e, begin));
      const std::vector<int64_t> beginnings = panels(access, begin, inner, elements);
      const int64_t lines = std::max<int64_t>(1, elements / line) * static_cast<int64_t>(beginnings.size());
      const Fetch fetch = vectors_in(inner) * runs_ / lines < loops_.nearest_from ? Fetch::Second : Fetch::First;
      for (const int64_t panel : beginnings) {
        const Expr at = ahead + (run * share + variable("ahead")) * line + panel;
        result.push_back(loop("ahead", share, prefetch(access.buffer, here, at, fetch), LoopKind::Unrolled));
      }
    }
    result.push_back(inner);
    return block(std::move(result));
  }

  // Elements from what a chunk reads first to what the next one does; 0 where that is no number.
  int64_t next(const Access& access, const std::map<std::string, Expr>& begin) const {
    return distance(access, begin, {}, {{chunk_.variable, variable(chunk_.variable) + 1}});
  }

  // From the last chunk to the first of the next group.
  int64_t next_group(const Access& access, const std::map<std::string, Expr>& begin) const {
    if (loops_.groups.empty() || loops_.groups == chunk_.variable) return 0;
    return distance(access, begin, {{chunk_.variable, constant_int(DType::Int64, chunk_.extent - 1)}},
                    {{chunk_.variable, Expr(0)}, {loops_.groups, variable(loops_.groups) + 1}});
  }

  int64_t distance(const Access& access, const std::map<std::string, Expr>& begin,
                   const std::map<std::string, Expr>& from, const std::map<std::string, Expr>& to) const {
    std::vector<Expr> a, b;
    for (const Expr& e : access.indices) {
      a.push_back(substitute(substitute(e, begin), from));
      b.push_back(substitute(substitute(e, begin), to));
    }
    int64_t elements = 0;
    constant_value(simplify(flat_offset(*access.buffer, b) - flat_offset(*access.buffer, a), ranges_), &elements);
    return elements;
  }

  // Where, from the first element of a chunk on, the runs of `elements` begin that blocks side by side are read from.
  std::vector<int64_t> panels(const Access& access, std::map<std::string, Expr> begin, const Stmt& inner,
                              int64_t elements) const {
    std::vector<int64_t> result = {0};
    const auto offset = [&] {
      std::vector<Expr> at;
      for (const Expr& e : access.indices) at.push_back(substitute(e, begin));
      return flat_offset(*access.buffer, at);
    };
    const Expr first = offset();
    for (const char* across : {"m_o_i", "j_o_i"}) {
      for (int64_t n = 1; n < loop_extent(inner, across); ++n) {
        int64_t from = 0;
        begin[across] = n;
        if (constant_value(simplify(offset() - first, ranges_), &from) && from - result.back() >= elements)
          result.push_back(from);
      }
    }
    return result;
  }

  const StmtNode& chunk_;
  const Ranges& ranges_;
  const FetchLoops& loops_;
  const std::set<const Buffer*>& constants_;
  int64_t runs_, before_ = 0;  // of all loops `inner` in a turn; of those visited
  std::vector<Stmt> around_;
};

}  // namespace

Stmt fetch_input(const Stmt& stmt, const std::string& inner, const Buffer* x, const std::string& v, Fetch fetch) {
  const Ranges ranges = loop_ranges(stmt);
  return at_loop(stmt, inner, [&](const Stmt& l) {
    std::map<std::string, Expr> begin;
    for (const auto& [name, range] : loop_ranges(l->children[0])) begin[name] = 0;
    for (const Access& access : accesses(l->children[0])) {
      int64_t step = 0;
      if (access.buffer.get() != x ||
          !linear_coefficient(simplify(flat_offset(*x, access.indices), ranges), v, ranges, &step) || step == 0)
        continue;
      std::vector<Expr> first;
      for (const Expr& e : access.indices) first.push_back(substitute(e, begin));
      const Stmt ahead = prefetch(access.buffer, first, constant_int(DType::Int64, step), fetch);
      return loop(l->variable, l->extent, block({ahead, l->children[0]}), l->loop);
    }
    return l;
  });
}

Stmt fetch_ahead(const Stmt& stmt, const FetchLoops& loops, const std::set<const Buffer*>& constants) {
  const Ranges ranges = loop_ranges(stmt);
  return at_loop(stmt, loops.chunks, [&](const Stmt& chunk) { return Fetches(chunk, ranges, loops, constants).run(); });
}

}  // namespace dnn::codegen
