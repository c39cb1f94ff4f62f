// Simplification of index expressions; see simplify.h.
#include "loops/simplify.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace dnn::loops {
namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }
int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

// constant + sum of coefficient * atom, atoms keyed by their text (which is unique per value).
struct Linear {
  int64_t constant = 0;
  std::map<std::string, std::pair<int64_t, Expr>> terms;

  void add_term(const Expr& atom, int64_t coefficient) {
    if (coefficient == 0) return;
    auto [at, fresh] = terms.try_emplace(to_text(atom), coefficient, atom);
    if (fresh) return;
    at->second.first += coefficient;
    if (at->second.first == 0) terms.erase(at);
  }
  void add(const Linear& other, int64_t factor) {
    constant += other.constant * factor;
    for (const auto& [key, term] : other.terms) add_term(term.second, term.first * factor);
  }
};

bool is_index(const Expr& e) { return e->dtype == DType::Int64; }

Expr from_linear(const Linear& linear) {
  Expr sum;
  for (const auto& [key, term] : linear.terms) {
    const auto& [coefficient, atom] = term;
    const int64_t magnitude = std::abs(coefficient);
    Expr product = magnitude == 1 ? atom : atom * constant_int(DType::Int64, magnitude);
    if (!sum.defined()) {
      sum = coefficient > 0 ? product : coefficient == -1 ? -atom : atom * constant_int(DType::Int64, coefficient);
    } else {
      sum = coefficient > 0 ? sum + product : sum - product;
    }
  }
  if (!sum.defined()) return constant_int(DType::Int64, linear.constant);
  if (linear.constant > 0) return sum + constant_int(DType::Int64, linear.constant);
  if (linear.constant < 0) return sum - constant_int(DType::Int64, -linear.constant);
  return sum;
}

class Simplifier {
 public:
  explicit Simplifier(const Ranges& ranges) : ranges_(ranges) {}

  Expr run(const Expr& e) {
    if (is_index(e) && arithmetic(e->op)) return from_linear(rejoined(linear(e)));
    if (e->args.empty()) return e;
    std::vector<Expr> args;
    for (const Expr& arg : e->args) args.push_back(run(arg));
    return fold(with_args(e, std::move(args)));
  }

 private:
  static bool arithmetic(Op op) {
    return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg || op == Op::FloorDiv || op == Op::FloorMod;
  }

  Linear linear(const Expr& e) {
    Linear result;
    int64_t value = 0;
    if (constant_value(e, &value)) {
      result.constant = value;
      return result;
    }
    switch (e->op) {
      case Op::Add:
      case Op::Sub: {
        result = linear(e->args[0]);
        result.add(linear(e->args[1]), e->op == Op::Add ? 1 : -1);
        return result;
      }
      case Op::Neg: result.add(linear(e->args[0]), -1); return result;
      case Op::Mul: {
        const Linear a = linear(e->args[0]), b = linear(e->args[1]);
        if (a.terms.empty()) {
          result.add(b, a.constant);
        } else if (b.terms.empty()) {
          result.add(a, b.constant);
        } else {
          result.add_term(from_linear(a) * from_linear(b), 1);
        }
        return result;
      }
      case Op::FloorDiv:
      case Op::FloorMod: {
        const Linear a = linear(e->args[0]);
        const Expr divisor = run(e->args[1]);
        int64_t c = 0;
        if (constant_value(divisor, &c) && c > 0) return divided(a, c, e->op);
        result.add_term(binary(e->op, from_linear(a), divisor), 1);
        return result;
      }
      case Op::Variable: {
        auto range = ranges_.find(e->name);
        if (range != ranges_.end() && range->second.low == range->second.high) {
          result.constant = range->second.low;
        } else {
          result.add_term(e, 1);
        }
        return result;
      }
      default: {
        const Expr atom = e->args.empty() ? e : run(e);
        if (constant_value(atom, &value)) {
          result.constant = value;
        } else {
          result.add_term(atom, 1);
        }
        return result;
      }
    }
  }

