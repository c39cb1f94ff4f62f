// Definitions of what detectors add: boxes that are suppressed, and parts of feature maps; see definitions.h.
#include <algorithm>

#include "formats/places.h"

namespace dnn {
namespace {

using namespace places;

// ------------------------------------------------------------------------------------------ NonMaxSuppression

// One column of [.., 4], which keeps its axis.
ValueId column(Decomposition& s, ValueId boxes, int64_t which, int64_t axis) {
  return s.emit("Gather", {boxes, s.list({which})}, {{"axis", axis}});
}

// Centre x, y, width, height as corners y, x, y, x. A box of a negative extent overlaps none, as one without area does.
ValueId corners(Decomposition& s, ValueId boxes) {
  std::vector<ValueId> low, high;
  for (int64_t axis : {1, 0}) {
    const ValueId centre = column(s, boxes, axis, 2);
    const ValueId size = s.emit("Max", {column(s, boxes, axis + 2, 2), s.number(0)});
    const ValueId half = s.emit("Div", {size, s.number(2)});
    low.push_back(s.emit("Sub", {centre, half}));
    high.push_back(s.emit("Add", {centre, half}));
  }
  return s.emit("Concat", {low[0], low[1], high[0], high[1]}, {{"axis", int64_t{2}}});
}

// Image by image and class by class, of boxes by their corners.
bool non_max_suppression(Decomposition& s) {
  constexpr int64_t kMostRuns = 256;
  const auto extent = [&](size_t input, size_t axis) -> int64_t {
    const auto& shape = s.type_of(s.node().inputs[input]).shape;
    return shape && shape->size() == 3 && (*shape)[axis].fixed() ? (*shape)[axis].size : -1;
  };
  const int64_t images = extent(0, 0), classes = extent(1, 1);
  const bool centred = int_attribute(s.node(), "center_point_box") != 0;
  if (images < 1 || classes < 1 || images > kMostRuns / classes) return false;
  if (images == 1 && classes == 1 && !centred) return false;
  const ValueId boxes = centred ? corners(s, s.x()) : s.x();
  std::vector<ValueId> chosen;
  for (int64_t n = 0; n < images; ++n) {
    const ValueId of_image = images == 1 ? boxes : s.emit("Slice", {boxes, s.list({n}), s.list({n + 1}), s.list({0})});
    for (int64_t c = 0; c < classes; ++c) {
      std::vector<ValueId> inputs = s.node().inputs;
      inputs[0] = of_image;
      if (images > 1 || classes > 1)
        inputs[1] = s.emit("Slice", {inputs[1], s.list({n, c}), s.list({n + 1, c + 1}), s.list({0, 1})});
      const ValueId one = s.emit("NonMaxSuppression", inputs);
      const ValueId where = s.store("where", Tensor::of<int64_t>({1, 3}, {n, c, 0}));
      chosen.push_back(s.emit("Add", {one, where}));
    }
  }
  s.end("Concat", chosen, {{"axis", int64_t{0}}});
  return true;
}

// ------------------------------------------------------------------------------------------ RoiAlign

// Sampling points along one axis of each region: [R, points], in elements, and 1 where they are inside, else 0.
struct RegionAxis {
  ValueId low = kNoValue, high = kNoValue, beyond = kNoValue, inside = kNoValue;
};

// From `start` in bins of a region's size, a number of points in each.
RegionAxis region_axis(Decomposition& s, int64_t first, int64_t bins, int64_t extent) {
  const bool half = string_attribute(s.node(), "coordinate_transformation_mode") == "half_pixel";
  const int64_t points = int_attribute(s.node(), "sampling_ratio");
  const auto edge = [&](int64_t which) {
    const ValueId given = column(s, s.node().inputs[1], which, 1);
    const ValueId scaled =
        s.emit("Mul", {given, s.number(static_cast<double>(float_attribute(s.node(), "spatial_scale")))});
    return half ? s.emit("Sub", {scaled, s.number(0.5)}) : scaled;
  };
  const ValueId start = edge(first);
  ValueId size = s.emit("Sub", {edge(first + 2), start});
  if (!half) size = s.emit("Max", {size, s.number(1)});
  const ValueId bin = s.emit("Div", {size, s.number(static_cast<double>(bins))});
  std::vector<float> bin_of, part_of;
  for (int64_t i = 0; i < bins * points; ++i) {
    const int64_t bin_number = i / points;
    bin_of.push_back(static_cast<float>(bin_number));
    part_of.push_back(static_cast<float>(i % points) + 0.5F);
  }
  const auto row = [&](const std::vector<float>& values) {
    return s.store("bins", Tensor::of<float>({1, std::ssize(values)}, values));
  };
  const ValueId within = s.emit("Div", {s.emit("Mul", {bin, row(part_of)}), s.number(static_cast<double>(points))});
  const ValueId at = s.emit("Add", {s.emit("Add", {start, s.emit("Mul", {bin, row(bin_of)})}), within});
  const auto clipped = [&](ValueId v, double low, double high) {
    return s.emit("Min", {s.emit("Max", {v, s.number(low)}), s.number(high)});
  };
  const double last = static_cast<double>(extent - 1);
  const ValueId known = clipped(at, 0, last);
  RegionAxis axis;
  axis.low = s.emit("Floor", {known});
  axis.high = clipped(s.emit("Add", {axis.low, s.number(1)}), 0, last);
  axis.beyond = s.emit("Sub", {known, axis.low});
  const ValueId same = s.emit("Equal", {clipped(at, -1, last + 1), at});
  axis.inside = s.emit("Where", {same, s.number(1), s.number(0)});
  return axis;
}

// Elements of all channels at those rows and columns of each region's image, times their share: [R, y, x, C].
ValueId shares_at(Decomposition& s, ValueId pixels, ValueId image, ValueId y, ValueId x, ValueId y_part, ValueId x_part,
                  int64_t width) {
  const ValueId row = s.emit("Mul", {s.to_dtype(y, DType::Int64), s.store("width", Tensor::of<int64_t>({}, {width}))});
  const ValueId in_image = s.emit("Add", {s.emit("Unsqueeze", {row, s.list({2})}),
                                          s.emit("Unsqueeze", {s.to_dtype(x, DType::Int64), s.list({1})})});
  const ValueId taken = s.emit("Gather", {pixels, s.emit("Add", {in_image, image})}, {{"axis", int64_t{0}}});
  const ValueId part =
      s.emit("Mul", {s.emit("Unsqueeze", {y_part, s.list({2, 3})}), s.emit("Unsqueeze", {x_part, s.list({1, 3})})});
  return s.emit("Mul", {taken, part});
}

// A fixed number of points in each bin: the mean of the four elements around each, or the largest of their shares.
bool roi_align(Decomposition& s) {
  const int64_t points = int_attribute(s.node(), "sampling_ratio"), rows = int_attribute(s.node(), "output_height"),
                columns = int_attribute(s.node(), "output_width");
  const bool mean = string_attribute(s.node(), "mode") == "avg";
  if (!s.fixed(0) || !s.fixed(1) || !s.fixed(2) || s.rank() != 4 || s.type().dtype != DType::Float32 || points < 1 ||
      rows < 1 || columns < 1 || points > 64)
    return false;
  const Shape data = s.shape(s.x());
  const int64_t regions = s.shape(s.node().inputs[1])[0], plane = data[2] * data[3];
  if (element_count(data) == 0 || regions == 0) return false;
  const ValueId last = s.emit("Transpose", {s.x()}, {{"perm", Places{0, 2, 3, 1}}});
  const ValueId pixels = s.emit("Reshape", {last, s.list({data[0] * plane, data[1]})});
  const ValueId first =
      s.emit("Mul", {s.to_dtype(s.node().inputs[2], DType::Int64), s.store("plane", Tensor::of<int64_t>({}, {plane}))});
  const ValueId image = s.emit("Reshape", {first, s.list({regions, 1, 1})});
  const RegionAxis x = region_axis(s, 0, columns, data[3]), y = region_axis(s, 1, rows, data[2]);
  const auto share = [&](const RegionAxis& axis, bool high) {
    const ValueId part = high ? axis.beyond : s.emit("Sub", {s.number(1), axis.beyond});
    return s.emit("Mul", {part, axis.inside});
  };
  std::vector<ValueId> terms;
  for (bool below : {false, true}) {
    for (bool right : {false, true})
      terms.push_back(shares_at(s, pixels, image, below ? y.high : y.low, right ? x.high : x.low, share(y, below),
                                share(x, right), data[3]));
  }
  const ValueId all = s.emit(mean ? "Sum" : "Max", terms);
  const ValueId bins = s.emit("Reshape", {all, s.list({regions * rows, points, columns, points * data[1]})});
  const ValueId along = s.emit(mean ? "ReduceMean" : "ReduceMax", {bins, s.list({1})}, {{"keepdims", int64_t{0}}});
  const ValueId parts = s.emit("Reshape", {along, s.list({regions * rows, columns, points, data[1]})});
  const ValueId pooled = s.emit(mean ? "ReduceMean" : "ReduceMax", {parts, s.list({2})}, {{"keepdims", int64_t{0}}});
  const ValueId shaped = s.emit("Reshape", {pooled, s.list({regions, rows, columns, data[1]})});
  s.end("Transpose", {shaped}, {{"perm", Places{0, 3, 1, 2}}});
  return true;
}

}  // namespace

const std::vector<Definition>& detection_definitions() {
  static const std::vector<Definition> all = {{"NonMaxSuppression", non_max_suppression}, {"RoiAlign", roi_align}};
  return all;
}

}  // namespace dnn
