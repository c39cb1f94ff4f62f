// Writing what moves elements: shapes, slices, borders, joined and cut tensors.
#include <algorithm>
#include <climits>

#include "formats/tflite/exports.h"
#include "ops/movement.h"

namespace dnn::tflite {
namespace {

int32_t scalar(Export& e, int64_t value) { return e.store("axis", dnn::Tensor::scalar(static_cast<int32_t>(value))); }

// Extents with at most one open, as Reshape's -1.
std::vector<int64_t> with_one_open(Export& e, std::vector<int64_t> shape) {
  if (std::count(shape.begin(), shape.end(), -1) > 1)
    e.refuse("several of its extents are open; fix them with --shape");
  return shape;
}

// Axes of an input, counted from the front; all of them where it is left out.
std::vector<int64_t> axes_of(Export& e, size_t i, size_t n) {
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  std::vector<int64_t> axes;
  if (e.has_input(i)) axes = e.known_ints(i, "list of axes");
  for (size_t axis = 0; !e.has_input(i) && axis < n; ++axis) axes.push_back(static_cast<int64_t>(axis));
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  return axes;
}

}  // namespace

void write_concat(Export& e) {
  std::vector<int32_t> inputs;
  for (size_t i = 0; i < e.node().inputs.size(); ++i) inputs.push_back(e.input(i));
  const auto axis = static_cast<int>(e.node().attribute_int("axis", 0));
  e.op(2, inputs, {e.output()}, {10, CreateConcatenationOptions(e.builder(), axis)});
}

void write_expand(Export& e) {
  if (!e.output_type().fixed()) e.refuse("its extents are open; fix them with --shape");
  e.op(130, {e.input(0), e.ints(e.output_shape())}, {e.output()});
}

void write_identity(Export& e) { write_reshape(e); }

void write_pad(Export& e) {
  const Node& node = e.node();
  const size_t rank = e.shape(0).size();
  const std::vector<int64_t> pads = e.known_ints(1, "padding"), axes = axes_of(e, 3, rank);
  if (pads.size() != 2 * axes.size()) e.refuse(pads.size(), " pads of ", axes.size(), " axes");
  std::vector<int32_t> rows(2 * rank);
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0) e.refuse("negative padding");
    rows[2 * static_cast<size_t>(axes[i % axes.size()]) + i / axes.size()] = static_cast<int32_t>(pads[i]);
  }
  const int32_t list = e.store("pads", dnn::Tensor::of<int32_t>({static_cast<int64_t>(rank), 2}, rows));
  const std::string mode = node.attribute_string("mode", "constant");
  if (mode == "constant" && e.has_input(2) && to_doubles(e.known(2, "fill"))[0] != 0) {
    const int32_t fill = e.number(to_doubles(*e.constant(2))[0]);
    e.op(60, {e.input(0), list, fill}, {e.output()}, {43, CreateAnyTable(e.builder())});
  } else if (mode == "constant") {
    e.op(34, {e.input(0), list}, {e.output()}, {22, CreateAnyTable(e.builder())});
  } else if (mode == "reflect" || (mode == "edge" && *std::max_element(pads.begin(), pads.end()) <= 1)) {
    const MirrorMode how = mode == "reflect" ? MirrorMode::REFLECT : MirrorMode::SYMMETRIC;
    e.op(100, {e.input(0), list}, {e.output()}, {77, CreateMirrorPadOptions(e.builder(), how)});
  } else {
    e.refuse("padding by ", mode);
  }
}

// Reshape, Flatten, Squeeze, Unsqueeze: by the extents of the result, computed ones where several are open.
void write_reshape(Export& e) {
  const std::vector<int64_t> y = e.output_shape();
  if (e.node().op == "Reshape" && e.constant(1) == nullptr && std::count(y.begin(), y.end(), -1) > 1)
    return e.op(22, {e.input(0), e.input(1)}, {e.output()});
  const std::vector<int64_t> shape = with_one_open(e, e.output_shape());
  const std::vector<int32_t> extents(shape.begin(), shape.end());
  const int32_t list = e.ints(shape);
  const auto copy = e.builder().CreateVector(extents);
  e.op(22, {e.input(0), list}, {e.output()}, {17, CreateReshapeOptions(e.builder(), copy)});
}

