// The table of dnn-infer --profile: what each step of a package cost.
#pragma once
#include <string>
#include <vector>

#include "devices/device.h"

namespace dnn {

// A line per step in the order of execution (time per run, share, GFLOP/s, GB/s, kernel, node) and one for the sum.
std::string profile_table(const Package& package, const std::vector<StepProfile>& profile);

}  // namespace dnn
