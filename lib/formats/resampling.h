// Resize as readers and writers need it: float32 factors that give the source's extents, the elements that nearest neighbours pick,
// and what formats that state extents alone make of a factor.
#pragma once
#include <optional>
#include <string>
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

// Height or width of what a Resize makes, and the factor where the node states one.
struct ResizedAxis {
  int64_t in, out;
  std::optional<float> factor;
};
// Both, of a node over [N, H, W, C] of these extents; `scales` is its third input where that is constant, or null.
std::vector<ResizedAxis> resized_axes(const Node& node, const Tensor* scales, const Shape& in, const Shape& out);

// TensorFlow and what follows it interpolate by the quotient of extents. "a factor of 1.5 for 13 elements, which become 19", where a
// node's own is another one; "" where it is none.
std::string factor_apart(const std::vector<ResizedAxis>& axes, bool align_corners);

// The elements that TensorFlow's and TFLite's nearest neighbours pick, in float32's arithmetic.
std::vector<int64_t> picked_elements(int64_t in, int64_t out, bool align_corners, bool half_pixel_centers);
struct NearestMode {
  bool corners, centres;
};
// The mode that picks the same elements as the node, its own first; nothing where none does. Extents are known.
std::optional<NearestMode> nearest_mode(const Node& node, const std::vector<ResizedAxis>& axes);

// `x` with, along each axis of the list, the elements at these places.
struct PickedAxis {
  int64_t axis;
  std::vector<int64_t> elements;
};
// Height and width of a TensorFlow resizing of [N, H, W, C] to the nearest, where Resize with these attributes would pick others than
// float32's arithmetic does; else nothing. Extents below 1 are open.
std::vector<PickedAxis> picked_otherwise(const Attributes& attributes, const std::vector<int64_t>& in,
                                         const std::vector<int64_t>& sizes, NearestMode mode);
ValueId pick_elements(GraphBuilder& steps, ValueId x, const std::vector<PickedAxis>& axes);

}  // namespace dnn
