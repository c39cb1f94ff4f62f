// The search of a placement on the devices themselves: costs measured, the placement that they predict, and what it really takes.
#pragma once
#include <string>
#include <vector>

#include "place/divide.h"
#include "place/measure.h"
#include "place/open.h"
#include "place/search.h"

namespace dnn::place {

// One way to run the whole network on a single device.
struct Single {
  Part part;
  Latency latency;
};

struct Found {
  std::vector<Part> parts;      // that the placement is on: those given, or the best single device
  Placement placement;          // on them
  std::vector<Single> singles;  // each part alone, and all processors of several parts as one device
  size_t best = 0;              // of `singles`
  Latency placed;               // of the fastest placement on several devices; 0 where there was none to try
  double predicted_us = 0;      // of it
  size_t chains = 0;            // layers that could be divided over devices
  size_t divided = 0;           // of them in the fastest placement that divides some
  double divided_us = 0;        // median of that; 0 where none was tried
  double undivided_us = 0;      // of the fastest one that divides none, on one device or several
  double bound_us = 0;          // 1 / sum(1 / t) of the parts alone: what no division of the work beats
  bool proved = false, worth_it = false;
  std::vector<std::string> in_the_way;  // sentences
};

// `graph` as ready_to_place() gives it; `parts` connected.
Found find_placement(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options, int64_t runs);

// For the person.
std::string found_text(const Found& found);

}  // namespace dnn::place
