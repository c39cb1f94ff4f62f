// Explaining a package: its steps as a table, what the passes did, and all its facts for dnn-cat.
#pragma once
#include <string>

#include "package/package.h"
#include "passes/pass.h"

namespace dnn {

// One line per step: number, kernel (or "interpreted"), node with the source nodes it computes, MFLOP, KiB moved,
// FLOP per byte; then totals and what the passes did.
std::string explain(const Package& package);

// In one line: its kernels, steps, and the memory that a run takes.
std::string package_line(const Package& package);

// One line per pass: its level, patches applied, nodes removed and added, source nodes fused, layouts chosen, ms.
std::string explain_passes(const std::vector<PassLog>& log);

// A package as JSON lines: one of type "package" (model, level, target, compiler, passes, inputs, outputs, sizes), then
// one per code, kernel and step.
std::string package_to_json(const Package& package);
// The same for people, with the graph that its steps compute.
std::string package_to_text(const Package& package);

}  // namespace dnn
