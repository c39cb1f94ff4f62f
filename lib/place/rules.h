// Rules: a file that says which nodes run on which part and which are divided (docs/reference/placement.md), and what nodes do that no rule
// names.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "place/divide.h"
#include "place/parts.h"

namespace dnn::place {

// The part of each node, by NodeId: what `part_of` says. Where it says nothing, a node runs where the first value that it reads is made;
// the first part runs what reads no such value.
std::vector<size_t> places_of_nodes(const Graph& graph, const std::function<std::optional<size_t>(NodeId)>& part_of);

// The name that rules use for a node: its own, or that of its first output where it has none.
const std::string& name_of(const Graph& graph, NodeId id);

// The placement by the rules in `text`, lines "LETTER NODES" and "LETTER[:SHARE]+LETTER[:SHARE]... NODES"; `file` is for messages. `graph` has
// its types inferred. Throws Usage with the line for a letter without a part, for nodes that are not there, and for those that cannot be divided.
Placement place_by_rules(const Graph& graph, const std::vector<Part>& parts, const std::string& text,
                         const std::string& file);

// Rules that give this placement again, where it divides chains that are as long as they can be, in slices as shares_of() makes them.
std::string rules_text(const Graph& graph, const std::vector<Part>& parts, const Placement& placement);

}  // namespace dnn::place
