// Nearest neighbours as TFLite finds them; see nearest.h.
#include "formats/tflite/nearest.h"

#include <algorithm>
#include <cmath>

namespace dnn::tflite {

std::vector<int64_t> picked_elements(int64_t in, int64_t out, bool align_corners, bool half_pixel_centers) {
  const float scale = align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                               : static_cast<float>(in) / static_cast<float>(out);
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < out; ++i) {
    const float place = (static_cast<float>(i) + (half_pixel_centers ? 0.5f : 0.0f)) * scale;
    const auto at = static_cast<int64_t>(align_corners ? std::round(place) : std::floor(place));
    elements.push_back(std::clamp<int64_t>(at, 0, in - 1));
  }
  return elements;
}

}  // namespace dnn::tflite
