// Views; see views.h.
#include "layout/views.h"

#include <algorithm>
#include <numeric>

#include "ops/movement.h"

namespace dnn {
namespace {

bool one_of(const Node& node, std::initializer_list<std::string_view> ops) {
  return node.domain.empty() && std::find(ops.begin(), ops.end(), node.op) != ops.end();
}

}  // namespace

View::View(std::vector<int64_t> extents) : shape(std::move(extents)), strides(row_major_strides(shape)) {}

bool View::moves(const Graph& graph, const Node& node) {
  if (one_of(node, {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Split", "Identity"})) return true;
  if (one_of(node, {"Gather"})) {
    const Tensor* index = graph.constant(node.input(1));
    return index != nullptr && index->size() == 1;
  }
  if (!one_of(node, {"Slice"})) return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId v) { return v == kNoValue || graph.constant(v) != nullptr; });
}

void View::swap(size_t a, size_t b) {
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
}

bool View::split(size_t axis, int64_t outer, int64_t inner) {
  if (outer * inner != shape[axis]) return false;
  const auto at = static_cast<std::ptrdiff_t>(axis);
  shape[axis] = inner;
  shape.insert(shape.begin() + at, outer);
  strides.insert(strides.begin() + at, strides[axis] * inner);
  return true;
}

bool View::merge(size_t axis) {
  const bool one = shape[axis] == 1, inner_one = shape[axis + 1] == 1;
  if (!one && !inner_one && strides[axis] != strides[axis + 1] * shape[axis + 1]) return false;
  const int64_t stride = inner_one ? strides[axis] : strides[axis + 1];
  shape[axis] *= shape[axis + 1];
  strides[axis] = stride;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  return true;
}

bool View::contiguous() const {
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != stride) return false;
    stride *= shape[i];
  }
  return offset == 0;
}

// Runs of axes with equally many elements on both sides; the old ones of a run must lie in one piece.
bool View::reshape(const std::vector<int64_t>& to) {
  if (element_count(shape) != element_count(to) || element_count(to) < 1) return false;
  std::vector<int64_t> made(to.size(), 1);
  size_t i = 0, k = 0;
  while (i < shape.size() || k < to.size()) {
    int64_t before = i < shape.size() ? shape[i] : 1, after = k < to.size() ? to[k] : 1;
    size_t last = i, end = k;
    while (before != after) {
      if (before < after) {
        before *= shape[++last];
      } else {
        after *= to[++end];
      }
    }
    int64_t stride = -1;  // of the run's last axis that has more than one element
    for (size_t a = std::min(last + 1, shape.size()); a-- > i;) {
      if (shape[a] == 1) continue;
      int64_t inner = 1;
      for (size_t b = a + 1; b <= last; ++b) inner *= shape[b];
      if (stride < 0) stride = strides[a];
      if (strides[a] != stride * inner) return false;
    }
    for (size_t a = std::min(end + 1, to.size()); a-- > k;) {
      made[a] = std::max<int64_t>(stride, 1);
      if (stride > 0) stride *= to[a];
    }
    i = std::min(last + 1, shape.size());
    k = std::min(end + 1, to.size());
  }
  shape = to;
  strides = std::move(made);
  return true;
}

bool View::cut(size_t axis, int64_t begin, int64_t end) {
  if (begin < 0 || end > shape[axis] || begin >= end) return false;
  offset += begin * strides[axis];
  shape[axis] = end - begin;
  return true;
}

bool View::slice(const Graph& graph, const Node& node) {
  const std::vector<int64_t> begins = to_int64s(*graph.constant(node.inputs[1])),
                             ends = to_int64s(*graph.constant(node.inputs[2]));
  std::vector<int64_t> axes(begins.size()), steps(begins.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (node.input(3) != kNoValue) axes = to_int64s(*graph.constant(node.inputs[3]));
  if (node.input(4) != kNoValue) steps = to_int64s(*graph.constant(node.inputs[4]));
  const auto rank = static_cast<int64_t>(shape.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (steps[i] != 1 || axis < 0 || axis >= rank) return false;
    const int64_t extent = shape[axis];
    const auto place = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + extent : v, 0, extent); };
    if (!cut(axis, place(begins[i]), place(ends[i]))) return false;
  }
  return true;
}

bool View::apply(const Graph& graph, const Node& node, ValueId output, const Types& types) {
  const auto rank = static_cast<int64_t>(shape.size());
  const auto axis_of = [&](int64_t fallback) {
    const int64_t axis = node.attribute_int("axis", fallback);
    return axis < 0 ? axis + rank : axis;
  };
  if (node.op == "Identity") return true;
  if (node.op == "Slice") return slice(graph, node);
  if (node.op == "Transpose") {
    const std::vector<int64_t> perm = transpose_permutation(node, shape.size());
    const View before = *this;
    if (perm.size() != shape.size()) return false;
    for (size_t i = 0; i < perm.size(); ++i) {
      shape[i] = before.shape[perm[i]];
      strides[i] = before.strides[perm[i]];
    }
    return true;
  }
  if (node.op == "Gather") {
    const int64_t axis = axis_of(0);
    if (axis < 0 || axis >= rank) return false;
    const Tensor& list = *graph.constant(node.inputs[1]);
    int64_t index = to_int64s(list)[0];
    if (index < 0) index += shape[axis];
    if (!cut(axis, index, index + 1)) return false;
    if (list.rank() == 1) return true;
    shape.erase(shape.begin() + axis);
    strides.erase(strides.begin() + axis);
    return list.rank() == 0;
  }
  if (node.op == "Split") {
    const int64_t axis = axis_of(0);
    if (axis < 0 || axis >= rank) return false;
    int64_t begin = 0;
    for (ValueId v : node.outputs) {
      if (v == kNoValue || !types[v].fixed()) return false;
      const Shape part = types[v].fixed_shape();
      if (part.size() != shape.size()) return false;
      const int64_t extent = part[axis];
      if (v == output) return cut(axis, begin, begin + extent);
      begin += extent;
    }
    return false;
  }
  const Type& type = types[output];
  return type.fixed() && reshape(type.fixed_shape());
}

}  // namespace dnn
