// Rounding ties between two networks that compute on integers: whether they explain why outputs differ.
//
// A value in the middle between two integers falls to one side in one network and, summed in another order, to the other side in
// the other. One such step changes every number behind it. So each quantiser of the target is held to the source's integers with
// the source's integers in front of it: nothing behind a tie is off because of it then.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

struct RoundingTies {
  int64_t n_quantisers = 0;  // of the target
  int64_t n_integers = 0;    // that they made, on all probes
  int64_t n_ties = 0;        // of these, one step off the source's at a tie
  double max_relative = 0;   // of the outputs, computed from the source's integers; see Certificate::Output
  std::string why_not;       // why ties are not the reason; "": they are, where max_relative is small enough
  bool explain(double tolerance) const { return why_not.empty() && max_relative <= tolerance; }
  std::string text() const;  // a clause
};

// Tells whether a network rounds to integers on its way from inputs to outputs.
bool computes_on_integers(const Graph& graph);

// Both graphs have fixed extents; types are inferred here. Throws what running them throws.
RoundingTies judge_rounding_ties(Graph source, Graph target, const std::vector<std::vector<Tensor>>& inputs,
                                 int threads);

}  // namespace dnn
