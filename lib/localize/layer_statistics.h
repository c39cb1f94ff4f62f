// Statistics of a lined-up layer: how its numbers lie on both sides, and those of its parameters, as rows of a table for programs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tensor/moments.h"

namespace dnn {

struct LocalizeReport;

struct LayerStatistics {
  Moments source, target;                                       // over all samples
  double difference_sum = 0;                                    // of |source - target|, infinite where max_abs is
  std::optional<Moments> source_parameters, target_parameters;  // none where there is no graph
};

// The floating-point constants of the node that makes a value, through Identity, Cast and DequantizeLinear. None for a value
// that no node makes, and for a node that computes with integers of at most 8 bits: its floats are their scales.
Moments parameters_of(const Graph& graph, const Uses& uses, const std::string& value);

// A header and a row for each layer that has statistics, in the source's order of execution: RFC 4180's quoting, lines that end in
// LF. Numbers read back to the same bits; "nan", "inf", "-inf"; empty where there is none. docs/reference/localize-output.md describes the columns.
std::string statistics_csv(const LocalizeReport& report);

}  // namespace dnn
