// Moving elements, extents as lists of integers, conversions between element types.
#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/torch/exports.h"
#include "ops/movement.h"

namespace dnn::torch {
namespace {

using Numbers = std::vector<int64_t>;

// Whether the output is a list (or single number) of integers, so that it may stand for extents.
bool makes_list(const Export& e) {
  const Type& type = e.output_type();
  return is_integer(type.dtype) && (!type.shape || type.shape->size() <= 1);
}

// Input i as a list where it is one and not a tensor that the file holds.
std::optional<Items> list_input(Export& e, size_t i = 0) {
  if (!makes_list(e) || !e.has_input(i)) return std::nullopt;
  return e.builder().items(e.node().inputs[i]);
}

int64_t from_front(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

Numbers sorted_axes(Export& e, int64_t rank) {
  Numbers axes = e.known_ints(1, "list of axes");
  for (int64_t& axis : axes) axis = from_front(axis, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

// The shape of output 0 as items where all of it is fixed.
std::optional<Items> fixed_output(const Export& e) {
  if (!e.output_type().fixed()) return std::nullopt;
  const Shape shape = e.output_type().fixed_shape();
  return Items(shape.begin(), shape.end());
}

// The extents that a list stands for, where the model's types leave them open; one -1 takes what is left over.
Type reshaped(Export& e, const Type& type, const Items& shape) {
  std::vector<Dim> dims, open = type.shape.value_or(std::vector<Dim>());
  int64_t fixed = 1;
  size_t rest = shape.size();
  for (const Item& item : shape) {
    dims.push_back(e.builder().dim(item));
    if (item == Item(-1)) {
      rest = dims.size() - 1;
      dims.back() = Dim();
    } else if (dims.back().fixed()) {
      fixed *= std::max<int64_t>(1, dims.back().size);
    } else {
      const auto same = std::find(open.begin(), open.end(), dims.back());
      if (dims.back().symbol.empty() || same == open.end()) return {type.dtype, std::move(dims)};
      open.erase(same);
    }
  }
  int64_t given = 1;
  for (const Dim& dim : open) {
    if (!dim.fixed()) return {type.dtype, std::move(dims)};
    given *= dim.size;
  }
  if (rest < dims.size() && given % fixed == 0) dims[rest] = Dim(given / fixed);
  return {type.dtype, std::move(dims)};
}

void reshape(Export& e, VarId x, const Items& shape) {
  e.define("reshape", {tensor(x), shape});
  if (!e.output_type().fixed()) e.builder().set_type(e.output_var(), reshaped(e, e.builder().var_type(x), shape));
}

VarId permuted(Export& e, VarId x, const Type& type, const Numbers& perm, const char* what) {
  Type result = type;
  for (size_t i = 0; i < perm.size(); ++i) (*result.shape)[i] = (*type.shape)[perm[i]];
  return e.step("permute", {tensor(x), ints(perm)}, what, result);
}

}  // namespace

void write_identity(Export& e) {
  if (const std::optional<Items> list = list_input(e)) return e.define_items(*list);
  e.define(e.input(0));
}

void write_dropout(Export& e) {
  if (e.node().output(1) != kNoValue) e.refuse("its mask as an output");
  if (const Tensor* training = e.constant(2); training != nullptr && to_int64s(*training).at(0) != 0)
    e.refuse("it is in training");
  e.define(e.input(0));
}

void write_shape(Export& e) {
  const int64_t rank = e.rank(0);
  const int64_t start = std::clamp<int64_t>(from_front(e.node().attribute_int("start", 0), rank), 0, rank);
  const int64_t end = std::clamp<int64_t>(from_front(e.node().attribute_int("end", rank), rank), start, rank);
  Items items;
  for (int64_t i = start; i < end; ++i) items.push_back(e.builder().extent(e.input(0), i));
  e.define_items(std::move(items));
}

void write_size(Export& e) {
  Item product = 1;
  for (int64_t i = 0; i < e.rank(0); ++i)
    product = e.builder().arithmetic("mul", product, e.builder().extent(e.input(0), i));
  e.define_items({product});
}

void write_constant_of_shape(Export& e) {
  const auto at = e.node().attributes.find("value");
  const Tensor* value = at == e.node().attributes.end() ? nullptr : std::get_if<Tensor>(&at->second);
  const DType dtype = value == nullptr ? DType::Float32 : value->dtype();
  const double number_of_it = value == nullptr ? 0 : to_doubles(*value).at(0);
  const Arg fill = is_float(dtype) ? Arg(number_of_it) : number(static_cast<int64_t>(number_of_it));
  e.define("full", {e.items(0, "shape"), fill, dtype});
}

void write_cast(Export& e) {
  const DType to = dtype_from_onnx(e.node().attribute_int("to", 0));
  if (const std::optional<Items> list = list_input(e)) return e.define_items(*list);
  scalar_type(to);
  if (to == e.dtype()) return e.define(e.input(0));
  e.define("to.dtype", {tensor(e.input(0)), to});
}

void write_reshape(Export& e) {
  if (const std::optional<Items> list = list_input(e)) return e.define_items(*list);
  Items shape = e.items(1, "shape");
  const bool zero = e.node().attribute_int("allowzero", 0) != 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!zero && shape[i] == Item(0)) shape[i] = e.builder().extent(e.input(0), static_cast<int64_t>(i));
  }
  // One open extent may be left for PyTorch to compute; it reads better, and .pt2 needs no name for it.
  const auto computed = std::count_if(shape.begin(), shape.end(), [](const Item& item) { return !item.fixed(); });
  const bool rest = std::any_of(shape.begin(), shape.end(), [](const Item& item) { return item == Item(-1); });
  if (computed == 0 && !rest && fixed_output(e)) shape = *fixed_output(e);
  reshape(e, e.input(0), shape);
}

void write_flatten(Export& e) {
  const int64_t rank = e.rank(0), axis = from_front(e.node().attribute_int("axis", 1), rank);
  const VarId x = e.input(0);
  if (axis == 1 && rank > 1) return e.define("flatten.using_ints", {tensor(x), number(1), number(-1)});
  if (axis == 0) return reshape(e, x, {1, -1});
  if (axis == rank) return reshape(e, x, {-1, 1});
  Item front = 1;
  for (int64_t i = 0; i < axis; ++i) front = e.builder().arithmetic("mul", front, e.builder().extent(x, i));
  reshape(e, x, {front, -1});
}

void write_squeeze(Export& e) {
  if (const std::optional<Items> list = list_input(e)) return e.define_items(*list);
  VarId x = e.input(0);
  if (!e.has_input(1)) return e.define("squeeze", {tensor(x)});
  const Numbers axes = sorted_axes(e, e.rank(0));
  Type type = e.type(0);
  for (size_t i = axes.size(); i-- > 0;) {
    if (i == 0) return e.define("squeeze.dim", {tensor(x), number(axes[0])});
    type.shape->erase(type.shape->begin() + static_cast<std::ptrdiff_t>(axes[i]));
    x = e.step("squeeze.dim", {tensor(x), number(axes[i])}, "squeezed", type);
  }
  e.define(x);
}

void write_unsqueeze(Export& e) {
  if (e.output_type().shape && e.output_type().shape->size() == 1) {
    if (const std::optional<Items> list = list_input(e)) return e.define_items(*list);
  }
  VarId x = e.input(0);
  const Numbers given = e.known_ints(1, "list of axes");
  const Numbers axes = sorted_axes(e, e.rank(0) + static_cast<int64_t>(given.size()));
  Type type = e.type(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i + 1 == axes.size()) return e.define("unsqueeze", {tensor(x), number(axes[i])});
    type.shape->insert(type.shape->begin() + static_cast<std::ptrdiff_t>(axes[i]), Dim(1));
    x = e.step("unsqueeze", {tensor(x), number(axes[i])}, "unsqueezed", type);
  }
  e.define(x);
}

void write_transpose(Export& e) {
  e.define("permute", {tensor(e.input(0)), ints(transpose_permutation(e.node(), static_cast<size_t>(e.rank(0))))});
}

// PyTorch's expand wants the result's shape, with -1 for extents that stay.
void write_expand(Export& e) {
  if (const std::optional<Items> shape = fixed_output(e)) return e.define("expand", {tensor(e.input(0)), *shape});
  Items shape = e.items(1, "shape");
  const size_t rank = e.rank(0);
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), Item(1));
  const std::vector<Dim>& dims = *e.output_type().shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool kept = i + rank >= shape.size();
    if (i < dims.size() && dims[i].fixed()) {
      shape[i] = dims[i].size;
    } else if (shape[i] == Item(1) && kept) {
      shape[i] = -1;
    }
  }
  e.define("expand", {tensor(e.input(0)), std::move(shape)});
}

