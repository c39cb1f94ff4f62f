// Recipes of what moves numbers: joins, slices, borders, orders of axes, resizing, picking and scattering, quantising.
#include <algorithm>

#include "base/error.h"
#include "hunt/network.h"

namespace dnn::hunt {
namespace {

int64_t rank_of(Growth& g, ValueId v) { return static_cast<int64_t>(g.shape(v).size()); }
int64_t place(Growth& g, int64_t rank) { return g.chance.between(0, rank - 1); }
// The axis, at times counted from the back.
int64_t written(Growth& g, int64_t axis, int64_t rank) { return g.chance.is(0.3) ? axis - rank : axis; }

bool concat(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const int64_t rank = rank_of(g, x), axis = rank == 4 && g.chance.is(0.6) ? 1 : place(g, rank);
  std::vector<ValueId> inputs = {x};
  for (int64_t n = g.chance.between(1, 2); n > 0; --n) {
    Shape shape = g.shape(x);
    shape[axis] = g.chance.between(1, 3);
    inputs.push_back(g.chance.is(0.7) ? g.like(x) : g.numbers(shape, -1, 1));
  }
  g.emit("Concat", inputs, {{"axis", written(g, axis, rank)}});
  return true;
}

bool split(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const int64_t rank = rank_of(g, x), axis = place(g, rank), extent = g.shape(x)[axis];
  if (extent < 2) return false;
  const int64_t first = g.chance.between(1, extent - 1);
  if (g.chance.is(0.3)) {
    g.emit_many("Split", {x}, {{"axis", written(g, axis, rank)}, {"num_outputs", int64_t{2}}}, 2);
  } else {
    g.emit_many("Split", {x, g.net.list({first, extent - first})}, {{"axis", written(g, axis, rank)}}, 2);
  }
  return true;
}

bool slice(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const int64_t rank = rank_of(g, x);
  std::vector<int64_t> axes = g.chance.order(rank), starts, ends, steps;
  axes.resize(g.chance.between(1, rank));
  for (int64_t axis : axes) {
    const int64_t extent = shape[axis];
    const int64_t from = g.chance.between(0, extent - 1), to = g.chance.between(from, extent - 1);
    const int64_t step = g.chance.of<int64_t>({1, 1, 1, 2, 3});
    if (g.chance.is(g.common ? 0.05 : 0.2)) {  // backwards; an end in front of the first one is far below 0
      starts.push_back(to);
      ends.push_back(from == 0 ? -extent - 1 : from - 1);
      steps.push_back(-step);
    } else {
      starts.push_back(g.chance.is(0.3) ? from - extent : from);
      ends.push_back(to + 1 == extent && g.chance.is(0.3) ? INT64_MAX : to + 1);
      steps.push_back(step);
    }
  }
  g.emit("Slice", {x, g.net.list(starts), g.net.list(ends), g.net.list(axes), g.net.list(steps)});
  return true;
}

bool pad(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const std::string mode =
      g.chance.is(g.common ? 0.8 : 0.4) ? "constant" : g.chance.of<std::string>({"reflect", "edge", "wrap"});
  const auto rank = shape.size();
  std::vector<int64_t> pads(2 * rank);
  for (size_t i = 0; i < 2 * rank; ++i) {
    const int64_t extent = shape[i % rank];
    const bool image_only = rank == 4 && i % rank < 2;
    const int64_t most = mode == "reflect" ? extent - 1 : mode == "wrap" ? extent : 3;
    pads[i] = image_only && g.chance.is(0.8) ? 0 : g.chance.between(0, std::min<int64_t>(most, 3));
  }
  std::vector<ValueId> inputs = {x, g.net.list(pads)};
  if (mode == "constant" && g.chance.is(0.4)) inputs.push_back(g.number(0.5F));
  g.emit("Pad", inputs, {{"mode", mode}});
  return true;
}

bool transpose(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  if (g.chance.is(0.2)) {
    g.emit("Transpose", {x});
  } else {
    g.emit("Transpose", {x}, {{"perm", g.chance.order(rank_of(g, x))}});
  }
  return true;
}

bool reshape(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  Shape shape = g.shape(x);
  if (g.chance.is(0.4)) {
    g.emit("Flatten", {x}, {{"axis", g.chance.between(0, rank_of(g, x))}});
    return true;
  }
  // Neighbours become one axis, or an even one becomes two.
  const size_t at = place(g, rank_of(g, x));
  if (shape.size() > 1 && at + 1 < shape.size() && g.chance.is(0.6)) {
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else if (shape[at] % 2 == 0 && shape.size() < 5) {
    shape[at] /= 2;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at) + (g.chance.is(0.5) ? 1 : 0), 2);
  } else {
    return false;
  }
  std::vector<int64_t> wanted = shape;
  if (g.chance.is(0.4)) wanted[static_cast<size_t>(place(g, static_cast<int64_t>(wanted.size())))] = -1;
  g.emit("Reshape", {x, g.net.list(wanted)});
  return true;
}

bool squeeze(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const int64_t rank = rank_of(g, x);
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] == 1 && rank > 1 && g.chance.is(0.5)) {
      g.emit("Squeeze", {x, g.net.list({written(g, axis, rank)})});
      return true;
    }
  }
  if (rank > 4) return false;
  g.emit("Unsqueeze", {x, g.net.list({g.chance.between(0, rank)})});
  return true;
}

