// Version steps of Resize and Upsample. Opset 10 and older map an output coordinate x to x / scale; nearest then takes the
// element below, or the one above where the axis shrinks (what ONNX Runtime does and the opset-10 test cases expect).
#include <cmath>

#include "formats/onnx/steps.h"

namespace dnn::onnx::steps {
namespace {

const char kCoordinates[] = "coordinate_transformation_mode";

// The scales input as numbers; empty when they are computed at run time.
std::vector<double> constant_scales(const Rewrite& rewrite, ValueId id) {
  const Tensor* tensor = rewrite.constant(id);
  return tensor == nullptr ? std::vector<double>() : to_doubles(*tensor);
}

bool grows(const std::vector<double>& scales) {
  return std::all_of(scales.begin(), scales.end(), [](double scale) { return scale >= 1; });
}

bool shrinks(const std::vector<double>& scales) {
  return std::all_of(scales.begin(), scales.end(), [](double scale) { return scale <= 1; });
}

bool is_empty_constant(const Rewrite& rewrite, size_t i) {
  const Tensor* tensor = rewrite.constant(rewrite.node.input(i));
  return tensor != nullptr && tensor->size() == 0;
}

}  // namespace

void upsample_scales(Rewrite& rewrite) {
  const auto height = rewrite.take<float>("height_scale"), width = rewrite.take<float>("width_scale");
  if (!height || !width) rewrite.malformed("attribute 'height_scale' or 'width_scale' is missing");
  rewrite.node.attributes["scales"] = std::vector<float>{1, 1, *height, *width};
  if (rewrite.node.attribute_string("mode", "nearest") == "bilinear")
    rewrite.node.attributes["mode"] = std::string("linear");
}

void upsample_scales_to_input(Rewrite& rewrite) {
  const auto scales = rewrite.take<std::vector<float>>("scales");
  if (!scales) rewrite.malformed("attribute 'scales' is missing");
  rewrite.set_input(1, rewrite.add_constant("scales", Tensor::of({static_cast<int64_t>(scales->size())}, *scales)));
}

void upsample_scales_to_attribute(Rewrite& rewrite) {
  const std::vector<double> scales = constant_scales(rewrite, rewrite.node.input(1));
  if (scales.empty()) rewrite.refuse("scales computed at run time need opset 9");
  rewrite.node.attributes["scales"] = std::vector<float>(scales.begin(), scales.end());
  rewrite.node.inputs.resize(1);
}

// Upsample only grows, which says what nearest takes even where the scales are computed.
void upsample_to_resize(Rewrite& rewrite) {
  rewrite.node.op = "Resize";
  if (rewrite.node.attribute_string("mode", "nearest") == "nearest")
    rewrite.node.attributes["nearest_mode"] = std::string("floor");
}

void resize_from_10(Rewrite& rewrite) {
  const std::string mode = rewrite.node.attribute_string("mode", "nearest");
  const std::vector<double> scales = constant_scales(rewrite, rewrite.node.input(1));
  rewrite.node.attributes[kCoordinates] = std::string("asymmetric");
  if (mode == "nearest" && !rewrite.node.has_attribute("nearest_mode")) {
    if (scales.empty())
      rewrite.refuse("nearest with scales computed at run time may grow or shrink and has no newer form");
    if (grows(scales)) {
      rewrite.node.attributes["nearest_mode"] = std::string("floor");
    } else if (shrinks(scales)) {
      rewrite.node.attributes["nearest_mode"] = std::string("ceil");
    } else {  // the axes that grow in a node of their own, in front
      std::vector<float> up, down;
      for (double scale : scales) {
        up.push_back(static_cast<float>(std::max(scale, 1.0)));
        down.push_back(static_cast<float>(std::min(scale, 1.0)));
      }
      const auto n = static_cast<int64_t>(scales.size());
      const ValueId grown = rewrite.add_before(
          "Resize", {rewrite.node.input(0), kNoValue, rewrite.add_constant("scales_up", Tensor::of({n}, up))},
          {{"mode", mode}, {kCoordinates, std::string("asymmetric")}, {"nearest_mode", std::string("floor")}});
      rewrite.set_input(0, grown);
      rewrite.set_input(1, rewrite.add_constant("scales_down", Tensor::of({n}, down)));
      rewrite.node.attributes["nearest_mode"] = std::string("ceil");
    }
  }
  rewrite.node.inputs = {rewrite.node.input(0), kNoValue, rewrite.node.input(1)};
}

// Opset 11 says "not given" with an empty tensor. Its tf_half_pixel_for_nn is half_pixel rounded half up, where the
// elements are taken from below.
void resize_drop_empty_inputs(Rewrite& rewrite) {
  for (size_t i = 1; i < rewrite.node.inputs.size(); ++i) {
    if (is_empty_constant(rewrite, i)) rewrite.node.inputs[i] = kNoValue;
  }
  if (rewrite.has_input(3)) rewrite.set_input(2, kNoValue);
  while (!rewrite.node.inputs.empty() && rewrite.node.inputs.back() == kNoValue) rewrite.node.inputs.pop_back();
  if (rewrite.node.attribute_string(kCoordinates, "half_pixel") == "tf_half_pixel_for_nn") {
    if (rewrite.node.attribute_string("nearest_mode", "round_prefer_floor") != "floor") {
      rewrite.refuse("tf_half_pixel_for_nn with a nearest_mode other than floor has no newer form");
    }
    rewrite.node.attributes[kCoordinates] = std::string("half_pixel");
    rewrite.node.attributes["nearest_mode"] = std::string("round_prefer_ceil");
  }
}

void resize_needs_inputs(Rewrite& rewrite) {
  if (!rewrite.has_input(1)) {
    const DType dtype = rewrite.dtype(rewrite.node.input(0));
    rewrite.set_input(1, rewrite.add_constant("roi", Tensor(is_float(dtype) ? dtype : DType::Float32, {0})));
  }
  if (!rewrite.has_input(2)) rewrite.set_input(2, rewrite.add_constant("scales", Tensor(DType::Float32, {0})));
}

void resize_no_symmetric(Rewrite& rewrite) {
  if (rewrite.node.attribute_string(kCoordinates, "half_pixel") == "half_pixel_symmetric") {
    rewrite.refuse("half_pixel_symmetric needs opset 19");
  }
}

void resize_plain(Rewrite& rewrite) {
  if (rewrite.take<int64_t>("antialias").value_or(0) != 0) rewrite.refuse("antialias needs opset 18");
  if (rewrite.take<std::string>("keep_aspect_ratio_policy").value_or("stretch") != "stretch" && rewrite.has_input(3)) {
    rewrite.refuse("keep_aspect_ratio_policy needs opset 18");
  }
  const auto axes = rewrite.take<std::vector<int64_t>>("axes");
  if (!axes) return;
  const int rank = rewrite.rank(rewrite.node.input(0));
  if (rank < 0 || rewrite.has_input(1))
    rewrite.refuse("axes of a tensor of unknown rank, or with a region, need opset 18");
  const bool sized = rewrite.has_input(3);
  std::vector<double> all(rank, 1.0);
  for (int axis = 0; sized && axis < rank; ++axis) {
    all[axis] = static_cast<double>((*rewrite.type(rewrite.node.input(0)).shape)[axis].size);
  }
  const Tensor* given = rewrite.constant(rewrite.node.input(sized ? 3 : 2));
  if (given == nullptr || static_cast<size_t>(given->size()) != axes->size())
    rewrite.refuse("axes with sizes computed at run time need opset 18");
  const std::vector<double> values = to_doubles(*given);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    if (axis < 0 || axis >= rank) rewrite.malformed("axis ", (*axes)[i], " of a tensor of rank ", rank);
    all[axis] = values[i];
  }
  if (sized) {
    if (std::any_of(all.begin(), all.end(), [](double v) { return v < 0; }))
      rewrite.refuse("axes with an unknown extent need opset 18");
    rewrite.set_input(3, rewrite.add_ints("sizes", std::vector<int64_t>(all.begin(), all.end())));
  } else {
    rewrite.set_input(2,
                      rewrite.add_constant("scales", Tensor::of({rank}, std::vector<float>(all.begin(), all.end()))));
  }
}

