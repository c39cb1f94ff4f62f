// Rules: a file that says which nodes run on which part (docs/reference/placement.md), and what nodes do that no rule names.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "place/parts.h"

namespace dnn::place {

// The part of each node, by NodeId: what `part_of` says. Where it says nothing, a node runs where the first value that it reads is made;
// the first part runs what reads no such value.
std::vector<size_t> places_of_nodes(const Graph& graph, const std::function<std::optional<size_t>(NodeId)>& part_of);

// The name that rules use for a node: its own, or that of its first output where it has none.
const std::string& name_of(const Graph& graph, NodeId id);

// Places by the rules in `text`, lines "LETTER NODES"; `file` is for messages. Throws Usage with the line for a letter without a part, and for
// nodes that are not there.
std::vector<size_t> places_by_rules(const Graph& graph, const std::vector<Part>& parts, const std::string& text,
                                    const std::string& file);

// Rules that give these places again.
std::string rules_text(const Graph& graph, const std::vector<Part>& parts, const std::vector<size_t>& places);

}  // namespace dnn::place
