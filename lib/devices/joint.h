// Joint sessions: a package on the CPU whose steps several threads share out. Each session runs the steps of one segment; values between
// segments stay in one arena, in the layouts that kernels want.
#pragma once
#include <memory>
#include <vector>

#include "devices/device.h"

namespace dnn {

struct JointSegment {
  std::vector<size_t> steps;  // of the package's variant, ascending
  size_t part = 0;
  // Values of the package's graph, in the order of the session's inputs and outputs. A tensor crosses where it is an input or an output of
  // the package; where it lies in the arena, the session gives and takes no tensor.
  std::vector<ValueId> inputs, outputs;
};

// True for a variant that can be run so: each step a kernel that takes the whole batch, no state, and each output of the package
// written where the caller gets it.
bool can_be_joint(const Variant& variant);

// A session for each segment. Those of different parts may run at once, each behind the segments that it reads from; those of one part
// take turns. `parts`: threads and processors. Throws Environment where this processor does not run the code.
std::vector<std::unique_ptr<Session>> open_joint(std::shared_ptr<const Package> package,
                                                 const std::vector<JointSegment>& segments,
                                                 const std::vector<DeviceOptions>& parts);

}  // namespace dnn