  // (multiple of c + rest) // c = multiple / c + rest // c, and % alike: only the rest needs an operation.
  Linear divided(const Linear& a, int64_t c, Op op) {
    Linear whole, rest;
    whole.constant = floor_div(a.constant, c);
    rest.constant = floor_mod(a.constant, c);
    for (const auto& [key, term] : a.terms) {
      const auto& [coefficient, atom] = term;
      if (coefficient % c == 0) {
        whole.add_term(atom, coefficient / c);
      } else {
        rest.add_term(atom, coefficient);
      }
    }
    if (c == 1) return op == Op::FloorDiv ? a : Linear();
    Interval range{};
    const Expr remainder = from_linear(rest);
    if (bounds(remainder, ranges_, &range) && floor_div(range.low, c) == floor_div(range.high, c)) {
      const int64_t quotient = floor_div(range.low, c);
      if (op == Op::FloorDiv) {
        whole.constant += quotient;
        return whole;
      }
      rest.constant -= quotient * c;
      return rest;
    }
    // (g*e + fine) // c = e // (c/g), and % alike, where g divides c and 0 <= fine < g.
    for (const auto& [key, term] : rest.terms) {
      const int64_t g = std::gcd(term.first, c);
      Linear coarse, fine;
      coarse.constant = floor_div(rest.constant, g);
      fine.constant = floor_mod(rest.constant, g);
      for (const auto& [other, t] : rest.terms) {
        if (t.first % g == 0) {
          coarse.add_term(t.second, t.first / g);
        } else {
          fine.add_term(t.second, t.first);
        }
      }
      if (g == 1 || (fine.terms.empty() && fine.constant == 0)) continue;
      if (!bounds(from_linear(fine), ranges_, &range) || range.low < 0 || range.high >= g) continue;
      const Linear part = divided(coarse, c / g, op);
      Linear result = op == Op::FloorDiv ? whole : fine;
      result.add(part, op == Op::FloorDiv ? 1 : g);
      return result;
    }
    // A constant that straddles blocks (a halo) may hide that only the sum counts: keep it inside the operation.
    Linear result;
    const Expr operation = binary(op, remainder, constant_int(DType::Int64, c));
    if (op == Op::FloorDiv) result = whole;
    result.add_term(operation, 1);
    return result;
  }

  // k*c*(e // c) + k*(e % c)  ->  k*e
  Linear rejoined(Linear a) {
    for (bool again = true; again;) {
      again = false;
      for (const auto& [key, term] : a.terms) {
        const auto [k, mod] = term;
        int64_t c = 0;
        if (mod->op != Op::FloorMod || !constant_value(mod->args[1], &c)) continue;
        auto whole = a.terms.find(to_text(binary(Op::FloorDiv, mod->args[0], mod->args[1])));
        if (whole == a.terms.end() || whole->second.first != k * c) continue;
        const Linear inner = linear(mod->args[0]);
        a.terms.erase(whole);
        a.terms.erase(to_text(mod));
        a.add(inner, k);
        again = true;
        break;
      }
    }
    return a;
  }

  Expr decide(const Expr& e) {  // comparisons of indices by bounds of their difference
    Interval range{};
    const Expr difference = from_linear([&] {
      Linear l = linear(e->args[0]);
      l.add(linear(e->args[1]), -1);
      return l;
    }());
    if (!bounds(difference, ranges_, &range)) return e;
    auto truth = [](bool value) { return constant_int(DType::Bool, value ? 1 : 0); };
    switch (e->op) {
      case Op::Lt:
        if (range.high < 0) return truth(true);
        if (range.low >= 0) return truth(false);
        break;
      case Op::Le:
        if (range.high <= 0) return truth(true);
        if (range.low > 0) return truth(false);
        break;
      case Op::Eq:
      case Op::Ne:
        if (range.low == 0 && range.high == 0) return truth(e->op == Op::Eq);
        if (range.low > 0 || range.high < 0) return truth(e->op == Op::Ne);
        break;
      default: break;
    }
    return e;
  }

