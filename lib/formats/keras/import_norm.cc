// Normalisations, and what preprocessing layers do to images.
#include <algorithm>
#include <cmath>
#include <functional>

#include "formats/keras/layers.h"
#include "formats/resampling.h"

namespace dnn::keras {
namespace {

Tensor filled(DType dtype, const Shape& shape, double value) {
  return convert(Tensor::of<double>(shape, std::vector<double>(element_count(shape), value)), dtype);
}

int64_t channels(Call& call, ValueId v, int64_t axis) {
  const int64_t n = call.shape(v)[axis];
  if (n < 0) call.refuse("the extent of axis ", axis, " of its input is open");
  return n;
}

// Brings an axis to the second place, and back.
Permutation to_second(int64_t axis, int64_t rank) {
  Permutation perm = {0, axis};
  for (int64_t i = 1; i < rank; ++i) {
    if (i != axis) perm.push_back(i);
  }
  return perm;
}

Permutation from_second(int64_t axis, int64_t rank) {
  Permutation perm = {0};
  for (int64_t i = 1; i < rank; ++i) perm.push_back(i == axis ? 1 : i < axis ? i + 1 : i);
  return perm;
}

// Runs `emit` with that axis second.
template <class Emit>
ValueId with_channels(Call& call, int64_t axis, const Emit& emit) {
  const ValueId x = call.x();
  const int64_t rank = call.rank(x);
  if (axis == 1) return emit(x);
  return call.transpose(emit(call.transpose(x, to_second(axis, rank))), from_second(axis, rank));
}

// Next to be taken of gamma and beta: the weight, or what stands for it.
ValueId scale_or(Call& call, bool there, size_t* next, const char* role, int64_t n, double value) {
  if (there) return call.weight((*next)++, role);
  return call.constant(role, filled(call.dtype(call.x()), {n}, value));
}

ValueId computed_in_real(Call& call, ValueId v) {
  return is_float(call.dtype(v)) ? v : call.emit("Cast", {v}, {{"to", static_cast<int64_t>(DType::Float32)}});
}

// A number or a list of numbers as a constant.
ValueId numbers(Call& call, const char* key, double fallback, ValueId like) {
  const Json& v = call.option(key);
  if (!v.is_array()) return call.scalar(call.number(key, fallback), like);
  std::vector<double> values;
  for (const Json& item : v) {
    if (!item.is_number()) call.fail("'", key, "' holds something else than numbers");
    values.push_back(item.get<double>());
  }
  const auto n = static_cast<int64_t>(values.size());
  return call.store(key, convert(Tensor::of<double>({n}, values), call.dtype(like)));
}

Attributes resize_mode(Call& call, const std::string& interpolation) {
  if (interpolation == "bilinear")
    return {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}};
  if (interpolation != "nearest") call.refuse("interpolation '", interpolation, "' is not read");
  return {{"mode", std::string("nearest")},
          {"coordinate_transformation_mode", std::string("half_pixel")},
          {"nearest_mode", std::string("round_prefer_ceil")}};
}

}  // namespace

ValueId import_batch_normalization(Call& call) {
  const ValueId x = call.x();
  const int64_t rank = call.rank(x);
  if (call.integer("mode", 0) != 0) call.refuse("mode ", call.integer("mode", 0), " of Keras 1");
  if (call.flag("renorm", false)) call.refuse("renormalisation");
  if (rank < 2) call.fail("an input of rank ", rank);
  const int64_t axis = call.axis("axis", -1, rank), n = channels(call, x, axis);
  if (axis == 0) call.refuse("normalisation over the batch's axis");
  size_t next = 0;
  const ValueId gamma = scale_or(call, call.flag("scale", true), &next, "gamma", n, 1);
  const ValueId beta = scale_or(call, call.flag("center", true), &next, "beta", n, 0);
  const ValueId mean = call.weight(next, "moving_mean"), variance = call.weight(next + 1, "moving_variance");
  const auto epsilon = static_cast<float>(call.number("epsilon", 1e-3)),
             momentum = static_cast<float>(call.number("momentum", 0.99));
  return with_channels(call, axis, [&](ValueId v) {
    return call.emit("BatchNormalization", {v, gamma, beta, mean, variance},
                     {{"epsilon", epsilon}, {"momentum", momentum}});
  });
}

ValueId import_group_normalization(Call& call) {
  const ValueId x = call.x();
  const int64_t axis = call.axis("axis", -1, call.rank(x)), n = channels(call, x, axis);
  if (axis == 0) call.refuse("normalisation over the batch's axis");
  size_t next = 0;
  const ValueId gamma = scale_or(call, call.flag("scale", true), &next, "gamma", n, 1);
  const ValueId beta = scale_or(call, call.flag("center", true), &next, "beta", n, 0);
  int64_t groups = call.integer("groups", 32);
  if (groups == -1) groups = n;
  const auto epsilon = static_cast<float>(call.number("epsilon", 1e-3));
  return with_channels(call, axis, [&](ValueId v) {
    return call.emit("GroupNormalization", {v, gamma, beta}, {{"num_groups", groups}, {"epsilon", epsilon}});
  });
}

