// The stages of an imported network: runs of blocks that work at one height and width.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::branch {

// Layers with weights between two values that everything passes through, and what has none beside them.
struct SourceBlock {
  std::vector<NodeId> nodes;
  ValueId in = kNoValue, out = kNoValue;
  bool removable = false;  // a residual block: without it, its input is a value of the same type that its sum contains
};

struct SourceStage {
  std::vector<SourceBlock> blocks;
  int64_t channels = 0, height = 0, width = 0;  // of its output

  ValueId in() const { return blocks.front().in; }
  ValueId out() const { return blocks.back().out; }
};

// The stem is the first layer. A stage begins behind it, and where height times width becomes smaller, a down-sampling point, or up to
// two blocks in front of that where the value is narrower. The head is what follows the last value that has more than one pixel.
struct SourceStages {
  std::vector<NodeId> stem, head;
  std::vector<SourceStage> stages;
};

// The stages of a graph with fixed types, whose one input is float32[1, channels, height, width]. Throws Unsupported for another, and for a network
// of fewer than two such layers.
SourceStages find_stages(const Graph& graph);

}  // namespace dnn::branch
