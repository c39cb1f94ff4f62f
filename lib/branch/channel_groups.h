// Layers that have the same channels, and how much of what each computes comes from channels that its branch may not have.
#pragma once
#include <map>
#include <vector>

#include "branch/stretch.h"

namespace dnn::branch {

// The branches of each stage that have a channel, a bit for each branch.
using Places = std::vector<uint32_t>;

// Layers that have the same channels, in the same order.
struct ChannelGroup {
  int64_t channels = 0;
  bool fixed = false;               // it keeps the source's order
  std::vector<bool> in_stage;       // branched ones
  std::vector<Places> places;       // by position
  std::vector<int64_t> channel_at;  // by position: the order
  std::vector<int64_t> position_of;

  uint32_t mask(int64_t channel, size_t stage) const { return places[position_of[channel]][stage]; }
  void set_order(const std::vector<int64_t>& order);
};

// A layer that reads, in a branch, what the branch computed before.
struct ChannelLink {
  size_t stage = 0, made = 0, read = 0;  // groups
  std::vector<float> weight;             // [made, read], of a row 1 together
};

// Groups and links of the branched stages. Channels that meet in sums, norms or depthwise convolutions are of one group; those next to
// operators that join or mix channels are fixed. A weight counts by its square and the variance of the channel that it reads, as
// far as a norm in front of it tells.
struct ChannelGroups {
  ChannelGroups(const Graph& source, const SourceStages& stages, const StretchPlan& plan);

  std::vector<ChannelGroup> groups;
  std::vector<ChannelLink> links;
  std::map<ValueId, size_t> group_of;  // by a layer's output
};

}  // namespace dnn::branch
