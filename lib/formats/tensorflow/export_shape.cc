// Writing what moves elements: shapes, slices, borders, joined and cut tensors.
#include <algorithm>
#include <climits>
#include <limits>
#include <map>
#include <numeric>

#include "formats/tensorflow/exports.h"
#include "ops/movement.h"

namespace dnn::tensorflow {
namespace {

// Axes of an input, counted from the front; all of them where it is left out.
std::vector<int64_t> axes_or_first(Export& e, size_t i, size_t n) {
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  std::vector<int64_t> axes;
  if (e.has_input(i)) axes = e.known_ints(i, "list of axes");
  for (size_t axis = 0; !e.has_input(i) && axis < n; ++axis) axes.push_back(static_cast<int64_t>(axis));
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  return axes;
}

// A list of extents: the IR's input, or a constant.
struct List {
  Edge edge;
  DataType dtype = DT_INT32;
};

List list(Export& e, size_t i) {
  if (const Tensor* known = e.constant(i)) return {e.ints(to_int64s(*known)), DT_INT32};
  return {e.input(i), e.dtype(i)};
}

}  // namespace

void write_identity(Export& e) { e.finish(e.last("Identity").in(e.input(0)).type("T", e.dtype(0))); }

void write_concat(Export& e) {
  std::vector<Edge> inputs;
  for (size_t i = 0; i < e.node().inputs.size(); ++i) inputs.push_back(e.input(i));
  if (inputs.size() == 1) return write_identity(e);
  const Edge axis = e.integer(e.node().attribute_int("axis", 0));
  NodeBuilder node = e.last("ConcatV2");
  node.in(inputs).in(axis).type("T", e.dtype(0)).type("Tidx", DT_INT32);
  e.finish(std::move(node.integer("N", static_cast<int64_t>(inputs.size()))));
}

// Both ways broadcast in the IR, one way in TensorFlow: an extent of 1 that is asked for may be the input's.
void write_expand(Export& e) {
  const std::vector<int64_t> y = e.output_shape();
  List extents;
  if (e.output_type().fixed()) {
    extents.edge = e.ints(y);
  } else {
    extents = list(e, 1);
    if (const Tensor* known = e.constant(1)) {
      const std::vector<int64_t> wanted = to_int64s(*known), x = e.shape(0);
      if (std::any_of(wanted.begin(), wanted.end(), [](int64_t v) { return v == 1; }) && x.size() > 0 &&
          std::count(x.begin(), x.end(), 1) != static_cast<int64_t>(x.size()))
        e.refuse("its extents are open; fix them with --shape");
    }
  }
  NodeBuilder node = e.last("BroadcastTo");
  e.finish(std::move(node.in({e.input(0), extents.edge}).type("T", e.dtype(0)).type("Tidx", extents.dtype)));
}

void write_constant_of_shape(Export& e) {
  const auto value = e.node().attributes.find("value");
  Tensor fill = Tensor::scalar(0.0f);
  if (value != e.node().attributes.end()) fill = std::get<Tensor>(value->second).reshaped({});
  const List extents = list(e, 0);
  const Edge number = e.store("value", fill);
  e.finish(std::move(
      e.last("Fill").in({extents.edge, number}).type("T", e.output_dtype()).type("index_type", extents.dtype)));
}

void write_gather(Export& e) {
  const int64_t axis = e.node().attribute_int("axis", 0);
  Edge indices;
  if (const Tensor* known = e.constant(1)) {  // TensorFlow's do not count from the back
    std::vector<int64_t> values = to_int64s(*known);
    const std::vector<int64_t> x = e.shape(0);
    const int64_t extent = x[axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis];
    for (int64_t& v : values) {
      if (v < 0 && extent < 0) e.refuse("an index from the end of an open extent");
      v += v < 0 ? extent : 0;
    }
    indices = e.store("indices", convert(Tensor::of<int64_t>(known->shape(), values), e.type(1).dtype));
  } else {
    indices = e.input(1);
  }
  const Edge at = e.integer(axis);
  NodeBuilder node = e.last("GatherV2");
  node.in({e.input(0), indices, at}).type("Tparams", e.dtype(0)).type("Tindices", e.dtype(1)).type("Taxis", DT_INT32);
  e.finish(std::move(node));
}

void write_gather_nd(Export& e) {
  if (e.node().attribute_int("batch_dims", 0) != 0) e.refuse("batch_dims");
  NodeBuilder node = e.last("GatherNd");
  e.finish(std::move(node.in({e.input(0), e.input(1)}).type("Tparams", e.dtype(0)).type("Tindices", e.dtype(1))));
}

void write_scatter_nd(Export& e) {
  static const std::map<std::string, const char*> operators = {{"none", "TensorScatterUpdate"},
                                                               {"add", "TensorScatterAdd"},
                                                               {"max", "TensorScatterMax"},
                                                               {"min", "TensorScatterMin"}};
  const std::string reduction = e.node().attribute_string("reduction", "none");
  const auto found = operators.find(reduction);
  if (found == operators.end()) e.refuse("reduction ", quoted(reduction), "; ONNX holds it");
  NodeBuilder node = e.last(found->second);
  node.in({e.input(0), e.input(1), e.input(2)}).type("T", e.dtype(0)).type("Tindices", e.dtype(1));
  e.finish(std::move(node));
}

// TensorFlow gives the numbers of boxes alone; image and class are 0 in front of them.
void write_non_max_suppression(Export& e) {
  const auto scalar = [&](size_t i, double fallback) {
    if (!e.has_input(i)) return e.number(fallback);
    const Tensor& known = e.known(i, i == 2 ? "number of boxes" : "threshold");
    if (known.size() != 1) e.refuse("its input ", i, " has ", known.size(), " numbers");
    if (i > 2) return e.number(to_doubles(known)[0]);
    return e.integer(std::clamp<int64_t>(to_int64s(known)[0], 0, INT_MAX));
  };
  const Edge most = e.has_input(2) ? scalar(2, 0) : e.integer(0), overlap = scalar(3, 0),
             least = scalar(4, -std::numeric_limits<double>::infinity());
  const auto reshaped = [&](const Edge& x, DataType dtype, const std::vector<int64_t>& shape, const char* what) {
    const Edge extents = e.ints(shape);
    return e.add(std::move(e.step("Reshape", what).in({x, extents}).type("T", dtype).type("Tshape", DT_INT32)));
  };
  const Edge boxes = reshaped(e.input(0), DT_FLOAT, {-1, 4}, "boxes"),
             scores = reshaped(e.input(1), DT_FLOAT, {-1}, "scores");
  NodeBuilder node = e.step("NonMaxSuppressionV3");
  node.in({boxes, scores, most, overlap, least}).type("T", DT_FLOAT).type("T_threshold", DT_FLOAT);
  const Edge chosen = e.add(std::move(node));
  const Edge wide = e.add(std::move(e.step("Cast").in(chosen).type("SrcT", DT_INT32).type("DstT", DT_INT64)));
  const Edge rows = reshaped(wide, DT_INT64, {-1, 1}, "rows");
  const Edge front = e.store("paddings", Tensor::of<int32_t>({2, 2}, {0, 0, 2, 0}));
  e.finish(std::move(e.last("Pad").in({rows, front}).type("T", DT_INT64).type("Tpaddings", DT_INT32)));
}

void write_pad(Export& e) {
  const Node& node = e.node();
  const size_t rank = e.shape(0).size();
  const std::vector<int64_t> pads = e.known_ints(1, "padding"), axes = axes_or_first(e, 3, rank);
  if (pads.size() != 2 * axes.size()) e.refuse(pads.size(), " pads of ", axes.size(), " axes");
  std::vector<int32_t> rows(2 * rank);
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0) e.refuse("negative padding");
    rows[2 * static_cast<size_t>(axes[i % axes.size()]) + i / axes.size()] = static_cast<int32_t>(pads[i]);
  }
  const Edge edge = e.store("paddings", Tensor::of<int32_t>({static_cast<int64_t>(rank), 2}, rows));
  const std::string mode = node.attribute_string("mode", "constant");
  const bool constant = mode == "constant";
  const double fill = constant && e.has_input(2) ? to_doubles(e.known(2, "fill"))[0] : 0;
  const bool mirror = mode == "reflect" || (mode == "edge" && *std::max_element(pads.begin(), pads.end()) <= 1);
  if (!constant && !mirror) e.refuse("padding by ", mode);
  NodeBuilder made = e.last(!constant ? "MirrorPad" : fill != 0 ? "PadV2" : "Pad");
  made.in({e.input(0), edge});
  if (fill != 0) made.in(e.number(fill));
  made.type("T", e.dtype(0)).type("Tpaddings", DT_INT32);
  if (!constant) made.text("mode", mode == "reflect" ? "REFLECT" : "SYMMETRIC");
  e.finish(std::move(made));
}