// Over the last axes; scale and shift have their extents.
ValueId import_layer_normalization(Call& call) {
  const ValueId x = call.x();
  const int64_t rank = call.rank(x);
  std::vector<int64_t> axes = call.has("axis") ? call.list_option("axis") : std::vector<int64_t>{-1};
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  const auto n = static_cast<int64_t>(axes.size());
  for (int64_t i = 0; i < n; ++i) {
    if (axes[i] != rank - n + i) call.refuse("normalisation over other than the last axes");
  }
  if (n == 0 || n >= rank) call.fail(n, " axes of rank ", rank);
  if (call.flag("rms_scaling", false)) call.refuse("option rms_scaling");
  Shape extents;
  for (int64_t axis : axes) extents.push_back(channels(call, x, axis));
  size_t next = 0;
  const auto parameter = [&](bool there, const char* role, double value) {
    return there ? call.weight(next++, role) : call.constant(role, filled(call.dtype(x), extents, value));
  };
  std::vector<ValueId> inputs = {x, parameter(call.flag("scale", true), "gamma", 1)};
  if (call.flag("center", true)) inputs.push_back(parameter(true, "beta", 0));
  return call.emit("LayerNormalization", std::move(inputs),
                   {{"axis", axes[0]}, {"epsilon", static_cast<float>(call.number("epsilon", 1e-3))}});
}

// keras.applications' ConvNeXt: a factor per channel.
ValueId import_layer_scale(Call& call) {
  const ValueId x = call.x();
  return call.emit("Mul", {x, call.weight(0, "gamma")});
}

ValueId import_unit_normalization(Call& call) {
  const ValueId x = call.x();
  const std::vector<int64_t> axes = call.has("axis") ? call.list_option("axis") : std::vector<int64_t>{-1};
  const ValueId squares = call.emit("ReduceSumSquare", {x, call.list(axes)}, {{"keepdims", int64_t{1}}});
  return call.emit("Div", {x, call.emit("Sqrt", {call.emit("Max", {squares, call.scalar(1e-12, x)})})});
}

// x over the root of its mean square along the last axis, times a number per channel.
ValueId import_rms_normalization(Call& call) {
  const ValueId x = call.x();
  const int64_t rank = call.rank(x);
  if (call.axis("axis", -1, rank) != rank - 1) call.refuse("normalisation over other than the last axis");
  const ValueId squares =
      call.emit("ReduceMean", {call.emit("Mul", {x, x}), call.list({rank - 1})}, {{"keepdims", int64_t{1}}});
  const ValueId root =
      call.emit("Sqrt", {call.emit("Add", {squares, call.scalar(call.number("epsilon", 1e-6), squares)})});
  return call.emit("Mul", {call.emit("Div", {x, root}), call.weight(0, "scale")});
}

// (x - mean) / sqrt(variance), of the configuration or learnt; or the way back.
ValueId import_normalization(Call& call) {
  const ValueId x = computed_in_real(call, call.x());
  const int64_t rank = call.rank(x);
  const DType dtype = call.dtype(x);
  const bool invert = call.flag("invert", false);
  std::vector<int64_t> axes;
  if (call.has("axis")) axes = call.list_option("axis");
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  Shape shape(rank, 1);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank) call.fail("axis ", axis, " of rank ", rank);
    shape[axis] = channels(call, x, axis);
  }
  const auto statistic = [&](const char* key, size_t i) {
    std::vector<double> values;
    const std::function<void(const Json&)> collect = [&](const Json& v) {
      if (v.is_number()) values.push_back(v.get<double>());
      if (v.is_array()) std::for_each(v.begin(), v.end(), collect);
    };
    if (call.has(key)) {
      collect(call.option(key));
    } else {
      values = to_doubles(call.stored(i, key));
    }
    const int64_t n = element_count(shape);
    if (values.size() == 1) values.resize(n, values[0]);
    if (static_cast<int64_t>(values.size()) != n) call.fail("'", key, "' has ", values.size(), " entries for ", n);
    return values;
  };
  const std::vector<double> mean = statistic("mean", 0);
  std::vector<double> deviation = statistic("variance", 1);
  for (double& v : deviation) v = std::max(static_cast<double>(std::sqrt(static_cast<float>(v))), 1e-7);
  const auto all = [](const std::vector<double>& values, double wanted) {
    return std::all_of(values.begin(), values.end(), [&](double v) { return v == wanted; });
  };
  ValueId y = x;
  if (invert) {
    y = call.emit("Mul", {y, call.constant("deviation", convert(Tensor::of<double>(shape, deviation), dtype))});
    return call.emit("Add", {y, call.constant("mean", convert(Tensor::of<double>(shape, mean), dtype))});
  }
  if (!all(mean, 0)) y = call.emit("Sub", {y, call.constant("mean", convert(Tensor::of<double>(shape, mean), dtype))});
  if (!all(deviation, 1))
    y = call.emit("Div", {y, call.constant("deviation", convert(Tensor::of<double>(shape, deviation), dtype))});
  return y;
}