void write_shape(Export& e) {
  if (e.node().has_attribute("start") || e.node().has_attribute("end")) e.refuse("a part of a shape");
  e.op(77, {e.input(0)}, {e.output()}, {55, CreateShapeOptions(e.builder(), TensorType::INT32)});
}

void write_slice(Export& e) {
  const std::vector<int64_t> starts = e.known_ints(1, "starts"), ends = e.known_ints(2, "ends"), x = e.shape(0);
  const std::vector<int64_t> axes = axes_of(e, 3, starts.size());
  std::vector<int64_t> steps(starts.size(), 1);
  if (e.has_input(4)) steps = e.known_ints(4, "steps");
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    e.refuse(starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes, ", steps.size(), " steps");
  std::vector<int64_t> begin(x.size(), 0), end(x.size(), 0), stride(x.size(), 1);
  int whole = (1 << x.size()) - 1, from = whole;  // bits of axes whose end or begin is left open
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = axes[i];
    const int bit = 1 << axes[i];
    const int64_t extent = x[axis];
    if (extent < 0 && (starts[i] < 0 || (ends[i] < INT_MAX && ends[i] < 0)))
      e.refuse("a slice of an open extent from its end");
    stride[axis] = steps[i];
    int64_t a = starts[i], b = ends[i];
    if (extent >= 0) {
      a = std::clamp(a < 0 ? a + extent : a, int64_t{0}, steps[i] > 0 ? extent : extent - 1);
      if (b < 0) b = std::max<int64_t>(b + extent, -1);
      b = std::min(b, extent);
    }
    begin[axis] = a;
    from &= ~bit;
    if (b < 0 && steps[i] < 0) continue;  // down to the first element: the end stays open
    if (steps[i] > 0 && (extent < 0 ? b >= INT_MAX : b == extent)) continue;
    end[axis] = std::max<int64_t>(b, 0);
    whole &= ~bit;
  }
  const int32_t b = e.ints(begin), n = e.ints(end), s = e.ints(stride);
  e.op(45, {e.input(0), b, n, s}, {e.output()}, {32, CreateStridedSliceOptions(e.builder(), from, whole)});
}

void write_split(Export& e) {
  const auto axis = e.node().attribute_int("axis", 0);
  std::vector<int32_t> outputs;
  std::vector<int64_t> sizes;
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  for (size_t i = 0; i < e.node().outputs.size(); ++i) {
    outputs.push_back(e.output(i));
    sizes.push_back(e.output_shape(i)[axis < 0 ? axis + rank : axis]);
  }
  const auto n = static_cast<int>(outputs.size());
  if (std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size == sizes[0] && size >= 0; })) {
    e.op(49, {scalar(e, axis), e.input(0)}, outputs, {35, CreateSplitOptions(e.builder(), n)});
  } else {
    const int32_t list = e.ints(sizes);
    e.op(102, {e.input(0), list, scalar(e, axis)}, outputs, {79, CreateSplitOptions(e.builder(), n)});
  }
}

void write_tile(Export& e) {
  const int32_t repeats = e.ints(e.known_ints(1, "list of repeats"));
  e.op(69, {e.input(0), repeats}, {e.output()}, {51, CreateAnyTable(e.builder())});
}

void write_transpose(Export& e) {
  const std::vector<int64_t> perm = transpose_permutation(e.node(), e.shape(0).size());
  e.op(39, {e.input(0), e.ints(perm)}, {e.output()}, {26, CreateAnyTable(e.builder())});
}

}  // namespace dnn::tflite
