// Moving elements, making tensors, types.
#include <algorithm>

#include "formats/torch/imports.h"

namespace dnn::torch {
namespace {

std::vector<int64_t> identity_perm(size_t rank) {
  std::vector<int64_t> perm;
  for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(i));
  return perm;
}

// A tensor of one value; its shape may have open extents.
Any filled(Op& op, const std::vector<Any>& shape, double value, DType dtype) {
  const Tensor one = convert(Tensor::of<double>({1}, {value}), dtype);
  return op.result(op.emit("ConstantOfShape", {op.ints_value(shape)}, {{"value", one}}));
}

DType dtype_or(Op& op, size_t i, DType fallback) { return op.has(i) ? op.dtype(i) : fallback; }

DType dtype_of_number(const Any& number) {
  if (number.get<bool>() != nullptr) return DType::Bool;
  return number.get<int64_t>() != nullptr ? DType::Int64 : DType::Float32;
}

Any filled_like(Op& op, double value, DType dtype) {
  const ValueId x = op.tensor(0);
  if (dtype == DType::Undefined) dtype = DType::Float32;
  const Tensor one = convert(Tensor::of<double>({1}, {value}), dtype);
  return op.result(op.emit("ConstantOfShape", {op.emit("Shape", {x})}, {{"value", one}}));
}

}  // namespace

Any same(Op& op) { return op.argument(0); }
Any same_value(Op& op) {
  const auto* cell = op.argument(0).get<Any::Tensor>();
  if (cell == nullptr) return op.argument(0);
  Any copy = op.result(op.importer().value_of(*cell, op.label()));
  (*copy.get<Any::Tensor>())->quantizer = (*cell)->quantizer;
  return copy;
}

Any view(Op& op) {
  if (!op.argument(1).list()) op.refuse("a view of another type is not read");
  return op.like(0, op.reshape(op.tensor(0), op.items(1)));
}
Any view_as(Op& op) {
  const ValueId x = op.tensor(0), other = op.tensor(1);
  std::vector<Any> shape;
  for (size_t i = 0; i < op.rank(other); ++i) shape.push_back(op.importer().extent(other, static_cast<int64_t>(i)));
  return op.like(0, op.reshape(x, shape));
}

Any flatten(Op& op) {
  const ValueId x = op.tensor(0);
  const auto rank = static_cast<int64_t>(op.rank(x));
  const int64_t first = op.axis(op.integer(1), x), last = op.axis(op.integer(2), x);
  if (first > last) op.fail("axes ", first, " to ", last);
  if (first == last && rank > 0) return op.argument(0);
  if (first == 1 && last == rank - 1) return op.like(0, op.emit("Flatten", {x}, {{"axis", int64_t{1}}}));
  std::vector<Any> shape;
  for (int64_t i = 0; i < first; ++i) shape.push_back(op.importer().extent(x, i));
  shape.emplace_back(int64_t{-1});
  for (int64_t i = last + 1; i < rank; ++i) shape.push_back(op.importer().extent(x, i));
  return op.like(0, op.reshape(x, shape));
}
Any unflatten(Op& op) {
  const ValueId x = op.tensor(0);
  const auto rank = static_cast<int64_t>(op.rank(x));
  const int64_t axis = op.axis(op.integer(1), x);
  std::vector<Any> shape;
  for (int64_t i = 0; i < axis; ++i) shape.push_back(op.importer().extent(x, i));
  for (const Any& size : op.items(2)) shape.push_back(size);
  for (int64_t i = axis + 1; i < rank; ++i) shape.push_back(op.importer().extent(x, i));
  return op.like(0, op.reshape(x, shape));
}

