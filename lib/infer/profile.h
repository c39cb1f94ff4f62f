// The table of dnn-infer --profile: what each step of a package cost, and what bounds it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.h"
#include "devices/peaks.h"

namespace dnn {

// A line per step in the order of execution (time per run, share, GFLOP/s, GB/s, KiB, bound, type of the numbers, kernel,
// node) and one for the sum. With peaks, the bound is what the step would wait for on a machine of these: "compute" or "memory" (its buffers moved
// once, from beyond the caches), and how much of that limit it reaches; above 100 % of memory its buffers were in a cache.
// `element`: what layers of real numbers compute in, as the package says.
std::string profile_table(const Variant& variant, const std::vector<StepProfile>& profile,
                          const std::optional<Peaks>& peaks, std::string_view element = "float32");

// The table of a session that was profiled, against the peaks of this machine, which are measured for it; without peaks where it ran on
// another machine or without code for this processor.
std::string profile_of_session(const Session& session);

}  // namespace dnn
