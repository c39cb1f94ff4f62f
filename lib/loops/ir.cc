// The loop IR's constructors and tree walks; see ir.h.
#include "loops/ir.h"

namespace dnn::loops {
namespace {

Expr make(Op op, DType dtype, std::vector<Expr> args = {}) {
  auto node = std::make_shared<ExprNode>();
  node->op = op;
  node->dtype = dtype;
  node->args = std::move(args);
  return Expr(std::move(node));
}

// A literal beside a typed expression takes its dtype.
void agree(Expr& a, Expr& b) {
  auto follow = [](Expr& literal, DType dtype) {
    const double value = is_float(literal->dtype) ? literal->f : static_cast<double>(literal->i);
    literal = is_float(dtype)
                  ? constant(dtype, value)
                  : constant_int(dtype, is_float(literal->dtype) ? static_cast<int64_t>(literal->f) : literal->i);
  };
  if (a->literal && !b->literal) follow(a, b->dtype);
  if (b->literal && !a->literal) follow(b, a->dtype);
  if (a->literal && b->literal && is_float(a->dtype) != is_float(b->dtype)) {
    Expr& integer = is_float(a->dtype) ? b : a;
    integer = Expr(static_cast<double>(integer->i));
  }
  if (a->dtype != b->dtype) {
    fail_internal("loop IR: operands of ", dtype_name(a->dtype), " and ", dtype_name(b->dtype), ": ", to_text(a), ", ",
                  to_text(b));
  }
}

bool is_comparison(Op op) { return op == Op::Eq || op == Op::Ne || op == Op::Lt || op == Op::Le; }

}  // namespace

Expr constant(DType dtype, double value) {
  if (!is_float(dtype)) return constant_int(dtype, static_cast<int64_t>(value));
  auto node = std::make_shared<ExprNode>();
  node->op = Op::Constant;
  node->dtype = dtype;
  node->f = value;
  return Expr(std::move(node));
}

Expr constant_int(DType dtype, int64_t value) {
  if (is_float(dtype)) return constant(dtype, static_cast<double>(value));
  auto node = std::make_shared<ExprNode>();
  node->op = Op::Constant;
  node->dtype = dtype;
  node->i = value;
  return Expr(std::move(node));
}

namespace {
std::shared_ptr<const ExprNode> literal(DType dtype, int64_t i, double f) {
  auto node = std::make_shared<ExprNode>();
  node->op = Op::Constant;
  node->dtype = dtype;
  node->literal = true;
  node->i = i;
  node->f = f;
  return node;
}
}  // namespace

Expr::Expr(int value) : node_(literal(DType::Int64, value, 0)) {}
Expr::Expr(int64_t value) : node_(literal(DType::Int64, value, 0)) {}
Expr::Expr(double value) : node_(literal(DType::Float32, 0, value)) {}

Expr variable(std::string name) {
  auto node = std::make_shared<ExprNode>();
  node->op = Op::Variable;
  node->dtype = DType::Int64;
  node->name = std::move(name);
  return Expr(std::move(node));
}

Expr load(BufferRef buffer, std::vector<Expr> indices) {
  if (indices.size() != buffer->shape.size()) {
    fail_internal("loop IR: ", buffer->name, " of rank ", buffer->shape.size(), " read with ", indices.size(),
                  " indices");
  }
  auto node = std::make_shared<ExprNode>();
  node->op = Op::Load;
  node->dtype = buffer->dtype;
  node->buffer = std::move(buffer);
  node->args = std::move(indices);
  return Expr(std::move(node));
}

Expr unary(Op op, Expr a) {
  const DType dtype = op == Op::IsNan || op == Op::IsInf ? DType::Bool : a->dtype;
  if (op == Op::Neg && a->literal) return is_float(a->dtype) ? Expr(-a->f) : Expr(-a->i);
  return make(op, dtype, {std::move(a)});
}

Expr binary(Op op, Expr a, Expr b) {
  agree(a, b);
  const DType dtype = is_comparison(op) ? DType::Bool : a->dtype;
  return make(op, dtype, {std::move(a), std::move(b)});
}

Expr select(Expr condition, Expr yes, Expr no) {
  agree(yes, no);
  const DType dtype = yes->dtype;
  return make(Op::Select, dtype, {std::move(condition), std::move(yes), std::move(no)});
}

Expr fma(Expr a, Expr b, Expr c) {
  agree(a, b);
  agree(a, c);
  const DType dtype = a->dtype;
  return make(Op::Fma, dtype, {std::move(a), std::move(b), std::move(c)});
}

Expr cast(DType dtype, Expr a) {
  if (a->dtype == dtype && !a->literal) return a;
  if (a->op == Op::Constant && has_arithmetic(dtype)) {  // memory of others is written by a conversion
    const double value = is_float(a->dtype) ? a->f : static_cast<double>(a->i);
    return is_float(dtype) ? constant(dtype, value)
                           : constant_int(dtype, is_float(a->dtype) ? static_cast<int64_t>(a->f) : a->i);
  }
  return make(Op::Cast, dtype, {std::move(a)});
}

Expr with_args(const Expr& expr, std::vector<Expr> args) {
  auto node = std::make_shared<ExprNode>(*expr);
  node->args = std::move(args);
  return Expr(std::move(node));
}

bool constant_value(const Expr& expr, int64_t* value) {
  if (expr->op != Op::Constant || is_float(expr->dtype)) return false;
  *value = expr->i;
  return true;
}

Expr operator+(Expr a, Expr b) { return binary(Op::Add, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return binary(Op::Sub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return binary(Op::Mul, std::move(a), std::move(b)); }
Expr operator/(Expr a, Expr b) { return binary(Op::Div, std::move(a), std::move(b)); }
Expr operator-(Expr a) { return unary(Op::Neg, std::move(a)); }
Expr operator<(Expr a, Expr b) { return binary(Op::Lt, std::move(a), std::move(b)); }
Expr operator<=(Expr a, Expr b) { return binary(Op::Le, std::move(a), std::move(b)); }
Expr operator>(Expr a, Expr b) { return binary(Op::Lt, std::move(b), std::move(a)); }
Expr operator>=(Expr a, Expr b) { return binary(Op::Le, std::move(b), std::move(a)); }
Expr operator==(Expr a, Expr b) { return binary(Op::Eq, std::move(a), std::move(b)); }
Expr operator!=(Expr a, Expr b) { return binary(Op::Ne, std::move(a), std::move(b)); }
Expr operator&&(Expr a, Expr b) { return binary(Op::And, std::move(a), std::move(b)); }
Expr operator||(Expr a, Expr b) { return binary(Op::Or, std::move(a), std::move(b)); }
Expr operator!(Expr a) { return unary(Op::Not, std::move(a)); }

Stmt loop(std::string variable, int64_t extent, Stmt body, LoopKind kind) {
  auto node = std::make_shared<StmtNode>();
  node->kind = StmtKind::For;
  node->variable = std::move(variable);
  node->extent = extent;
  node->loop = kind;
  node->children = {std::move(body)};
  return node;
}

Stmt block(std::vector<Stmt> statements) {
  auto node = std::make_shared<StmtNode>();
  node->kind = StmtKind::Block;
  for (Stmt& statement : statements) {
    if (statement == nullptr) continue;
    if (statement->kind == StmtKind::Block) {
      node->children.insert(node->children.end(), statement->children.begin(), statement->children.end());
    } else {
      node->children.push_back(std::move(statement));
    }
  }
  if (node->children.size() == 1) return node->children[0];
  return node;
}

Stmt store(BufferRef buffer, std::vector<Expr> indices, Expr value) {
  if (indices.size() != buffer->shape.size()) {
    fail_internal("loop IR: ", buffer->name, " of rank ", buffer->shape.size(), " written with ", indices.size(),
                  " indices");
  }
  if (value->literal) value = cast(buffer->dtype, value);
  if (value->dtype != buffer->dtype) {
    fail_internal("loop IR: ", buffer->name, " of ", dtype_name(buffer->dtype), " is given ", dtype_name(value->dtype));
  }
  auto node = std::make_shared<StmtNode>();
  node->kind = StmtKind::Store;
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  node->value = std::move(value);
  return node;
}

Stmt alloc(BufferRef local) {
  auto node = std::make_shared<StmtNode>();
  node->kind = StmtKind::Alloc;
  node->buffer = std::move(local);
  return node;
}

Stmt if_then(Expr condition, Stmt then, Stmt otherwise) {
  auto node = std::make_shared<StmtNode>();
  node->kind = StmtKind::If;
  node->value = std::move(condition);
  node->children = {std::move(then)};
  if (otherwise != nullptr) node->children.push_back(std::move(otherwise));
  return node;
}

Stmt prefetch(BufferRef buffer, std::vector<Expr> indices, Expr offset, Fetch fetch) {
  auto node = std::make_shared<StmtNode>();
  node->kind = StmtKind::Prefetch;
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  node->value = std::move(offset);
  node->fetch = fetch;
  return node;
}

BufferRef local_buffer(std::string name, DType dtype, Shape shape) {
  return std::make_shared<Buffer>(Buffer{std::move(name), dtype, std::move(shape), {}, Scope::Local});
}

bool lies_in_rows(const Buffer& buffer) {
  const int last = static_cast<int>(buffer.shape.size()) - 1;
  bool at_end = true;
  for (const LayoutDim& dim : buffer.layout.dims(buffer.shape)) {
    if (dim.axis == last && dim.outermost) at_end = true;
    if (dim.axis != last) at_end = false;
  }
  return at_end;
}

Expr rewrite(const Expr& expr, const std::function<Expr(const Expr&)>& visit) {
  if (expr->args.empty()) return visit(expr);
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& arg : expr->args) {
    args.push_back(rewrite(arg, visit));
    changed = changed || args.back().get() != arg.get();
  }
  return visit(changed ? with_args(expr, std::move(args)) : expr);
}

Stmt rebuild(const StmtNode& stmt, std::vector<Stmt> children) {
  if (stmt.kind == StmtKind::Block) return block(std::move(children));
  auto node = std::make_shared<StmtNode>(stmt);
  node->children = std::move(children);
  return node;
}

Stmt rewrite_expressions(const Stmt& stmt, const std::function<Expr(const Expr&)>& visit) {
  auto node = std::make_shared<StmtNode>(*stmt);
  for (Expr& index : node->indices) index = rewrite(index, visit);
  if (node->value.defined()) node->value = rewrite(node->value, visit);
  for (Stmt& child : node->children) child = rewrite_expressions(child, visit);
  return node;
}

Expr substitute(const Expr& expr, const std::map<std::string, Expr>& values) {
  return rewrite(expr, [&](const Expr& e) {
    if (e->op != Op::Variable) return e;
    auto found = values.find(e->name);
    return found == values.end() ? e : found->second;
  });
}

Stmt substitute(const Stmt& stmt, const std::map<std::string, Expr>& values) {
  return rewrite_expressions(stmt, [&](const Expr& e) {
    if (e->op != Op::Variable) return e;
    auto found = values.find(e->name);
    return found == values.end() ? e : found->second;
  });
}

bool uses_variable(const Expr& expr, const std::string& name) {
  if (expr->op == Op::Variable) return expr->name == name;
  for (const Expr& arg : expr->args) {
    if (uses_variable(arg, name)) return true;
  }
  return false;
}

bool uses_variable(const Stmt& stmt, const std::string& name) {
  for (const Expr& index : stmt->indices) {
    if (uses_variable(index, name)) return true;
  }
  if (stmt->value.defined() && uses_variable(stmt->value, name)) return true;
  for (const Stmt& child : stmt->children) {
    if (uses_variable(child, name)) return true;
  }
  return false;
}

}  // namespace dnn::loops
