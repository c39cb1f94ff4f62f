// Placed packages: one network as parts for several devices, and the plan that says what runs where, in which order, on which values.
//
// Such a package has one variant, for the backend "placed": it has no code, and its graph says what goes in and out. What runs is the
// segments' packages, each an ordinary one for its part's device; or, where all parts are processors of one machine, one ordinary package
// of the whole network, whose steps the segments share out. lib/place makes and runs them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "package/package.h"

namespace dnn {

template <class... Parts>
[[noreturn]] void fail_plan(const Parts&... parts) {
  fail_malformed("the plan is damaged: ", parts...);
}

inline constexpr std::string_view kPlacedBackend = "placed";

// Nodes that run on one part without waiting in between.
struct PlacedSegment {
  std::string name;  // "conv1 .. pool1"
  size_t part = 0;
  std::vector<ValueId> inputs, outputs;    // of the placed package's graph, in the order of those of the segment's own
  std::shared_ptr<const Package> package;  // null where there is one for the whole network
  std::vector<size_t> steps = {};          // then, of that package's variant, ascending
  size_t way = 0;                          // each makes all outputs of the network; a run takes one
};

struct Placed {
  std::vector<std::string> parts;       // as a user writes them, "C=cpu@0"
  std::vector<PlacedSegment> segments;  // way by way, each behind those that it reads from
  std::shared_ptr<const Package> whole = nullptr;
  // For several runs on their way at once, as many as there are lanes: runs take the lanes in turn, each lane its way, the first one way 0.
  // Empty: one at a time, of way 0.
  std::vector<size_t> lanes = {};

  size_t ways() const { return segments.empty() ? 1 : segments.back().way + 1; }
};

// Throws Malformed unless each way of the plan computes the graph's outputs: every value is made once, before it is read, by parts that there are,
// and has the type that the graph says; each step of a package for the whole is one segment's. Also where the variant says that there is a plan, and there is none.
void check_placed(const Package& package);

}  // namespace dnn
