// The text form of a graph: prints and parses back to the same graph. One statement a line, `#` comments, names quoted
// where they are not made of letters, digits and _./-+; values are defined before they are used. An example:
//
//   graph "tiny" {
//     opset 13
//     input x: float32[batch,3,8,8]
//     const w: float32[4,3,3,3] = random(7)
//     const b: float32[4] = {0, ...}
//     c: float32[batch,4,6,6] = Conv(x, w, b) @conv1 {pads = [0, 0, 0, 0], group = 1}
//     y = Clip(c, _, six) @clip
//     output y
//   }
//
// Lines behind the outputs may give a value more: alias y "name in the source", describe y "what it is", layout y "1/16"
// (a memory layout, loops/layout.h).
//
// Constants: {1, 2.5}; {0, ...} repeats the last element; base64 "..." is the bytes in memory; random(SEED) is uniform in
// [-1, 1) for floats and 0 or 1 for integers, understood but never printed; sha256 "..." stands for a constant too large
// to print, and is refused when parsed. _ is a left-out input or output. Attributes tell their type by their form: 1, 1.0,
// "text", [1, 2], [1.0], ["a"], ints[], float32[2]{1, 2}, graph "body" {...}.
#pragma once
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace dnn {

struct TextOptions {
  int64_t inline_elements = 32;  // constants of more elements are printed as their SHA-256
  bool inline_all = false;       // print every constant, so that the text is the whole model
};

// Unused constants and values of removed nodes are left out.
std::string to_text(const Graph& graph, const TextOptions& options = {});

// The verified graph. Throws Malformed with the line number.
Graph parse_graph(std::string_view text);

std::string attribute_text(const Attribute& attribute, const TextOptions& options = {});
// Names as the text form writes them: bare or quoted.
std::string name_text(std::string_view name);
// "float32[batch,3]" with symbols quoted where needed; "?" for what is unknown.
std::string type_text(const Type& type);

}  // namespace dnn