void write_tile(Export& e) { e.define("repeat", {tensor(e.input(0)), e.items(1, "number of repeats")}); }

void write_concat(Export& e) {
  if (makes_list(e)) {
    Items all;
    bool lists = true;
    for (size_t i = 0; i < e.node().inputs.size(); ++i) {
      const std::optional<Items> part = e.builder().items(e.node().inputs[i]);
      lists = lists && part.has_value();
      if (part) all.insert(all.end(), part->begin(), part->end());
    }
    if (lists) return e.define_items(std::move(all));
  }
  std::vector<VarId> parts;
  for (size_t i = 0; i < e.node().inputs.size(); ++i) parts.push_back(e.input(i));
  if (parts.size() == 1) return e.define(parts[0]);
  e.define("cat", {std::move(parts), number(e.axis("axis", 0))});
}

void write_split(Export& e) {
  const int64_t axis = e.axis("axis", 0), extent = e.shape(0)[axis];
  Items sizes;
  if (e.has_input(1)) {
    sizes = e.items(1, "list of sizes");
  } else {
    const auto n = static_cast<int64_t>(e.node().outputs.size());
    if (extent < 0) e.refuse("the extent that it divides is open; fix it with --shape");
    const int64_t each = (extent + n - 1) / n;
    for (int64_t i = 0; i < n; ++i) sizes.emplace_back(std::clamp<int64_t>(extent - i * each, 0, each));
  }
  e.define_many("split_with_sizes", {tensor(e.input(0)), std::move(sizes), number(axis)}, true);
}