Any permute(Op& op) {
  const ValueId x = op.tensor(0);
  std::vector<int64_t> perm;
  for (int64_t axis : op.ints(1)) perm.push_back(op.axis(axis, x));
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != identity_perm(perm.size())) op.fail("axes ", shape_text(perm));
  return op.like(0, op.transpose(x, perm));
}
Any transpose(Op& op) {
  const ValueId x = op.tensor(0);
  std::vector<int64_t> perm = identity_perm(op.rank(x));
  if (perm.empty()) return op.argument(0);
  std::swap(perm[op.axis(op.integer(1), x)], perm[op.axis(op.integer(2), x)]);
  return op.like(0, op.transpose(x, perm));
}
// Axes that are named go to their places, the others keep their order around them.
Any move_axes(Op& op) {
  const ValueId x = op.tensor(0);
  const std::vector<int64_t> from = op.ints(1), to = op.ints(2);
  if (from.size() != to.size()) op.fail(from.size(), " axes to ", to.size(), " places");
  std::vector<int64_t> perm(op.rank(x), -1), rest;
  for (size_t i = 0; i < from.size(); ++i) perm[op.axis(to[i], x)] = op.axis(from[i], x);
  for (int64_t axis : identity_perm(op.rank(x))) {
    if (std::find(perm.begin(), perm.end(), axis) == perm.end()) rest.push_back(axis);
  }
  if (rest.size() + from.size() != perm.size()) op.fail("axes ", shape_text(from), " to ", shape_text(to));
  size_t next = 0;
  for (int64_t& axis : perm) {
    if (axis < 0) axis = rest.at(next++);
  }
  return op.like(0, op.transpose(x, perm));
}
Any transpose_all(Op& op) {
  const ValueId x = op.tensor(0);
  std::vector<int64_t> perm = identity_perm(op.rank(x));
  if (perm.size() < 2) return op.argument(0);
  std::reverse(perm.begin(), perm.end());
  return op.like(0, op.transpose(x, perm));
}

Any squeeze(Op& op) {
  const ValueId x = op.tensor(0);
  std::vector<int64_t> axes;
  if (op.has(1)) {
    for (int64_t axis : op.ints(1)) {
      if (op.extent(x, axis) == 1) axes.push_back(op.axis(axis, x));
    }
  } else {
    for (size_t i = 0; i < op.rank(x); ++i) {
      if (op.extent(x, static_cast<int64_t>(i)) == 1) axes.push_back(static_cast<int64_t>(i));
    }
  }
  return axes.empty() ? op.argument(0) : op.like(0, op.squeeze(x, axes));
}
Any unsqueeze(Op& op) { return op.like(0, op.unsqueeze(op.tensor(0), {op.integer(1)})); }

Any select(Op& op) {
  const ValueId x = op.tensor(0);
  const ValueId at = op.store("index", Tensor::scalar(op.integer(2)));
  return op.like(0, op.emit("Gather", {x, at}, {{"axis", op.integer(1)}}));
}

Any slice(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.integer(1), step = op.integer(4);
  if (step < 1) op.fail("a step of ", step);
  const bool from_start = !op.has(2) || (op.argument(2).get<int64_t>() != nullptr && op.integer(2) == 0);
  const bool to_end = !op.has(3) || (op.argument(3).get<int64_t>() != nullptr && op.integer(3) == INT64_MAX);
  if (from_start && to_end && step == 1) return op.argument(0);
  const ValueId start = from_start ? op.list({0}) : op.ints_value({op.argument(2)});
  const ValueId end = to_end ? op.list({INT64_MAX}) : op.ints_value({op.argument(3)});
  return op.like(0, op.emit("Slice", {x, start, end, op.list({axis}), op.list({step})}));
}
Any narrow(Op& op) {
  const int64_t start = op.integer(2);
  return op.like(0, op.slice(op.tensor(0), op.integer(1), start, start + op.integer(3)));
}

namespace {

Any split_into(Op& op, ValueId x, int64_t axis, const std::vector<int64_t>& sizes) {
  if (sizes.empty() || sizes.size() > 4096) op.fail(sizes.size(), " parts");
  const std::vector<ValueId> parts = op.emit_many("Split", {x, op.list(sizes)}, {{"axis", axis}}, sizes.size());
  std::vector<Any> items;
  for (ValueId part : parts) items.push_back(op.like(0, part));
  return make_list(std::move(items));
}

std::vector<int64_t> equal_parts(Op& op, int64_t extent, int64_t size) {
  if (size < 1 || extent / size > 4096) op.fail("parts of ", size, " of ", extent);
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < extent; at += size) sizes.push_back(std::min(size, extent - at));
  return sizes;
}

}  // namespace

