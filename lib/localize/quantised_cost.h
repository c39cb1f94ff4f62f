// Tells what quantisation costs at each layer of a pair, measured on samples.
#pragma once
#include "localize/localize_models.h"
#include "localize/quantised_pair.h"

namespace dnn {

// Tells what the source has at each value, over at most this many samples.
inline constexpr int64_t kMostRanged = 8;
SourceRanges measure_ranges(const LocalizeRequest& request, ComparedNetwork& source);
// An output of integers as the numbers that they stand for; any other as it is.
Tensor as_numbers(const Graph& graph, size_t output, const Tensor& made);
// Fills the report's costs and what is of the network as it runs; at most kMostRanged samples, and none when the deadline is over.
void measure_costs(const LocalizeRequest& request, const QuantisedPair& pair, ComparedNetwork& source,
                   ComparedNetwork& target, ThreadPool* pool, QuantisationReport* report);

}  // namespace dnn
