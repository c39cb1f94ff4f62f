// Parameters and attributes of two nodes that compute the same layer, and how the one's weights relate to the other's.
#pragma once
#include <string>
#include <vector>

#include "localize/lineup.h"

namespace dnn {

// Two values are the same when they differ by at most atol + rtol * the largest magnitude of the source's tensor.
struct ParameterTolerance {
  double atol = 0, rtol = 1e-4;
};

// One constant input or one attribute that is not the same on both sides.
struct ParameterDifference {
  size_t layer = 0;  // index of the source's layer whose node it is
  std::string node;  // of the source
  // A constant: its names on both sides, its input position and shapes. An attribute: its key in `source`, input -1.
  int input = -1;
  std::string source, target;
  Shape source_shape, target_shape;
  double max_abs = 0;  // of constants of one size, as they stand in memory
  // "different", "axes permuted", "kernel rotated by 180 degrees", "channels reversed", these with "axes permuted" in
  // front, "only in the source", "only in the target", "of another size", or the attribute's two values.
  std::string relation;
};

// How `target` relates to `source`: "" for the same within the tolerance, else as above.
std::string parameter_relation(const Tensor& source, const Tensor& target, const ParameterTolerance& tolerance);

// Over lined-up layers whose nodes have one operator. `n_compared` counts the constants.
std::vector<ParameterDifference> compare_parameters(const Graph& source, const std::vector<Layer>& source_layers,
                                                    const Graph& target, const std::vector<Layer>& target_layers,
                                                    const std::vector<LayerPair>& pairs,
                                                    const ParameterTolerance& tolerance, int64_t* n_compared);

}  // namespace dnn
