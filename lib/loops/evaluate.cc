// evaluate: runs a kernel's loops one by one on tensors; slow, and strict about what it meets; see ir.h.
//
// Float32 arithmetic rounds after each operation. Integers wrap to their width. A select and a bool && or || evaluate only
// what they need. Parallel loops run backwards, so that iterations that depend on each other give something else than
// the printed kernel. Local buffers start as NaN or a large odd pattern, never as zero.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "base/error.h"
#include "loops/ir.h"

namespace dnn::loops {
namespace {

// One scalar; which member counts follows from the dtype. Types without arithmetic here (the 8-bit-stored ones) travel as
// their bits in `i`, float16 and bfloat16 as the float that they are.
union Value {
  float f32;
  double f64;
  int64_t i;
};

// A buffer's memory and the way from logical indices into it.
struct Storage {
  BufferRef buffer;
  std::vector<int64_t> low, high;  // addressable logical indices per axis: low .. high - 1
  std::vector<LayoutDim> dims;
  std::vector<int64_t> strides;  // by physical dim
  DType dtype;
  size_t width;  // bytes of an element
  std::byte* data = nullptr;
  Tensor own;  // a local buffer's memory

  explicit Storage(BufferRef which) : buffer(std::move(which)), dtype(buffer->dtype), width(dtype_size(dtype)) {
    const Shape& shape = buffer->shape;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      low.push_back(-buffer->layout.halo_low(axis));
      high.push_back(buffer->layout.capacity(shape, axis));
    }
    dims = buffer->layout.dims(shape);
    strides.assign(dims.size(), 1);
    for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d].extent;
  }

  bool inside(const int64_t* index) const {
    for (size_t axis = 0; axis < low.size(); ++axis) {
      if (index[axis] < low[axis] || index[axis] >= high[axis]) return false;
    }
    return true;
  }
  int64_t offset(const int64_t* index) const {
    int64_t sum = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      const size_t axis = dims[d].axis;
      const int64_t distance = index[axis] - low[axis], divisor = dims[d].divisor;
      const int64_t coordinate = divisor == 1 ? distance : distance / divisor;
      sum += (dims[d].outermost ? coordinate : coordinate % dims[d].extent) * strides[d];
    }
    return sum;
  }
};

// Expressions and statements with names resolved to slots. Most indices are sums of loop variables, which are one step.
struct Code {
  Op op;
  DType dtype, operand;  // its own; its first argument's
  size_t slot = 0;       // Load: its storage
  bool sum = false;      // constant.i + all terms: variable times number, modulo 2^64; has no args
  Value constant = {.i = 0};
  std::vector<std::pair<size_t, int64_t>> terms;
  std::vector<Code> args;
};
struct Task {
  const StmtNode* stmt;
  size_t slot = 0;  // For: its variable; Store, Alloc: the storage
  std::vector<Code> indices;
  std::vector<Code> value;  // none or one
  std::vector<Task> children;
};

int64_t wrap(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::Int8: return static_cast<int8_t>(value);
    case DType::Int16: return static_cast<int16_t>(value);
    case DType::Int32: return static_cast<int32_t>(value);
    case DType::UInt8: return static_cast<uint8_t>(value);
    case DType::UInt16: return static_cast<uint16_t>(value);
    case DType::UInt32: return static_cast<uint32_t>(value);
    case DType::Bool: return value != 0;
    default: return value;
  }
}

// Float to integer as convert() does it: truncated, out of range as x86 instructions give it.
int64_t truncate(DType to, double value) {
  if (to == DType::UInt64 && value >= 0x1p63 && value < 0x1p64)
    return static_cast<int64_t>(static_cast<uint64_t>(value - 0x1p63) + (uint64_t{1} << 63));
  if (!(value > -0x1p63 && value < 0x1p63)) return wrap(to, std::numeric_limits<int64_t>::min());
  return wrap(to, static_cast<int64_t>(value));
}

template <class T>
T unary_float(Op op, T a) {
  switch (op) {
    case Op::Neg: return -a;
    case Op::Abs: return std::fabs(a);
    case Op::Exp: return std::exp(a);
    case Op::Log: return std::log(a);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Sin: return std::sin(a);
    case Op::Cos: return std::cos(a);
    case Op::Tan: return std::tan(a);
    case Op::Asin: return std::asin(a);
    case Op::Acos: return std::acos(a);
    case Op::Atan: return std::atan(a);
    case Op::Sinh: return std::sinh(a);
    case Op::Cosh: return std::cosh(a);
    case Op::Tanh: return std::tanh(a);
    case Op::Asinh: return std::asinh(a);
    case Op::Acosh: return std::acosh(a);
    case Op::Atanh: return std::atanh(a);
    case Op::Erf: return std::erf(a);
    case Op::Silu: return a / (1 + std::exp(-a));
    case Op::Floor: return std::floor(a);
    case Op::Ceil: return std::ceil(a);
    case Op::RoundEven: return std::nearbyint(a);
    case Op::RoundBFloat16: return static_cast<T>(static_cast<float>(BFloat16(static_cast<float>(a))));
    case Op::RoundFloat16: return static_cast<T>(static_cast<float>(Half(static_cast<float>(a))));
    default: fail_internal("loop IR: no such operation on floats");
  }
}

