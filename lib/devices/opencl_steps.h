// Steps one after another in a single launch, for OpenCL devices on which a launch costs as much as a small layer; and code for
// processors on any device, step by step, as it takes values that begin at any byte.
//
// Some work-items, of processors one for each compute unit, take tickets from a counter; a ticket is some tasks of a step, in the order of
// the steps. Who has a ticket waits until all tickets of earlier steps are done. They are held by work-items that already
// run, so that this ends whatever the number of work-items that the device runs at once.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "package/package.h"

namespace dnn {

inline constexpr const char* kStepsKernel = "dnn_steps";

// Whether the code has its tasks as functions: those that earlier compilers wrote have not.
bool opencl_steps_known(const Variant& variant);

// The kernel, to stand after those of the variant; `memories`: buffers that arguments may lie in. Its own arguments: those buffers, the
// plan, three counters of kTurnBytes together that are zero and left so, the first step and the one behind the last.
std::string opencl_steps_source(const Variant& variant, size_t memories);
inline constexpr size_t kTurnBytes = 3 * 64;

// Where an argument lies: in which of the memories, and at which byte.
struct MemoryAt {
  size_t memory = 0;
  int64_t offset = 0;
};

// What the kernel reads of steps, by step and as it knows how. `units`: the work-items at most.
std::vector<int64_t> opencl_steps_plan(const Variant& variant, int64_t units,
                                       const std::function<MemoryAt(const Argument&)>& find);

}  // namespace dnn
