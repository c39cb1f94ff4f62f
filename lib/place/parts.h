// Parts: the devices of a placement, each with the processors that it may use, as a user lists them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.h"
#include "graph/graph.h"

namespace dnn::place {

// One entry of a device list: [LETTER=]KIND[:N][@CORES][:PRECISION], as "C=cpu@0", "G=opencl:0", "cpu@0-1:f32".
struct Part {
  char letter = 'C';
  DeviceSpec device = "cpu";
  std::vector<int> cores;  // processors, in the order written; empty: wherever the system has it
  std::string precision;   // "" and "f32": as the network says
  std::string text;        // as the user wrote it, without the letter: "cpu@0"

  // "C (cpu@0)"
  std::string label() const;
  // "C=cpu@0": what parse_parts() reads again.
  std::string entry() const;
  // True for processors of this machine that run native code: several such parts share out the steps of one package (joint.h).
  bool on_this_processor() const { return !device.is_remote() && device.text() == "cpu"; }
  // Options for sessions on it: a thread for each of its processors.
  DeviceOptions options() const;
};

// Letters of parts in the order in which entries without one get them.
inline constexpr std::string_view kLetters = "CDGABEFHIJKLMNOPQRSTUVWXYZ";

// The entries of "C=cpu@0,D=cpu@1"; an entry without a letter has the first of `letters` that no other has. Cores are joined by + or -:
// 0+2-3. A part on this machine's processors that names none has those that the others leave, where others name some. Throws Usage for what
// is no such list, for a letter or a processor that comes twice, and for processors that this process may not
// use; Unsupported for a precision that no part has, and for devices that do not run packages.
std::vector<Part> parse_parts(const std::string& list, std::string_view letters = kLetters);

// Throws Unsupported where a part's precision is not that of its nodes: a precision says what is there, and quantises nothing.
// `places`: the part of each node, by NodeId.
void check_precisions(const Graph& graph, const std::vector<Part>& parts, const std::vector<size_t>& places);

// All processors of the local parts of one kind as one part, where several parts have some: the device that several processors are
// compared with. Empty where there is none.
std::vector<Part> joined_parts(const std::vector<Part>& parts);

}  // namespace dnn::place