  Expr fold(const Expr& e) {
    int64_t a = 0, b = 0;
    switch (e->op) {
      case Op::Lt:
      case Op::Le:
      case Op::Eq:
      case Op::Ne: return is_index(e->args[0]) ? decide(e) : e;
      case Op::And:
      case Op::Or: {
        if (e->dtype != DType::Bool) return e;
        const bool absorbing = e->op == Op::Or;
        if (constant_value(e->args[0], &a)) return (a != 0) == absorbing ? e->args[0] : e->args[1];
        if (constant_value(e->args[1], &b)) return (b != 0) == absorbing ? e->args[1] : e->args[0];
        return e;
      }
      case Op::Not:
        if (e->dtype == DType::Bool && constant_value(e->args[0], &a)) return constant_int(DType::Bool, a == 0 ? 1 : 0);
        return e;
      case Op::Select:
        if (constant_value(e->args[0], &a)) return e->args[a != 0 ? 1 : 2];
        return e;
      case Op::Min:
      case Op::Max: {
        if (!is_index(e)) return e;
        Interval x{}, y{};
        if (!bounds(e->args[0], ranges_, &x) || !bounds(e->args[1], ranges_, &y)) return e;
        const bool is_max = e->op == Op::Max;
        if (is_max ? x.low >= y.high : x.high <= y.low) return e->args[0];
        if (is_max ? y.low >= x.high : y.high <= x.low) return e->args[1];
        return e;
      }
      default: return e;
    }
  }

  const Ranges& ranges_;
};

}  // namespace

