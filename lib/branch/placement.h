// Placements by the names of nodes: which node of a branched network runs on which part.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "place/open.h"

namespace dnn::branch {

using place::ParallelSession;
using place::Part;

// place::parse_parts() with the letters of processor_names(): C, D, G.
std::vector<Part> parse_parts(const std::string& list);

// The letters of the devices that nodes are called after, in the order of processor_names().
std::string letters_named(const Graph& graph);

// By node: the index in `letters` of the device that the node is called after: `st_cpu_conv`, `s1_dsp_b2_add`, `head_gpu_dense`. A node that
// is called after none runs where what it reads first is made. Throws Usage where a name's device has no letter there.
std::vector<size_t> place_by_names(const Graph& graph, const std::string& letters);

// The plan by the names of nodes, opened as place::open_parallel() does.
std::unique_ptr<ParallelSession> open_parallel(const Graph& graph, const std::vector<Part>& parts,
                                               const CompileOptions& options);

// Typical microseconds of a run with all branches at once, on those of `parts` that the network has work for.
double branches_us(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options, int64_t warmup,
                   int64_t runs);

}  // namespace dnn::branch
