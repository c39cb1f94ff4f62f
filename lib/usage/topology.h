// Topology: what /sys tells of a machine's processors: packages, cores, caches, NUMA nodes, and cores of several kinds.
#pragma once
#include <optional>
#include <vector>

#include "stream/records.h"
#include "usage/meter.h"

namespace dnn::usage {

// Processors by kind of core, fastest first, each kind ascending; one kind where all are alike or nothing tells them apart, none
// where /sys does not tell which processors there are. Kinds are those of Intel's hybrids (cpu_core, cpu_atom, cpu_lowpower); else by
// cpu_capacity, as Arm's kernels say it; else by the highest frequency. Of one kind are those within 20 % of its fastest: cores alike
// differ by some percent in what they are allowed to reach.
std::vector<std::vector<int>> core_classes(const Roots& roots = {});

// nullopt where /sys does not tell which processors there are.
std::optional<stream::Topology> read_topology(const Roots& roots = {});

}  // namespace dnn::usage
