// Repair: the fewest edits of a target that make its wrong segments compute what the source's do.
//
// Each wrong segment is repaired by itself, on the source's activations, so that several faults are no harder than one. What
// is tried follows from what is not the same: constants, attributes, both, layers of the target left out that the source has not, the
// same against the source with its batch norms folded, and last the source's layers in the target's place. Of the first set that makes the segment right, each edit is taken back that it stays
// right without.
#pragma once
#include <string>
#include <vector>

#include "base/deadline.h"
#include "localize/edits.h"
#include "localize/own_error.h"
#include "localize/quantised_pair.h"

namespace dnn {

struct SegmentRepair {
  size_t own = 0;                     // index into the own errors
  std::vector<Edit> edits;            // none: not repaired
  std::vector<double> times_without;  // by edit: how many times what rounding explains the segment is off without it
  double times_before = 0, times_after = 0;  // the same before and with all
  std::string why_not;                       // what stood in the way of the last try
};

// Of all wrong segments, in the order of `wrong` (indices into the own errors, which keep at least one sample). When the
// deadline is over no more sets are tried, and none is thinned out. `quantised`: what the target was made a float network of, whose
// integers the source's layers get.
std::vector<SegmentRepair> search_repairs(const Graph& source, const Graph& target, const OwnErrors& own,
                                          const std::vector<size_t>& wrong, const Deadline& deadline = {},
                                          const QuantisedPair* quantised = nullptr);

// The edits of all repairs; where no network comes of all together, of as many as one comes of, and the others become not
// repaired. Each repair is right by itself, but a shape that one mends may fit only beside what another mends.
std::vector<Edit> edits_together(const Graph& source, const Graph& target, std::vector<SegmentRepair>* repairs);

}  // namespace dnn
