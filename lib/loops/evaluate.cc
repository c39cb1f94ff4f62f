// evaluate: runs a kernel's loops one by one on tensors; slow, and strict about what it meets; see ir.h.
//
// A select and a bool && or || evaluate only what they need. Parallel loops run backwards, so that iterations that depend on
// each other give something else than the printed kernel. Local buffers start as NaN or a large odd pattern, never as zero.
#include <cstring>

#include "base/error.h"
#include "loops/ir.h"
#include "loops/program.h"

namespace dnn::loops {
namespace {

[[noreturn]] void outside(const Storage& storage, const char* how, const int64_t* index) {
  const Buffer& buffer = *storage.buffer;
  fail_internal("loop IR: ", buffer.name, shape_text(buffer.shape), " is ", how, " at ",
                shape_text(Shape(index, index + buffer.shape.size())));
}

void check_arguments(const Kernel& kernel, const std::vector<Tensor>& arguments) {
  if (arguments.size() != kernel.arguments.size()) {
    fail_internal("evaluate: kernel ", kernel.name, " takes ", kernel.arguments.size(), " arguments, is given ",
                  arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Buffer& buffer = *kernel.arguments[i];
    if (arguments[i].dtype() != buffer.dtype || arguments[i].size() != buffer.layout.element_count(buffer.shape)) {
      fail_internal("evaluate: argument ", buffer.name, " is ", dtype_name(arguments[i].dtype()),
                    shape_text(arguments[i].shape()), ", the kernel wants ", dtype_name(buffer.dtype), "[",
                    buffer.layout.element_count(buffer.shape), "]");
    }
  }
}

// Gives a local buffer its memory, filled with what no kernel should read.
void allocate(Storage& storage) {
  const Buffer& buffer = *storage.buffer;
  if (!storage.own.defined()) storage.own = Tensor(buffer.dtype, {buffer.layout.element_count(buffer.shape)});
  storage.data = storage.own.mutable_bytes();
  std::memset(storage.data,
              buffer.dtype == DType::Bool ? 1
              : is_float(buffer.dtype)    ? 0xff
                                          : 0x5b,
              storage.own.size_bytes());
}

class Evaluator {
 public:
  Evaluator(Program program, std::vector<Tensor>& arguments)
      : body_(std::move(program.body)), storages_(std::move(program.storages)), values_(program.n_variables) {
    for (size_t i = 0; i < arguments.size(); ++i) storages_[i].data = arguments[i].mutable_bytes();
  }

  void run() { execute(body_); }

 private:
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
        storage.write(storage.offset(index), eval(task.value[0]));
        break;
      }
      case StmtKind::Alloc: allocate(storages_[task.slot]); break;
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

  Scalar eval(const Code& code) {
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
        return storage.read(storage.offset(index));
      }
      case Op::Select: return eval(code.args[eval(code.args[0]).i != 0 ? 1 : 2]);
      case Op::Cast: return cast_value(code.operand, code.dtype, eval(code.args[0]));
      default: break;
    }
    const DType operand = code.operand;
    const Scalar a = eval(code.args[0]);
    if (code.args.size() == 1) return unary_value(code.op, operand, a);
    if (operand == DType::Bool && code.op == Op::And && a.i == 0) return a;
    if (operand == DType::Bool && code.op == Op::Or && a.i != 0) return a;
    const Scalar b = eval(code.args[1]);
    if (code.op == Op::Fma) return fma_value(operand, a, b, eval(code.args[2]));
    return binary_value(code.op, operand, a, b);
  }

  const Task body_;
  std::vector<Storage> storages_;
  std::vector<int64_t> values_;  // of loop variables, by slot
};

}  // namespace

void evaluate(const Kernel& kernel, std::vector<Tensor>& arguments) {
  check_arguments(kernel, arguments);
  Evaluator(compile_program(kernel), arguments).run();
}

}  // namespace dnn::loops
