// Halves of tasks; see halve_tasks.h.
#include "codegen/halve_tasks.h"

#include <algorithm>
#include <set>

#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

constexpr const char* kHalf = "which_half";  // "half" is a type of OpenCL C

class Halves {
 public:
  explicit Halves(std::string v) : v_(std::move(v)) {}

  // Whether the turns of loops over v in s are independent, and there is one.
  bool independent(const Stmt& s) {
    if (!holds(s)) return false;
    inspect(s, false);
    return independent_;
  }

  Stmt halved(const Stmt& s) const {
    if (is_rows(*s)) return half_of(*s);
    std::vector<Stmt> children;
    for (size_t i = 0; i < s->children.size();) {
      if (holds(s->children[i])) {
        children.push_back(halved(s->children[i++]));
        continue;
      }
      std::vector<Stmt> run;
      while (i < s->children.size() && !holds(s->children[i])) run.push_back(s->children[i++]);
      for (Stmt& part : of_last_half(std::move(run), *s)) children.push_back(std::move(part));
    }
    return rebuild(*s, std::move(children));
  }

 private:
  bool is_rows(const StmtNode& s) const { return s.kind == StmtKind::For && s.variable == v_; }

  bool holds(const Stmt& s) const {
    return is_rows(*s) || std::any_of(s->children.begin(), s->children.end(), [&](const Stmt& c) { return holds(c); });
  }

  // Statements of `around` side by side without loops over v: all of them, with locals that nobody else reads, belong to the last half, where
  // they store to memory.
  static std::vector<Stmt> of_last_half(std::vector<Stmt> run, const StmtNode& around) {
    if (std::none_of(run.begin(), run.end(), stores)) return run;
    std::set<const Buffer*> own;
    for (const Stmt& s : run) {
      if (s->kind == StmtKind::Alloc) own.insert(s->buffer.get());
    }
    const auto reads_own = [&](const Stmt& s) {
      const std::vector<Access> list = accesses(s);
      return std::find(run.begin(), run.end(), s) == run.end() &&
             std::any_of(list.begin(), list.end(), [&](const Access& a) { return own.count(a.buffer.get()) != 0; });
    };
    const Expr last = Expr(1) <= variable(kHalf);
    if (std::none_of(around.children.begin(), around.children.end(), reads_own)) return {if_then(last, block(run))};
    for (Stmt& s : run) s = stores(s) ? if_then(last, s) : s;
    return run;
  }

  static bool stores(const Stmt& s) {
    return (s->kind == StmtKind::Store && s->buffer->scope == Scope::Global) ||
           std::any_of(s->children.begin(), s->children.end(), stores);
  }

  void inspect(const Stmt& s, bool inside) {
    if (s->kind == StmtKind::Alloc && inside) own_.insert(s->buffer.get());
    if (s->kind == StmtKind::Store && inside) {
      const auto by_row = [&](const Expr& index) { return uses_variable(index, v_); };
      independent_ = independent_ &&
                     (s->buffer->scope == Scope::Local ? own_.count(s->buffer.get()) != 0
                                                       : std::any_of(s->indices.begin(), s->indices.end(), by_row));
    }
    for (const Stmt& child : s->children) inspect(child, inside || is_rows(*s));
  }

  Stmt half_of(const StmtNode& rows) const {
    const int64_t half = (rows.extent + 1) / 2;
    const Expr at = variable(v_) + variable(kHalf) * constant_int(DType::Int64, half);
    Stmt body = substitute(rows.children[0], {{v_, at}});
    if (half * 2 != rows.extent) body = if_then(at <= constant_int(DType::Int64, rows.extent - 1), body);
    return loop(v_, half, body, rows.loop);
  }

  std::string v_;
  std::set<const Buffer*> own_;  // locals of a turn
  bool independent_ = true;
};

}  // namespace

Stmt halve_tasks(const Stmt& stmt, const std::string& around, const std::string& v) {
  const auto change = [&](const Stmt& s) {
    Halves halves(v);
    return halves.independent(s) ? loop(kHalf, 2, halves.halved(s)) : s;
  };
  if (around.empty()) return change(stmt);
  return at_loop(stmt, around,
                 [&](const Stmt& l) { return loop(l->variable, l->extent, change(l->children[0]), l->loop); });
}

}  // namespace dnn::codegen
