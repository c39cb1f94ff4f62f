// Schedules of the quantised operators for CPUs: sums of products of bytes in vectors of int32. What they have in common with other
// schedules is the loop IR's steps.
#pragma once
#include <set>

#include "codegen/schedule.h"

namespace dnn::codegen {

// True for a kernel of one of these, and for maps and pools that read or store bytes and compute in int32 or float32.
bool is_quantized(const loops::Kernel& kernel);

// As schedule_cpu(); nothing is promised of the bits of floating-point sums, of which there are none.
loops::Kernel schedule_quantized(const loops::Kernel& kernel, const std::set<const loops::Buffer*>& packable,
                                 const ScheduleOptions& options);

}  // namespace dnn::codegen
