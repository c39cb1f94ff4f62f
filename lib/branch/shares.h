// Shares: which of a layer's channels, and which of a stage's blocks, a branch has.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "branch/stages.h"
#include "graph/graph.h"

namespace dnn::branch {

// One branch of a stage: it has the stage's first `depth` blocks, on `width` of each layer's channels.
struct BranchShape {
  std::string device;  // "cpu", as ProcessorName has it
  int64_t depth = 1;
  double width = 1;
};

// By number of channels: what shares are multiples of, so that vectors stay full and groups whole.
class Units {
 public:
  Units(const Graph& source, const SourceStage& stage);
  int64_t operator()(int64_t channels) const;

 private:
  std::map<int64_t, int64_t> groups_;
};

// The channels of a layer that branch `index` has: runs that begin one behind the other and cover all together.
std::vector<int64_t> share_of(int64_t channels, const std::vector<BranchShape>& branches, size_t index,
                              const Units& units);

// The shortest depth that a stage can have: blocks that are no residual ones stay.
int64_t least_depth(const SourceStage& stage);

// By block: whether a branch of that depth leaves it out. Residual blocks are left out, the last ones first; the first block stays.
std::vector<bool> dropped_blocks(const SourceStage& stage, int64_t depth);

}  // namespace dnn::branch
