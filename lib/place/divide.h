// Divisions: chains whose channels several devices make, each some of them, and the graph in which they are slices.
#pragma once
#include <vector>

#include "place/channels.h"

namespace dnn::place {

// The next channels of a chain, for one part.
struct Slice {
  size_t part = 0;
  int64_t channels = 0;
  bool operator==(const Slice&) const = default;
};

// The slices are in the order of the channels and make up all of them. The first one's part puts them together.
struct Division {
  Chain chain;
  std::vector<Slice> slices;
  bool operator==(const Division&) const = default;
};

// No node is in two divisions.
struct Placement {
  std::vector<size_t> places;  // the part of each node, by NodeId; those of divided nodes count for nothing
  std::vector<Division> divisions = {};
  bool operator==(const Placement&) const = default;
};

// Channels by weights, one for each slice and above 0: whole blocks of kChannelBlock (the last slice may have more) where there is one for each
// slice, else any. None is empty: there must be as many channels as weights. The numbers of the result as weights give that result again.
std::vector<int64_t> shares_of(int64_t channels, const std::vector<int64_t>& weights);

struct Divided {
  Graph graph;
  std::vector<size_t> places;  // the part of each node of it, by NodeId
};

// `graph`, whose types are inferred, with slices and a Concat in place of divided nodes. Slices and their values are called after the
// whole and their channels, "conv1[0:48]"; the Concat makes the value of that name. Where a Concat of channels alone reads it, that takes the
// slices. A slice computes of its channels what the whole does: the operators are the same, with their share of the constants.
Divided divide(const Graph& graph, const Placement& placement);

}  // namespace dnn::place
