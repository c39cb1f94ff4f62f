// The elements that RESIZE_NEAREST_NEIGHBOR picks.
#pragma once
#include <cstdint>
#include <vector>

namespace dnn::tflite {

// For each of `out` elements along an axis of `in`. TFLite's arithmetic is float32's.
std::vector<int64_t> picked_elements(int64_t in, int64_t out, bool align_corners, bool half_pixel_centers);

}  // namespace dnn::tflite
