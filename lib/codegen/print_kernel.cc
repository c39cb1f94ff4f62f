// The C-like printer: loop IR to source text, vector and unrolled loops expanded; see print.h.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "codegen/matrix_products.h"
#include "codegen/print.h"
#include "codegen/print_words.h"
#include "codegen/rounded_quotients.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// The text of an expression, and whether it is a vector of the current loop's lanes.
struct Text {
  std::string code;
  bool vector = false;
};

class Printer {
 public:
  Printer(const Kernel& kernel, const Vocabulary& vocabulary)
      : kernel_(kernel), words_(vocabulary), index_type_(vocabulary.index_type(kernel)) {}

  std::string run() {
    Stmt body = simplify(kernel_.body);
    std::vector<Stmt> parallel;
    while (body->kind == StmtKind::For && body->loop == LoopKind::Parallel) {
      parallel.push_back(body);
      body = body->children[0];
    }
    int64_t tasks = 1;
    for (const Stmt& l : parallel) tasks *= l->extent;
    out_ = words_.open(kernel_, tasks, thread_count(kernel_));
    body = private_as_locals(body);
    depth_ = 2;
    int64_t inner = tasks;
    for (size_t i = 0; i < parallel.size(); ++i) {
      inner /= parallel[i]->extent;
      if (parallel[i]->extent == 1) {
        body = substitute(body, {{parallel[i]->variable, constant(DType::Int64, 0)}});
        continue;
      }
      std::string value = "task";
      if (inner > 1) value = cat(value, " / ", inner);
      if (i > 0) value = cat(inner > 1 ? "(" + value + ")" : value, " % ", parallel[i]->extent);
      line(cat("const ", index_type_, " ", parallel[i]->variable, " = ", value, ";"));
      ranges_[parallel[i]->variable] = {0, parallel[i]->extent - 1};
    }
    find_registers(body);
    statement(body);
    return words_.finished(kernel_, out_ + words_.close(kernel_));
  }

 private:
  // A local that lives in registers: every access has constant indices after unrolling, but for one lane position.
  struct Registers {
    int lane_position = -1;  // -1: scalars
    int64_t lanes = 1;
  };

  void line(const std::string& text) { out_ += std::string(static_cast<size_t>(depth_) * 2, ' ') + text + "\n"; }

