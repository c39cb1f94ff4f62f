// Recipes of detectors: regions, grids, boxes.
#include "hunt/network.h"

namespace dnn::hunt {
namespace {

bool grid_sample(Growth& g) {
  const ValueId x = g.any(4);
  if (x == kNoValue) return false;
  const Shape grid = {g.shape(x)[0], g.chance.between(1, 5), g.chance.between(1, 5), 2};
  g.emit("GridSample", {x, g.numbers(grid, -1.2, 1.2)},
         {{"mode", g.chance.of<std::string>({"linear", "linear", "nearest", "cubic"})},
          {"padding_mode", g.chance.of<std::string>({"zeros", "border", "reflection"})},
          {"align_corners", g.chance.between(0, 1)}});
  return true;
}

bool roi_align(Growth& g) {
  const ValueId x = g.any(4);
  if (x == kNoValue) return false;
  const Shape image = g.shape(x);
  const int64_t n = g.chance.between(1, 3);
  std::vector<float> boxes;
  for (int64_t i = 0; i < n; ++i) {
    const double x1 = g.chance.real(0, static_cast<double>(image[3]) - 1),
                 y1 = g.chance.real(0, static_cast<double>(image[2]) - 1);
    for (double c : {x1, y1, x1 + g.chance.real(0.5, 4), y1 + g.chance.real(0.5, 4)})
      boxes.push_back(static_cast<float>(c));
  }
  g.emit("RoiAlign", {x, g.net.store("boxes", Tensor::of<float>({n, 4}, boxes)), g.integers({n}, 0, image[0] - 1)},
         {{"output_height", g.chance.between(1, 3)},
          {"output_width", g.chance.between(1, 3)},
          {"sampling_ratio", g.chance.between(0, 2)},
          {"spatial_scale", g.chance.of({1.0F, 0.5F})},
          {"mode", g.chance.of<std::string>({"avg", "avg", "max"})},
          {"coordinate_transformation_mode", g.chance.of<std::string>({"half_pixel", "output_half_pixel"})}});
  return true;
}

}  // namespace

std::vector<Recipe> detection_recipes() {
  return {{"GridSample", 0.5, kDetector, grid_sample}, {"RoiAlign", 0.4, kDetector, roi_align}};
}

}  // namespace dnn::hunt
