// Features: what a frozen network makes of each image, computed once.
#pragma once
#include "base/threads.h"
#include "compile/compile.h"
#include "graph/graph.h"
#include "train/data.h"

namespace dnn::train {

// [images, width] by the graph (image of batch 1 -> features [1, width]); images mirrored first where `mirrored`. One thread
// of the pool takes one image, so the numbers do not depend on how many there are.
Tensor compute_features(const Graph& graph, const Images& images, Layout layout, bool mirrored, ThreadPool& pool,
                        const CompileOptions& compile);

}  // namespace dnn::train
