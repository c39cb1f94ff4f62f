// Features: what a frozen network makes of each image, computed once.
#pragma once
#include <functional>

#include "base/threads.h"
#include "compile/compile.h"
#include "graph/graph.h"

namespace dnn::train {

// Row i by the graph (image of batch 1 -> features [1, width]) of what load(i) gives, of `count` images. One thread of the pool takes
// one image, so the numbers do not depend on how many there are.
Tensor compute_features(const Graph& graph, int64_t count, const std::function<Tensor(int64_t i)>& load,
                        ThreadPool& pool, const CompileOptions& compile);

}  // namespace dnn::train
