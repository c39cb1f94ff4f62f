// CPU schedules of what training computes beside a network: weight gradients of convolutions, sums over a channel, and weights that
// are copied into blocks. What they have in common with other schedules is the loop IR's steps.
#pragma once
#include "codegen/schedule.h"

namespace dnn::codegen {

// True for a kernel of one of these.
bool is_gradient(const loops::Kernel& kernel);

// As schedule_cpu(), for kernels that read no constants in layouts of their own.
loops::Kernel schedule_gradient(const loops::Kernel& kernel, const ScheduleOptions& options);

}  // namespace dnn::codegen