void write_range(Export& e) {
  NodeBuilder node = e.last("Range");
  e.finish(std::move(node.in({e.input(0), e.input(1), e.input(2)}).type("Tidx", e.dtype(0))));
}

// Reshape, Flatten, Squeeze, Unsqueeze: by the operator itself where that says more, else by the extents of the result.
void write_reshape(Export& e) {
  const Node& node = e.node();
  std::vector<int64_t> y = e.output_shape();
  const bool several = std::count(y.begin(), y.end(), -1) > 1;
  if (node.op == "Squeeze" && e.has_input(1)) {
    NodeBuilder made = e.last("Squeeze");
    return e.finish(
        std::move(made.in(e.input(0)).type("T", e.dtype(0)).integers("squeeze_dims", axes_or_first(e, 1, 0))));
  }
  if (node.op == "Unsqueeze" && e.known_ints(1, "list of axes").size() == 1) {
    const Edge axis = e.integer(e.known_ints(1, "list of axes")[0]);
    return e.finish(
        std::move(e.last("ExpandDims").in({e.input(0), axis}).type("T", e.dtype(0)).type("Tdim", DT_INT32)));
  }
  List extents;
  if (several && node.op == "Reshape" && e.constant(1) == nullptr) {
    extents = list(e, 1);
  } else if (several) {
    e.refuse("several of its extents are open; fix them with --shape");
  } else {
    extents.edge = e.ints(y);
  }
  NodeBuilder made = e.last("Reshape");
  e.finish(std::move(made.in({e.input(0), extents.edge}).type("T", e.dtype(0)).type("Tshape", extents.dtype)));
}