Any chunk(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(2), x), n = op.integer(1);
  if (n < 1) op.fail(n, " chunks");
  const int64_t extent = op.extent(x, axis);
  return split_into(op, x, axis, equal_parts(op, extent, std::max<int64_t>(1, (extent + n - 1) / n)));
}
Any split_tensor(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(2), x);
  if (op.argument(1).list()) return split_into(op, x, axis, op.ints(1));
  return split_into(op, x, axis, equal_parts(op, op.extent(x, axis), op.integer(1)));
}
Any unbind(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(1), x), n = op.extent(x, axis);
  if (n > 4096) op.fail(n, " parts");
  std::vector<Any> items;
  for (int64_t i = 0; i < n; ++i) {
    const ValueId at = op.store("index", Tensor::scalar(i));
    items.push_back(op.like(0, op.emit("Gather", {x, at}, {{"axis", axis}})));
  }
  return make_list(std::move(items));
}

Any cat_tensors(Op& op) {
  std::vector<ValueId> inputs = op.tensors(0);
  if (inputs.empty()) op.fail("no tensors");
  promote(op, &inputs);
  const int64_t axis = op.integer(1);
  const auto* first = op.items(0)[0].get<Any::Tensor>();
  const auto quantizer = (*first)->quantizer;
  const ValueId y = inputs.size() == 1 ? op.emit("Identity", inputs) : op.emit("Concat", inputs, {{"axis", axis}});
  return quantizer == nullptr ? op.result(y) : op.quantized(y, *quantizer);
}
Any stack(Op& op) {
  std::vector<ValueId> inputs;
  const int64_t axis = op.integer(1);
  for (ValueId v : op.tensors(0)) inputs.push_back(op.unsqueeze(v, {axis}));
  if (inputs.empty()) op.fail("no tensors");
  promote(op, &inputs);
  return op.result(op.emit("Concat", std::move(inputs), {{"axis", axis}}));
}

Any expand(Op& op) {
  const ValueId x = op.tensor(0);
  std::vector<Any> shape = op.items(1);
  const size_t extra = shape.size() - std::min(shape.size(), op.rank(x));
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto* n = shape[i].get<int64_t>();
    if (n != nullptr && *n == -1 && i >= extra) shape[i] = int64_t{1};  // Expand broadcasts both ways: 1 keeps
  }
  return op.view(0, op.emit("Expand", {x, op.ints_value(shape)}));
}
Any expand_as(Op& op) { return op.view(0, op.emit("Expand", {op.tensor(0), op.emit("Shape", {op.tensor(1)})})); }
Any repeat(Op& op) {
  ValueId x = op.tensor(0);
  std::vector<Any> repeats = op.items(1);
  const size_t rank = op.rank(x);
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), Any(int64_t{1}));
  if (repeats.size() > rank) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < repeats.size() - rank; ++i) axes.push_back(static_cast<int64_t>(i));
    x = op.unsqueeze(x, axes);
  }
  return op.result(op.emit("Tile", {x, op.ints_value(repeats)}));
}

namespace {

// torch lists pads from the last axis: left, right, top, bottom.
Any pad_input(Op& op, const std::vector<int64_t>& pads, const std::string& mode, ValueId value) {
  const ValueId x = op.tensor(0);
  const size_t rank = op.rank(x), n = pads.size() / 2;
  if (pads.size() % 2 != 0 || n > rank) op.fail(pads.size(), " pads for ", op.type(x).text());
  std::vector<int64_t> ends(2 * rank);
  for (size_t i = 0; i < n; ++i) {
    ends[rank - 1 - i] = pads[2 * i];
    ends[2 * rank - 1 - i] = pads[2 * i + 1];
  }
  std::vector<ValueId> inputs = {x, op.list(ends)};
  if (value != kNoValue) inputs.push_back(value);
  Attributes attributes;
  if (mode != "constant") attributes["mode"] = mode;
  return op.like(0, op.emit("Pad", std::move(inputs), std::move(attributes)));
}

}  // namespace

Any constant_pad(Op& op) {
  const ValueId value = op.real(2) == 0 ? kNoValue : op.number_like(2, op.tensor(0));
  return pad_input(op, op.ints(1), "constant", value);
}
Any pad(Op& op) {
  const std::string mode = op.text(2);
  if (mode == "constant")
    return pad_input(op, op.ints(1), mode, op.has(3) && op.real(3) != 0 ? op.number_like(3, op.tensor(0)) : kNoValue);
  if (mode == "reflect") return pad_input(op, op.ints(1), "reflect", kNoValue);
  if (mode == "replicate") return pad_input(op, op.ints(1), "edge", kNoValue);
  if (mode == "circular") return pad_input(op, op.ints(1), "wrap", kNoValue);
  op.refuse("mode ", dnn::quoted(mode), " is not read");
}
Any edge_pad(Op& op) { return pad_input(op, op.ints(1), op.row().op, kNoValue); }

