// Resize as readers need it: float32 factors that give the source's extents, and the elements that nearest neighbours pick.
#pragma once
#include <optional>
#include <vector>

#include "formats/draft.h"

namespace dnn {

// The float32 nearest to `factor` by which an extent of `in` becomes `out`, as Resize multiplies and rounds down; nothing where
// neither of the two neighbours does. Sources multiply in float64: 10 * 2.3 is 23, by float32's 2.3 it is 22.
std::optional<float> resize_factor(double factor, int64_t in, int64_t out);
// The same of an open extent: the smallest float32 that is not below `factor`.
float resize_factor(double factor);

// The index that Resize with these attributes and mode nearest takes for each of `out` elements from `in`.
std::vector<int64_t> nearest_elements(const Attributes& attributes, int64_t in, int64_t out,
                                      std::optional<float> factor = std::nullopt);

// `x` with, along each axis of the list, the elements at these places.
struct PickedAxis {
  int64_t axis;
  std::vector<int64_t> elements;
};
ValueId pick_elements(GraphBuilder& steps, ValueId x, const std::vector<PickedAxis>& axes);

}  // namespace dnn
