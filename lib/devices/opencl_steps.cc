// Many steps in one launch; see opencl_steps.h.
#include "devices/opencl_steps.h"

#include <algorithm>

#include "base/text.h"

namespace dnn {
namespace {

// A step's row of the plan: kRow numbers, and behind all rows its arguments, two numbers each, and the first task of each of its
// tickets, with the number of tasks after the last one's.
enum Column : size_t { kTickets, kKernel, kArguments, kTasks, kRow };

// A ticket is for half of a work-item's share of the tasks that are left, so that few are taken and all end at about the same time; none
// is for less than this part of its share of them all.
constexpr int64_t kShortest = 16;

constexpr const char* kBefore = R"(
  const long given_before = plan[ROW * step + TICKETS];
  for (;;) {
    const long ticket = given_before + atomic_inc(&turns[0]);
    while (step < end && ticket >= plan[ROW * (step + 1) + TICKETS]) ++step;
    if (step >= end) break;
    __global const long* row = plan + ROW * step;
    while (turns[16] < row[TICKETS] - given_before) PAUSE;
    atomic_add(&turns[16], 0);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    __global const long* at = plan + row[ARGUMENTS];
    __global const long* tasks = plan + row[TASKS] + (ticket - row[TICKETS]);
    switch (row[KERNEL]) {
)";

constexpr const char* kAfter = R"(    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(&turns[16]);
  }
  if (atomic_inc(&turns[32]) == (int)get_global_size(0) - 1) turns[0] = turns[16] = turns[32] = 0;
}
)";

}  // namespace

bool opencl_steps_known(const Variant& variant) {
  for (const KernelInfo& kernel : variant.kernels) {
    if (variant.code.source.find(cat(kernel.name, "_task(")) == std::string::npos) return false;
  }
  return !variant.kernels.empty();
}

std::string opencl_steps_source(const Variant& variant, size_t memories) {
  std::string text =
      cat("\n#ifdef __x86_64__\n#define PAUSE __asm__ volatile(\"pause\")\n#else\n#define PAUSE\n#endif\n#define ROW ",
          +kRow, "\n#define TICKETS ", +kTickets, "\n#define KERNEL ", +kKernel, "\n#define ARGUMENTS ", +kArguments,
          "\n#define TASKS ", +kTasks, "\n__kernel void ", kStepsKernel, "(");
  std::vector<std::string> names;
  for (size_t i = 0; i < memories; ++i) {
    names.push_back(cat("m", i));
    text += cat("__global uchar* m", i, ", ");
  }
  text += "__global const long* plan, __global volatile int* turns, int step, int end) {\n";
  text += "  __global uchar* memory[] = {" + join(names) + "};" + kBefore;
  std::vector<bool> done(variant.kernels.size());
  for (const Step& step : variant.steps) {
    if (step.kernel < 0 || done[step.kernel]) continue;
    done[step.kernel] = true;
    text +=
        cat("      case ", step.kernel, ":\n        for (long task = tasks[0]; task < tasks[1]; ++task)\n          ",
            variant.kernels[step.kernel].name, "_task(");
    for (size_t a = 0; a < step.arguments.size(); ++a)
      text += cat("(__global void*)(memory[at[", 2 * a, "]] + at[", 2 * a + 1, "]), ");
    text += "task);\n        break;\n";
  }
  return text + kAfter;
}

std::vector<int64_t> opencl_steps_plan(const Variant& variant, int64_t units,
                                       const std::function<MemoryAt(const Argument&)>& find) {
  const size_t steps = variant.steps.size();
  std::vector<int64_t> plan((steps + 1) * kRow);
  int64_t tickets = 0;
  for (size_t i = 0; i <= steps; ++i) {
    plan[i * kRow + kTickets] = tickets;
    if (i == steps || variant.steps[i].kernel < 0) continue;
    const Step& step = variant.steps[i];
    const int64_t tasks = variant.code.tasks[step.kernel];
    plan[i * kRow + kKernel] = step.kernel;
    plan[i * kRow + kArguments] = static_cast<int64_t>(plan.size());
    for (const Argument& a : step.arguments) {
      const MemoryAt at = find(a);
      plan.insert(plan.end(), {static_cast<int64_t>(at.memory), at.offset});
    }
    plan[i * kRow + kTasks] = static_cast<int64_t>(plan.size());
    for (int64_t next = 0; next < tasks; ++tickets) {
      plan.push_back(next);
      next += std::min(tasks - next, std::max({int64_t{1}, (tasks - next) / (2 * units), tasks / (kShortest * units)}));
    }
    plan.push_back(tasks);
  }
  return plan;
}

}  // namespace dnn
