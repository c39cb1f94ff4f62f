// Branched networks of imported ones: each stage becomes branches that hold some of its channels and blocks.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "branch/shares.h"
#include "branch/stages.h"
#include "graph/graph.h"

namespace dnn::branch {

// Arithmetic of one run, as node_flops() counts it.
double graph_flops(const Graph& graph);

// The branches of each stage. A stage of one branch has all blocks and channels.
struct StretchPlan {
  std::vector<std::vector<BranchShape>> stages;
  std::string main_device = "cpu";  // of stem, merges and head
};

// By the output of a layer: its channels in the order that branches' shares are taken of. Layers that are not there keep the source's.
using ChannelOrders = std::map<ValueId, std::vector<int64_t>>;

// The network with the plan's branches, its weights those of the source. Nodes are called st_DEVICE_NAME, s1_DEVICE_NAME and head_DEVICE_NAME, for
// place_by_names(); a stage ends in s1_DEVICE_mp_end_concat. Branches may have channels in common: the merged tensor holds these several times,
// and what reads it shares their weights among the places. Throws Usage for a plan that does not fit the stages, Unsupported for
// layers whose channels cannot be shared out.
Graph stretch(const Graph& source, const SourceStages& stages, const StretchPlan& plan,
              const ChannelOrders& orders = {});

// Stage `index` with these branches alone, after the stages before it: inputs and outputs are merged tensors. For measuring.
// `only`: that branch and no other, its output unmerged.
Graph stretch_stage(const Graph& source, const SourceStages& stages, const StretchPlan& plan, size_t index,
                    size_t only);

// YAML text of a plan, and back: {MAIN_DEVICE: cpu, STAGES: [{DEVICES: [cpu, dsp], DEPTHS: [3, 2], WIDTHS: [0.625, 0.875]}, ...]}.
// Throws Malformed with "PATH:LINE: ".
std::string plan_text(const StretchPlan& plan, const SourceStages& stages);
StretchPlan read_plan(const std::string& path);

}  // namespace dnn::branch
