// Placements: which node of a network runs on which part, a device with the processors that it may use.
#pragma once
#include <string>
#include <vector>

#include "devices/device.h"
#include "graph/graph.h"

namespace dnn::branch {

// One entry of a device list: [LETTER=]KIND[:N][@CORES][:PRECISION], as "C=cpu@0", "G=opencl:0", "cpu@0-1:f32".
struct Part {
  char letter = 'C';
  DeviceSpec device = "cpu";
  std::vector<int> cores;  // processors, in the order written; empty: wherever the system has it
  std::string text;        // as the user wrote it, without the letter: "cpu@0"

  // "C (cpu@0)"
  std::string label() const;
  // Options for sessions on it: a thread for each of its processors.
  DeviceOptions options() const;
};

// The entries of "C=cpu@0,D=cpu@1"; an entry without a letter has that of its place, C, D, G. Cores are joined by + or -: 0+2-3. Throws
// Usage for what is no such list, for a letter or a processor that comes twice, and for processors that this process may not use;
// Unsupported for a precision other than f32.
std::vector<Part> parse_parts(const std::string& list);

// The letters of the devices that nodes are called after, in the order of processor_names().
std::string letters_named(const Graph& graph);

// By node: the index in `letters` of the device that the node is called after: `st_cpu_conv`, `s1_dsp_b2_add`, `head_gpu_dense`. A node that
// is called after none runs where what it reads first is made. Throws Usage where a name's device has no letter there.
std::vector<size_t> place_by_names(const Graph& graph, const std::string& letters);

}  // namespace dnn::branch
