// CPU schedules: vector loops over contiguous elements, register tiles for reductions, parallel outer loops.
#include "codegen/cpu_patterns.h"
#include "codegen/cpu_tasks.h"
#include "codegen/guards.h"
#include "codegen/narrow_vectors.h"
#include "codegen/schedule.h"
#include "codegen/schedule_gradients.h"
#include "codegen/schedule_quantized.h"
#include "loops/simplify.h"

namespace dnn::codegen {
namespace {

bool is_depthwise(const cpu::Nest& nest) {
  return nest.kernel.pattern == "conv" && nest.extent("g") >= 8 && nest.extent("m") == 0 && nest.extent("c") == 0 &&
         nest.blocked("g");
}

// A transformed convolution, whose tiles lie side by side.
cpu::Nest winograd(cpu::Nest nest) {
  for (const std::string& v : nest.vectors_over("v")) nest.body = loops::jam(nest.body, v, loops::LoopKind::Vector);
  return nest;
}

cpu::Nest by_pattern(const cpu::Nest& nest) {
  const std::string& pattern = nest.kernel.pattern;
  if (pattern == "border") return cpu::border(nest);
  if (nest.in_vectors()) {
    if (pattern == "conv" && nest.extent("m") >= 2) return cpu::convolution(nest);
    if (is_depthwise(nest)) return cpu::depthwise(nest);
    if (pattern == "winograd" && nest.extent("v") >= 2) return winograd(nest);
    if (pattern == "matmul") return cpu::matrix_product(nest);
    if (pattern == "pool" && nest.level().chunk) {
      if (std::optional<cpu::Nest> blocks = cpu::blocked_channels(nest)) return cpu::pooling(*std::move(blocks));
    }
  }
  return cpu::elementwise(nest);
}

}  // namespace

loops::Kernel schedule_cpu(const loops::Kernel& kernel, const std::set<const loops::Buffer*>& packable,
                           const ScheduleOptions& options) {
  if (is_quantized(kernel)) return schedule_quantized(kernel, packable, options);
  if (is_gradient(kernel)) return schedule_gradient(kernel, options);
  cpu::Nest nest(kernel, packable, options);
  nest.body = loops::simplify(drop_guards(nest.body));
  nest = by_pattern(nest);
  if (nest.level().contract && !kernel.exact) nest.body = loops::contract_fma(nest.body);
  if (nest.native_lanes() < nest.lanes()) nest.body = narrow_vectors(nest.body, nest.native_lanes());
  nest.kernel.body = loops::simplify(cpu::mark_parallel(nest));
  return nest.kernel;
}

}  // namespace dnn::codegen