void resize_to_10(Rewrite& rewrite) {
  const std::string mode = rewrite.node.attribute_string("mode", "nearest");
  const std::string coordinates = rewrite.node.attribute_string(kCoordinates, "half_pixel");
  const std::string nearest = rewrite.node.attribute_string("nearest_mode", "round_prefer_floor");
  const ValueId x = rewrite.node.input(0);
  ValueId scales_id = rewrite.node.input(2);
  std::vector<double> scales = constant_scales(rewrite, scales_id);
  if (rewrite.has_input(3)) {  // sizes over known extents are scales
    const std::vector<int64_t> sizes = rewrite.constant_ints(3, "sizes");
    scales.clear();
    const Type& type = rewrite.type(x);
    for (size_t i = 0; type.shape && i < sizes.size() && i < type.shape->size(); ++i) {
      const int64_t size = (*type.shape)[i].size;
      if (size <= 0 && sizes[i] != size)
        rewrite.refuse("sizes over an open extent need opset 11, or the extents fixed with --shape");
      scales.push_back(size <= 0 ? 1.0 : static_cast<double>(sizes[i]) / static_cast<double>(size));
      if (size > 0 &&
          std::floor(static_cast<float>(scales.back()) * static_cast<float>(size)) != static_cast<float>(sizes[i])) {
        rewrite.refuse("the extent ", sizes[i], " is no rounded multiple of ", size, " and needs opset 11");
      }
    }
    if (scales.size() != sizes.size()) rewrite.refuse("sizes of a tensor of unknown shape need opset 11");
    scales_id = rewrite.add_constant(
        "scales", Tensor::of({static_cast<int64_t>(sizes.size())}, std::vector<float>(scales.begin(), scales.end())));
  }
  if (scales.empty()) rewrite.refuse("scales computed at run time need opset 11");
  const bool integer_growth =
      std::all_of(scales.begin(), scales.end(), [](double s) { return s >= 1 && s == std::floor(s); });
  // With whole scales, half_pixel rounded to nearest takes element floor(x / scale), as asymmetric floor does.
  const bool rounds = nearest == "round_prefer_floor" || nearest == "round_prefer_ceil";
  const bool plain_nearest =
      mode == "nearest" &&
      ((coordinates == "asymmetric" &&
        ((nearest == "floor" && grows(scales)) || (nearest == "ceil" && shrinks(scales)))) ||
       ((coordinates == "half_pixel" || coordinates == "pytorch_half_pixel") && rounds && integer_growth));
  if (!plain_nearest && !(mode == "linear" && coordinates == "asymmetric")) {
    rewrite.refuse("mode ", mode, " with ", coordinates, mode == "nearest" ? " and " + nearest : "", " needs opset 11");
  }
  rewrite.node.attributes = {{"mode", mode}};
  rewrite.node.inputs = {x, scales_id};
}

void resize_to_upsample(Rewrite& rewrite) {
  const std::vector<double> scales = constant_scales(rewrite, rewrite.node.input(1));
  if (!grows(scales)) rewrite.refuse("shrinking needs opset 10");
  rewrite.node.op = "Upsample";
}

}  // namespace dnn::onnx::steps
