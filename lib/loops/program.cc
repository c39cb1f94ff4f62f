// Kernels with their names resolved; see program.h.
#include "loops/program.h"

#include <cstring>
#include <map>

#include "base/error.h"

namespace dnn::loops {
namespace {

template <class T>
T load_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Makes one sum of a sum of sums, or of a number times a sum, in 64-bit integers.
void add_up(Code* code) {
  if (code->args.size() != 2 || code->operand != DType::Int64 || !code->args[0].sum || !code->args[1].sum) return;
  Code &a = code->args[0], &b = code->args[1];
  uint64_t of_a = 1, of_b = 1;
  switch (code->op) {
    case Op::Add: break;
    case Op::Sub: of_b = uint64_t{0} - 1; break;
    case Op::Mul:
      if (!a.terms.empty() && !b.terms.empty()) return;
      if (!a.terms.empty()) std::swap(a, b);
      of_b = static_cast<uint64_t>(a.constant.i);
      a.constant.i = 0;
      break;
    default: return;
  }
  const auto times = [](uint64_t number, int64_t value) {
    return static_cast<int64_t>(number * static_cast<uint64_t>(value));
  };
  code->sum = true;
  code->constant.i = static_cast<int64_t>(static_cast<uint64_t>(times(of_a, a.constant.i)) +
                                          static_cast<uint64_t>(times(of_b, b.constant.i)));
  for (const auto& [slot, number] : a.terms) code->terms.emplace_back(slot, times(of_a, number));
  for (const auto& [slot, number] : b.terms) code->terms.emplace_back(slot, times(of_b, number));
  code->args.clear();
}

class ProgramCompiler {
 public:
  Program run(const Kernel& kernel) {
    for (const BufferRef& argument : kernel.arguments) declare(Storage(argument));
    program_.body = compile(kernel.body);
    return std::move(program_);
  }

 private:
  size_t declare(Storage storage) {
    program_.storages.push_back(std::move(storage));
    visible_[program_.storages.back().buffer->name] = program_.storages.size() - 1;
    return program_.storages.size() - 1;
  }

  size_t find(const BufferRef& buffer) const {
    auto found = visible_.find(buffer->name);
    if (found == visible_.end()) fail_internal("loop IR: buffer ", buffer->name, " is used where it does not exist");
    const Buffer& known = *program_.storages[found->second].buffer;
    if (known.dtype != buffer->dtype || known.shape != buffer->shape || !(known.layout == buffer->layout)) {
      fail_internal("loop IR: buffer ", buffer->name, " is used as ", dtype_name(buffer->dtype),
                    shape_text(buffer->shape), " '", buffer->layout.text(), "', but is ", dtype_name(known.dtype),
                    shape_text(known.shape), " '", known.layout.text(), "'");
    }
    return found->second;
  }

  Code compile(const Expr& expr) {
    if (!expr.defined()) fail_internal("loop IR: an expression is missing");
    Code code{.op = expr->op, .dtype = expr->dtype, .operand = expr->dtype, .terms = {}, .args = {}};
    if (expr->op == Op::Variable) {
      auto found = variables_.find(expr->name);
      if (found == variables_.end()) fail_internal("loop IR: variable ", expr->name, " is used outside its loop");
      code.terms.emplace_back(found->second, 1);
      code.sum = true;
    }
    if (expr->op == Op::Constant) {
      code.constant = constant_of(*expr);
      code.sum = expr->dtype == DType::Int64;
    }
    if (expr->op == Op::Load) code.slot = find(expr->buffer);
    for (const Expr& arg : expr->args) code.args.push_back(compile(arg));
    if (!code.args.empty()) code.operand = expr->args[0]->dtype;
    const bool computes = !code.args.empty() && expr->op != Op::Load && expr->op != Op::Select && expr->op != Op::Cast;
    if (computes && !has_arithmetic(code.operand))
      fail_internal("loop IR: no arithmetic on ", dtype_name(code.operand));
    add_up(&code);
    return code;
  }

  Task compile(const Stmt& stmt) {
    if (stmt == nullptr) fail_internal("loop IR: a statement is missing");
    Task task{stmt.get(), 0, {}, {}, {}};
    const auto visible = visible_;
    const auto variables = variables_;
    if (stmt->kind == StmtKind::Store) task.slot = find(stmt->buffer);
    for (const Expr& index : stmt->indices) task.indices.push_back(compile(index));
    if (stmt->value.defined()) task.value.push_back(compile(stmt->value));
    if (stmt->kind == StmtKind::For) {
      if (variables_.count(stmt->variable) != 0)
        fail_internal("loop IR: loop ", stmt->variable, " inside a loop of the same variable");
      task.slot = program_.n_variables++;
      variables_[stmt->variable] = task.slot;
    }
    for (const Stmt& child : stmt->children) task.children.push_back(compile(child));
    if (stmt->kind != StmtKind::Alloc) {
      visible_ = visible;
      variables_ = variables;
    } else {
      task.slot = declare(Storage(stmt->buffer));
    }
    return task;
  }

  Program program_;
  std::map<std::string, size_t> visible_;    // buffers in scope
  std::map<std::string, size_t> variables_;  // loop variables in scope
};

}  // namespace

Scalar Storage::read(int64_t offset) const {
  const std::byte* at = data + static_cast<size_t>(offset) * width;
  Scalar value{.i = 0};
  auto integer = [&](auto typed) {
    std::memcpy(&typed, at, sizeof typed);
    value.i = static_cast<int64_t>(typed);
  };
  switch (dtype) {
    case DType::Float32: std::memcpy(&value.f32, at, 4); break;
    case DType::BFloat16: value.f32 = static_cast<float>(load_as<BFloat16>(at)); break;
    case DType::Float16: value.f32 = static_cast<float>(load_as<Half>(at)); break;
    case DType::Float64: std::memcpy(&value.f64, at, 8); break;
    case DType::Int8: integer(int8_t{}); break;
    case DType::Int16: integer(int16_t{}); break;
    case DType::Int32: integer(int32_t{}); break;
    case DType::Int64: integer(int64_t{}); break;
    case DType::UInt64: integer(uint64_t{}); break;
    case DType::UInt32: integer(uint32_t{}); break;
    default:
      if (width == 1) {
        integer(uint8_t{});
      } else if (width == 2) {
        integer(uint16_t{});
      } else {
        fail_internal("loop IR: no buffers of ", dtype_name(dtype));
      }
  }
  return value;
}

void Storage::write(int64_t offset, Scalar value) {
  // Little-endian: the low bytes of an integer are its narrow form, and the float members start where `i` does.
  std::memcpy(data + static_cast<size_t>(offset) * width, &value, width);
}

Program compile_program(const Kernel& kernel) { return ProgramCompiler().run(kernel); }

}  // namespace dnn::loops