template <class T>
T binary_float(Op op, T a, T b) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::FloorDiv: return std::floor(a / b);
    case Op::FloorMod: return a - std::floor(a / b) * b;
    case Op::TruncMod: return std::fmod(a, b);
    case Op::Min: return a < b ? a : b;
    case Op::Max: return a > b ? a : b;
    case Op::Pow: return std::pow(a, b);
    default: fail_internal("loop IR: no such operation on floats");
  }
}

template <class T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::Eq: return a == b;
    case Op::Ne: return a != b;
    case Op::Lt: return a < b;
    default: return a <= b;
  }
}

// Wrapping arithmetic of T's width is done modulo 2^64 and wrapped by the caller.
template <class T>  // int64_t or uint64_t
T binary_integer(Op op, T a, T b, int bits) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case Op::Add: return static_cast<T>(ua + ub);
    case Op::Sub: return static_cast<T>(ua - ub);
    case Op::Mul: return static_cast<T>(ua * ub);
    case Op::Min: return a < b ? a : b;
    case Op::Max: return a > b ? a : b;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::ShiftLeft:
    case Op::ShiftRight:
      if (ub >= static_cast<uint64_t>(bits)) fail_internal("loop IR: shift of a ", bits, "-bit integer by ", b);
      return op == Op::ShiftLeft ? static_cast<T>(ua << ub) : static_cast<T>(a >> b);
    case Op::Pow: {
      if (std::is_signed_v<T> && static_cast<int64_t>(b) < 0) fail_internal("loop IR: an integer to the power of ", b);
      uint64_t result = 1, base = ua;
      for (uint64_t rest = ub; rest != 0; rest >>= 1, base *= base) {
        if ((rest & 1) != 0) result *= base;
      }
      return static_cast<T>(result);
    }
    default: break;
  }
  if (b == 0) fail_internal("loop IR: integer division by zero");
  if (std::is_signed_v<T> && static_cast<int64_t>(b) == -1) {  // the one quotient that overflows
    return op == Op::Div || op == Op::FloorDiv ? static_cast<T>(uint64_t{0} - ua) : T{0};
  }
  const T quotient = a / b, rest = a % b;
  const bool floors = rest != 0 && std::is_signed_v<T> && ((rest < 0) != (b < 0));
  switch (op) {
    case Op::Div: return quotient;
    case Op::FloorDiv: return floors ? quotient - 1 : quotient;
    case Op::TruncMod: return rest;
    case Op::FloorMod: return floors ? rest + b : rest;
    default: fail_internal("loop IR: no such operation on integers");
  }
}

class Evaluator {
 public:
  void run(const Kernel& kernel, std::vector<Tensor>& arguments) {
    if (arguments.size() != kernel.arguments.size()) {
      fail_internal("evaluate: kernel ", kernel.name, " takes ", kernel.arguments.size(), " arguments, is given ",
                    arguments.size());
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      Storage storage(kernel.arguments[i]);
      const Buffer& buffer = *storage.buffer;
      if (arguments[i].dtype() != buffer.dtype || arguments[i].size() != buffer.layout.element_count(buffer.shape)) {
        fail_internal("evaluate: argument ", buffer.name, " is ", dtype_name(arguments[i].dtype()),
                      shape_text(arguments[i].shape()), ", the kernel wants ", dtype_name(buffer.dtype), "[",
                      buffer.layout.element_count(buffer.shape), "]");
      }
      storage.data = arguments[i].mutable_bytes();
      declare(std::move(storage));
    }
    const Task task = compile(kernel.body);
    execute(task);
  }

 private:
  size_t declare(Storage storage) {
    storages_.push_back(std::move(storage));
    visible_[storages_.back().buffer->name] = storages_.size() - 1;
    return storages_.size() - 1;
  }

