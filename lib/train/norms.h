// Batch norms by the statistics of data: of a batch, as training has them, or of many, for a network that is to run.
#pragma once
#include <functional>
#include <vector>

#include "compile/compile.h"
#include "ops/build.h"

namespace dnn::train {

// The graph with its values, inputs and constants alone.
Graph without_nodes(const Graph& model);

struct BatchMoments {
  ValueId mean = kNoValue, variance = kNoValue;  // of each channel, over the batch; population variance
};

// Adds the BatchNormalization by the statistics of its input.
BatchMoments normalize_by_batch(NewGraph& net, const Node& norm);

// Puts the means of these statistics over batches of images in place of the running ones, as a network wants it whose layers' inputs are no longer
// those that its statistics are of (a child of a supernet). `model`: of an open batch. `load`: the n-th batch, [b, ...]. The same bits on any number of threads.
// Throws Usage for a norm whose statistics are no constants of its own.
void recalibrate(Graph* model, int64_t batches, const std::function<Tensor(int64_t n)>& load, int threads,
                 const CompileOptions& compile);

}  // namespace dnn::train