namespace {

bool slice_list(Export& e, const Numbers& starts, const Numbers& ends, const Numbers& steps) {
  const std::optional<Items> list = list_input(e);
  if (!list || e.type(0).shape.value_or(std::vector<Dim>()).size() != 1) return false;
  const auto n = static_cast<int64_t>(list->size());
  if (starts.size() != 1 || steps[0] != 1) return false;
  const int64_t begin = std::clamp<int64_t>(from_front(starts[0], n), 0, n);
  const int64_t end = std::clamp<int64_t>(from_front(ends[0], n), begin, n);
  e.define_items(Items(list->begin() + begin, list->begin() + end));
  return true;
}

}  // namespace

void write_slice(Export& e) {
  const int64_t rank = e.rank(0);
  Items starts = e.items(1, "list of starts"), ends = e.items(2, "list of ends");
  Numbers axes, steps(starts.size(), 1);
  if (e.has_input(4)) steps = e.known_ints(4, "list of steps");
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (e.has_input(3)) axes = e.known_ints(3, "list of axes");
  const auto fixed = [](const Items& items) {
    return std::all_of(items.begin(), items.end(), [](const Item& item) { return item.fixed(); });
  };
  if (fixed(starts) && fixed(ends)) {
    Numbers from, to;
    for (const Item& item : starts) from.push_back(item.number);
    for (const Item& item : ends) to.push_back(item.number);
    if (slice_list(e, from, to, steps)) return;
  }
  VarId x = e.input(0);
  Type type = e.type(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = from_front(axes[i], rank);
    const size_t at = axis;
    const Dim before = (*type.shape)[at];
    (*type.shape)[at] = e.output_type().shape ? (*e.output_type().shape)[at] : Dim();
    int64_t step = steps[i];
    if (step < 0) {  // the same elements in ascending order from behind
      if (!starts[i].fixed() || !ends[i].fixed() || !before.fixed() || step == std::numeric_limits<int64_t>::min())
        e.refuse("a step of ", step, " along an open extent");
      const int64_t n = before.size;
      const int64_t first = std::clamp<int64_t>(from_front(starts[i].number, n), -1, n - 1);
      const int64_t last = ends[i].number < -n ? -1 : std::clamp<int64_t>(from_front(ends[i].number, n), -1, n - 1);
      Type turned = type;
      (*turned.shape)[at] = before;
      x = e.step("flip", {tensor(x), ints({axis})}, "turned", turned);
      starts[i] = n - 1 - first;
      ends[i] = std::max(n - 1 - first, n - 1 - last);
      step = -step;
    }
    if (starts[i].fixed() && ends[i].fixed() && starts[i] == Item(0) && before.fixed() &&
        ends[i].number >= before.size && step == 1 && i + 1 < axes.size())
      continue;
    std::vector<Arg> args = {tensor(x), number(axis), starts[i], ends[i], number(step)};
    if (i + 1 == axes.size()) return e.define("slice.Tensor", args);
    x = e.step("slice.Tensor", args, "sliced", type);
  }
  e.define(x);
}