  size_t find(const BufferRef& buffer) const {
    auto found = visible_.find(buffer->name);
    if (found == visible_.end()) fail_internal("loop IR: buffer ", buffer->name, " is used where it does not exist");
    const Buffer& known = *storages_[found->second].buffer;
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

  // Makes one sum of a sum of sums, or of a number times a sum, in 64-bit integers.
  static void add_up(Code* code) {
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
      task.slot = values_.size();
      variables_[stmt->variable] = task.slot;
      values_.push_back(0);
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

  void execute(const Task& task) {
    switch (task.stmt->kind) {
      case StmtKind::For: {
        const int64_t n = task.stmt->extent;
        const bool backwards = task.stmt->loop == LoopKind::Parallel || task.stmt->loop == LoopKind::Threads;
        for (int64_t i = 0; i < n; ++i) {
          values_[task.slot] = backwards ? n - 1 - i : i;
          execute(task.children[0]);
        }
        break;
      }
      case StmtKind::Block:
        for (const Task& child : task.children) execute(child);
        break;
      case StmtKind::Store: {
        Storage& storage = storages_[task.slot];
        int64_t small[8];
        std::vector<int64_t> large;
        const int64_t* index = indices(task.indices, small, &large);
        if (!storage.inside(index)) outside(storage, "written", index);
        write(storage, storage.offset(index), eval(task.value[0]));
        break;
      }
      case StmtKind::Alloc: {
        Storage& storage = storages_[task.slot];
        const Buffer& buffer = *storage.buffer;
        if (!storage.own.defined()) storage.own = Tensor(buffer.dtype, {buffer.layout.element_count(buffer.shape)});
        storage.data = storage.own.mutable_bytes();
        std::memset(storage.data,
                    buffer.dtype == DType::Bool ? 1
                    : is_float(buffer.dtype)    ? 0xff
                                                : 0x5b,
                    storage.own.size_bytes());
        break;
      }
      case StmtKind::Prefetch: break;
      case StmtKind::If:
        if (eval(task.value[0]).i != 0) {
          execute(task.children[0]);
        } else if (task.children.size() > 1) {
          execute(task.children[1]);
        }
        break;
    }
  }

  // The values of index expressions, in `small` where they fit.
  const int64_t* indices(const std::vector<Code>& codes, int64_t (&small)[8], std::vector<int64_t>* large) {
    int64_t* out = small;
    if (codes.size() > 8) {
      large->resize(codes.size());
      out = large->data();
    }
    for (size_t i = 0; i < codes.size(); ++i) out[i] = eval(codes[i]).i;
    return out;
  }

  [[noreturn]] static void outside(const Storage& storage, const char* how, const int64_t* index) {
    const Buffer& buffer = *storage.buffer;
    fail_internal("loop IR: ", buffer.name, shape_text(buffer.shape), " is ", how, " at ",
                  shape_text(Shape(index, index + buffer.shape.size())));
  }

  template <class T>
  static T load_as(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  // Floats of 16 bits, which only memory has, are widened at once.
  static Value read(const Storage& storage, int64_t offset) {
    const DType dtype = storage.dtype;
    const std::byte* at = storage.data + static_cast<size_t>(offset) * storage.width;
    Value value{.i = 0};
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
        if (storage.width == 1) {
          integer(uint8_t{});
        } else if (storage.width == 2) {
          integer(uint16_t{});
        } else {
          fail_internal("loop IR: no buffers of ", dtype_name(dtype));
        }
    }
    return value;
  }

  static void write(Storage& storage, int64_t offset, Value value) {
    // Little-endian: the low bytes of an integer are its narrow form, and the float members start where `i` does.
    std::memcpy(storage.data + static_cast<size_t>(offset) * storage.width, &value, storage.width);
  }

  Value eval(const Code& code) {
    if (code.sum) {
      auto result = static_cast<uint64_t>(code.constant.i);
      for (const auto& [slot, number] : code.terms)
        result += static_cast<uint64_t>(values_[slot]) * static_cast<uint64_t>(number);
      return {.i = static_cast<int64_t>(result)};
    }
    switch (code.op) {
      case Op::Constant: return code.constant;
      case Op::Load: {
        const Storage& storage = storages_[code.slot];
        int64_t small[8];
        std::vector<int64_t> large;
        const int64_t* index = indices(code.args, small, &large);
        if (!storage.inside(index)) outside(storage, "read", index);
        return read(storage, storage.offset(index));
      }
      case Op::Select: return eval(code.args[eval(code.args[0]).i != 0 ? 1 : 2]);
      case Op::Cast: return cast_value(code.operand, code.dtype, eval(code.args[0]));
      default: break;
    }
    const DType operand = code.operand;
    const Value a = eval(code.args[0]);
    if (code.args.size() == 1) return unary_value(code.op, operand, a);
    if (operand == DType::Bool && code.op == Op::And && a.i == 0) return a;
    if (operand == DType::Bool && code.op == Op::Or && a.i != 0) return a;
    const Value b = eval(code.args[1]);
    if (code.op == Op::Fma) {
      const Value c = eval(code.args[2]);
      if (operand == DType::Float32) return {.f32 = std::fma(a.f32, b.f32, c.f32)};
      if (operand == DType::Float64) return {.f64 = std::fma(a.f64, b.f64, c.f64)};
      return {.i = wrap(operand, binary_integer(Op::Add, binary_integer(Op::Mul, a.i, b.i, 64), c.i, 64))};
    }
    return binary_value(code.op, operand, a, b);
  }

  static Value constant_of(const ExprNode& expr) {
    switch (expr.dtype) {
      case DType::Float32: return {.f32 = static_cast<float>(expr.f)};
      case DType::Float64: return {.f64 = expr.f};
      default:
        if (!has_arithmetic(expr.dtype)) fail_internal("loop IR: no constants of ", dtype_name(expr.dtype));
        return {.i = wrap(expr.dtype, expr.i)};
    }
  }

  static Value unary_value(Op op, DType operand, Value a) {
    if (op == Op::IsNan || op == Op::IsInf) {
      if (!is_float(operand)) return {.i = 0};
      const double value = operand == DType::Float32 ? static_cast<double>(a.f32) : a.f64;
      return {.i = op == Op::IsNan ? std::isnan(value) : std::isinf(value)};
    }
    if (operand == DType::Float32) return {.f32 = unary_float(op, a.f32)};
    if (operand == DType::Float64) return {.f64 = unary_float(op, a.f64)};
    const auto bits = static_cast<uint64_t>(a.i);
    const bool negative = dtype_class(operand) == DTypeClass::Signed && a.i < 0;
    switch (op) {
      case Op::Neg: return {.i = wrap(operand, static_cast<int64_t>(uint64_t{0} - bits))};
      case Op::Abs: return {.i = negative ? wrap(operand, static_cast<int64_t>(uint64_t{0} - bits)) : a.i};
      case Op::Not: return {.i = operand == DType::Bool ? static_cast<int64_t>(a.i == 0) : wrap(operand, ~a.i)};
      case Op::Floor:
      case Op::Ceil:
      case Op::RoundEven: return a;
      default: fail_internal("loop IR: a float function of ", dtype_name(operand));
    }
  }

  static Value binary_value(Op op, DType operand, Value a, Value b) {
    if (op == Op::Eq || op == Op::Ne || op == Op::Lt || op == Op::Le) {
      if (operand == DType::Float32) return {.i = compare(op, a.f32, b.f32)};
      if (operand == DType::Float64) return {.i = compare(op, a.f64, b.f64)};
      if (operand == DType::UInt64) return {.i = compare(op, static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i))};
      return {.i = compare(op, a.i, b.i)};
    }
    if (operand == DType::Float32) return {.f32 = binary_float(op, a.f32, b.f32)};
    if (operand == DType::Float64) return {.f64 = binary_float(op, a.f64, b.f64)};
    if (operand == DType::UInt64) {
      return {.i =
                  static_cast<int64_t>(binary_integer(op, static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i), 64))};
    }
    return {.i = wrap(operand, binary_integer(op, a.i, b.i, dtype_bits(operand)))};
  }

