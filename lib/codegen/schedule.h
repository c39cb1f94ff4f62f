// Schedules: how a lowered kernel's loops run on a kind of machine. A schedule recognises the kernel's pattern and loop
// names, asks what may be done, and applies the steps of loops/steps.h; its parameters are data.
#pragma once
#include <set>
#include <string>

#include "codegen/parameters.h"
#include "loops/ir.h"
#include "target/target.h"

namespace dnn::codegen {

// What a schedule may assume and choose.
struct ScheduleOptions {
  Target target;
  ScheduleParameters parameters = {};  // for the kernel at hand
  // Its float32 buffers, by name, that memory has in the 16 bits of the target's element type, and constants that hold such numbers alone,
  // so that a schedule may give them that type.
  std::set<std::string> narrow = {}, factors = {};
  // Those that hold numbers of the element type alone, in float32.
  std::set<std::string> exact = {};
  bool any_byte_order = false;  // the code may be compiled for processors that have a word's high byte first
};

// Schedules `kernel` for a CPU. Buffers in `packable` are constants that the schedule may give another layout: the
// kernel then names new buffers (same name) in their place.
loops::Kernel schedule_cpu(const loops::Kernel& kernel, const std::set<const loops::Buffer*>& packable,
                           const ScheduleOptions& options);

// The same for a GPU: where tiles of threads share what they read, the kernel has loops over them; elsewhere a task is a thread.
loops::Kernel schedule_gpu(const loops::Kernel& kernel, const std::set<const loops::Buffer*>& packable,
                           const ScheduleOptions& options);

}  // namespace dnn::codegen
