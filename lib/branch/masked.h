// Masked networks: one graph that computes any child of a supernet, on weights that all children share.
#pragma once
#include <vector>

#include "branch/ranges.h"

namespace dnn::branch {

// A further input of a masked network, which says what a branch of a stage has.
struct MaskInput {
  size_t stage = 0, branch = 0;
  int64_t channels =
      0;             // [1, channels, 1, 1]: 1 where a layer of so many channels has one in this branch. 0: a scalar,
  size_t block = 0;  // 1 where the branch has this block
};

struct MaskedNetwork {
  Graph graph;                    // inputs: the network's one, then the masks; constants are called as in the source
  std::vector<MaskInput> inputs;  // of the graph, from its second on
};

// Every stage has `branches` branches of full depth and width. A layer reads its branch's channels times their mask; where branches are
// merged, it reads the mean of the branches that hold a channel, and an operator that chooses takes the first of these. So with
// mask_values() the outputs, and the gradients of the shared weights, are those of stretch() of the same child up to
// rounding. `source`: of fixed types, of any batch; `stages`: of the same graph for a batch of one. Throws Unsupported for operators that
// would mix channels that a branch has with others.
MaskedNetwork mask_network(const Graph& source, const SourceStages& stages, size_t branches);

// The values of these inputs for a child: one that check_child() takes.
std::vector<Tensor> mask_values(const Graph& source, const SourceStages& stages, const ElasticRanges& ranges,
                                const std::vector<MaskInput>& inputs, const StretchPlan& child);

}  // namespace dnn::branch