  // ---- which locals are registers -----------------------------------------------------------------------------------
  void find_registers(const Stmt& body) {
    std::set<std::string> unrolled;
    std::map<std::string, int64_t> vectors;
    std::set<const Buffer*> arrays;
    std::map<const Buffer*, Registers> found;
    std::function<void(const BufferRef&, const std::vector<Expr>&)> access = [&](const BufferRef& b,
                                                                                 const std::vector<Expr>& at) {
      if (b->scope != Scope::Local) return;
      int lane_position = -1;
      int64_t lanes = 1;
      for (size_t i = 0; i < at.size(); ++i) {
        int64_t value = 0;
        if (constant_value(at[i], &value)) continue;
        if (at[i]->op == Op::Variable && vectors.count(at[i]->name) != 0 && lane_position < 0) {
          lane_position = static_cast<int>(i);
          lanes = vectors[at[i]->name];
        } else if (!only_uses(at[i], unrolled)) {
          arrays.insert(b.get());
        }
      }
      if (lane_position >= 0 && (lanes != b->shape[lane_position] || !words_.has_vector(b->dtype, lanes))) {
        arrays.insert(b.get());
      }
      auto [entry, fresh] = found.try_emplace(b.get(), Registers{lane_position, lanes});
      if (!fresh && (entry->second.lane_position != lane_position || entry->second.lanes != lanes))
        arrays.insert(b.get());
    };
    std::function<void(const Expr&)> expression = [&](const Expr& e) {
      if (e->op == Op::Load) access(e->buffer, e->args);
      for (const Expr& arg : e->args) expression(arg);
    };
    std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
      for (const Expr& e : s->indices) expression(e);
      if (s->value.defined()) expression(s->value);
      if (s->kind == StmtKind::Store) access(s->buffer, s->indices);
      const bool lanes = s->kind == StmtKind::For && s->loop == LoopKind::Vector;
      if ((lanes && !words_.knows_vectors()) || (s->kind == StmtKind::For && s->loop == LoopKind::Unrolled)) {
        unrolled.insert(s->variable);
      } else if (lanes) {
        vectors[s->variable] = s->extent;
      }
      for (const Stmt& child : s->children) visit(child);
      if (s->kind == StmtKind::For) {
        unrolled.erase(s->variable);
        vectors.erase(s->variable);
      }
    };
    visit(body);
    for (const auto& [buffer, registers] : found) {
      if (arrays.count(buffer) == 0) registers_[buffer] = registers;
    }
  }

  static bool only_uses(const Expr& e, const std::set<std::string>& variables) {
    if (e->op == Op::Variable) return variables.count(e->name) != 0;
    if (e->op == Op::Load) return false;
    return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return only_uses(a, variables); });
  }

  std::string register_name(const Buffer& buffer, const Registers& registers, const std::vector<Expr>& indices) const {
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

  // ---- statements -----------------------------------------------------------------------------------------------------
  void statement(const Stmt& s) {
    switch (s->kind) {
      case StmtKind::Block:
        for (const Stmt& child : s->children) statement(child);
        return;
      case StmtKind::Alloc: declare(*s->buffer); return;
      case StmtKind::If: {
        line("if (" + print(s->value).code + ") {");
        nested(s->children[0]);
        if (s->children.size() > 1) {
          line("} else {");
          nested(s->children[1]);
        }
        line("}");
        return;
      }
      case StmtKind::For: for_loop(s); return;
      case StmtKind::Store: assign(s); return;
      case StmtKind::Prefetch: {
        const Expr at = simplify(flat_offset(*s->buffer, s->indices) + s->value, ranges_);
        const std::string text = words_.prefetch(pointer(*s->buffer, at), s->fetch);
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

  void for_loop(const Stmt& s) {
    const std::string& v = s->variable;
    if (s->loop == LoopKind::Vector && lane_.empty() && words_.knows_vectors()) {
      lane_ = v;
      lanes_ = s->extent;
      statement(s->children[0]);
      lane_.clear();
      lanes_ = 1;
      return;
    }
    if (s->loop == LoopKind::Matrix && dot_product(s)) return;
    if (s->loop == LoopKind::Unrolled || s->loop == LoopKind::Vector ||
        (s->loop == LoopKind::Matrix && !lane_.empty())) {
      for (int64_t i = 0; i < s->extent; ++i) {
        Ranges ranges = ranges_;
        if (!lane_.empty()) ranges[lane_] = {0, lanes_ - 1};
        statement(simplify(substitute(s->children[0], {{v, constant_int(DType::Int64, i)}}), ranges));
      }
      return;
    }
    if (s->loop == LoopKind::Threads) return threads(s);
    if (s->loop == LoopKind::Matrix && !words_.matrix_condition().empty()) {
      out_ += "#if " + words_.matrix_condition() + "\n";
      matrix(s);
      out_ += "#else\n";
      for_loop(with_kind(s, v, LoopKind::Serial));
      out_ += "#endif\n";
      return;
    }
    ranges_[v] = {0, s->extent - 1};
    line(cat("for (", index_type_, " ", v, " = 0; ", v, " < ", s->extent, "; ++", v, ") {"));
    nested(s->children[0]);
    line("}");
    ranges_.erase(v);
  }

  // sum[lane] += x[v] * w[lane][v] over four bytes, or two with w of 16 bits, in one go; or x[v][lane] * w[lane][v] over up to four
  // bytes, of four; or, from the last to the first, x[v] * w[lane][v] over two floats of 16 bits. False where the loop is none of these
  // or the language has no word for it.
  bool dot_product(const Stmt& s) {
    const Stmt& add = s->children[0];
    if (lane_.empty() || s->extent > 4 || add->kind != StmtKind::Store) return false;
    const bool fused = add->value->op == Op::Fma;
    if (!fused && (add->value->op != Op::Add || add->value->args[1]->op != Op::Mul)) return false;
    const Expr& sum = add->value->args[fused ? 2 : 0];
    const std::vector<Expr> factors =
        fused ? std::vector<Expr>(add->value->args.begin(), add->value->args.begin() + 2) : add->value->args[1]->args;
    const auto registers = registers_.find(add->buffer.get());
    if (registers == registers_.end() || sum->op != Op::Load || sum->buffer != add->buffer) return false;
    const DType wide = add->buffer->dtype;
    const int64_t begin = wide == DType::Float32 ? s->extent - 1 : 0;  // the turn that reads the first of each factor
    Ranges ranges = ranges_;
    ranges[lane_] = {0, lanes_ - 1};
    ranges[s->variable] = {0, s->extent - 1};
    Expr first[2];
    DType types[2];
    int64_t along[2] = {0, 0}, across[2] = {0, 0};
    for (const size_t side : {0, 1}) {
      const Expr& factor = factors[side];
      if (factor->op != Op::Cast || factor->dtype != wide || factor->args[0]->op != Op::Load) return false;
      const Expr& read = factor->args[0];
      const Expr offset = simplify(flat_offset(*read->buffer, read->args), ranges);
      if (!linear_coefficient(offset, s->variable, ranges, &along[side]) ||
          !linear_coefficient(offset, lane_, ranges, &across[side]))
        return false;
      first[side] = simplify(substitute(offset, {{s->variable, constant_int(DType::Int64, begin)},
                                                 {lane_, constant_int(DType::Int64, 0)}}),
                             ranges_);
      types[side] = read->buffer->dtype;
    }
    const bool bytes = is_byte(types[0]), floats = types[0] == DType::BFloat16 && types[1] == DType::BFloat16;
    if (!bytes && !floats) return false;
    const std::string name = register_name(*add->buffer, registers->second, add->indices),
                      x = pointer(*factors[0]->args[0]->buffer, first[0]),
                      w = pointer(*factors[1]->args[0]->buffer, first[1]);
    std::string text;
    if (floats) {
      if (s->extent == 2 && across[0] == 0 && along[0] == -1 && along[1] == -1 && across[1] == 2)
        text = words_.dot(types[0], s->extent, lanes_, name, x, w);
    } else if (across[0] == 0 && along[0] == 1 && along[1] == 1 && across[1] == s->extent &&
               types[1] == (s->extent == 4 ? DType::Int8 : DType::Int16) && s->extent % 2 == 0) {
      text = words_.dot(types[0], s->extent, lanes_, name, x, w);
    } else if (across[0] == 1 && along[1] == 1 && across[1] == 4 && types[1] == DType::Int8) {
      text = words_.dot_of_rows(types[0], s->extent, lanes_, name, x, along[0], w);
    }
    if (text.empty()) return false;
    line(cat(name, " = ", text, ";"));
    return true;
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
          line(cat("const ", words_.scalar_type(operand[i]->dtype), " ", name, i, " = ", print(operand[i]).code, ";"));
      };
      line("{");
      ++depth_;
      read("l", all.left);
      read("r", all.right);
      for (const MatrixProducts::Product& product : all.products) {
        std::vector<std::string> operands;
        for (const Expr& sum : product.sums) operands.push_back(print(simplify(sum, ranges_)).code);
        for (size_t i = 0; i < 4; ++i) operands.push_back(cat("l", product.left + i));
        for (size_t i = 0; i < 2; ++i) operands.push_back(cat("r", product.right + i));
        line(words_.matrix_multiply(operands) + ";");
      }
      --depth_;
      line("}");
    }
  }

  // What is each thread's own, as that thread knows it.
  static Stmt private_as_locals(const Stmt& body) {
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

  void declare(const Buffer& buffer) {
    auto found = registers_.find(&buffer);
    const std::string scalar = words_.scalar_type(buffer.dtype);
    if (buffer.scope == Scope::Shared) {
      line(words_.shared_array(scalar, buffer.name, buffer.layout.element_count(buffer.shape)));
      return;
    }
    if (found == registers_.end()) {
      line(words_.local_array(scalar, buffer.name, std::max<int64_t>(1, buffer.layout.element_count(buffer.shape))));
      return;
    }
    const Registers& registers = found->second;
    const std::string type = registers.lane_position < 0 ? scalar : type_suffix(buffer.dtype, registers.lanes);
    std::vector<std::string> names = {buffer.name};
    for (size_t i = 0; i < buffer.shape.size(); ++i) {
      if (static_cast<int>(i) == registers.lane_position) continue;
      std::vector<std::string> longer;
      for (const std::string& name : names) {
        for (int64_t j = 0; j < buffer.shape[i]; ++j) longer.push_back(cat(name, "_", j));
      }
      names = std::move(longer);
    }
    line(type + " " + join(names) + ";");
  }

  void assign(const Stmt& s) {
    const Buffer& buffer = *s->buffer;
    auto found = registers_.find(&buffer);
    if (found == registers_.end() && narrows(s)) return assign_bytes(s);
    if (found == registers_.end() && is_narrow(buffer.dtype) && !lane_.empty()) return assign_narrow(s);
    if (found == registers_.end() && is_byte(buffer.dtype) && lane_dependent(s->value)) return assign_lanes(s);
    Text value = print(s->value);
    if (found != registers_.end()) {
      const std::string name = register_name(buffer, found->second, s->indices);
      const bool wants_vector = found->second.lane_position >= 0;
      if (value.vector && !wants_vector) fail_internal("codegen: scalar ", name, " is given a vector");
      line(name + " = " + (wants_vector ? splat(value, buffer.dtype) : value.code) + ";");
      return;
    }
    const Expr offset = offset_of(buffer, s->indices);
    int64_t step = 0;
    const bool moves = !lane_.empty() && uses_variable(offset, lane_);
    if (!moves) {
      if (value.vector) fail_internal("codegen: ", buffer.name, ": all lanes are stored to one element");
      line(buffer.name + "[" + print(offset).code + "] = " + value.code + ";");
      return;
    }
    Ranges ranges = ranges_;
    ranges[lane_] = {0, lanes_ - 1};
    if (linear_coefficient(offset, lane_, ranges, &step) && step == 1 && words_.has_vector(buffer.dtype, lanes_)) {
      line(words_.store_vector(buffer.dtype, lanes_, pointer(buffer, at_lane(offset, 0)), splat(value, buffer.dtype)) +
           ";");
      return;
    }
    if (!value.vector) {
      for (int64_t i = 0; i < lanes_; ++i) {
        const std::string element = lanewise(s->value, i);
        line(buffer.name + "[" + print(at_lane(offset, i)).code + "] = " + element + ";");
      }
      return;
    }
    line("{");
    ++depth_;
    line("const " + type_suffix(buffer.dtype, lanes_) + " value = " + value.code + ";");
    for (int64_t i = 0; i < lanes_; ++i) {
      line(buffer.name + "[" + print(at_lane(offset, i)).code + "] = " + words_.lane("value", i) + ";");
    }
    --depth_;
    line("}");
  }

  // Whether the store is of bytes that a vector of int32 holds.
  bool narrows(const Stmt& s) const {
    const Expr& value = s->value;
    return !lane_.empty() && value->op == Op::Cast && is_byte(value->dtype) && value->args[0]->dtype == DType::Int32 &&
           words_.has_vector(DType::Int32, lanes_) && lane_dependent(value) && !needs_lanewise(value->args[0]);
  }

  void assign_bytes(const Stmt& s) {
    const Buffer& buffer = *s->buffer;
    const std::string value = splat(print(s->value->args[0]), DType::Int32);
    const Expr offset = offset_of(buffer, s->indices);
    Ranges ranges = ranges_;
    ranges[lane_] = {0, lanes_ - 1};
    int64_t step = 0;
    if (linear_coefficient(offset, lane_, ranges, &step) && step == 1) {
      line(words_.narrow(buffer.dtype, lanes_, pointer(buffer, at_lane(offset, 0)), value) + ";");
      return;
    }
    line("{");
    ++depth_;
    line("const " + type_suffix(DType::Int32, lanes_) + " value = " + value + ";");
    for (int64_t i = 0; i < lanes_; ++i) {
      line(cat(buffer.name, "[", print(at_lane(offset, i)).code, "] = (", words_.scalar_type(buffer.dtype), ")",
               words_.lane("value", i), ";"));
    }
    --depth_;
    line("}");
  }

  // Floats of 16 bits, which vectors of float32 are stored as.
  void assign_narrow(const Stmt& s) {
    const Buffer& buffer = *s->buffer;
    const bool rounds = s->value->args[0]->op == Op::RoundBFloat16;
    const Text value = print(rounds ? s->value->args[0]->args[0] : s->value->args[0]);
    const Expr offset = offset_of(buffer, s->indices);
    Ranges ranges = ranges_;
    ranges[lane_] = {0, lanes_ - 1};
    int64_t step = 0;
    if (linear_coefficient(offset, lane_, ranges, &step) && step == 1) {
      line(words_.narrow_real(buffer.dtype, lanes_, rounds, pointer(buffer, at_lane(offset, 0)),
                              splat(value, DType::Float32)) +
           ";");
      return;
    }
    line("{");
    ++depth_;
    line("const " + type_suffix(DType::Float32, lanes_) + " value = " + splat(value, DType::Float32) + ";");
    for (int64_t i = 0; i < lanes_; ++i)
      line(buffer.name + "[" + print(at_lane(offset, i)).code +
           "] = " + narrowed(buffer.dtype, rounds, words_.lane("value", i)) + ";");
    --depth_;
    line("}");
  }

  static std::string narrowed(DType to, bool rounds, const std::string& value) {
    return cat("narrow_", rounds ? "round_bfloat16" : type_suffix(to, 1), "_f32(", value, ")");
  }

  // Bytes of which there are no vectors, one by one.
  void assign_lanes(const Stmt& s) {
    const Expr offset = offset_of(*s->buffer, s->indices);
    for (int64_t i = 0; i < lanes_; ++i) {
      const std::string element = lanewise(s->value, i);
      line(s->buffer->name + "[" + print(at_lane(offset, i)).code + "] = " + element + ";");
    }
  }

  static bool is_byte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }
  // A float that only memory holds: that of narrow_buffers().
  static bool is_narrow(DType dtype) { return dtype == DType::BFloat16 || dtype == DType::Float16; }

  // A conversion that vectors have: of bytes side by side and of rounded numbers to int32, of int32 to float32, of narrow floats
  // side by side.
  bool converts(const Expr& e) const {
    if (e->op != Op::Cast || !words_.has_vector(DType::Int32, lanes_)) return false;
    const Expr& from = e->args[0];
    if (e->dtype == DType::Float32 && is_narrow(from->dtype)) return side_by_side(from);
    if (e->dtype == DType::Float32) return from->dtype == DType::Int32 && !needs_lanewise(from);
    if (e->dtype != DType::Int32) return false;
    if (from->op == Op::RoundEven && from->dtype == DType::Float32) return !needs_lanewise(from);
    if (from->op != Op::Load || (!is_byte(from->dtype) && from->dtype != DType::Int16) ||
        registers_.count(from->buffer.get()) != 0)
      return false;
    return side_by_side(from);
  }

  // Whether the lanes of a load from memory lie one after the other.
  bool side_by_side(const Expr& read) const {
    Ranges ranges = ranges_;
    ranges[lane_] = {0, lanes_ - 1};
    int64_t step = 0;
    return linear_coefficient(offset_of(*read->buffer, read->args), lane_, ranges, &step) && step == 1;
  }

  std::string rounded(const Expr& real) {
    if (const auto quotient = rounded_quotient(real)) {
      const Text x = print(quotient->dividend);
      std::vector<std::string> operands = {x.vector ? x.code : splat(x, DType::Float32)};
      for (const float f : {quotient->divisor, quotient->reciprocal, quotient->low, quotient->high})
        operands.push_back(float_text(DType::Float32, f));
      std::string text = words_.round_quotient(lanes_, operands);
      if (!text.empty()) return text;
    }
    return words_.round_to_integer(lanes_, print(real).code);
  }

  Text converted(const Expr& e) {
    const Expr& from = e->args[0];
    if (is_narrow(from->dtype)) {
      const Expr first = at_lane(offset_of(*from->buffer, from->args), 0);
      return {words_.widen_real(from->dtype, lanes_, pointer(*from->buffer, first)), true};
    }
    if (e->dtype == DType::Float32) return {words_.integer_to_real(lanes_, print(from).code), true};
    if (from->op == Op::RoundEven) return {rounded(from->args[0]), true};
    return {words_.widen(from->dtype, lanes_, pointer(*from->buffer, at_lane(offset_of(*from->buffer, from->args), 0))),
            true};
  }

  // ---- expressions ----------------------------------------------------------------------------------------------------
  Expr offset_of(const Buffer& buffer, const std::vector<Expr>& indices) const {
    Ranges ranges = ranges_;
    if (!lane_.empty()) ranges[lane_] = {0, lanes_ - 1};
    return simplify(flat_offset(buffer, indices), ranges);
  }

  Expr at_lane(const Expr& e, int64_t i) const {
    return simplify(substitute(e, {{lane_, constant_int(DType::Int64, i)}}), ranges_);
  }

  std::string pointer(const Buffer& buffer, const Expr& offset) {
    return buffer.name + " + (" + print(offset).code + ")";
  }

  std::string splat(const Text& value, DType dtype) const {
    return value.vector ? value.code : "splat_" + type_suffix(dtype, lanes_) + "(" + value.code + ")";
  }

  // The expression's value in one lane, as a scalar.
  std::string lanewise(const Expr& e, int64_t i) {
    const Expr one = at_lane(e, i);
    const std::string lane = lane_;
    const int64_t lanes = lanes_;
    lane_.clear();
    lanes_ = 1;
    std::string code = print_lane_element(one, i);
    lane_ = lane;
    lanes_ = lanes;
    return code;
  }

  // Registers hold vectors even when one lane is wanted.
  std::string print_lane_element(const Expr& e, int64_t i) {
    lane_element_ = i;
    std::string code = print(e).code;
    lane_element_ = -1;
    return code;
  }

  Text gather(const Expr& e) {
    std::vector<std::string> values;
    for (int64_t i = 0; i < lanes_; ++i) values.push_back(lanewise(e, i));
    return {words_.make_vector(e->dtype, lanes_, values), true};
  }

  bool lane_dependent(const Expr& e) const {
    if (lane_.empty()) return false;
    if (e->op == Op::Variable) return e->name == lane_;
    if (e->op == Op::Load) {
      auto found = registers_.find(e->buffer.get());
      if (found != registers_.end()) return found->second.lane_position >= 0;
    }
    return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return lane_dependent(a); });
  }

  // Index arithmetic that varies by lane has no vector form here.
  bool needs_lanewise(const Expr& e) const {
    if (!lane_dependent(e)) return false;
    if (e->op == Op::Load) return false;  // decides for itself
    if (converts(e)) return false;
    if (!words_.has_vector(e->dtype == DType::Bool ? DType::Float32 : e->dtype, lanes_)) return true;
    if (e->op == Op::Cast || e->op == Op::Variable || e->op == Op::IsInf) return true;
    if (e->op == Op::Select && lane_dependent(e->args[0]) && !float_condition(e->args[0])) return true;
    return false;
  }

  // A condition on float values: it has a vector mask. (One on indices guards its loads and is split by lanes.)
  static bool float_condition(const Expr& e) {
    switch (e->op) {
      case Op::Lt:
      case Op::Le:
      case Op::Eq:
      case Op::Ne: return is_float(e->args[0]->dtype);
      case Op::IsNan: return true;
      case Op::And:
      case Op::Or: return float_condition(e->args[0]) && float_condition(e->args[1]);
      default: return false;
    }
  }

  static bool has_guarded_load(const Expr& e) {
    if (e->op == Op::Load && e->buffer->scope == Scope::Global) return true;
    return std::any_of(e->args.begin(), e->args.end(), has_guarded_load);
  }

  Text print(const Expr& e) {
    if (needs_lanewise(e)) return gather(e);
    if (!lane_.empty() && lane_dependent(e) && converts(e)) return converted(e);
    switch (e->op) {
      case Op::Constant:
        if (is_float(e->dtype)) return {float_text(e->dtype, e->f)};
        return {e->dtype == DType::Int64 && (e->i > 2147483647 || e->i < -2147483647) ? cat(e->i, "L") : cat(e->i)};
      case Op::Variable: return {e->name};
      case Op::Load: return print_load(e);
      case Op::Cast:
        if (is_narrow(e->args[0]->dtype))
          return {cat("widen_", type_suffix(e->args[0]->dtype, 1), "_f32(", print(e->args[0]).code, ")")};
        if (is_narrow(e->dtype)) {
          const bool rounds = e->args[0]->op == Op::RoundBFloat16;
          return {narrowed(e->dtype, rounds, print(rounds ? e->args[0]->args[0] : e->args[0]).code)};
        }
        return {"((" + words_.scalar_type(e->dtype) + ")" + print(e->args[0]).code + ")"};
      case Op::Neg: {
        const Text a = print(e->args[0]);
        return {"(-" + a.code + ")", a.vector};
      }
      case Op::Not: {
        const Text a = print(e->args[0]);
        return {(e->dtype == DType::Bool && !a.vector ? "(!" : "(~") + a.code + ")", a.vector};
      }
      case Op::Select: return print_select(e);
      case Op::Fma: {
        Text a = print(e->args[0]), b = print(e->args[1]), c = print(e->args[2]);
        const bool vector = a.vector || b.vector || c.vector;
        if (vector && !a.vector && !b.vector) a = {splat(a, e->dtype), true};
        if (vector && !c.vector) c = {splat(c, e->dtype), true};
        return {words_.fma(e->dtype, vector ? lanes_ : 1, a.code, b.code, c.code), vector};
      }
      case Op::FloorDiv:
      case Op::FloorMod: {
        Interval range{};
        const bool plain = bounds(e->args[0], ranges_, &range) && range.low >= 0;
        const std::string a = print(e->args[0]).code, b = print(e->args[1]).code;
        if (plain) return {"(" + a + (e->op == Op::FloorDiv ? " / " : " % ") + b + ")"};
        return {(e->op == Op::FloorDiv ? "floor_div(" : "floor_mod(") + a + ", " + b + ")"};
      }
      default: break;
    }
    std::vector<Text> args;
    bool vector = false;
    for (const Expr& arg : e->args) {
      args.push_back(print(arg));
      vector = vector || args.back().vector;
    }
    const DType operand = e->args[0]->dtype;
    const std::string symbol = infix(e->op);
    if (!symbol.empty()) {
      const bool comparison = e->op == Op::Eq || e->op == Op::Ne || e->op == Op::Lt || e->op == Op::Le;
      if (vector && comparison) {
        for (Text& arg : args) arg = {splat(arg, operand), true};
      }
      const bool logical = e->dtype == DType::Bool && !vector && (e->op == Op::And || e->op == Op::Or);
      return {"(" + args[0].code + " " + (logical ? symbol + symbol : symbol) + " " + args[1].code + ")", vector};
    }
    std::vector<std::string> codes;
    for (Text& arg : args) codes.push_back(vector ? splat(arg, operand) : arg.code);
    return {helper_name(e->op) + "_" + type_suffix(operand, vector ? lanes_ : 1) + "(" + join(codes) + ")", vector};
  }

  Text print_load(const Expr& e) {
    const Buffer& buffer = *e->buffer;
    auto found = registers_.find(&buffer);
    if (found != registers_.end()) {
      const std::string name = register_name(buffer, found->second, e->args);
      if (found->second.lane_position < 0) return {name};
      if (lane_element_ >= 0) return {words_.lane(name, lane_element_)};
      return {name, true};
    }
    const Expr offset = offset_of(buffer, e->args);
    if (lane_.empty() || !uses_variable(offset, lane_)) return {buffer.name + "[" + print(offset).code + "]"};
    Ranges ranges = ranges_;
    ranges[lane_] = {0, lanes_ - 1};
    int64_t step = 0;
    if (linear_coefficient(offset, lane_, ranges, &step) && step == 1 && words_.has_vector(buffer.dtype, lanes_)) {
      return {words_.load_vector(buffer.dtype, lanes_, pointer(buffer, at_lane(offset, 0))), true};
    }
    return gather(e);
  }

  Text print_select(const Expr& e) {
    const Text condition = print(e->args[0]);
    Text yes = print(e->args[1]), no = print(e->args[2]);
    const bool vector = condition.vector || yes.vector || no.vector;
    if (!vector) return {"(" + condition.code + " ? " + yes.code + " : " + no.code + ")"};
    yes = {splat(yes, e->dtype), true};
    no = {splat(no, e->dtype), true};
    if (!condition.vector) return {"(" + condition.code + " ? " + yes.code + " : " + no.code + ")", true};
    return {"select_" + type_suffix(e->dtype, lanes_) + "(" + condition.code + ", " + yes.code + ", " + no.code + ")",
            true};
  }

  const Kernel& kernel_;
  const Vocabulary& words_;
  const std::string index_type_;
  std::string out_;
  int depth_ = 0;
  Ranges ranges_;
  std::string thread_;  // variable of the loop over threads we are in
  std::string lane_;    // variable of the vector loop we are in
  int64_t lanes_ = 1;
  int64_t lane_element_ = -1;  // printing one lane as a scalar
  std::map<const Buffer*, Registers> registers_;
};

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

int64_t task_count(const Kernel& kernel) {
  int64_t tasks = 1;
  for (Stmt s = simplify(kernel.body); s->kind == StmtKind::For && s->loop == LoopKind::Parallel; s = s->children[0]) {
    tasks *= s->extent;
  }
  return tasks;
}

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
std::string Vocabulary::matrix_multiply(const std::vector<std::string>&) const {
  fail_internal("codegen: no matrix instructions");
}

std::string print_kernel(const Kernel& kernel, const Vocabulary& vocabulary) {
  return Printer(kernel, vocabulary).run();
}

}  // namespace dnn::codegen
