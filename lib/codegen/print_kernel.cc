// The C-like printer: loop IR to source text, vector and unrolled loops expanded; see print.h.
#include <algorithm>
#include <functional>

#include "codegen/matrix_products.h"
#include "codegen/print_expression.h"
#include "codegen/print_store.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Each thread's own locals, as that thread knows them.
Stmt private_as_locals(const Stmt& body) {
  std::map<const Buffer*, BufferRef> own;
  const std::function<Stmt(const Stmt&)> rename = [&](const Stmt& s) -> Stmt {
    if (s->kind == StmtKind::Alloc && s->buffer->scope == Scope::Private) {
      const BufferRef& b = s->buffer;
      own[b.get()] = local_buffer(b->name, b->dtype, Shape(b->shape.begin() + 1, b->shape.end()));
      return alloc(own.at(b.get()));
    }
    std::vector<Stmt> children;
    for (const Stmt& child : s->children) children.push_back(rename(child));
    const Stmt same = rebuild(*s, std::move(children));
    const auto found = s->kind == StmtKind::Store ? own.find(s->buffer.get()) : own.end();
    return found == own.end() ? same : store(found->second, {s->indices.begin() + 1, s->indices.end()}, s->value);
  };
  return rewrite_expressions(rename(body), [&](const Expr& e) {
    const auto found = e->op == Op::Load ? own.find(e->buffer.get()) : own.end();
    return found == own.end() ? e : load(found->second, {e->args.begin() + 1, e->args.end()});
  });
}

// Statements as lines of text.
class Printer {
 public:
  // `ranges`: of the variables that are defined before.
  Printer(const Vocabulary& words, std::string index_type, Ranges ranges)
      : words_(words), index_type_(std::move(index_type)), ranges_(std::move(ranges)) {}

  std::string run(const Stmt& body) {
    registers_ = find_registers(body, words_);
    statement(body);
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += std::string(static_cast<size_t>(depth_) * 2, ' ') + text + "\n"; }

  void statement(const Stmt& s) {
    switch (s->kind) {
      case StmtKind::Block:
        for (const Stmt& child : s->children) statement(child);
        return;
      case StmtKind::Alloc: declare(*s->buffer); return;
      case StmtKind::If: branch(s); return;
      case StmtKind::For: for_loop(s); return;
      case StmtKind::Store:
        for (const std::string& text : print_store(place_, s)) line(text);
        return;
      case StmtKind::Prefetch: {
        const Expr at = simplify(flat_offset(*s->buffer, s->indices) + s->value, ranges_);
        const std::string text = words_.prefetch(print_pointer(place_, *s->buffer, at), s->fetch);
        if (!text.empty()) line(text + ";");
        return;
      }
    }
  }

  void nested(const Stmt& s) {
    ++depth_;
    statement(s);
    --depth_;
  }

  void branch(const Stmt& s) {
    line("if (" + print(place_, s->value).code + ") {");
    nested(s->children[0]);
    if (s->children.size() > 1) {
      line("} else {");
      nested(s->children[1]);
    }
    line("}");
  }

  void for_loop(const Stmt& s) {
    const bool lanes = s->loop == LoopKind::Vector, matrix_loop = s->loop == LoopKind::Matrix;
    if (lanes && !place_.in_lanes() && words_.knows_vectors()) return vector(s);
    if (matrix_loop) {
      const std::string text = print_dot_product(place_, s);
      if (!text.empty()) return line(text);
    }
    if (s->loop == LoopKind::Unrolled || lanes || (matrix_loop && place_.in_lanes())) return unrolled(s);
    if (s->loop == LoopKind::Threads) return threads(s);
    if (matrix_loop && !words_.matrix_condition().empty()) {
      out_ += "#if " + words_.matrix_condition() + "\n";
      matrix(s);
      out_ += "#else\n";
      serial(s);
      out_ += "#endif\n";
      return;
    }
    serial(s);
  }

  void vector(const Stmt& s) {
    place_.lane = s->variable;
    place_.lanes = s->extent;
    statement(s->children[0]);
    place_.lane.clear();
    place_.lanes = 1;
  }

  void unrolled(const Stmt& s) {
    for (int64_t i = 0; i < s->extent; ++i) {
      const Stmt turn = substitute(s->children[0], {{s->variable, constant_int(DType::Int64, i)}});
      statement(simplify(turn, place_.all_ranges()));
    }
  }

  void serial(const Stmt& s) {
    const std::string& v = s->variable;
    ranges_[v] = {0, s->extent - 1};
    line(cat("for (", index_type_, " ", v, " = 0; ", v, " < ", s->extent, "; ++", v, ") {"));
    nested(s->children[0]);
    line("}");
    ranges_.erase(v);
  }

  // Each thread's turn, in braces of its own, as its locals end with it.
  void threads(const Stmt& s) {
    ranges_[s->variable] = {0, s->extent - 1};
    thread_ = s->variable;
    line("{");
    ++depth_;
    if (uses_variable(s->children[0], s->variable))
      line(cat("const ", index_type_, " ", s->variable, " = ", words_.thread_number(), ";"));
    statement(s->children[0]);
    --depth_;
    line("}");
    line(words_.barrier());
    ranges_.erase(s->variable);
  }