bool resize(Growth& g) {
  const ValueId x = g.any(4);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const std::string mode = g.chance.of<std::string>({"nearest", "nearest", "linear", "linear", "cubic"});
  Attributes a = {
      {"mode", mode},
      {"coordinate_transformation_mode",
       g.chance.of<std::string>({"half_pixel", "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})}};
  if (mode == "nearest")
    a["nearest_mode"] = g.chance.of<std::string>({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  if (mode == "cubic" && g.chance.is(0.3)) a["cubic_coeff_a"] = -0.5F;
  if (mode == "cubic" && g.chance.is(0.2)) a["exclude_outside"] = int64_t{1};
  // By factors whose products with extents no rounding moves over a border, or by sizes.
  if (g.chance.is(0.5)) {
    const auto factor = [&] { return g.chance.of({1.0F, 2.0F, 2.0F, 3.0F, 0.5F, 1.5F}); };
    const float down = factor(), across = g.chance.is(0.6) ? down : factor();
    if (down * static_cast<float>(shape[2]) < 1 || across * static_cast<float>(shape[3]) < 1) return false;
    g.emit("Resize", {x, kNoValue, g.net.store("scales", Tensor::of<float>({4}, {1, 1, down, across}))}, a);
  } else {
    g.emit("Resize",
           {x, kNoValue, kNoValue, g.net.list({shape[0], shape[1], g.chance.between(1, 20), g.chance.between(1, 20)})},
           a);
  }
  return true;
}

bool blocks(Growth& g) {
  const ValueId x = g.any(4);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const int64_t size = g.chance.between(2, 3);
  if (shape[1] % (size * size) == 0) {
    g.emit("DepthToSpace", {x}, {{"blocksize", size}, {"mode", g.chance.of<std::string>({"DCR", "CRD"})}});
  } else if (shape[2] % size == 0 && shape[3] % size == 0) {
    g.emit("SpaceToDepth", {x}, {{"blocksize", size}});
  } else {
    return false;
  }
  return true;
}

bool gather(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const int64_t rank = rank_of(g, x), axis = place(g, rank), extent = g.shape(x)[axis];
  const Shape shape = g.chance.of<Shape>({{}, {1}, {3}, {2, 2}});
  if (rank + static_cast<int64_t>(shape.size()) - 1 > 5) return false;
  g.emit("Gather",
         {x, g.integers(shape, g.chance.is(0.3) ? -extent : 0, extent - 1, g.chance.of({DType::Int64, DType::Int32}))},
         {{"axis", written(g, axis, rank)}});
  return true;
}

bool gather_elements(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  Shape shape = g.shape(x);
  const int64_t rank = rank_of(g, x), axis = place(g, rank), extent = shape[axis];
  shape[axis] = g.chance.between(1, extent + 1);
  g.emit("GatherElements", {x, g.integers(shape, 0, extent - 1)}, {{"axis", written(g, axis, rank)}});
  return true;
}

bool gather_nd(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const int64_t depth = g.chance.between(1, rank_of(g, x)), n = g.chance.between(1, 4);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t d = 0; d < depth; ++d) places.push_back(place(g, shape[d]));
  }
  g.emit("GatherND", {x, g.net.store("places", Tensor::of<int64_t>({n, depth}, places))});
  return true;
}

bool scatter(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  Shape shape = g.shape(x);
  const int64_t rank = rank_of(g, x), axis = place(g, rank), extent = shape[axis];
  // No place twice: what is written there last is not defined.
  const int64_t n = g.chance.between(1, extent);
  Shape updates = shape;
  updates[axis] = n;
  std::vector<int64_t> order = g.chance.order(extent), places;
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < rank; ++i) inner *= shape[i];
  for (int64_t i = 0; i < element_count(updates); ++i) places.push_back(order[i / inner % n]);
  Attributes a = {{"axis", written(g, axis, rank)}};
  const std::string how = g.chance.of<std::string>({"none", "none", "add", "mul", "max", "min"});
  if (how != "none") a["reduction"] = how;
  g.emit("ScatterElements", {x, g.net.store("places", Tensor::of<int64_t>(updates, places)), g.numbers(updates, -1, 1)},
         a);
  return true;
}

bool tile(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  std::vector<int64_t> times;
  Shape shape = g.shape(x);
  for (int64_t extent : shape) times.push_back(extent < 4 ? g.chance.between(1, 3) : 1);
  if (g.chance.is(0.5)) {
    g.emit("Tile", {x, g.net.list(times)});
  } else {
    for (int64_t& extent : shape) extent = extent == 1 ? g.chance.between(1, 3) : extent;
    g.emit("Expand", {x, g.net.list(shape)});
  }
  return true;
}

bool triangle(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue || rank_of(g, x) < 2) return false;
  const ValueId k = g.net.store("k", Tensor::of<int64_t>({}, {g.chance.between(-2, 2)}));
  g.emit("Trilu", {x, k}, {{"upper", g.chance.between(0, 1)}});
  return true;
}

bool one_hot(Growth& g) {
  const ValueId x = g.any_of(DType::Int64, -1);
  if (x == kNoValue || rank_of(g, x) > 3) return false;
  const ValueId depth = g.net.store("depth", Tensor::of<int64_t>({}, {g.chance.between(2, 6)}));
  g.emit("OneHot", {x, depth, g.numbers({2}, std::vector<float>{0, 1})}, {{"axis", g.chance.between(-1, 1)}});
  return true;
}

// To integers and back, where no rounding before could make it another integer.
bool quantise(Growth& g) {
  const ValueId x = g.any_exact(-1);
  if (x == kNoValue || g.real != DType::Float32) return false;
  const DType dtype = g.chance.of({DType::UInt8, DType::Int8});
  const ValueId scale = g.number(g.chance.of({0.0078125F, 0.03125F}));  // powers of 2
  const ValueId zero = g.net.store("zero", convert(Tensor::of<int64_t>({}, {dtype == DType::UInt8 ? 128 : 0}), dtype));
  const ValueId q = g.emit("QuantizeLinear", {x, scale, zero});
  g.set_exact(q);
  g.set_exact(g.emit("DequantizeLinear", {q, scale, zero}));
  return true;
}

bool reverse(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue || rank_of(g, x) < 2) return false;
  const Shape shape = g.shape(x);
  const bool batch_first = g.chance.is(0.5);
  const ValueId lengths = g.integers({shape[batch_first ? 0 : 1]}, 1, shape[batch_first ? 1 : 0]);
  g.emit("ReverseSequence", {x, lengths},
         {{"batch_axis", int64_t{batch_first ? 0 : 1}}, {"time_axis", int64_t{batch_first ? 1 : 0}}});
  return true;
}

// A node once more: on the same values, which is one computation twice, or on others with the same constants.
bool again(Growth& g) {
  const std::vector<NodeId>& order = g.net.graph().order();
  if (order.empty()) return false;
  const Node node = g.net.graph().node(g.chance.of(order));
  if (node.outputs.size() != 1 || node.inputs.empty() || g.net.graph().constant(node.inputs[0]) != nullptr)
    return false;
  std::vector<ValueId> inputs = node.inputs;
  if (g.chance.is(0.5)) {
    const ValueId other = g.like(inputs[0]);
    if (g.is_exact(other) == g.is_exact(inputs[0])) inputs[0] = other;
  }
  g.emit(node.op, inputs, node.attributes);
  return true;
}

// Nodes that compute nothing, and those that constants alone give.
bool nothing(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  switch (g.chance.between(0, 2)) {
    case 0: g.emit("Identity", {x}); break;
    case 1: g.emit("Dropout", {x}); break;
    default: {
      const ValueId c = g.emit("Mul", {g.numbers({1}, 0.5, 1.5), g.numbers({1}, -1, 1)});
      g.emit("Add", {x, c});
    }
  }
  return true;
}

}  // namespace

std::vector<Recipe> tensor_recipes() {
  return {{"concat", 1.5, kEach, concat},
          {"split", 0.7, kEach, split},
          {"slice", 1, kEach, slice},
          {"pad", 1, kOnImages, pad},
          {"transpose", 1, kEach, transpose},
          {"reshape", 1, kEach, reshape},
          {"squeeze", 0.5, kTransformer, squeeze},
          {"resize", 1, kDetector, resize},
          {"blocks", 0.5, kDetector, blocks},
          {"gather", 0.5, kTransformer | kDetector, gather},
          {"gather elements", 0.3, kAny, gather_elements},
          {"gather nd", 0.3, kDetector, gather_nd},
          {"scatter", 0.3, kAny, scatter},
          {"tile", 0.5, kDetector, tile},
          {"triangle", 0.2, kAny, triangle},
          {"one hot", 0.3, kDetector, one_hot},
          {"quantise", 0.4, kAny, quantise},
          {"reverse", 0.2, kAny, reverse},
          {"again", 0.8, kEach, again},
          {"nothing", 0.5, kEach, nothing}};
}

}  // namespace dnn::hunt
