// Dot products of 16-bit floats; see dot_products.h.
#include "codegen/dot_products.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "codegen/inner_loops.h"
#include "codegen/print.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {

using namespace loops;

Stmt in_pairs(const Stmt& body, const std::string& v) {
  if (loop_extent(body, v) == 0) return body;
  DNN_CHECK(loop_extent(body, v) % kPair == 0);
  const std::string outer = v + "_o", inner = v + "_i";
  const Stmt pairs = split(body, v, kPair);
  return at_loop(pairs, outer, [&](const Stmt& l) {
    std::vector<std::string> order;
    for (const std::string& name : nest_variables(l)) {
      if (name != outer && name != inner) order.push_back(name);
    }
    order.insert(order.end(), {outer, inner});
    return at_loop(reorder(l, order), inner, [&](const Stmt& pair) {
      const Expr back = constant_int(DType::Int64, kPair - 1) - variable(inner);
      return loop(inner, kPair, substitute(pair->children[0], {{inner, back}}), LoopKind::Matrix);
    });
  });
}

namespace {

// The product that a reduction adds up; undefined where there is none of two numbers as they lie in memory.
Expr product_in(const Stmt& s) {
  if (s->kind == StmtKind::Store && s->buffer->scope == Scope::Local && s->value->op == Op::Add) {
    const Expr &sum = s->value->args[0], &product = s->value->args[1];
    if (sum->op == Op::Load && sum->buffer == s->buffer && product->op == Op::Mul && product->args[0]->op == Op::Load &&
        product->args[1]->op == Op::Load)
      return product;
  }
  for (const Stmt& child : s->children) {
    Expr found = product_in(child);
    if (found.defined()) return found;
  }
  return {};
}

bool is_index(const Expr& read, const std::string& v) {
  return std::any_of(read->args.begin(), read->args.end(),
                     [&](const Expr& e) { return e->op == Op::Variable && e->name == v; });
}

}  // namespace

const Buffer* factor_of_pairs(const Stmt& body, const std::string& v, const std::string& k,
                              const std::set<std::string>& narrow, const std::function<bool(const Buffer&)>& may_pack) {
  const int64_t depth = loop_extent(body, k);
  const Expr product = product_in(body);
  if (depth == 0 || depth % kPair != 0 || !product.defined()) return nullptr;
  const Expr &x = product->args[0], &w = product->args[1];
  if (narrow.count(x->buffer->name) == 0 || !may_pack(*w->buffer) || !is_index(w, v) || !is_index(w, k)) return nullptr;
  // An element of a pair, in place of the loop.
  Ranges ranges = loop_ranges(body);
  ranges["pair"] = {0, depth / kPair - 1};
  ranges["element"] = {0, kPair - 1};
  const Expr at = variable("pair") * constant_int(DType::Int64, kPair) + variable("element");
  int64_t along = 0, across = 0;
  const Expr offset = simplify(substitute(flat_offset(*x->buffer, x->args), {{k, at}}), ranges);
  return linear_coefficient(offset, "element", ranges, &along) && along == 1 &&
                 linear_coefficient(offset, v, ranges, &across) && across == 0
             ? w->buffer.get()
             : nullptr;
}

std::string dot_products(const std::string& kernels, int64_t lanes) {
  const std::string v = type_suffix(DType::Float32, lanes), name = cat("dot2_bf16_", v, "(");
  if (kernels.find(name) == std::string::npos) return "";
  const std::string open =
      cat("static inline ", v, " ", name, v, " s, const uint16_t* x, const uint16_t* w) { ", v, "_bits b; ");
  std::string text =
      cat(open, "__builtin_memcpy(&b, w, sizeof b); s = from_bits_f32((uint32_t)x[1] << 16) * (", v,
          ")(b & 0xffff0000u) + s; return from_bits_f32((uint32_t)x[0] << 16) * (", v, ")(b << 16) + s; }\n");
  if (lanes < 8) return text;
  // Compilers have names of their own for the instruction and for vectors of pairs. A pair is read as a float, which they broadcast from
  // memory; its lanes are listed, as arithmetic would take one for a denormal number.
  std::string all = "r";
  for (int64_t lane = 1; lane < lanes; ++lane) all += ", r";
  const std::string pairs = cat("pairs_", v), bytes = cat(" __attribute__((vector_size(", lanes * 4, ")));\n");
  return cat("#if defined(__AVX512BF16__)\n",
             "#if defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 13\ntypedef __bf16 ", pairs, bytes,
             "#elif defined(__clang__)\ntypedef int ", pairs, bytes, "#else\ntypedef short ", pairs, bytes, "#endif\n",
             "#if defined(__clang__)\n#define dpbf16ps_", v, " __builtin_ia32_dpbf16ps_", lanes * 32,
             "\n#else\n#define dpbf16ps_", v, " __builtin_ia32_dpbf16ps_v", lanes, "sf\n#endif\n", open,
             "float r; __builtin_memcpy(&r, x, 4); __builtin_memcpy(&b, w, sizeof b); return dpbf16ps_", v, "(s, (",
             pairs, ")(", v, "){", all, "}, (", pairs, ")b); }\n#else\n", text, "#endif\n");
}

}  // namespace dnn::codegen