  // A warp's products together: what each thread reads of the operands, then the instructions.
  void matrix(const Stmt& s) {
    for (int64_t step = 0; step < s->extent / kMatrixDepth; ++step) {
      const MatrixProducts all = matrix_products(s, thread_, step);
      const auto read = [&](const char* name, const std::vector<Expr>& operand) {
        for (size_t i = 0; i < operand.size(); ++i)
          line(cat("const ", words_.scalar_type(operand[i]->dtype), " ", name, i, " = ", print(place_, operand[i]).code,
                   ";"));
      };
      line("{");
      ++depth_;
      read("l", all.left);
      read("r", all.right);
      for (const MatrixProducts::Product& product : all.products) {
        std::vector<std::string> operands;
        for (const Expr& sum : product.sums) operands.push_back(print(place_, simplify(sum, ranges_)).code);
        for (size_t i = 0; i < 4; ++i) operands.push_back(cat("l", product.left + i));
        for (size_t i = 0; i < 2; ++i) operands.push_back(cat("r", product.right + i));
        line(words_.matrix_multiply(operands, all.exact) + ";");
      }
      --depth_;
      line("}");
    }
  }

  void declare(const Buffer& buffer) {
    const std::string scalar = words_.scalar_type(buffer.dtype);
    const int64_t elements = buffer.layout.element_count(buffer.shape);
    if (buffer.scope == Scope::Shared) return line(words_.shared_array(scalar, buffer.name, elements));
    const Registers* registers = place_.registers_of(buffer);
    if (registers == nullptr) return line(words_.local_array(scalar, buffer.name, std::max<int64_t>(1, elements)));
    const std::string type = registers->lane_position < 0 ? scalar : type_suffix(buffer.dtype, registers->lanes);
    line(type + " " + join(register_names(buffer, *registers)) + ";");
  }

  const Vocabulary& words_;
  const std::string index_type_;
  RegisterMap registers_;
  Ranges ranges_;
  Place place_{&words_, &registers_, &ranges_};
  std::string out_;
  int depth_ = 2;
  std::string thread_;  // variable of the loop over threads around
};

// The outer loops of a kernel that are its tasks.
struct Tasks {
  std::vector<Stmt> loops;
  Stmt body;
  int64_t count = 1;
};

Tasks take_tasks(const Stmt& whole) {
  Tasks tasks;
  Stmt body = simplify(whole);
  for (; body->kind == StmtKind::For && body->loop == LoopKind::Parallel; body = body->children[0]) {
    tasks.loops.push_back(body);
    tasks.count *= body->extent;
  }
  tasks.body = body;
  return tasks;
}

}  // namespace

std::string type_suffix(DType dtype, int64_t lanes) {
  std::string base;
  switch (dtype) {
    case DType::Float32: base = "f32"; break;
    case DType::Float64: base = "f64"; break;
    case DType::BFloat16: base = "bf16"; break;
    case DType::Float16: base = "f16"; break;
    case DType::Bool: base = "u8"; break;
    default: base = cat(dtype_class(dtype) == DTypeClass::Unsigned ? "u" : "i", dtype_bits(dtype));
  }
  return lanes > 1 ? cat(base, "x", lanes) : base;
}

int64_t task_count(const Kernel& kernel) { return take_tasks(kernel.body).count; }

int64_t thread_count(const Kernel& kernel) {
  int64_t threads = 0;
  const std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
    if (s->kind == StmtKind::For && s->loop == LoopKind::Threads) threads = s->extent;
    for (const Stmt& child : s->children) visit(child);
  };
  visit(kernel.body);
  return threads;
}

bool small_indices(const Kernel& kernel) {
  constexpr int64_t kMargin = int64_t{1} << 24;  // more than a tile, or a block of threads
  const auto fits = [](int64_t n) { return n < INT32_MAX - kMargin; };
  return fits(task_count(kernel)) &&
         std::all_of(kernel.arguments.begin(), kernel.arguments.end(),
                     [&](const BufferRef& b) { return fits(b->layout.element_count(b->shape)); });
}

std::string Vocabulary::shared_array(const std::string&, const std::string& name, int64_t) const {
  fail_internal("codegen: no memory for threads to share ", name);
}
std::string Vocabulary::thread_number() const { fail_internal("codegen: tasks have no threads"); }
std::string Vocabulary::barrier() const { fail_internal("codegen: tasks have no threads"); }
std::string Vocabulary::matrix_multiply(const std::vector<std::string>&, bool) const {
  fail_internal("codegen: no matrix instructions");
}

std::string print_kernel(const Kernel& kernel, const Vocabulary& vocabulary) {
  const Tasks tasks = take_tasks(kernel.body);
  const std::string index_type = vocabulary.index_type(kernel);
  Stmt body = private_as_locals(tasks.body);
  std::string text = vocabulary.open(kernel, tasks.count, thread_count(kernel));
  Ranges ranges;
  int64_t inner = tasks.count;
  for (size_t i = 0; i < tasks.loops.size(); ++i) {
    const Stmt& l = tasks.loops[i];
    inner /= l->extent;
    if (l->extent == 1) {
      body = substitute(body, {{l->variable, constant(DType::Int64, 0)}});
      continue;
    }
    std::string value = "task";
    if (inner > 1) value = cat(value, " / ", inner);
    if (i > 0) value = cat(inner > 1 ? "(" + value + ")" : value, " % ", l->extent);
    text += cat("    const ", index_type, " ", l->variable, " = ", value, ";\n");
    ranges[l->variable] = {0, l->extent - 1};
  }
  text += Printer(vocabulary, index_type, ranges).run(body);
  return vocabulary.finished(kernel, text + vocabulary.close(kernel));
}

}  // namespace dnn::codegen