  static Value cast_value(DType from, DType to, Value a) {
    if ((from == DType::BFloat16 || from == DType::Float16) && to == DType::Float32) return a;
    if (from == DType::Float32 && to == DType::BFloat16) return {.i = BFloat16(a.f32).bits};
    if (from == DType::Float32 && to == DType::Float16) return {.i = Half(a.f32).bits};
    if (!has_arithmetic(from) || !has_arithmetic(to))
      fail_internal("loop IR: no cast from ", dtype_name(from), " to ", dtype_name(to));
    if (is_float(from)) {
      const double value = from == DType::Float32 ? static_cast<double>(a.f32) : a.f64;
      if (to == DType::Float32) return {.f32 = from == DType::Float32 ? a.f32 : static_cast<float>(a.f64)};
      if (to == DType::Float64) return {.f64 = value};
      return {.i = to == DType::Bool ? static_cast<int64_t>(value != 0) : truncate(to, value)};
    }
    if (to == DType::Float32) {
      return {.f32 = from == DType::UInt64 ? static_cast<float>(static_cast<uint64_t>(a.i)) : static_cast<float>(a.i)};
    }
    if (to == DType::Float64) {
      return {.f64 =
                  from == DType::UInt64 ? static_cast<double>(static_cast<uint64_t>(a.i)) : static_cast<double>(a.i)};
    }
    return {.i = wrap(to, a.i)};
  }

  std::vector<Storage> storages_;
  std::vector<int64_t> values_;              // of loop variables, by slot
  std::map<std::string, size_t> visible_;    // buffers in scope
  std::map<std::string, size_t> variables_;  // loop variables in scope
};

}  // namespace

bool has_arithmetic(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Bool ||
         (is_integer(dtype) && dtype_bits(dtype) >= 8);
}

void evaluate(const Kernel& kernel, std::vector<Tensor>& arguments) { Evaluator().run(kernel, arguments); }

}  // namespace dnn::loops
