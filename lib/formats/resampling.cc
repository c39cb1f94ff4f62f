// Factors and indices of Resize; see resampling.h.
#include "formats/resampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/op.h"

namespace dnn {

namespace {
bool gives(float factor, int64_t in, int64_t out) {
  return factor > 0 && std::floor(static_cast<double>(factor) * static_cast<double>(in)) == static_cast<double>(out);
}
}  // namespace

std::optional<float> resize_factor(double factor, int64_t in, int64_t out) {
  const auto nearest = static_cast<float>(factor);
  for (float candidate : {nearest, std::nextafter(nearest, INFINITY), std::nextafter(nearest, 0.0f)}) {
    if (gives(candidate, in, out)) return candidate;
  }
  return std::nullopt;
}

float resize_factor(double factor) {
  const auto nearest = static_cast<float>(factor);
  return static_cast<double>(nearest) < factor ? std::nextafter(nearest, INFINITY) : nearest;
}

std::vector<int64_t> nearest_elements(const Attributes& attributes, int64_t in, int64_t out,
                                      std::optional<float> factor) {
  Node node;
  node.op = "Resize";
  node.attributes = attributes;
  node.attributes.erase("axes");
  node.inputs.assign(4, 0);
  node.outputs = {0};
  Tensor x(DType::Int64, {in});
  std::iota(x.mutable_data<int64_t>(), x.mutable_data<int64_t>() + in, int64_t{0});
  const Tensor scale = Tensor::of<float>({1}, {factor.value_or(1)}), size = Tensor::of<int64_t>({1}, {out});
  ReferenceContext context{node, {&x, nullptr, factor ? &scale : nullptr, factor ? nullptr : &size}, {}, {}};
  context.outputs.resize(1);
  find_op("", "Resize")->reference(context);
  return to_int64s(context.outputs[0]);
}

std::vector<ResizedAxis> resized_axes(const Node& node, const Tensor* scales, const Shape& in, const Shape& out) {
  std::vector<ResizedAxis> found = {{in[1], out[1], {}}, {in[2], out[2], {}}};
  if (scales == nullptr || scales->size() == 0) return found;
  const std::vector<double> given = to_doubles(*scales);
  std::vector<int64_t> axes = node.attribute_ints("axes");
  for (size_t i = 0; axes.size() < given.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < given.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + 4 : axes[i];
    if (axis == 1 || axis == 2) found[axis == 1 ? 0 : 1].factor = static_cast<float>(given[i]);
  }
  return found;
}

std::string factor_apart(const std::vector<ResizedAxis>& axes, bool align_corners) {
  for (const ResizedAxis& axis : axes) {
    if (!axis.factor) continue;
    const double in = static_cast<double>(axis.in), out = static_cast<double>(axis.out), factor{*axis.factor};
    const double apart = align_corners ? std::abs(factor * in - out) : std::abs(out / factor - in);
    if (apart > 1e-4) return cat("a factor of ", factor, " for ", axis.in, " elements, which become ", axis.out);
  }
  return "";
}

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

std::optional<NearestMode> nearest_mode(const Node& node, const std::vector<ResizedAxis>& axes) {
  const std::string at = node.attribute_string("coordinate_transformation_mode", "half_pixel");
  std::vector<NearestMode> modes = {{false, false}, {false, true}, {true, false}};
  if (at == "align_corners") std::swap(modes[0], modes[2]);
  if (at != "align_corners" && at != "asymmetric") std::swap(modes[0], modes[1]);
  for (const NearestMode& mode : modes) {
    const bool same = std::all_of(axes.begin(), axes.end(), [&](const ResizedAxis& axis) {
      return picked_elements(axis.in, axis.out, mode.corners, mode.centres) ==
             nearest_elements(node.attributes, axis.in, axis.out, axis.factor);
    });
    if (same) return mode;
  }
  return std::nullopt;
}

std::vector<PickedAxis> picked_otherwise(const Attributes& attributes, const std::vector<int64_t>& in,
                                         const std::vector<int64_t>& sizes, NearestMode mode) {
  std::vector<PickedAxis> picked;
  bool same = true;
  for (size_t i = 0; i < sizes.size() && i < 2; ++i) {
    if (in[i + 1] < 1 || sizes[i] < 1) continue;
    picked.push_back({static_cast<int64_t>(i) + 1, picked_elements(in[i + 1], sizes[i], mode.corners, mode.centres)});
    same = same && picked.back().elements == nearest_elements(attributes, in[i + 1], sizes[i]);
  }
  return same || picked.size() != 2 ? std::vector<PickedAxis>() : picked;
}

ValueId pick_elements(GraphBuilder& steps, ValueId x, const std::vector<PickedAxis>& axes) {
  for (const PickedAxis& picked : axes) {
    const Shape shape = {static_cast<int64_t>(picked.elements.size())};
    const ValueId places = steps.store("elements", Tensor::of<int64_t>(shape, picked.elements));
    x = steps.emit("Gather", {x, places}, {{"axis", picked.axis}});
  }
  return x;
}

}  // namespace dnn