void write_gather(Export& e) {
  const int64_t axis = e.axis("axis", 0), rank = e.rank(0);
  const std::optional<Items> list = rank == 1 ? list_input(e) : std::nullopt;
  const std::optional<Items> at = e.builder().items(e.node().inputs[1]);
  const bool known = at && std::all_of(at->begin(), at->end(), [](const Item& item) { return item.fixed(); });
  if (list && known) {
    Items chosen;
    for (const Item& item : *at) {
      const int64_t i = from_front(item.number, static_cast<int64_t>(list->size()));
      if (i < 0 || i >= static_cast<int64_t>(list->size())) e.refuse("element ", i, " of ", list->size());
      chosen.push_back((*list)[i]);
    }
    return e.define_items(std::move(chosen));
  }
  const VarId x = e.input(0);
  const Numbers indices = e.shape(1);
  if (indices.empty() && known) return e.define("select.int", {tensor(x), number(axis), (*at)[0]});
  VarId index = e.input(1);
  const Item extent = e.builder().extent(x, axis);
  const bool negative = !known || std::any_of(at->begin(), at->end(), [](const Item& item) { return item.number < 0; });
  if (negative) {  // they count from the back
    if (!extent.fixed()) e.refuse("indices into an open extent");
    index = e.step("remainder.Scalar", {tensor(index), extent}, "index", e.type(1));
  }
  if (indices.size() == 1) return e.define("index_select", {tensor(x), number(axis), tensor(index)});
  const VarId flat = e.step("reshape", {tensor(index), ints({-1})}, "flat", Type(e.type(1).dtype, {Dim()}));
  Type type = e.type(0);
  (*type.shape)[axis] = Dim();
  const VarId rows = e.step("index_select", {tensor(x), number(axis), tensor(flat)}, "rows", type);
  Items shape;
  for (int64_t i = 0; i < axis; ++i) shape.push_back(e.builder().extent(x, i));
  for (size_t i = 0; i < indices.size(); ++i) shape.push_back(e.builder().extent(e.input(1), static_cast<int64_t>(i)));
  for (int64_t i = axis + 1; i < rank; ++i) shape.push_back(e.builder().extent(x, i));
  reshape(e, rows, shape);
}

// Input 1 as 64-bit indices along an axis, counted from the front.
static VarId places_along(Export& e, int64_t axis) {
  const Item extent = e.builder().extent(e.input(0), axis);
  if (!extent.fixed()) e.refuse("indices into an open extent");
  const VarId index = e.step("remainder.Scalar", {tensor(e.input(1)), extent}, "index", e.type(1));
  if (e.type(1).dtype == DType::Int64) return index;
  return e.step("to.dtype", {tensor(index), DType::Int64}, "wide", Type(DType::Int64, *e.type(1).shape));
}

void write_gather_elements(Export& e) {
  const int64_t axis = e.axis("axis", 0);
  const VarId places = places_along(e, axis);
  e.define("gather", {tensor(e.input(0)), number(axis), tensor(places)});
}

void write_scatter_elements(Export& e) {
  const int64_t axis = e.axis("axis", 0);
  const std::string reduction = e.node().attribute_string("reduction", "none");
  const VarId places = places_along(e, axis);
  std::vector<Arg> args = {tensor(e.input(0)), number(axis), tensor(places), tensor(e.input(2))};
  if (reduction == "none") return e.define("scatter.src", std::move(args));
  if (reduction == "add") return e.define("scatter_add", std::move(args));
  args.emplace_back(std::string(reduction == "mul" ? "prod" : reduction == "max" ? "amax" : "amin"));
  args.emplace_back(true);
  e.define("scatter_reduce.two", std::move(args));
}