Any roll(Op& op) {
  ValueId x = op.tensor(0);
  const std::vector<int64_t> shifts = op.ints(1), axes = op.ints(2);
  if (axes.empty() || axes.size() != shifts.size())
    op.refuse(shifts.size(), " shifts along ", axes.size(), " axes are not read");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = op.axis(axes[i], x);
    int64_t shift = shifts[i];
    if (op.fixed(x, axis) && op.extent(x, axis) > 0) shift %= op.extent(x, axis);
    if (shift == 0) continue;
    // The last `shift` elements come first.
    const ValueId tail = op.slice(x, axis, -shift, INT64_MAX), head = op.slice(x, axis, 0, -shift);
    x = op.emit("Concat", {tail, head}, {{"axis", axis}});
  }
  return op.result(x);
}
Any flip(Op& op) {
  const ValueId x = op.tensor(0);
  const std::vector<int64_t> axes = op.ints(1);
  const size_t n = axes.size();
  return op.result(
      op.emit("Slice", {x, op.list(std::vector<int64_t>(n, -1)), op.list(std::vector<int64_t>(n, INT64_MIN)),
                        op.list(axes), op.list(std::vector<int64_t>(n, -1))}));
}

namespace {

// A tensor of indices; Unsupported where it is of truth values, by which the extent of the result depends on numbers.
ValueId indices_of(Op& op, const Any& place) {
  const auto* cell = place.get<Any::Tensor>();
  if (cell == nullptr) op.fail("an index is ", kind_of(place));
  const ValueId at = op.importer().real_of(*cell, op, op.label());
  const DType dtype = op.type(at).dtype;
  if (dtype != DType::Int64 && dtype != DType::Int32) op.refuse("an index of ", dtype_name(dtype), " is not read");
  return dtype == DType::Int64 ? at : op.to_dtype(at, DType::Int64);
}

// Several axes by indices that broadcast against one another, which come first among the result's axes; where the indexed axes
// are neighbours they stand in their place.
ValueId index_axes(Op& op, ValueId x, const std::vector<int64_t>& axes, const std::vector<ValueId>& places) {
  const auto rank = static_cast<int64_t>(op.rank(x));
  std::vector<int64_t> perm = axes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) perm.push_back(axis);
  }
  ValueId sum = places[0];  // of the common shape
  int64_t depth = 0;
  for (ValueId place : places) depth = std::max(depth, static_cast<int64_t>(op.rank(place)));
  for (size_t i = 1; i < places.size(); ++i) sum = op.emit("Add", {sum, places[i]});
  const ValueId shape = op.emit("Shape", {sum});
  std::vector<ValueId> columns;
  for (ValueId place : places) columns.push_back(op.unsqueeze(op.emit("Expand", {place, shape}), {-1}));
  const ValueId table = op.emit("Concat", std::move(columns), {{"axis", int64_t{-1}}});
  const bool moved = perm != identity_perm(perm.size());
  const ValueId y = op.emit("GatherND", {moved ? op.transpose(x, perm) : x, table});
  const bool neighbours = axes.back() - axes.front() + 1 == static_cast<int64_t>(axes.size());
  if (!neighbours || axes.front() == 0) return y;
  std::vector<int64_t> back;  // the axes before the indexed ones, theirs, those behind
  for (int64_t i = 0; i < axes.front(); ++i) back.push_back(depth + i);
  for (int64_t i = 0; i < depth; ++i) back.push_back(i);
  for (int64_t i = axes.front(); i < rank - static_cast<int64_t>(axes.size()); ++i) back.push_back(depth + i);
  return op.transpose(y, back);
}

}  // namespace

