// Moving elements. Layers leave the batch's axis alone; what touches it is refused.
#include <algorithm>
#include <climits>
#include <numeric>

#include "formats/keras/exports.h"
#include "ops/movement.h"

namespace dnn::keras {
namespace {

// The extents behind the batch's, as an option: one may be open.
Json target_shape(const Export& e, const Type& type) {
  Json result = Json::array();
  int open = 0;
  const std::vector<int64_t> extents = e.extents(type);
  for (size_t i = 1; i < extents.size(); ++i) {
    open += extents[i] < 0 ? 1 : 0;
    result.push_back(extents[i]);
  }
  if (open > 1) e.refuse("several extents are open; fix them with --shape");
  return result;
}

Type with_extents(const Type& type, const std::vector<int64_t>& inner) {
  std::vector<Dim> dims = {type.shape.value().at(0)};
  for (int64_t extent : inner) dims.emplace_back(extent);
  return {type.dtype, std::move(dims)};
}

bool keeps_batch(const Type& from, const Type& to) {
  if (!from.shape || !to.shape || from.shape->empty() || to.shape->empty()) return false;
  return (*from.shape)[0] == (*to.shape)[0];
}

LayerId permuted(Export& e, LayerId x, const std::vector<int64_t>& perm, const Type& type) {
  Json dims = Json::array();
  if (perm.empty() || perm[0] != 0) e.refuse("it moves the batch's axis");
  for (size_t i = 1; i < perm.size(); ++i) dims.push_back(perm[i]);
  return e.layer("Permute", {{"dims", dims}}, {x}, type);
}

// A part of one axis, in rows of others around it.
struct Cut {
  int64_t axis, begin, end;  // [begin, end)
};

LayerId cut(Export& e, LayerId x, const Type& type, const Cut& c, Type* made) {
  const int64_t extent = e.extents(type)[c.axis];
  return cut_axis(e, x, type, c.axis, c.begin, extent - c.end, made);
}

}  // namespace

LayerId reshaped(Export& e, LayerId x, const Type& type) {
  return e.layer("Reshape", {{"target_shape", target_shape(e, type)}}, {x}, type);
}

// On a spatial axis of an image a layer does it; on another one as on the width of an image of [before, extent, behind].
LayerId cut_axis(Export& e, LayerId x, const Type& type, int64_t axis, int64_t begin, int64_t end, Type* made) {
  const std::vector<int64_t> extents = e.extents(type);
  const auto rank = static_cast<int64_t>(extents.size());
  e.inner_axis(axis, rank);
  if ((begin < 0) != (end < 0) && begin != 0 && end != 0) e.refuse("a cut together with a border");
  const bool pads = begin < 0 || end < 0;
  const auto pair = [&] { return Json::array({std::abs(begin), std::abs(end)}); };
  const char* const key = pads ? "padding" : "cropping";
  const std::string name = pads ? "ZeroPadding" : "Cropping";
  std::vector<Dim> dims = type.shape.value();
  Dim& dim = dims[axis];
  if (!dim.fixed()) e.refuse("the extent of axis ", axis, " is open; fix it with --shape");
  dim = Dim(dim.size - begin - end);
  *made = Type(type.dtype, std::move(dims));
  if (begin == 0 && end == 0) return x;
  if (rank == 3 && axis == 1) return e.layer(name + "1D", {{key, pair()}}, {x}, *made);
  const Json none = Json::array({0, 0});
  if (rank == 4 && axis < 3) {
    const Json both = axis == 1 ? Json::array({pair(), none}) : Json::array({none, pair()});
    return e.layer(name + "2D", {{key, both}, {"data_format", "channels_last"}}, {x}, *made);
  }
  int64_t before = 1, behind = 1;
  for (int64_t i = 1; i < rank; ++i) {
    if (i == axis) continue;
    int64_t& product = i < axis ? before : behind;
    if (extents[i] < 0) e.refuse("its extents are open; fix them with --shape");
    product *= extents[i];
  }
  const int64_t extent = extents[axis];
  const LayerId image = reshaped(e, x, with_extents(type, {before, extent, behind}));
  const Type inner = with_extents(type, {before, extent - begin - end, behind});
  const LayerId part =
      e.layer(name + "2D", {{key, Json::array({none, pair()})}, {"data_format", "channels_last"}}, {image}, inner);
  return reshaped(e, part, *made);
}

void write_identity(Export& e) { e.result(e.input(0)); }

void write_cast(Export& e) {
  if (e.type(0).dtype == e.output_type().dtype) return e.result(e.input(0));
  e.result(e.operation("core.Cast", {{"dtype", dtype_name(e.output_type().dtype)}},
                       Json::array({Export::tensor(e.input(0))}), e.output_type()));
}

void write_concat(Export& e) {
  const auto rank = static_cast<int64_t>(e.output_shape().size());
  const int64_t axis = e.inner_axis(e.node().attribute_int("axis", 0), rank);
  std::vector<LayerId> inputs;
  for (size_t i = 0; i < e.node().inputs.size(); ++i) {
    const Tensor* value = e.constant(i);
    if (value == nullptr) {
      inputs.push_back(e.input(i));
      continue;
    }
    // A constant beside what is computed: zeros to which it is added.
    LayerId like = -1;
    Type type;
    for (size_t k = 0; k < e.node().inputs.size() && like < 0; ++k) {
      if (e.constant(k) != nullptr) continue;
      const int64_t extent = e.shape(k)[axis], wanted = value->dim(static_cast<int>(axis));
      if (extent < 1) e.refuse("a constant beside open extents");
      like = cut_axis(e, e.input(k), e.type(k), axis, 0, extent - 1, &type);
      like = e.layer("Rescaling", {{"scale", 0.0}, {"offset", 0.0}}, {like}, type);
      like = cut_axis(e, like, type, axis, 0, 1 - wanted, &type);
    }
    if (like < 0) e.refuse("constants alone");
    inputs.push_back(add_constant(e, like, type, *value, e.source_name(i)));
  }
  if (inputs.size() == 1) return e.result(inputs[0]);
  e.result(e.layer("Concatenate", {{"axis", axis == rank - 1 ? -1 : axis}}, inputs, e.output_type()));
}

// Blocks of space and depth: an image of blocks, its axes moved.
void write_depth_to_space(Export& e) {
  const Node& node = e.node();
  const bool to_space = node.op == "DepthToSpace";
  const int64_t b = node.attribute_int("blocksize", 1);
  const std::vector<int64_t> x = e.shape(0), y = e.output_shape();
  if (*std::min_element(x.begin() + 1, x.end()) < 1) e.refuse("its extents are open; fix them with --shape");
  const int64_t c = to_space ? y[3] : x[3], h = to_space ? x[1] : y[1], w = to_space ? x[2] : y[2];
  const bool depth_last = to_space && node.attribute_string("mode", "DCR") == "CRD";
  std::vector<int64_t> split, moved, perm;
  if (to_space && depth_last) {
    split = {h, w, c, b, b};
    perm = {0, 1, 4, 2, 5, 3};
  } else if (to_space) {
    split = {h, w, b, b, c};
    perm = {0, 1, 3, 2, 4, 5};
  } else {
    split = {h, b, w, b, c};
    perm = {0, 1, 3, 2, 4, 5};
  }
  for (size_t i = 1; i < perm.size(); ++i) moved.push_back(split[static_cast<size_t>(perm[i]) - 1]);
  const LayerId blocks = reshaped(e, e.input(0), with_extents(e.type(0), split));
  e.result(reshaped(e, permuted(e, blocks, perm, with_extents(e.type(0), moved)), e.output_type()));
}

// Copies along axes of extent 1.
void write_expand(Export& e) {
  if (e.type(0).shape == e.output_type().shape) return e.result(e.input(0));
  if (!e.keras3() || !e.output_type().fixed())
    e.refuse("copies along an axis; only to fixed extents, in a .keras file");
  e.result(e.operation("numpy.BroadcastTo", {{"shape", e.output_shape()}}, Json::array({Export::tensor(e.input(0))}),
                       e.output_type()));
}

// One element of an axis, or a run of elements.
void write_gather(Export& e) {
  const Tensor& indices = e.known(1, "list of indices");
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  const int64_t axis = e.inner_axis(e.node().attribute_int("axis", 0), rank), extent = e.shape(0)[axis];
  std::vector<int64_t> list = to_int64s(indices);
  for (int64_t& i : list) i = i < 0 ? i + extent : i;
  bool run = !list.empty();
  for (size_t i = 1; i < list.size(); ++i) run = run && list[i] == list[i - 1] + 1;
  if (!run || extent < 0 || indices.rank() > 1) {
    const Json args = Json::array({Export::tensor(e.input(0)), Export::array(indices)});
    return e.result(e.operation("numpy.Take", {{"axis", axis}}, args, e.output_type()));
  }
  Type type;
  const LayerId part = cut(e, e.input(0), e.type(0), {axis, list[0], list.back() + 1}, &type);
  e.result(indices.rank() == 1 ? part : reshaped(e, part, e.output_type()));
}

void write_pad(Export& e) {
  if (e.node().attribute_string("mode", "constant") != "constant")
    e.refuse("padding by ", e.node().attribute_string("mode", ""));
  const double fill = e.has_input(2) ? to_doubles(e.known(2, "value"))[0] : 0;
  std::vector<int64_t> pads = e.known_ints(1, "list of borders");
  const auto rank = e.shape(0).size();
  if (e.has_input(3)) {
    const std::vector<int64_t> axes = e.known_ints(3, "list of axes");
    std::vector<int64_t> all(2 * rank);
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i];
      all[axis] = pads[i];
      all[axis + rank] = pads[i + axes.size()];
    }
    pads = all;
  }
  if (fill != 0) {
    Json widths = Json::array();
    for (size_t i = 0; i < rank; ++i) widths.push_back(Json::array({pads[i], pads[i + rank]}));
    return e.result(e.operation("numpy.Pad", {{"pad_width", widths}, {"mode", "constant"}},
                                Json::array({Export::tensor(e.input(0))}), e.output_type(),
                                {{"constant_values", fill}}));
  }
  LayerId x = e.input(0);
  const bool image = rank == 4 && pads[0] == 0 && pads[4] == 0 && pads[3] == 0 && pads[7] == 0 &&
                     *std::min_element(pads.begin(), pads.end()) >= 0;
  if (image) {
    const Json both = Json::array({Json::array({pads[1], pads[5]}), Json::array({pads[2], pads[6]})});
    return e.result(
        e.layer("ZeroPadding2D", {{"padding", both}, {"data_format", "channels_last"}}, {x}, e.output_type()));
  }
  Type type = e.type(0);
  for (size_t axis = 0; axis < rank; ++axis) {
    if (pads[axis] == 0 && pads[axis + rank] == 0) continue;
    Type made;
    x = cut_axis(e, x, type, static_cast<int64_t>(axis), -pads[axis], -pads[axis + rank], &made);
    type = made;
  }
  e.result(x);
}

