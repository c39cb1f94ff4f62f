// Tasks of CPUs' kernels; see cpu_tasks.h.
#include "codegen/cpu_tasks.h"

#include <algorithm>
#include <functional>

#include "codegen/halve_tasks.h"

namespace dnn::codegen::cpu {
namespace {

using namespace loops;

// One task too many of so many is little.
constexpr int64_t kManyTasks = 16;

// True where there is no loop but vectors and unrolled ones inside of that over v.
bool innermost(const Stmt& body, const std::string& v) {
  const std::function<bool(const Stmt&)> loops = [&](const Stmt& s) {
    return (s->kind == StmtKind::For && s->loop == LoopKind::Serial) ||
           std::any_of(s->children.begin(), s->children.end(), loops);
  };
  bool result = true;
  at_loop(body, v, [&](const Stmt& l) {
    result = !loops(l->children[0]);
    return l;
  });
  return result;
}

std::vector<std::string> task_loops(const Nest& nest) {
  std::vector<std::string> result;
  int64_t tasks = 1;
  for (const std::string& v : nest_variables(nest.body)) {
    if (tasks >= nest.processor().least_tasks && innermost(nest.body, v)) break;
    if (tasks >= nest.processor().parallel_tasks || outer_kind(nest.body, v) != LoopKind::Serial || v == nest.own_loop)
      break;
    result.push_back(v);
    tasks *= nest.extent(v);
  }
  return result;
}

}  // namespace

Stmt mark_parallel(const Nest& nest) {
  Stmt body = nest.body;
  for (const std::string& v : task_loops(nest)) body = with_kind(body, v, LoopKind::Parallel);
  return body;
}

Stmt even_tasks(const Nest& nest, const std::string& v) {
  const std::vector<std::string> loops = task_loops(nest);
  const std::string around = loops.empty() ? "" : loops.back();
  const int64_t tasks = around.empty() ? 1 : nest.tasks_around(around) * nest.extent(around);
  if (!nest.level().chunk || tasks % 2 == 0 || tasks >= kManyTasks) return nest.body;
  if (nest.extent(v) < 2 || std::find(loops.begin(), loops.end(), v) != loops.end()) return nest.body;
  return halve_tasks(nest.body, around, v);
}

}  // namespace dnn::codegen::cpu
