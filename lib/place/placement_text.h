// Placements as text (docs/reference/placement.md): the rules of rules.h, and lines on several runs at once.
//   in-flight 3    three runs on their way at once
//   each C C D     every run whole on one of these devices, in turn; no other rules then
#pragma once
#include <string>
#include <vector>

#include "place/open.h"

namespace dnn::place {

// `file` is for messages. Throws Usage with the line.
Placement read_placement(const Graph& graph, const std::vector<Part>& parts, const std::string& text,
                         const std::string& file);

// The text that gives the placement again: one way, or ways that each have one part.
std::string placement_text(const Graph& graph, const std::vector<Part>& parts, const Placement& placement);

}  // namespace dnn::place
