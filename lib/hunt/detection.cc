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
  g.emit("RoiAlign", {x, g.numbers({n, 4}, boxes), g.integers({n}, 0, image[0] - 1)},
         {{"output_height", g.chance.between(1, 3)},
          {"output_width", g.chance.between(1, 3)},
          {"sampling_ratio", g.chance.between(0, 2)},
          {"spatial_scale", g.chance.of({1.0F, 0.5F})},
          {"mode", g.chance.of<std::string>({"avg", "avg", "max"})},
          {"coordinate_transformation_mode", g.chance.of<std::string>({"half_pixel", "output_half_pixel"})}});
  return true;
}

// The best boxes that overlap little, then what a detector reads of them. Scores are such that no rounding exchanges two.
bool best_boxes(Growth& g) {
  const ValueId x = g.any_exact(-1);
  if (x == kNoValue || g.real != DType::Float32) return false;
  const int64_t all = element_count(g.shape(x)), classes = all % 2 == 0 ? 2 : 1, n = all / classes;
  if (n < 2 || n > 200) return false;
  const bool centre = g.chance.is(0.3);
  std::vector<float> boxes;
  for (int64_t i = 0; i < n; ++i) {
    const double a = g.chance.real(0, 1), b = g.chance.real(0, 1), h = g.chance.real(0.1, 0.7),
                 w = g.chance.real(0.1, 0.7);
    const bool turned = !centre && g.chance.is(0.2);  // any two opposite corners
    for (double c : centre   ? std::initializer_list<double>{b, a, w, h}
                    : turned ? std::initializer_list<double>{a + h, b + w, a, b}
                             : std::initializer_list<double>{a, b, a + h, b + w})
      boxes.push_back(static_cast<float>(c));
  }
  const ValueId scores = g.emit("Reshape", {x, g.net.list({1, classes, n})});
  const ValueId most = g.net.list({g.chance.between(1, n)});
  std::vector<ValueId> inputs = {g.numbers({1, n, 4}, boxes), scores, most,
                                 g.net.number(static_cast<float>(g.chance.real(0, 0.8)))};
  if (g.chance.is(0.6)) inputs.push_back(g.net.number(static_cast<float>(g.chance.real(-0.5, 0.5))));
  const ValueId chosen = g.emit("NonMaxSuppression", inputs, {{"center_point_box", int64_t{centre}}});
  const ValueId which =
      g.emit("Gather", {chosen, g.net.store("column", Tensor::of<int64_t>({}, {2}))}, {{"axis", int64_t{1}}});
  const ValueId flat = g.emit("Reshape", {inputs[0], g.net.list({n, 4})});
  g.emit("Gather", {flat, which}, {{"axis", int64_t{0}}});
  return true;
}

// How many numbers there are is for them to say; what follows has fixed extents again.
bool where_not_zero(Growth& g) {
  const ValueId x = g.any_exact(-1);
  if (x == kNoValue) return false;
  const ValueId truth = g.emit("Greater", {x, g.number(g.chance.real(-0.5, 1))});
  const ValueId places = g.emit("NonZero", {truth});
  switch (g.chance.between(0, 2)) {
    case 0: g.emit("Shape", {places}); break;
    case 1: {
      const ValueId numbers = g.emit("Cast", {places}, {{"to", g.real_code()}});
      g.emit("ReduceSum", {numbers, g.net.list({1})}, {{"keepdims", int64_t{0}}});
      break;
    }
    default: g.emit("GatherND", {x, g.emit("Transpose", {places}, {{"perm", std::vector<int64_t>{1, 0}}})});
  }
  return true;
}

bool compress(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const int64_t axis = g.chance.between(0, static_cast<int64_t>(shape.size()) - 1);
  const ValueId kept = g.integers({g.chance.between(1, shape[axis])}, 0, 1, DType::Bool);
  const ValueId y = g.emit("Compress", {x, kept}, {{"axis", axis}});
  g.emit("Mul", {y, g.number(0.5)});
  return true;
}

}  // namespace

std::vector<Recipe> detection_recipes() {
  return {{"GridSample", 0.5, kDetector, grid_sample},
          {"RoiAlign", 0.4, kDetector, roi_align},
          {"best boxes", 0.4, kDetector, best_boxes},
          {"where not zero", 0.3, kDetector, where_not_zero},
          {"compress", 0.2, kAny, compress}};
}

}  // namespace dnn::hunt
