// Weights that stand in for a layer's own: with zeros in place of those that matter least, or with few different numbers.
#pragma once
#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace dnn::prune {

// `share` of the weights of each output channel (an index of `axis`) set to 0: those of least magnitude, each times the importance of
// the input that it multiplies (an index of `columns`; empty: all alike; Sun et al., A Simple and Effective Pruning Approach
// for Large Language Models, 2023, section 3).
Tensor with_zeros(const Tensor& weights, size_t axis, size_t columns, double share,
                  const std::vector<double>& importance);

// Weights with at most `clusters` different numbers, chosen by k-means: k-means++ (Arthur and Vassilvitskii, 2007) draws the first ones
// by `seed`, Lloyd's steps follow until nothing changes. `keep_zeros`: 0 is one of them, and the weights that are 0 stay it.
Tensor clustered(const Tensor& weights, int64_t clusters, bool keep_zeros, uint64_t seed);

int64_t zeros_in(const Tensor& weights);

}  // namespace dnn::prune
