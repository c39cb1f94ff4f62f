// Optimisation levels, as rows of levels.def: what each allows code to do to the bits of results, and which work it takes on.
#pragma once
#include <vector>

#include "tensor/dtype.h"

namespace dnn {

struct Level {
  int number;
  bool rewrites = false;              // passes change the graph
  bool reassociate = false;           // sums may be taken in another order
  bool contract = false;              // multiply-adds are fused, and exp, erf and tanh are our own in vectors
  bool flush_denormals = false;       // denormal numbers may count as 0
  bool approximate_division = false;  // OpenCL's division and square root as the device has them
  bool chunk = false;          // loops in chunks that fit caches and tasks of equal size, what they read prefetched
  bool views = false;          // values lie in parts of others where they can
  bool samples_alone = false;  // a batch's samples go through the network one by one where that pays
  bool matrix_units = false;   // float32 products as three of fewer bits each (decision 0037)
  DType precision = DType::Float32;  // the element type that a model's float32 numbers are computed in

  bool operator==(const Level&) const = default;
};

// By number, from 0 on.
const std::vector<Level>& levels();
// Null where there is no such level.
const Level* find_level(int number);
// The nearest where there is none: a package says a number, and one of a later version may have more.
const Level& level_of(int number);

}  // namespace dnn