void write_reshape(Export& e) {
  if (!keeps_batch(e.type(0), e.output_type())) e.refuse("it changes the batch's extent");
  if (e.shape(0) == e.output_shape()) return e.result(e.input(0));
  if (e.output_shape().size() == 2 && e.node().op != "Squeeze" && e.shape(0).size() > 2)
    return e.result(e.layer("Flatten", Json::object(), {e.input(0)}, e.output_type()));
  e.result(reshaped(e, e.input(0), e.output_type()));
}

// Steps of a slice thin an axis out, as pooling over windows of one element does.
void write_slice(Export& e) {
  const std::vector<int64_t> x = e.shape(0), begins = e.known_ints(1, "begin"), ends = e.known_ints(2, "end");
  std::vector<int64_t> axes(begins.size()), steps(begins.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (e.has_input(3)) axes = e.known_ints(3, "list of axes");
  if (e.has_input(4)) steps = e.known_ints(4, "list of steps");
  const auto rank = static_cast<int64_t>(x.size());
  LayerId y = e.input(0);
  Type type = e.type(0);
  std::vector<int64_t> thinned = {1, 1};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i], extent = x[axis];
    if (extent < 0 && begins[i] == 0 && ends[i] >= INT_MAX && steps[i] == 1) continue;
    if (extent < 0) e.refuse("the extent of axis ", axis, " is open; fix it with --shape");
    if (steps[i] == -1 && (begins[i] == -1 || begins[i] >= extent - 1) && ends[i] < -extent) {
      y = e.operation("numpy.Flip", {{"axis", axis}}, Json::array({Export::tensor(y)}), type);
      continue;
    }
    const auto place = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + extent : v, 0, extent); };
    const int64_t begin = place(begins[i]), end = std::max(begin, place(ends[i]));
    if (steps[i] < 1) e.refuse("a step of ", steps[i]);
    Type made;
    if (begin != 0 || end != extent) {
      if (end == begin) e.refuse("an empty slice");
      y = cut(e, y, type, {axis, begin, end}, &made);
      type = made;
    }
    if (steps[i] == 1) continue;
    if (rank != 4 || axis < 1 || axis > 2) e.refuse("a step along axis ", axis);
    thinned[static_cast<size_t>(axis) - 1] = steps[i];
  }
  if (thinned != std::vector<int64_t>{1, 1}) {
    y = e.layer("MaxPooling2D",
                {{"pool_size", Json::array({1, 1})},
                 {"strides", thinned},
                 {"padding", "valid"},
                 {"data_format", "channels_last"}},
                {y}, e.output_type());
  }
  e.result(y);
}

void write_split(Export& e) {
  const std::vector<int64_t> x = e.shape(0);
  const int64_t axis = e.inner_axis(e.node().attribute_int("axis", 0), static_cast<int64_t>(x.size()));
  int64_t begin = 0;
  for (size_t i = 0; i < e.node().outputs.size(); ++i) {
    if (e.node().outputs[i] == kNoValue) continue;
    const int64_t extent = e.output_shape(i)[axis];
    if (extent < 1) e.refuse("parts of open extents");
    Type type;
    e.result(cut(e, e.input(0), e.type(0), {axis, begin, begin + extent}, &type), i);
    begin += extent;
  }
}

void write_transpose(Export& e) {
  e.result(permuted(e, e.input(0), transpose_permutation(e.node(), e.shape(0).size()), e.output_type()));
}

}  // namespace dnn::keras
