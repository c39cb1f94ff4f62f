// Which channels branches have: those that much is computed from in all of them, and those that belong together in one.
#pragma once
#include "branch/stretch.h"

namespace dnn::branch {

// Orders of the channels of the branched stages' layers, so that branches lose little of the weights between layers: of what a layer's channel is
// computed from, the share that its branch has (channel_groups.h says how weights count). Channels are swapped between branches, the
// best pair first, until none gains (Kernighan and Lin, 1970, for one group of layers at a time).
ChannelOrders order_channels(const Graph& source, const SourceStages& stages, const StretchPlan& plan);

// The share of those weights that the branches lose, from 0 to 1, on average over the layers that lose any. For tests and messages.
double lost_share(const Graph& source, const SourceStages& stages, const StretchPlan& plan,
                  const ChannelOrders& orders);

}  // namespace dnn::branch
