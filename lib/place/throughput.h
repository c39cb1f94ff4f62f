// The search of a placement for many inferences at once, on the devices themselves: what is measured is how long each takes in the mean while
// as many are on their way as the placement has lanes for.
#pragma once
#include <string>
#include <vector>

#include "place/open.h"
#include "place/package.h"

namespace dnn::place {

// One way to run a stream of inferences.
struct StreamWay {
  std::string name;         // "C (cpu@0) alone", "stages on C (cpu@0), D (cpu@1)"
  std::vector<Part> parts;  // that it is on
  Routing routing;          // on these
  double predicted_us = 0;  // for each inference, by the costs; 0 of a single device
  double us = 0;            // measured: the median over the turns
};

struct FoundStream {
  std::vector<StreamWay>
      singles;  // each part alone, and all processors of several parts as one device, one inference at a time
  std::vector<StreamWay> shared;  // on several devices
  size_t best_single = 0, best_shared = 0;
  double bound_us = 0;  // 1 / sum(1 / t) of the parts alone: what no dealing of whole inferences beats
  bool worth_it = false;

  const StreamWay& chosen() const { return worth_it ? shared[best_shared] : singles[best_single]; }
};

// `graph` as ready_to_place() gives it; `parts` connected. `runs`: timed inferences of each way, at least.
FoundStream find_stream_routing(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options,
                                int64_t runs);

// For the person.
std::string found_text(const FoundStream& found);

}  // namespace dnn::place
