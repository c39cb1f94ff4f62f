// The tables of dnn-train --profile: where the time of a step goes.
#pragma once
#include <string>

#include "devices/device.h"

namespace dnn::train {

// A line for each kind of node (forward, recompute, gradient or update, and the operator), the slowest first, then a line for each node as
// dnn-infer --profile has them. `batch`: samples of the step; 0 for the optimiser's part alone. "" where the session has run nothing.
std::string step_profile(const Session& session, int64_t batch);

}  // namespace dnn::train
