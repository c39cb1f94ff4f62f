// Isolated segments: what computes one common value in each of two networks, as networks of their own on the same activations,
// and whether the two mean the same.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "localize/lineup.h"
#include "tensor/compare.h"

namespace dnn {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Isolated {
  Graph source, target;                              // inputs of the same values in the same order, one output each
  std::vector<Tensor> source_inputs, target_inputs;  // as each network holds them
  std::vector<AxisOrder> input_orders;               // how each input of the target becomes the source's
  AxisOrder order;                                   // and the output
};

// max_abs of the reference's largest magnitude, 0 where nothing differs.
double part_of_largest(const Distance& d);
// What rounding explains, of the largest magnitude, where this much was measured.
double rounding_bound(double measured);
// What is never held to be more than rounding.
inline constexpr double kRoundingFloor = 16 * 0x1p-23;

struct Trial {
  std::string failure;   // why the target's does not run, or fit; "" where it does
  double exact = 0;      // what is left in float64, of the largest magnitude
  double bound = 0;      // what rounding explains
  Tensor expected, got;  // in float32, in the source's order of axes; undefined where it does not run, or fit
  bool right() const { return failure.empty() && exact <= bound; }
  double certainty() const;
};

// `expected` is what the source has there; undefined: what its segment makes. Only a difference above the floor asks float64.
Trial try_isolated(const Isolated& isolated, const Tensor& expected);

}  // namespace dnn