void write_pad(Export& e) {
  const std::string mode = e.node().attribute_string("mode", "constant");
  const int64_t rank = e.rank(0);
  const Numbers given = e.known_ints(1, "padding");
  Numbers axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  if (e.has_input(3)) axes = e.known_ints(3, "list of axes");
  if (given.size() != 2 * axes.size()) e.refuse(given.size(), " paddings for ", axes.size(), " axes");
  Numbers begin(rank, 0), end = begin;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = from_front(axes[i], rank);
    begin[axis] = given[i];
    end[axis] = given[i + axes.size()];
  }
  size_t first = 0;  // axis that is padded
  while (first < begin.size() && begin[first] == 0 && end[first] == 0) ++first;
  if (first == begin.size()) return e.define(e.input(0));
  if (mode == "constant") {
    const std::optional<double> fill = e.has_input(2) ? e.scalar(2) : std::optional<double>(0);
    if (!fill) e.refuse("a fill value that is computed");
    Numbers pad;
    for (size_t i = begin.size(); i-- > first;) pad.insert(pad.end(), {begin[i], end[i]});
    const Arg value = is_float(e.dtype()) ? Arg(*fill) : number(static_cast<int64_t>(*fill));
    return e.define("constant_pad_nd", {tensor(e.input(0)), ints(pad), value});
  }
  const auto n = rank < 2 ? 0 : static_cast<size_t>(rank) - 2;
  if (mode != "reflect" && mode != "edge") e.refuse("padding by mode ", quoted(mode));
  if (rank < 3 || n > 3 || first < 2) e.refuse("padding by mode ", quoted(mode), " of batch or channels");
  Numbers pad;
  for (size_t i = begin.size(); i-- > 2;) pad.insert(pad.end(), {begin[i], end[i]});
  e.define(cat(mode == "edge" ? "replication_pad" : "reflection_pad", n, "d"), {tensor(e.input(0)), ints(pad)});
}

// PyTorch's pixel_shuffle is the order CRD.
void write_depth_to_space(Export& e) {
  const int64_t b = e.node().attribute_int("blocksize", 1);
  if (e.rank(0) != 4 || e.shape(0)[1] < 0) e.refuse("an input of ", e.type(0).text());
  const VarId x = e.input(0);
  if (e.node().attribute_string("mode", "DCR") == "CRD") return e.define("pixel_shuffle", {tensor(x), number(b)});
  const int64_t channels = e.shape(0)[1] / (b * b);
  const auto extent = [&](int64_t axis) { return e.builder().extent(x, axis); };
  const std::vector<Dim>& dims = *e.type(0).shape;
  const Type six(e.dtype(), {dims[0], Dim(b), Dim(b), Dim(channels), dims[2], dims[3]});
  const VarId blocks =
      e.step("reshape", {tensor(x), Items{extent(0), b, b, channels, extent(2), extent(3)}}, "blocks", six);
  const VarId spread = permuted(e, blocks, six, {0, 3, 4, 1, 5, 2}, "spread");
  const auto times = [&](int64_t axis) { return e.builder().arithmetic("mul", extent(axis), b); };
  reshape(e, spread, {extent(0), channels, times(2), times(3)});
}

void write_space_to_depth(Export& e) {
  const int64_t b = e.node().attribute_int("blocksize", 1);
  if (e.rank(0) != 4 || e.shape(0)[1] < 0) e.refuse("an input of ", e.type(0).text());
  const VarId x = e.input(0);
  const std::vector<Dim>& dims = *e.type(0).shape;
  const int64_t channels = dims[1].size;
  const auto part = [&](int64_t axis) { return e.builder().arithmetic("floordiv", e.builder().extent(x, axis), b); };
  const auto dim = [&](size_t axis) { return dims[axis].fixed() ? Dim(dims[axis].size / b) : Dim(); };
  const Type six(e.dtype(), {dims[0], Dim(channels), dim(2), Dim(b), dim(3), Dim(b)});
  const Item n = e.builder().extent(x, 0), h = part(2), w = part(3);
  const VarId blocks = e.step("reshape", {tensor(x), Items{n, channels, h, b, w, b}}, "blocks", six);
  reshape(e, permuted(e, blocks, six, {0, 3, 5, 1, 2, 4}, "gathered"), {n, channels * b * b, h, w});
}

