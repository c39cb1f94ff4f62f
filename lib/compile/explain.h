// Explaining a package: its steps as a table.
#pragma once
#include <string>

#include "package/package.h"

namespace dnn {

// One line per step: number, kernel (or "interpreted"), node with the source nodes it computes, MFLOP, KiB moved,
// FLOP per byte; then totals and what the passes did.
std::string explain(const Package& package);

}  // namespace dnn