// x[:, i], x[i, :, j]
Any index(Op& op) {
  const ValueId x = op.tensor(0);
  std::vector<int64_t> axes;
  std::vector<ValueId> places;
  for (size_t i = 0; i < op.items(1).size(); ++i) {
    if (op.items(1)[i].none()) continue;
    axes.push_back(static_cast<int64_t>(i));
    places.push_back(indices_of(op, op.items(1)[i]));
  }
  if (axes.empty()) return op.argument(0);
  if (axes.size() == 1) return op.result(op.emit("Gather", {x, places[0]}, {{"axis", axes[0]}}));
  return op.result(index_axes(op, x, axes, places));
}
Any index_select(Op& op) {
  return op.result(op.emit("Gather", {op.tensor(0), op.tensor(2)}, {{"axis", op.integer(1)}}));
}
// Windows along one axis, each at the end: [..., n, ..., size]
Any unfold(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(1), x), size = op.integer(2), step = op.integer(3),
                extent = op.extent(x, axis);
  if (size < 1 || step < 1 || size > extent) op.fail("windows of ", size, " by steps of ", step);
  const int64_t n = (extent - size) / step + 1;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n * size; ++i) places.push_back(i / size * step + i % size);
  const ValueId at = op.store("places", Tensor::of<int64_t>({n, size}, places));
  std::vector<int64_t> perm = identity_perm(op.rank(x) + 1);
  std::rotate(perm.begin() + axis + 1, perm.begin() + axis + 2, perm.end());
  return op.result(op.transpose(op.emit("Gather", {x, at}, {{"axis", axis}}), perm));
}

// [N, C, H, W] -> [N, C kh kw, windows]
Any im2col(Op& op) {
  ValueId x = op.tensor(0);
  if (op.rank(x) != 4) op.refuse("an image without a batch is not read");
  const std::vector<int64_t> kernel = op.ints(1, 2), dilation = op.ints(2, 2), pad = op.ints(3, 2),
                             stride = op.ints(4, 2);
  const int64_t channels = op.extent(x, 1);
  std::vector<int64_t> n;
  std::vector<ValueId> tables;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t extent = op.extent(x, static_cast<int64_t>(i) + 2) + 2 * pad[i];
    const int64_t reach = (kernel[i] - 1) * dilation[i] + 1;
    if (kernel[i] < 1 || dilation[i] < 1 || stride[i] < 1 || pad[i] < 0 || reach > extent)
      op.fail("a window of ", reach);
    n.push_back((extent - reach) / stride[i] + 1);
    std::vector<int64_t> places;
    for (int64_t k = 0; k < kernel[i]; ++k) {
      for (int64_t o = 0; o < n[i]; ++o) places.push_back(k * dilation[i] + o * stride[i]);
    }
    tables.push_back(op.store("places", Tensor::of<int64_t>({static_cast<int64_t>(places.size())}, places)));
  }
  if (pad != std::vector<int64_t>{0, 0}) x = op.emit("Pad", {x, op.list({0, 0, pad[0], pad[1], 0, 0, pad[0], pad[1]})});
  for (size_t i = 0; i < 2; ++i) x = op.emit("Gather", {x, tables[i]}, {{"axis", static_cast<int64_t>(i) + 2}});
  x = op.transpose(op.reshape(x, {0, channels, kernel[0], n[0], kernel[1], n[1]}), {0, 1, 2, 4, 3, 5});
  return op.result(op.reshape(x, {0, channels * kernel[0] * kernel[1], n[0] * n[1]}));
}

Any gather(Op& op) {
  return op.result(op.emit("GatherElements", {op.tensor(0), op.tensor(2)}, {{"axis", op.integer(1)}}));
}
Any embedding(Op& op) { return op.result(op.emit("Gather", {op.tensor(0), op.tensor(1)}, {{"axis", int64_t{0}}})); }

namespace {
Any cast_to(Op& op, DType dtype) {
  const ValueId x = op.tensor(0);
  if (op.type(x).dtype == dtype) return op.argument(0);
  return op.result(op.to_dtype(x, dtype));
}
}  // namespace

// to(dtype), to(device, dtype), to(other): the int is the dtype. What stands behind says where and when the copy is made.
Any to(Op& op) {
  for (size_t i = 1; i <= 6; ++i) op.without(i);
  if (op.has(7)) return cast_to(op, op.dtype(7));
  if (op.is_tensor(1)) return cast_to(op, op.type(op.tensor(1)).dtype);
  for (size_t i = 1; i <= 2; ++i) {
    if (op.has(i) && op.argument(i).get<int64_t>() != nullptr) return cast_to(op, op.dtype(i));
  }
  return op.argument(0);
}
Any to_copy(Op& op) { return op.has(1) ? cast_to(op, op.dtype(1)) : same_value(op); }
Any type_as(Op& op) { return cast_to(op, op.type(op.tensor(1)).dtype); }