void write_shape(Export& e) {
  const Node& node = e.node();
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t from = place(node.attribute_int("start", 0)), to = place(node.attribute_int("end", rank));
  const bool part = from != 0 || to != rank;
  NodeBuilder made = part ? e.step("Shape") : e.last("Shape");
  made.in(e.input(0)).type("T", e.dtype(0)).type("out_type", DT_INT64);
  if (!part) return e.finish(std::move(made));
  const Edge all = e.add(std::move(made));
  const Edge begin = e.ints({from}), size = e.ints({std::max<int64_t>(0, to - from)});
  e.finish(std::move(e.last("Slice").in({all, begin, size}).type("T", DT_INT64).type("Index", DT_INT32)));
}

void write_size(Export& e) {
  e.finish(std::move(e.last("Size").in(e.input(0)).type("T", e.dtype(0)).type("out_type", DT_INT64)));
}

void write_slice(Export& e) {
  const std::vector<int64_t> x = e.shape(0);
  const bool computed = e.constant(1) == nullptr || e.constant(2) == nullptr;
  if (computed) {  // of the first axes, from a computed place to a computed place
    const std::vector<int64_t> axes = axes_or_first(e, 3, e.shape(1).empty() ? 0 : static_cast<size_t>(e.shape(1)[0]));
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != static_cast<int64_t>(i)) e.refuse("a slice between computed places of axis ", axes[i]);
    }
    if (e.has_input(4)) e.refuse("a slice between computed places with steps");
    const Edge steps = e.store(
        "steps", convert(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::vector<int64_t>(axes.size(), 1)),
                         e.type(1).dtype));
    NodeBuilder node = e.last("StridedSlice");
    node.in({e.input(0), e.input(1), e.input(2), steps}).type("T", e.dtype(0)).type("Index", e.dtype(1));
    return e.finish(std::move(node));
  }
  const std::vector<int64_t> starts = e.known_ints(1, "starts"), ends = e.known_ints(2, "ends");
  const std::vector<int64_t> axes = axes_or_first(e, 3, starts.size());
  std::vector<int64_t> steps(starts.size(), 1);
  if (e.has_input(4)) steps = e.known_ints(4, "steps");
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size() || x.size() > 30)
    e.refuse(starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes, ", steps.size(), " steps");
  const auto rank = static_cast<int64_t>(x.size());
  std::vector<int64_t> begin(x.size(), 0), end(x.size(), 0), stride(x.size(), 1);
  int64_t from = (int64_t{1} << rank) - 1, to = from;  // bits of axes whose begin or end is left open
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = axes[i];
    const int64_t bit = int64_t{1} << axes[i];
    stride[axis] = steps[i];
    // Bounds are clamped as the IR's are; only those outside of 32 bits have to be left open.
    if (starts[i] >= INT_MIN && starts[i] <= INT_MAX && !(steps[i] > 0 && starts[i] == 0)) {
      begin[axis] = starts[i];
      from &= ~bit;
    }
    if (ends[i] > INT_MIN && ends[i] < INT_MAX) {
      end[axis] = ends[i];
      to &= ~bit;
    }
  }
  const Edge b = e.ints(begin), n = e.ints(end), s = e.ints(stride);
  NodeBuilder node = e.last("StridedSlice");
  node.in({e.input(0), b, n, s}).type("T", e.dtype(0)).type("Index", DT_INT32);
  e.finish(std::move(node.integer("begin_mask", from).integer("end_mask", to)));
}

