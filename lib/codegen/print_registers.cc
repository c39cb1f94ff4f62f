// Locals in registers; see print_registers.h.
#include "codegen/print_registers.h"

#include <algorithm>
#include <set>

#include "loops/simplify.h"

namespace dnn::codegen {
namespace {

using namespace loops;

bool only_uses(const Expr& e, const std::set<std::string>& variables) {
  if (e->op == Op::Variable) return variables.count(e->name) != 0;
  if (e->op == Op::Load) return false;
  return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return only_uses(a, variables); });
}

// Visits every access, with the loops around it in mind.
class RegisterFinder {
 public:
  explicit RegisterFinder(const Vocabulary& words) : words_(words) {}

  RegisterMap run(const Stmt& body) {
    visit(body);
    RegisterMap result;
    for (const auto& [buffer, registers] : found_) {
      if (arrays_.count(buffer) == 0) result[buffer] = registers;
    }
    return result;
  }

 private:
  void visit(const Stmt& s) {
    for (const Expr& e : s->indices) expression(e);
    if (s->value.defined()) expression(s->value);
    if (s->kind == StmtKind::Store) access(s->buffer, s->indices);
    const bool lanes = s->kind == StmtKind::For && s->loop == LoopKind::Vector;
    if ((lanes && !words_.knows_vectors()) || (s->kind == StmtKind::For && s->loop == LoopKind::Unrolled)) {
      unrolled_.insert(s->variable);
    } else if (lanes) {
      vectors_[s->variable] = s->extent;
    }
    for (const Stmt& child : s->children) visit(child);
    if (s->kind == StmtKind::For) {
      unrolled_.erase(s->variable);
      vectors_.erase(s->variable);
    }
  }

  void expression(const Expr& e) {
    if (e->op == Op::Load) access(e->buffer, e->args);
    for (const Expr& arg : e->args) expression(arg);
  }

  void access(const BufferRef& b, const std::vector<Expr>& at) {
    if (b->scope != Scope::Local) return;
    Registers registers;
    for (size_t i = 0; i < at.size(); ++i) {
      int64_t value = 0;
      if (constant_value(at[i], &value)) continue;
      if (at[i]->op == Op::Variable && vectors_.count(at[i]->name) != 0 && registers.lane_position < 0) {
        registers = {static_cast<int>(i), vectors_[at[i]->name]};
      } else if (!only_uses(at[i], unrolled_)) {
        arrays_.insert(b.get());
      }
    }
    if (registers.lane_position >= 0 &&
        (registers.lanes != b->shape[registers.lane_position] || !words_.has_vector(b->dtype, registers.lanes))) {
      arrays_.insert(b.get());
    }
    const auto [entry, fresh] = found_.try_emplace(b.get(), registers);
    if (!fresh && entry->second != registers) arrays_.insert(b.get());
  }

  const Vocabulary& words_;
  std::set<std::string> unrolled_;
  std::map<std::string, int64_t> vectors_;
  std::set<const Buffer*> arrays_;
  RegisterMap found_;
};

}  // namespace

RegisterMap find_registers(const Stmt& body, const Vocabulary& words) { return RegisterFinder(words).run(body); }

std::string register_name(const Buffer& buffer, const Registers& registers, const std::vector<Expr>& indices) {
  std::string name = buffer.name;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (static_cast<int>(i) == registers.lane_position) continue;
    int64_t value = 0;
    if (!constant_value(indices[i], &value))
      fail_internal("codegen: ", buffer.name, " is read at ", to_text(indices[i]));
    name += "_" + std::to_string(value);
  }
  return name;
}

std::vector<std::string> register_names(const Buffer& buffer, const Registers& registers) {
  std::vector<std::string> names = {buffer.name};
  for (size_t i = 0; i < buffer.shape.size(); ++i) {
    if (static_cast<int>(i) == registers.lane_position) continue;
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (int64_t j = 0; j < buffer.shape[i]; ++j) longer.push_back(cat(name, "_", j));
    }
    names = std::move(longer);
  }
  return names;
}

}  // namespace dnn::codegen