Any zeros(Op& op) { return filled(op, op.items(0), 0, dtype_or(op, 1, DType::Float32)); }
Any ones(Op& op) { return filled(op, op.items(0), 1, dtype_or(op, 1, DType::Float32)); }
Any full(Op& op) { return filled(op, op.items(0), op.real(1), dtype_or(op, 2, dtype_of_number(op.argument(1)))); }
Any zeros_like(Op& op) { return filled_like(op, 0, dtype_or(op, 1, op.type(op.tensor(0)).dtype)); }
Any ones_like(Op& op) { return filled_like(op, 1, dtype_or(op, 1, op.type(op.tensor(0)).dtype)); }
Any full_like(Op& op) { return filled_like(op, op.real(1), dtype_or(op, 2, op.type(op.tensor(0)).dtype)); }
Any new_zeros(Op& op) { return filled(op, op.items(1), 0, dtype_or(op, 2, op.type(op.tensor(0)).dtype)); }
Any new_ones(Op& op) { return filled(op, op.items(1), 1, dtype_or(op, 2, op.type(op.tensor(0)).dtype)); }
Any new_full(Op& op) { return filled(op, op.items(1), op.real(2), dtype_or(op, 3, op.type(op.tensor(0)).dtype)); }
Any fill(Op& op) { return filled_like(op, op.real(1), op.type(op.tensor(0)).dtype); }

// arange(end), arange(start, end), arange(start, end, step); in programs, what stands behind may have moved to the front.
Any arange(Op& op) {
  const bool one = !op.has(1);
  for (size_t i = 0; i < 3; ++i) {
    if (op.has(i) && op.argument(i).get<Any::Symbolic>() != nullptr)
      op.refuse("a length that depends on an input's open extent; fix it with --shape");
  }
  const double start = one || !op.has(0) ? 0 : op.real(0), end = one ? op.real(0) : op.real(1),
               step = op.has(2) ? op.real(2) : 1;
  const double n = std::max(0.0, (end - start) / step);
  if (!(n < 1e6)) op.fail("a range of ", n, " elements");
  std::vector<double> values;
  for (int64_t i = 0; static_cast<double>(i) < n; ++i) values.push_back(start + static_cast<double>(i) * step);
  const bool real_number = op.argument(0).get<double>() != nullptr || op.argument(1).get<double>() != nullptr;
  const DType dtype = dtype_or(op, 3, real_number ? DType::Float32 : DType::Int64);
  return op.result(
      op.store("range", convert(Tensor::of<double>({static_cast<int64_t>(values.size())}, values), dtype)));
}

Any scalar_tensor(Op& op) {
  const DType dtype = dtype_or(op, 1, dtype_of_number(op.argument(0)) == DType::Bool ? DType::Bool : DType::Float32);
  return op.result(op.store("number", convert(Tensor::scalar(op.real(0)), dtype)));
}

Any ravel(Op& op) { return op.like(0, op.reshape(op.tensor(0), std::vector<int64_t>{-1})); }

Any matrix_transpose(Op& op) {
  std::vector<int64_t> perm = identity_perm(op.rank(op.tensor(0)));
  if (perm.size() < 2) op.fail("a matrix is expected, not ", op.type(op.tensor(0)).text());
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return op.like(0, op.transpose(op.tensor(0), perm));
}

// Each element several times after another, along one axis; without one, of all elements in a row.
Any repeat_interleave(Op& op) {
  if (op.is_tensor(1)) op.refuse("a number of repeats for each element is not read");
  op.without(3);  // the extent that comes out, which follows
  ValueId x = op.tensor(0);
  if (!op.has(2)) x = op.reshape(x, std::vector<int64_t>{-1});
  const int64_t n = op.integer(1), axis = op.has(2) ? op.axis(op.integer(2), x) : 0, extent = op.extent(x, axis);
  if (n < 0 || n > 1 << 12 || extent > 1 << 20) op.fail(n, " repeats of ", extent, " elements");
  std::vector<int64_t> places;
  for (int64_t i = 0; i < extent * n; ++i) places.push_back(i / n);
  const ValueId at = op.store("places", Tensor::of<int64_t>({extent * n}, places));
  return op.result(op.emit("Gather", {x, at}, {{"axis", axis}}));
}

