// Orders of loops; see loop_order.h.
#include "codegen/loop_order.h"

#include <algorithm>
#include <map>
#include <vector>

#include "codegen/inner_loops.h"

namespace dnn::codegen {

using namespace loops;

namespace {

bool one_run(const Stmt& nest, const std::string& a, const std::string& b) {
  const Ranges ranges = loop_ranges(nest);
  const int64_t extent = loop_extent(nest, b);
  for (const Access& access : accesses(nest)) {
    int64_t step_a = 0, step_b = 0;
    if (!steps(access, a, ranges, &step_a) || !steps(access, b, ranges, &step_b)) return false;
    if (step_a != step_b * extent) return false;
  }
  bool plain = true;  // index arithmetic outside of accesses (conditions, casts) keeps its loops
  rewrite_expressions(nest, [&](const Expr& e) {
    if ((e->op == Op::Select || e->op == Op::Cast) && (uses_variable(e->args[0], a) || uses_variable(e->args[0], b)) &&
        index_condition(e->args[0])) {
      plain = false;
    }
    return e;
  });
  return plain;
}

}  // namespace

bool steps(const Access& access, const std::string& v, const Ranges& ranges, int64_t* step) {
  return linear_coefficient(simplify(flat_offset(*access.buffer, access.indices), ranges), v, ranges, step);
}

Stmt fuse_contiguous(const Stmt& nest) {
  Stmt result = nest;
  for (bool again = true; again;) {
    again = false;
    const std::vector<std::string> variables = nest_variables(result);
    for (size_t i = variables.size(); i-- > 1 && !again;) {
      if (!one_run(result, variables[i - 1], variables[i])) continue;
      result = simplify(fuse(result, variables[i - 1], variables[i]));
      again = true;
    }
  }
  return result;
}

Stmt fuse_into_vectors(const Stmt& nest, int64_t lanes) {
  Stmt result = nest;
  for (std::vector<std::string> loops = nest_variables(result); loops.size() > 1; loops = nest_variables(result)) {
    const std::string &around = loops[loops.size() - 2], &last = loops.back();
    if (loop_extent(result, last) % lanes == 0 || !one_run(result, around, last)) break;
    result = simplify(fuse(result, around, last));
  }
  return result;
}

Stmt in_order_of_reading(const Stmt& nest) {
  std::vector<std::string> variables = nest_variables(nest);
  const Ranges ranges = loop_ranges(nest);
  std::map<std::string, int64_t> strides;
  int loads = 0;
  for (const Access& access : accesses(nest)) {
    if (access.is_store || access.buffer->scope == Scope::Local) continue;
    if (++loads > 1) return nest;
    for (const std::string& v : variables) {
      if (!steps(access, v, ranges, &strides[v]) || strides[v] <= 0) return nest;
    }
  }
  if (loads == 0 || variables.size() < 3) return nest;
  std::stable_sort(variables.begin(), variables.end() - 1,
                   [&](const std::string& a, const std::string& b) { return strides[a] > strides[b]; });
  return reorder(nest, variables);
}

Stmt outermost(const Stmt& body, const std::string& v) {
  const int64_t extent = loop_extent(body, v);
  std::vector<Stmt> parts;
  for (const Stmt& part : body->kind == StmtKind::Block ? body->children : std::vector<Stmt>{body}) {
    std::vector<std::string> order = nest_variables(part);
    const auto at = std::find(order.begin(), order.end(), v);
    if (at == order.end() || loop_extent(part, v) != extent) return body;
    std::rotate(order.begin(), at, at + 1);
    parts.push_back(reorder(part, order)->children[0]);
  }
  return loop(v, extent, loops::block(std::move(parts)));
}

Stmt move_inside(const Stmt& stmt, const std::string& v, const std::string& inner) {
  return at_loop(stmt, v, [&](const Stmt& l) {
    std::vector<std::string> order;
    bool found = false;
    for (const std::string& name : nest_variables(l)) {
      if (name != v) order.push_back(name);
      if (name != inner) continue;
      order.push_back(v);
      found = true;
      break;
    }
    return found ? reorder(l, order) : l;
  });
}

}  // namespace dnn::codegen
