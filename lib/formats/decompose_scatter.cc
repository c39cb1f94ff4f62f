// Definitions of operators that write elements at places, which are known or computed, and of the places of maxima; see
// definitions.h.
#include <algorithm>
#include <limits>

#include "formats/places.h"

namespace dnn {
namespace {

using namespace places;

// By known places each element is the data's or an update's.
bool end_with_updates(Decomposition& s, const Places& update_of) {
  const Shape data = s.shape(s.x());
  Tensor updated(DType::Bool, data);
  Places from(update_of.size(), 0);
  for (size_t i = 0; i < update_of.size(); ++i) {
    updated.mutable_data<bool>()[i] = update_of[i] >= 0;
    from[i] = std::max<int64_t>(0, update_of[i]);
  }
  const ValueId taken =
      s.emit("Gather", {in_one_row(s, s.node().inputs[2]), s.store("from", Tensor::of<int64_t>(data, from))},
             {{"axis", int64_t{0}}});
  s.end("Where", {s.store("updated", updated), taken, s.x()});
  return true;
}

bool is_known(const Decomposition& s) {
  return s.fixed(0) && s.fixed(1) && s.fixed(2) && s.constant(1) != nullptr && s.shape(s.x()).size() > 0 &&
         element_count(s.shape(s.x())) <= kMost && element_count(s.shape(s.node().inputs[2])) > 0 &&
         string_attribute(s.node(), "reduction") == "none";
}

// The last update of an element counts.
bool scatter_known_elements(Decomposition& s) {
  const Shape data = s.shape(s.x()), shape = s.shape(s.node().inputs[1]);
  const int64_t axis = axis_of(s, std::ssize(data));
  const std::vector<int64_t> strides = row_major_strides(data);
  const Places others = without_axis(shape, axis, strides), along = to_int64s(*s.constant(1));
  Places update_of(element_count(data), -1);
  for (int64_t i = 0; i < std::ssize(along); ++i) {
    const int64_t at = counted_from_front(along[i], data[axis]);
    if (at < 0) return false;
    update_of[others[i] + at * strides[axis]] = i;
  }
  return end_with_updates(s, update_of);
}

bool scatter_known_slices(Decomposition& s) {
  const Shape data = s.shape(s.x()), shape = s.shape(s.node().inputs[1]);
  const int64_t depth = shape.empty() ? 0 : shape.back();
  if (depth < 1 || depth > std::ssize(data)) return false;
  const std::vector<int64_t> strides = row_major_strides(data);
  const int64_t slice = strides[depth - 1];
  const Places indices = to_int64s(*s.constant(1));
  Places update_of(element_count(data), -1);
  for (int64_t row = 0; row * depth < std::ssize(indices); ++row) {
    int64_t first = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t at = counted_from_front(indices[row * depth + d], data[d]);
      if (at < 0) return false;
      first += at * strides[d];
    }
    for (int64_t i = 0; i < slice; ++i) update_of[first + i] = row * slice + i;
  }
  return end_with_updates(s, update_of);
}

// True if each update has a known place in one row: all shapes are fixed.
bool has_places(const Decomposition& s) {
  if (!s.fixed(0) || !s.fixed(1) || !s.fixed(2)) return false;
  const Shape data = s.shape(s.x()), updates = s.shape(s.node().inputs[2]);
  return !data.empty() && element_count(data) > 0 && element_count(updates) > 0 && element_count(updates) <= kMost;
}

Attributes reduction_of(const Decomposition& s) { return {{"reduction", string_attribute(s.node(), "reduction")}}; }

// A ScatterND of single numbers, of tensors in one row each.
bool end_in_one_row(Decomposition& s, ValueId at) {
  const ValueId tuples = s.emit("Reshape", {at, s.list({-1, 1})});
  const ValueId row =
      s.emit("ScatterND", {in_one_row(s, s.x()), tuples, in_one_row(s, s.node().inputs[2])}, reduction_of(s));
  s.end("Reshape", {row, s.list(s.shape(s.x()))});
  return true;
}

bool scatter_elements(Decomposition& s) {
  if (is_known(s)) return scatter_known_elements(s);
  if (!has_places(s)) return false;
  const Shape data = s.shape(s.x()), shape = s.shape(s.node().inputs[1]);
  const int64_t axis = axis_of(s, std::ssize(data));
  const std::vector<int64_t> strides = row_major_strides(data);
  ValueId at = from_front(s, s.node().inputs[1], data[axis]);
  if (data.size() > 1) {
    const ValueId stride = s.store("stride", Tensor::of<int64_t>({}, {strides[axis]}));
    const ValueId others = s.store("others", Tensor::of<int64_t>(shape, without_axis(shape, axis, strides)));
    at = s.emit("Add", {s.emit("Mul", {at, stride}), others});
  }
  return end_in_one_row(s, at);
}

// Slices in one row of numbers; what is one already, along that axis.
bool scatter_nd(Decomposition& s) {
  if (is_known(s)) return scatter_known_slices(s);
  if (!has_places(s)) return false;
  const Shape data = s.shape(s.x()), shape = s.shape(s.node().inputs[1]);
  const int64_t depth = shape.empty() ? 0 : shape.back();
  if (depth < 1 || depth > std::ssize(data)) return false;
  if (data.size() == 1) {
    const ValueId at = in_one_row(s, s.node().inputs[1]), updates = in_one_row(s, s.node().inputs[2]);
    Attributes attributes = reduction_of(s);
    attributes["axis"] = int64_t{0};
    s.end("ScatterElements", {s.x(), at, updates}, attributes);
    return true;
  }
  ValueId at = s.emit("Reshape", {rows_of_tuples(s, s.node().inputs[1], data), s.list({-1, 1})});
  if (const int64_t slice = row_major_strides(data)[depth - 1]; slice > 1) {
    const ValueId size = s.store("slice", Tensor::of<int64_t>({}, {slice}));
    at = s.emit("Add", {s.emit("Mul", {at, size}), s.store("places", Tensor::of<int64_t>({slice}, counted(slice)))});
  }
  return end_in_one_row(s, at);
}

// The values at their places among zeros, of the shape that is asked for or that was before pooling.
bool max_unpool(Decomposition& s) {
  const bool asks = s.node().input(2) != kNoValue;
  if (!s.fixed(0) || !s.fixed(1) || (asks && s.constant(2) == nullptr)) return false;
  Shape shape = s.shape(s.x());
  const size_t rank = shape.size() - 2;
  const std::vector<int64_t> kernel = ints_attribute(s.node(), "kernel_shape"),
                             strides = ints_attribute(s.node(), "strides", rank),
                             pads = ints_attribute(s.node(), "pads", 2 * rank);
  for (size_t i = 0; i < rank; ++i)
    shape[i + 2] = (shape[i + 2] - 1) * strides[i] - pads[i] - pads[rank + i] + kernel[i];
  if (asks) shape = to_int64s(*s.constant(2));
  if (element_count(s.shape(s.x())) == 0 || element_count(shape) == 0) return false;
  const ValueId zeros = s.emit("Expand", {s.number(0), s.list({element_count(shape)})});
  const ValueId at = s.emit("Reshape", {s.node().inputs[1], s.list({-1, 1})});
  const ValueId row = s.emit("ScatterND", {zeros, at, in_one_row(s, s.x())});
  s.end("Reshape", {row, s.list(shape)});
  return true;
}

// ------------------------------------------------------------------------------------------ places of maxima

// One spatial axis of a MaxPool: its kernel, steps and padding.
struct PooledAxis {
  int64_t extent, kernel, stride, dilation, before, out;
  int64_t first(int64_t tap) const { return tap * dilation; }  // in the padded axis
};

std::vector<PooledAxis> pooled_axes(const Decomposition& s, const Shape& x, const Shape& y) {
  const size_t rank = x.size() - 2;
  const auto given = [&](const char* name, size_t n, int64_t usual) {
    return s.node().attribute_ints(name, std::vector<int64_t>(n, usual));
  };
  const std::vector<int64_t> kernel = given("kernel_shape", rank, 1), strides = given("strides", rank, 1),
                             dilations = given("dilations", rank, 1), pads = given("pads", 2 * rank, 0);
  std::vector<PooledAxis> axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back({x[i + 2], kernel[i], strides[i], dilations[i], pads[i], y[i + 2]});
  return axes;
}

// Taps of a kernel, as coordinates in row-major order.
std::vector<Places> taps_of(const std::vector<PooledAxis>& axes) {
  std::vector<Places> taps = {{}};
  for (const PooledAxis& axis : axes) {
    std::vector<Places> longer;
    for (const Places& tap : taps) {
      for (int64_t k = 0; k < axis.kernel; ++k) {
        longer.push_back(tap);
        longer.back().push_back(k);
      }
    }
    taps = std::move(longer);
  }
  return taps;
}

// For each window the first of its largest elements, by its tap: the windows' elements of each tap beside one another.
ValueId largest_tap(Decomposition& s, const std::vector<PooledAxis>& axes, const std::vector<Places>& taps) {
  const int64_t rank = s.rank();
  Places before(rank, 0), after(rank, 0), spatial;
  for (int64_t i = 0; i < std::ssize(axes); ++i) {
    const PooledAxis& axis = axes[i];
    const int64_t reach = (axis.out - 1) * axis.stride + axis.first(axis.kernel - 1) + 1;
    before[i + 2] = axis.before;
    after[i + 2] = std::max<int64_t>(0, reach - axis.before - axis.extent);
    spatial.push_back(i + 2);
  }
  Places pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  const ValueId least = s.number(std::numeric_limits<float>::lowest());
  const bool whole = std::all_of(pads.begin(), pads.end(), [](int64_t n) { return n == 0; });
  const ValueId padded = whole ? s.x() : s.emit("Pad", {s.x(), s.list(pads), least});
  std::vector<ValueId> parts;
  for (const Places& tap : taps) {
    Places from, to, steps;
    for (size_t i = 0; i < axes.size(); ++i) {
      from.push_back(axes[i].first(tap[i]));
      to.push_back(from.back() + (axes[i].out - 1) * axes[i].stride + 1);
      steps.push_back(axes[i].stride);
    }
    const ValueId part = s.emit("Slice", {padded, s.list(from), s.list(to), s.list(spatial), s.list(steps)});
    parts.push_back(s.emit("Unsqueeze", {part, s.list({rank})}));
  }
  const ValueId all = s.emit("Concat", parts, {{"axis", rank}});
  return s.emit("ArgMax", {all}, {{"axis", rank}, {"keepdims", int64_t{0}}});
}

// The places of the largest elements in the whole tensor, beside a MaxPool that makes none.
bool max_pool_with_places(Decomposition& s) {
  constexpr double kMostTaps = 64;
  const std::vector<ValueId>& outputs = s.node().outputs;
  if (outputs.size() < 2 || outputs[1] == kNoValue || !s.fixed(0) || s.rank() < 3 || s.type().dtype != DType::Float32 ||
      int_attribute(s.node(), "storage_order") != 0 || string_attribute(s.node(), "auto_pad") != "NOTSET" ||
      !s.type_of(outputs[0]).fixed())
    return false;
  const Shape x = s.shape(s.x()), y = s.type_of(outputs[0]).fixed_shape();
  if (element_count(y) == 0 || element_count(y) > kMost) return false;
  const std::vector<PooledAxis> axes = pooled_axes(s, x, y);
  double count = 1;
  for (const PooledAxis& axis : axes) count *= static_cast<double>(axis.kernel);
  if (count > kMostTaps) return false;
  const std::vector<Places> taps = taps_of(axes);
  const std::vector<int64_t> strides = row_major_strides(x), own = row_major_strides(y);
  Places of_tap(taps.size(), 0), of_window(element_count(y), 0);
  for (size_t t = 0; t < taps.size(); ++t) {
    for (size_t i = 0; i < axes.size(); ++i) of_tap[t] += axes[i].first(taps[t][i]) * strides[i + 2];
  }
  for (int64_t w = 0; w < std::ssize(of_window); ++w) {
    for (int64_t d = 0; d < std::ssize(y); ++d) {
      const int64_t at = w / own[d] % y[d];
      of_window[w] += (d < 2 ? at : at * axes[d - 2].stride - axes[d - 2].before) * strides[d];
    }
  }
  Attributes pooling = s.node().attributes;
  pooling.erase("storage_order");
  s.end("MaxPool", {s.x()}, pooling);
  const ValueId tap = s.store("taps", Tensor::of<int64_t>({std::ssize(of_tap)}, of_tap));
  const ValueId beyond = s.emit("Gather", {tap, largest_tap(s, axes, taps)}, {{"axis", int64_t{0}}});
  s.end("Add", {beyond, s.store("windows", Tensor::of<int64_t>(y, of_window))}, {}, {outputs[1]});
  return true;
}

}  // namespace

const std::vector<Definition>& scatter_definitions() {
  static const std::vector<Definition> all = {{"MaxPool", max_pool_with_places},
                                              {"MaxUnpool", max_unpool},
                                              {"ScatterElements", scatter_elements},
                                              {"ScatterND", scatter_nd}};
  return all;
}

}  // namespace dnn
