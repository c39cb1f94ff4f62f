// Readable text of the loop IR; see ir.h.
#include "base/text.h"
#include "loops/ir.h"

namespace dnn::loops {
namespace {

// How each operator prints: infix with a binding strength, or as a call.
struct Spelling {
  std::string_view text;
  int strength;  // 0: a call
};

Spelling spelling(Op op) {
  switch (op) {
    case Op::Or: return {"||", 1};
    case Op::And: return {"&&", 2};
    case Op::Eq: return {"==", 3};
    case Op::Ne: return {"!=", 3};
    case Op::Lt: return {"<", 4};
    case Op::Le: return {"<=", 4};
    case Op::Add: return {"+", 5};
    case Op::Sub: return {"-", 5};
    case Op::Mul: return {"*", 6};
    case Op::Div: return {"/", 6};
    case Op::FloorDiv: return {"//", 6};
    case Op::FloorMod: return {"%", 6};
    case Op::Neg: return {"-", 0};
    case Op::Not: return {"!", 0};
    case Op::Abs: return {"abs", 0};
    case Op::Exp: return {"exp", 0};
    case Op::Log: return {"log", 0};
    case Op::Sqrt: return {"sqrt", 0};
    case Op::Sin: return {"sin", 0};
    case Op::Cos: return {"cos", 0};
    case Op::Tan: return {"tan", 0};
    case Op::Asin: return {"asin", 0};
    case Op::Acos: return {"acos", 0};
    case Op::Atan: return {"atan", 0};
    case Op::Sinh: return {"sinh", 0};
    case Op::Cosh: return {"cosh", 0};
    case Op::Tanh: return {"tanh", 0};
    case Op::Asinh: return {"asinh", 0};
    case Op::Acosh: return {"acosh", 0};
    case Op::Atanh: return {"atanh", 0};
    case Op::Erf: return {"erf", 0};
    case Op::Silu: return {"silu", 0};
    case Op::StatedDivisor: return {"stated_divisor", 0};
    case Op::StatedNormal: return {"stated_normal", 0};
    case Op::StatedExponential: return {"stated_exponential", 0};
    case Op::Floor: return {"floor", 0};
    case Op::Ceil: return {"ceil", 0};
    case Op::RoundEven: return {"round_even", 0};
    case Op::RoundBFloat16: return {"round_bfloat16", 0};
    case Op::RoundFloat16: return {"round_float16", 0};
    case Op::IsNan: return {"is_nan", 0};
    case Op::IsInf: return {"is_inf", 0};
    case Op::TruncMod: return {"trunc_mod", 0};
    case Op::Min: return {"min", 0};
    case Op::Max: return {"max", 0};
    case Op::Pow: return {"pow", 0};
    case Op::Xor: return {"xor", 0};
    case Op::ShiftLeft: return {"shift_left", 0};
    case Op::ShiftRight: return {"shift_right", 0};
    case Op::Select: return {"select", 0};
    case Op::Fma: return {"fma", 0};
    default: return {"?", 0};
  }
}

std::string list(const std::vector<Expr>& exprs) {
  std::vector<std::string> parts;
  for (const Expr& e : exprs) parts.push_back(to_text(e));
  return join(parts, ", ");
}

std::string print(const Expr& expr, int outer) {
  const ExprNode& e = *expr;
  if (e.op == Op::Constant) {
    if (is_float(e.dtype)) return e.dtype == DType::Float64 ? exact_text(e.f) : exact_text(static_cast<float>(e.f));
    return std::to_string(e.i);
  }
  if (e.op == Op::Variable) return e.name;
  if (e.op == Op::Load) return e.buffer->name + (e.args.empty() ? "" : "[" + list(e.args) + "]");
  if (e.op == Op::Cast) return std::string(dtype_name(e.dtype)) + "(" + list(e.args) + ")";
  const Spelling s = spelling(e.op);
  if (s.strength == 0) return std::string(s.text) + "(" + list(e.args) + ")";
  std::string text = print(e.args[0], s.strength) + " " + std::string(s.text) + " " + print(e.args[1], s.strength + 1);
  return s.strength < outer ? "(" + text + ")" : text;
}

std::string loop_word(LoopKind kind) {
  switch (kind) {
    case LoopKind::Parallel: return "parallel";
    case LoopKind::Unrolled: return "unrolled";
    case LoopKind::Vector: return "vector";
    case LoopKind::Threads: return "threads";
    case LoopKind::Matrix: return "matrix";
    default: return "for";
  }
}

std::string scope_word(Scope scope) {
  switch (scope) {
    case Scope::Shared: return "shared";
    case Scope::Private: return "private";
    default: return "local";
  }
}

std::string buffer_text(const Buffer& buffer) {
  std::string layout = buffer.layout.text();
  return buffer.name + ": " + std::string(dtype_name(buffer.dtype)) + shape_text(buffer.shape) +
         (layout.empty() ? "" : " layout " + layout);
}

}  // namespace

std::string to_text(const Expr& expr) { return print(expr, 0); }

std::string to_text(const Stmt& stmt, int indent) {
  const std::string pad(static_cast<size_t>(indent) * 2, ' ');
  switch (stmt->kind) {
    case StmtKind::For:
      return cat(pad, loop_word(stmt->loop), " ", stmt->variable, " < ", stmt->extent, ":\n",
                 to_text(stmt->children[0], indent + 1));
    case StmtKind::Block: {
      std::string text;
      for (const Stmt& child : stmt->children) text += to_text(child, indent);
      return text;
    }
    case StmtKind::Store:
      return pad + stmt->buffer->name + (stmt->indices.empty() ? "" : "[" + list(stmt->indices) + "]") + " = " +
             to_text(stmt->value) + "\n";
    case StmtKind::Alloc: return pad + scope_word(stmt->buffer->scope) + " " + buffer_text(*stmt->buffer) + "\n";
    case StmtKind::Prefetch:
      return cat(pad, stmt->fetch == Fetch::First ? "prefetch nearest " : "prefetch ", stmt->buffer->name, "[",
                 list(stmt->indices), "] + ", to_text(stmt->value), "\n");
    case StmtKind::If: {
      std::string text = pad + "if " + to_text(stmt->value) + ":\n" + to_text(stmt->children[0], indent + 1);
      if (stmt->children.size() > 1) text += pad + "else:\n" + to_text(stmt->children[1], indent + 1);
      return text;
    }
  }
  return {};
}

std::string to_text(const Kernel& kernel) {
  std::string text = "kernel " + kernel.name + " (" + kernel.pattern + ")\n";
  for (const BufferRef& argument : kernel.arguments) text += "  " + buffer_text(*argument) + "\n";
  return text + to_text(kernel.body, 1);
}

}  // namespace dnn::loops
