// Routings as text (docs/reference/placement.md): the rules of rules.h, and lines on several runs at once.
//   in-flight 3    three runs on their way at once
//   each C C D     every run whole on one of these devices, in turn; no other rules then
#pragma once
#include <string>
#include <vector>

#include "place/open.h"
#include "place/rules.h"

namespace dnn::place {

// A graph, slices in place of what rules divide, and where its nodes run.
struct Routed {
  Graph graph;
  Routing routing;
};

// `file` is for messages. Throws Usage with the line.
Routed read_routing(const Graph& graph, const std::vector<Part>& parts, const std::string& text,
                    const std::string& file);

// The text that gives the routing of an undivided graph again: one way, or ways that each have one part.
std::string routing_text(const Graph& graph, const std::vector<Part>& parts, const Routing& routing);

}  // namespace dnn::place