bool bounds(const Expr& e, const Ranges& ranges, Interval* result) {
  int64_t value = 0;
  if (constant_value(e, &value)) {
    *result = {value, value};
    return true;
  }
  if (e->op == Op::Variable) {
    auto found = ranges.find(e->name);
    if (found == ranges.end()) return false;
    *result = found->second;
    return true;
  }
  if (e->dtype != DType::Int64) return false;
  Interval a{}, b{};
  if (e->op == Op::Select) {
    if (!bounds(e->args[1], ranges, &a) || !bounds(e->args[2], ranges, &b)) return false;
    *result = {std::min(a.low, b.low), std::max(a.high, b.high)};
    return true;
  }
  if (e->args.empty() || e->op == Op::Load || !bounds(e->args[0], ranges, &a)) return false;
  if (e->op == Op::Neg) {
    *result = {-a.high, -a.low};
    return true;
  }
  if (e->args.size() != 2 || !bounds(e->args[1], ranges, &b)) return false;
  switch (e->op) {
    case Op::Add: *result = {a.low + b.low, a.high + b.high}; return true;
    case Op::Sub: *result = {a.low - b.high, a.high - b.low}; return true;
    case Op::Mul: {
      const int64_t products[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
      *result = {*std::min_element(products, products + 4), *std::max_element(products, products + 4)};
      return true;
    }
    case Op::FloorDiv:
      if (b.low != b.high || b.low <= 0) return false;
      *result = {floor_div(a.low, b.low), floor_div(a.high, b.low)};
      return true;
    case Op::FloorMod:
      if (b.low != b.high || b.low <= 0) return false;
      if (floor_div(a.low, b.low) == floor_div(a.high, b.low)) {
        *result = {floor_mod(a.low, b.low), floor_mod(a.high, b.low)};
      } else {
        *result = {0, b.low - 1};
      }
      return true;
    case Op::Min: *result = {std::min(a.low, b.low), std::min(a.high, b.high)}; return true;
    case Op::Max: *result = {std::max(a.low, b.low), std::max(a.high, b.high)}; return true;
    default: return false;
  }
}

Expr simplify(const Expr& expr, const Ranges& ranges) { return Simplifier(ranges).run(expr); }

namespace {
// Locals end with the loop around them: such a loop stays even when it runs once.
bool opens_scope(const Stmt& body) {
  if (body->kind == StmtKind::Alloc) return true;
  return body->kind == StmtKind::Block && std::any_of(body->children.begin(), body->children.end(), opens_scope);
}
}  // namespace

Stmt simplify(const Stmt& stmt, const Ranges& ranges) {
  switch (stmt->kind) {
    case StmtKind::For: {
      if (stmt->extent <= 0) return block({});
      Ranges inner = ranges;
      inner[stmt->variable] = {0, stmt->extent - 1};
      if (stmt->extent == 1 && stmt->loop != LoopKind::Vector && !opens_scope(stmt->children[0])) {
        return simplify(substitute(stmt->children[0], {{stmt->variable, constant_int(DType::Int64, 0)}}), ranges);
      }
      Stmt body = simplify(stmt->children[0], inner);
      if (body->kind == StmtKind::Block && body->children.empty()) return body;
      return rebuild(*stmt, {std::move(body)});
    }
    case StmtKind::Block: {
      std::vector<Stmt> children;
      for (const Stmt& child : stmt->children) children.push_back(simplify(child, ranges));
      return block(std::move(children));
    }
    case StmtKind::If: {
      const Expr condition = simplify(stmt->value, ranges);
      int64_t value = 0;
      if (constant_value(condition, &value)) {
        if (value != 0) return simplify(stmt->children[0], ranges);
        return stmt->children.size() > 1 ? simplify(stmt->children[1], ranges) : block({});
      }
      Stmt otherwise = stmt->children.size() > 1 ? simplify(stmt->children[1], ranges) : nullptr;
      return if_then(condition, simplify(stmt->children[0], ranges), std::move(otherwise));
    }
    case StmtKind::Store: {
      std::vector<Expr> indices;
      for (const Expr& index : stmt->indices) indices.push_back(simplify(index, ranges));
      return store(stmt->buffer, std::move(indices), simplify(stmt->value, ranges));
    }
    case StmtKind::Prefetch: {
      std::vector<Expr> indices;
      for (const Expr& index : stmt->indices) indices.push_back(simplify(index, ranges));
      return prefetch(stmt->buffer, std::move(indices), simplify(stmt->value, ranges), stmt->fetch);
    }
    case StmtKind::Alloc: return stmt;
  }
  return stmt;
}

bool linear_coefficient(const Expr& index, const std::string& name, const Ranges& ranges, int64_t* coefficient) {
  if (!uses_variable(index, name)) {
    *coefficient = 0;
    return true;
  }
  const Expr at0 = simplify(substitute(index, {{name, constant_int(DType::Int64, 0)}}), ranges);
  const Expr at1 = simplify(substitute(index, {{name, constant_int(DType::Int64, 1)}}), ranges);
  int64_t step = 0;
  if (!constant_value(simplify(at1 - at0, ranges), &step)) return false;
  // The slope between 0 and 1 must be the slope everywhere.
  const Expr remainder = simplify(index - at0 - variable(name) * constant_int(DType::Int64, step), ranges);
  int64_t zero = 1;
  if (!constant_value(remainder, &zero) || zero != 0) return false;
  *coefficient = step;
  return true;
}

Expr flat_offset(const Buffer& buffer, const std::vector<Expr>& indices) {
  const std::vector<LayoutDim> dims = buffer.layout.dims(buffer.shape);
  Expr offset = constant_int(DType::Int64, 0);
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    const LayoutDim& dim = dims[d];
    Expr coordinate = indices[dim.axis] + constant_int(DType::Int64, buffer.layout.halo_low(dim.axis));
    if (dim.divisor != 1) coordinate = floordiv(coordinate, constant_int(DType::Int64, dim.divisor));
    if (!dim.outermost) coordinate = floormod(coordinate, constant_int(DType::Int64, dim.extent));
    offset = offset + coordinate * constant_int(DType::Int64, stride);
    stride *= dim.extent;
  }
  return offset;
}

}  // namespace dnn::loops