void write_trilu(Export& e) {
  const int64_t diagonal = e.has_input(1) ? e.known_ints(1, "diagonal").at(0) : 0;
  e.define(e.node().attribute_int("upper", 1) != 0 ? "triu" : "tril", {tensor(e.input(0)), number(diagonal)});
}

void write_resize(Export& e) {
  const Node& node = e.node();
  const Numbers x = e.shape(0), y = e.output_shape();
  const auto n = x.size() - 2;
  if (x.size() < 3 || x.size() > 5 || y.size() != x.size() || x[1] != y[1])
    e.refuse("resizing ", shape_text(x), " to ", shape_text(y), "; only spatial extents can be");
  const std::string mode = node.attribute_string("mode", "nearest"),
                    at = node.attribute_string("coordinate_transformation_mode", "half_pixel"),
                    nearest = node.attribute_string("nearest_mode", "round_prefer_floor");
  if (node.attribute_int("antialias", 0) != 0) e.refuse("antialiasing");
  Numbers size;
  bool whole = true;  // no element of a larger result lies half-way between two
  for (size_t i = 2; i < x.size(); ++i) {
    if (x[i] < 0 || y[i] < 0) e.refuse("its spatial extents are open; fix them with --shape");
    whole = whole && y[i] % x[i] == 0;
    size.push_back(y[i]);
  }
  std::vector<Arg> scales(n, none());
  if (e.has_input(2) && e.constant(2) != nullptr && e.constant(2)->size() > 0) {
    const std::vector<double> given = to_doubles(*e.constant(2));
    Numbers axes = node.attribute_ints("axes");
    for (int64_t axis = 0; axes.size() < given.size(); ++axis) axes.push_back(axis);
    for (size_t i = 0; i < given.size(); ++i) {
      const size_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(x.size()) : axes[i];
      if (axis < 2) continue;  // whose extents stay
      const double in = static_cast<double>(x[axis]), out = static_cast<double>(y[axis]);
      if (at == "align_corners" && std::abs(given[i] * in - out) > 1e-4)
        e.refuse("a factor of ", given[i], " with aligned corners for ", x[axis], " elements, which become ", y[axis]);
      if (given[i] != out / in) scales[axis - 2] = given[i];
    }
  }
  const bool corners = at == "align_corners";
  const bool centres = at == "half_pixel" || (at == "pytorch_half_pixel" &&
                                              std::all_of(size.begin(), size.end(), [](int64_t s) { return s > 1; }));
  std::vector<Arg> args = {tensor(e.input(0)), ints(size)};
  std::string op;
  if (mode == "nearest" && at == "asymmetric" && nearest == "floor") {
    op = cat("upsample_nearest", n, "d");
  } else if (mode == "nearest" && centres && whole && starts_with(nearest, "round_prefer")) {
    op = cat("upsample_nearest", n, "d");
  } else if (mode == "nearest" && centres && nearest == "round_prefer_ceil" && n < 3) {
    op = cat("_upsample_nearest_exact", n, "d");
  } else if (mode == "linear" && (corners || centres)) {
    op = n == 1 ? "upsample_linear1d" : n == 2 ? "upsample_bilinear2d" : "upsample_trilinear3d";
    args.emplace_back(corners);
  } else if (mode == "cubic" && n == 2 && (corners || centres) &&
             node.attribute_float("cubic_coeff_a", -0.75f) == -0.75f && node.attribute_int("exclude_outside", 0) == 0) {
    op = "upsample_bicubic2d";
    args.emplace_back(corners);
  } else {
    e.refuse("resizing by ", mode, mode == "nearest" ? " (" + nearest + ")" : "", " of coordinates ", at);
  }
  args.insert(args.end(), scales.begin(), scales.end());
  e.define(op, args);
}

}  // namespace dnn::torch