void write_split(Export& e) {
  const Node& node = e.node();
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  int64_t axis = node.attribute_int("axis", 0);
  if (axis < 0) axis += rank;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) e.refuse("a part that is left out");
    sizes.push_back(e.output_shape(i)[axis]);
  }
  const auto n = static_cast<int64_t>(sizes.size());
  const bool even = std::all_of(sizes.begin(), sizes.end(), [&](int64_t s) { return s == sizes[0] && s >= 0; });
  const Edge at = e.integer(axis);
  NodeBuilder made = e.last(even ? "Split" : "SplitV");
  if (even) {
    made.in({at, e.input(0)});
  } else {
    made.in({e.input(0), e.ints(sizes), at}).type("Tlen", DT_INT32);
  }
  e.finish(std::move(made.type("T", e.dtype(0)).integer("num_split", n)));
}

void write_tile(Export& e) {
  const List repeats = list(e, 1);
  NodeBuilder node = e.last("Tile");
  e.finish(std::move(node.in({e.input(0), repeats.edge}).type("T", e.dtype(0)).type("Tmultiples", repeats.dtype)));
}

void write_transpose(Export& e) {
  const std::vector<int64_t> perm = transpose_permutation(e.node(), e.shape(0).size());
  const Edge order = e.ints(perm);
  e.finish(std::move(e.last("Transpose").in({e.input(0), order}).type("T", e.dtype(0)).type("Tperm", DT_INT32)));
}

}  // namespace dnn::tensorflow
