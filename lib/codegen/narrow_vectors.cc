// Vector loops as wide as the machine's registers; see narrow_vectors.h.
#include "codegen/narrow_vectors.h"

#include <map>
#include <set>

namespace dnn::codegen {
namespace {

using namespace loops;

class Narrow {
 public:
  Narrow(const Stmt& stmt, int64_t lanes) : lanes_(lanes) {
    inspect(stmt);
    for (const Buffer* buffer : refused_) places_.erase(buffer);
  }

  Stmt visit(const Stmt& s) {
    const bool wide = is_wide(*s);
    if (wide) vectors_[s->variable] = s->extent;
    std::vector<Stmt> children;
    for (const Stmt& child : s->children) children.push_back(visit(child));
    if (wide) {
      vectors_.erase(s->variable);
      Stmt inner = loop(s->variable + "_l", lanes_, std::move(children[0]), LoopKind::Vector);
      return loop(s->variable + "_h", s->extent / lanes_, std::move(inner), LoopKind::Unrolled);
    }
    if (s->kind == StmtKind::Store) {
      const Expr value = narrowed(s->value);
      return store(grown(s->buffer), indices(s->buffer.get(), s->indices), value);
    }
    if (s->kind == StmtKind::Prefetch)
      return prefetch(s->buffer, indices(s->buffer.get(), s->indices), narrowed(s->value), s->fetch);
    if (s->kind == StmtKind::Alloc) return alloc(grown(s->buffer));
    if (s->kind == StmtKind::If) {
      Stmt otherwise = children.size() > 1 ? std::move(children[1]) : nullptr;
      return if_then(narrowed(s->value), std::move(children[0]), std::move(otherwise));
    }
    return s->children.empty() ? s : rebuild(*s, std::move(children));
  }

 private:
  bool is_wide(const StmtNode& s) const {
    return s.kind == StmtKind::For && s.loop == LoopKind::Vector && s.extent > lanes_ && s.extent % lanes_ == 0;
  }

  // Which axis of each local its lanes are: all accesses have a wide vector loop's variable there, and nowhere else.
  void inspect(const Stmt& s) {
    if (is_wide(*s)) vectors_[s->variable] = s->extent;
    const std::function<void(const Expr&)> expression = [&](const Expr& e) {
      if (e->op == Op::Load) access(e->buffer.get(), e->args);
      for (const Expr& arg : e->args) expression(arg);
    };
    for (const Expr& e : s->indices) expression(e);
    if (s->value.defined()) expression(s->value);
    if (s->kind == StmtKind::Store) access(s->buffer.get(), s->indices);
    for (const Stmt& child : s->children) inspect(child);
    if (is_wide(*s)) vectors_.erase(s->variable);
  }

  void access(const Buffer* buffer, const std::vector<Expr>& at) {
    if (buffer->scope != Scope::Local) return;
    int place = -1;
    for (size_t i = 0; i < at.size(); ++i) {
      for (const auto& [v, extent] : vectors_) {
        if (!uses_variable(at[i], v)) continue;
        if (at[i]->op != Op::Variable || extent != buffer->shape[i] || place >= 0) refused_.insert(buffer);
        place = static_cast<int>(i);
      }
    }
    if (place < 0 || places_.try_emplace(buffer, place).first->second != place) refused_.insert(buffer);
  }

  BufferRef grown(const BufferRef& buffer) {
    const auto place = places_.find(buffer.get());
    if (place == places_.end()) return buffer;
    BufferRef& result = grown_[buffer.get()];
    if (result != nullptr) return result;
    Shape shape = buffer->shape;
    const auto at = shape.begin() + place->second;
    *at /= lanes_;
    shape.insert(at + 1, lanes_);
    return result = local_buffer(buffer->name, buffer->dtype, std::move(shape));
  }

  // Indices that are narrowed already, but for the place of the lanes.
  std::vector<Expr> split_lane(const Buffer* buffer, std::vector<Expr> at, const std::string& v) const {
    const auto place = at.begin() + places_.at(buffer);
    *place = variable(v + "_h");
    at.insert(place + 1, variable(v + "_l"));
    return at;
  }

  std::vector<Expr> indices(const Buffer* buffer, const std::vector<Expr>& at) {
    std::vector<Expr> result;
    for (const Expr& e : at) result.push_back(narrowed(e));
    const auto place = places_.find(buffer);
    return place == places_.end() ? result : split_lane(buffer, std::move(result), at[place->second]->name);
  }

  Expr narrowed(const Expr& e) {
    if (e->op == Op::Variable) {
      if (vectors_.count(e->name) == 0) return e;
      return variable(e->name + "_h") * constant_int(DType::Int64, lanes_) + variable(e->name + "_l");
    }
    if (e->op == Op::Load) return load(grown(e->buffer), indices(e->buffer.get(), e->args));
    if (e->args.empty()) return e;
    std::vector<Expr> args;
    for (const Expr& arg : e->args) args.push_back(narrowed(arg));
    return with_args(e, std::move(args));
  }

  int64_t lanes_;
  std::map<std::string, int64_t> vectors_;  // wide loops around, by variable
  std::map<const Buffer*, int> places_;
  std::set<const Buffer*> refused_;
  std::map<const Buffer*, BufferRef> grown_;
};

}  // namespace

Stmt narrow_vectors(const Stmt& stmt, int64_t lanes) { return Narrow(stmt, lanes).visit(stmt); }

}  // namespace dnn::codegen