ValueId import_rescaling(Call& call) {
  ValueId y = computed_in_real(call, call.x());
  const bool scales = call.option("scale").is_array() || call.number("scale", 1) != 1;
  const bool shifts = call.option("offset").is_array() || call.number("offset", 0) != 0;
  if (scales) y = call.emit("Mul", {y, numbers(call, "scale", 1, y)});
  if (shifts) y = call.emit("Add", {y, numbers(call, "offset", 0, y)});
  return y;
}

ValueId import_resizing(Call& call) {
  const ValueId x = computed_in_real(call, call.x());
  if (call.rank(x) != 4) call.refuse("an input of rank ", call.rank(x));
  for (const char* key : {"crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias"}) {
    if (call.flag(key, false)) call.refuse("option ", key);
  }
  const std::vector<int64_t> sizes = {call.integer("height", 0), call.integer("width", 0)};
  if (sizes[0] < 1 || sizes[1] < 1) call.fail("a size of ", sizes[0], " x ", sizes[1]);
  Attributes attributes = resize_mode(call, call.text("interpolation", "bilinear"));
  const int64_t first = call.channels_first() ? 2 : 1;
  if (std::get<std::string>(attributes.at("mode")) == "nearest") {
    std::vector<int64_t> in = call.shape(x);
    if (first == 2) in.erase(in.begin() + 1);
    std::vector<PickedAxis> picked = picked_otherwise(attributes, in, sizes, {false, true});
    for (PickedAxis& axis : picked) axis.axis += first - 1;
    if (!picked.empty()) return pick_elements(call, x, picked);
  }
  attributes["axes"] = std::vector<int64_t>{first, first + 1};
  return call.emit("Resize", {x, kNoValue, kNoValue, call.list(sizes)}, std::move(attributes));
}

// The middle; an odd element that is left over goes from the end.
ValueId import_center_crop(Call& call) {
  const ValueId x = computed_in_real(call, call.x());
  const int64_t rank = call.rank(x);
  if (rank != 3 && rank != 4) call.refuse("an input of rank ", rank);
  const int64_t first = rank - (call.channels_first() ? 2 : 3);
  std::vector<int64_t> begin, end;
  for (const char* key : {"height", "width"}) {
    const int64_t axis = first + static_cast<int64_t>(begin.size());
    const int64_t wanted = call.integer(key, 0), have = channels(call, x, axis);
    if (wanted < 1) call.fail("'", key, "' is ", wanted);
    if (wanted > have) call.refuse("a crop larger than its input, which Keras resizes");
    begin.push_back((have - wanted) / 2);
    end.push_back(begin.back() + wanted);
  }
  return call.emit("Slice", {x, call.list(begin), call.list(end), call.list({first, first + 1})});
}

template <size_t n>
ValueId import_up_sampling(Call& call) {
  const ValueId x = call.x();
  if (call.rank(x) != static_cast<int64_t>(n) + 2) call.fail("its input has rank ", call.rank(x), ", not ", n + 2);
  const std::vector<int64_t> size = call.integers(call.has("length") ? "length" : "size", n, 2);
  std::vector<int64_t> axes;
  std::vector<float> scales;
  for (size_t i = 0; i < n; ++i) {
    if (size[i] < 1) call.fail("a factor of ", size[i]);
    axes.push_back(static_cast<int64_t>(i) + (call.channels_first() ? 2 : 1));
    scales.push_back(static_cast<float>(size[i]));
  }
  Attributes attributes = resize_mode(call, call.text("interpolation", "nearest"));
  if (std::get<std::string>(attributes["mode"]) == "nearest") {  // every element is repeated
    attributes["coordinate_transformation_mode"] = std::string("asymmetric");
    attributes["nearest_mode"] = std::string("floor");
  }
  attributes["axes"] = axes;
  const ValueId factors = call.store("scales", Tensor::of<float>({static_cast<int64_t>(n)}, scales));
  return call.emit("Resize", {x, kNoValue, factors}, std::move(attributes));
}
template ValueId import_up_sampling<1>(Call&);
template ValueId import_up_sampling<2>(Call&);
template ValueId import_up_sampling<3>(Call&);

}  // namespace dnn::keras