// Joined along the second axis ("h", vectors along the first) or the first ("v", vectors as rows).
Any stack_rows(Op& op) {
  std::vector<ValueId> inputs = op.tensors(0);
  if (inputs.empty()) op.fail("no tensors");
  promote(op, &inputs);
  const bool rows = std::string(op.row().op) == "v";
  const size_t rank = op.rank(inputs[0]);
  for (ValueId& v : inputs) {
    const size_t own = op.rank(v), least = rows ? 2 : 1;
    if (own == 0) v = op.reshape(v, std::vector<int64_t>(least, 1));
    if (own == 1 && rows) v = op.unsqueeze(v, {0});
  }
  return op.result(op.emit("Concat", inputs, {{"axis", int64_t{rows || rank < 2 ? 0 : 1}}}));
}

// Into so many parts, of which the first ones may be one longer, or before each of these places.
// The first ones have one element more where it does not come out even.
static std::vector<int64_t> even_parts(Op& op, int64_t extent, int64_t n) {
  if (n < 1 || n > 4096) op.fail(n, " parts");
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < n; ++i) sizes.push_back(extent / n + (i < extent % n ? 1 : 0));
  return sizes;
}

Any tensor_split(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(2), x), extent = op.extent(x, axis);
  std::vector<int64_t> sizes;
  if (op.has(3)) {  // the number of parts by its own name, in exported programs
    sizes = even_parts(op, extent, op.integer(3));
  } else if (op.argument(1).list()) {
    int64_t from = 0;
    for (int64_t at : op.ints(1)) {
      const int64_t end = std::clamp(at < 0 ? at + extent : at, from, extent);
      sizes.push_back(end - from);
      from = end;
    }
    sizes.push_back(extent - from);
  } else {
    sizes = even_parts(op, extent, op.integer(1));
  }
  return split_into(op, x, axis, sizes);
}

// For each vector a tensor that repeats it along the axes of the others.
Any meshgrid(Op& op) {
  std::vector<ValueId> inputs = op.tensors(0);
  const bool turned = op.text(1) == "xy" && inputs.size() > 1;
  if (op.text(1) != "ij" && op.text(1) != "xy") op.refuse("indexing ", dnn::quoted(op.text(1)), " is not read");
  std::vector<int64_t> extents;
  for (ValueId v : inputs) extents.push_back(op.rank(v) == 0 ? 1 : op.extent(v, 0));
  std::vector<size_t> axes(inputs.size());  // of each input
  for (size_t i = 0; i < inputs.size(); ++i) axes[i] = turned && i < 2 ? 1 - i : i;
  std::vector<int64_t> whole(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) whole[axes[i]] = extents[i];
  std::vector<Any> items;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<int64_t> shape(inputs.size(), 1);
    shape[axes[i]] = extents[i];
    items.push_back(op.result(op.emit("Expand", {op.reshape(inputs[i], shape), op.list(whole)})));
  }
  return make_list(std::move(items));
}

// gather() of indices that broadcast against the tensor; without an axis, of all elements in a row.
Any take_along(Op& op) {
  ValueId x = op.tensor(0), places = op.tensor(1);
  if (!op.has(2)) {
    const ValueId flat = op.reshape(x, std::vector<int64_t>{-1});
    return op.result(
        op.emit("GatherElements", {flat, op.reshape(places, std::vector<int64_t>{-1})}, {{"axis", int64_t{0}}}));
  }
  const int64_t axis = op.axis(op.integer(2), x);
  for (size_t i = 0; i < op.rank(x); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (at != axis && op.extent(x, at) != op.extent(places, at)) op.refuse("indices that are repeated are not read");
  }
  return op.result(op.emit("GatherElements", {x, places}, {{"axis", axis}}));
}

Any one_hot(Op& op) {
  const int64_t n = op.integer(1);
  if (n < 1) op.refuse("a number of classes that depends on the numbers is not read");
  const ValueId depth = op.store("depth", Tensor::scalar(n)), values = op.list({0, 1});
  return op.result(op.emit("OneHot", {op.tensor(0), depth, values}));
}

}  // namespace dnn::torch
