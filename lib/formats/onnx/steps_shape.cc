// Version steps of operators that move, cut and count elements.
#include <numeric>

#include "formats/onnx/steps.h"

namespace dnn::onnx::steps {
namespace {

int64_t positive(const Rewrite& rewrite, int64_t axis, int rank) {
  if (axis >= 0) return axis;
  if (rank < 0) rewrite.refuse("negative axis ", axis, " of a tensor of unknown rank has no form before opset 11");
  if (axis < -rank) rewrite.malformed("axis ", axis, " of a tensor of rank ", rank);
  return axis + rank;
}

std::vector<int64_t> positive(const Rewrite& rewrite, std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes) axis = positive(rewrite, axis, rank);
  return axes;
}

// The extent of one axis of an input, or -1.
int64_t extent(const Rewrite& rewrite, ValueId id, int64_t axis) {
  const int rank = rewrite.rank(id);
  if (rank < 0) return -1;
  if (axis < 0) axis += rank;
  return axis < 0 || axis >= rank ? -1 : (*rewrite.type(id).shape)[axis].size;
}

void no_attribute(Rewrite& rewrite, const char* key, int64_t allowed, const char* since) {
  const int64_t value = rewrite.node.attribute_int(key, allowed);
  if (value != allowed) rewrite.refuse(key, " = ", value, " needs opset ", since);
  rewrite.drop(key);
}

}  // namespace

void keep(Rewrite&) {}

void absent(Rewrite& rewrite) {
  rewrite.refuse("the operator begins at opset ", versions_of(rewrite.node.op)->front().opset,
                 " and is not made of older ones");
}

// Reduce*, Squeeze, Unsqueeze: attribute axes -> input 1. An empty list means what an absent one does.
void axes_to_input(Rewrite& rewrite) {
  const auto axes = rewrite.take<std::vector<int64_t>>("axes");
  if (axes && !axes->empty()) rewrite.set_input(1, rewrite.add_ints("axes", *axes));
}

void axes_to_attribute(Rewrite& rewrite) {
  if (!rewrite.has_input(1)) return;
  rewrite.node.attributes["axes"] = rewrite.constant_ints(1, "axes");
  rewrite.node.inputs.resize(1);
}

void reduce_axes_to_attribute(Rewrite& rewrite) {
  const bool noop = rewrite.take<int64_t>("noop_with_empty_axes").value_or(0) != 0;
  std::vector<int64_t> axes;
  if (rewrite.has_input(1)) axes = rewrite.constant_ints(1, "axes");
  if (axes.empty() && noop) {
    if (rewrite.node.op != "ReduceSum" && rewrite.node.op != "ReduceMean" && rewrite.node.op != "ReduceMax" &&
        rewrite.node.op != "ReduceMin" && rewrite.node.op != "ReduceProd") {
      rewrite.refuse("noop_with_empty_axes needs opset 18");
    }
    rewrite.become("Identity", {rewrite.node.input(0)});
    return;
  }
  rewrite.node.inputs.resize(1);
  if (!axes.empty()) rewrite.node.attributes["axes"] = axes;
}

void positive_axes_attribute(Rewrite& rewrite) {
  const auto axes = rewrite.take<std::vector<int64_t>>("axes");
  if (axes) rewrite.node.attributes["axes"] = positive(rewrite, *axes, rewrite.rank(rewrite.node.input(0)));
}

void unsqueeze_positive_axes(Rewrite& rewrite) {
  const auto axes = rewrite.take<std::vector<int64_t>>("axes");
  if (!axes) return;
  const int rank = rewrite.rank(rewrite.node.input(0));
  rewrite.node.attributes["axes"] = positive(rewrite, *axes, rank < 0 ? -1 : rank + static_cast<int>(axes->size()));
}

void positive_axis_attribute(Rewrite& rewrite) {
  const auto axis = rewrite.take<int64_t>("axis");
  if (!axis) return;
  const bool same_rank = rewrite.node.op != "Flatten" && rewrite.node.op != "ArgMax" && rewrite.node.op != "ArgMin";
  const int rank = same_rank ? rewrite.rank_like_output() : rewrite.rank(rewrite.node.input(0));
  rewrite.node.attributes["axis"] = positive(rewrite, *axis, rank);
}

void gather_positive_indices(Rewrite& rewrite) {
  const Tensor* indices = rewrite.constant(rewrite.node.input(1));
  if (indices == nullptr || !is_integer(indices->dtype())) return;
  std::vector<int64_t> values = to_int64s(*indices);
  bool changed = false;
  for (int64_t& value : values) {
    if (value >= 0) continue;
    const int64_t size = extent(rewrite, rewrite.node.input(0), rewrite.node.attribute_int("axis", 0));
    if (size < 0) rewrite.refuse("negative indices into an axis of unknown extent have no form before opset 11");
    value += size;
    changed = true;
  }
  if (!changed) return;
  rewrite.set_input(1,
                    rewrite.add_constant("indices", convert(Tensor::of(indices->shape(), values), indices->dtype())));
}

void concat_default_axis(Rewrite& rewrite) { rewrite.node.attributes.try_emplace("axis", int64_t{1}); }

void reshape_shape_to_input(Rewrite& rewrite) {
  rewrite.drop("consumed_inputs");
  const auto shape = rewrite.take<std::vector<int64_t>>("shape");
  if (!shape) rewrite.malformed("attribute 'shape' is missing");
  rewrite.set_input(1, rewrite.add_ints("shape", *shape));
}

void reshape_no_allowzero(Rewrite& rewrite) {
  if (rewrite.take<int64_t>("allowzero").value_or(0) == 0) return;
  const std::vector<int64_t> shape = rewrite.constant_ints(1, "shape with allowzero");
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) rewrite.refuse("allowzero = 1 needs opset 14");
}

void shape_no_range(Rewrite& rewrite) {
  const auto start = rewrite.take<int64_t>("start");
  const auto end = rewrite.take<int64_t>("end");
  if (start.value_or(0) == 0 && !end) return;
  const auto [whole, output] = rewrite.detach_output("whole");
  rewrite.add_after("Slice",
                    {whole, rewrite.add_ints("starts", {start.value_or(0)}),
                     rewrite.add_ints("ends", {end.value_or(INT64_MAX)}), rewrite.add_ints("axes", {0})},
                    output);
}

void slice_to_inputs(Rewrite& rewrite) {
  const auto starts = rewrite.take<std::vector<int64_t>>("starts");
  const auto ends = rewrite.take<std::vector<int64_t>>("ends");
  const auto axes = rewrite.take<std::vector<int64_t>>("axes");
  if (!starts || !ends) rewrite.malformed("attribute 'starts' or 'ends' is missing");
  rewrite.set_input(1, rewrite.add_ints("starts", *starts));
  rewrite.set_input(2, rewrite.add_ints("ends", *ends));
  if (axes && !axes->empty()) rewrite.set_input(3, rewrite.add_ints("axes", *axes));
}

void slice_to_attributes(Rewrite& rewrite) {
  if (rewrite.has_input(4)) {
    for (int64_t step : rewrite.constant_ints(4, "steps")) {
      if (step != 1) rewrite.refuse("step ", step, " needs opset 10");
    }
  }
  rewrite.node.attributes["starts"] = rewrite.constant_ints(1, "starts");
  rewrite.node.attributes["ends"] = rewrite.constant_ints(2, "ends");
  if (rewrite.has_input(3)) {
    rewrite.node.attributes["axes"] =
        positive(rewrite, rewrite.constant_ints(3, "axes"), rewrite.rank(rewrite.node.input(0)));
  }
  rewrite.node.inputs.resize(1);
}

void split_sizes_from_input(Rewrite& rewrite) {
  rewrite.node.attributes.try_emplace("axis", int64_t{0});
  if (!rewrite.has_input(1)) return;
  rewrite.node.attributes["split"] = rewrite.constant_ints(1, "sizes");
  rewrite.node.inputs.resize(1);
}

void split_to_input(Rewrite& rewrite) {
  const auto sizes = rewrite.take<std::vector<int64_t>>("split");
  if (sizes && !sizes->empty()) rewrite.set_input(1, rewrite.add_ints("split", *sizes));
}

void split_to_attribute(Rewrite& rewrite) {
  if (!rewrite.has_input(1)) return;
  rewrite.node.attributes["split"] = rewrite.constant_ints(1, "sizes");
  rewrite.node.inputs.resize(1);
}

void split_num_outputs(Rewrite& rewrite) {
  if (!rewrite.has_input(1)) rewrite.node.attributes["num_outputs"] = static_cast<int64_t>(rewrite.node.outputs.size());
}

// Before 18 the parts are equal; uneven ones get their sizes spelled out.
void split_no_num_outputs(Rewrite& rewrite) {
  const auto n = rewrite.take<int64_t>("num_outputs");
  if (!n) return;
  if (*n != static_cast<int64_t>(rewrite.node.outputs.size())) {
    rewrite.malformed("num_outputs is ", *n, ", the outputs are ", rewrite.node.outputs.size());
  }
  const int64_t size = extent(rewrite, rewrite.node.input(0), rewrite.node.attribute_int("axis", 0));
  if (size < 0 || size % *n == 0) return;
  const int64_t part = (size + *n - 1) / *n;
  std::vector<int64_t> sizes(*n, part);
  sizes.back() = size - part * (*n - 1);
  if (sizes.back() < 0) return;  // fails when it runs, as before; a branch that is never taken may hold such a node
  rewrite.set_input(1, rewrite.add_ints("split", sizes));
}

void tile_repeats(Rewrite& rewrite) {
  const int rank = rewrite.rank(rewrite.node.input(0));
  const std::vector<int64_t> tiles = rewrite.constant_ints(1, "tiles"), axis = rewrite.constant_ints(2, "axis");
  if (rank < 0) rewrite.refuse("Tile of opset 1 needs an input of known rank");
  if (tiles.size() != 1 || axis.size() != 1 || axis[0] < 0 || axis[0] >= rank)
    rewrite.malformed("tiles or axis is out of range");
  std::vector<int64_t> repeats(rank, 1);
  repeats[axis[0]] = tiles[0];
  rewrite.node.inputs.resize(1);
  rewrite.set_input(1, rewrite.add_ints("repeats", repeats));
}

void topk_k_to_input(Rewrite& rewrite) {
  const auto k = rewrite.take<int64_t>("k");
  if (!k) rewrite.malformed("attribute 'k' is missing");
  rewrite.set_input(1, rewrite.add_ints("k", {*k}));
}

void topk_k_to_attribute(Rewrite& rewrite) {
  const std::vector<int64_t> k = rewrite.constant_ints(1, "K");
  if (k.size() != 1) rewrite.malformed("K has ", k.size(), " elements");
  rewrite.node.attributes["k"] = k[0];
  rewrite.node.inputs.resize(1);
}

void topk_largest_sorted(Rewrite& rewrite) {
  no_attribute(rewrite, "largest", 1, "11");
  rewrite.drop("sorted");  // older versions always sort, which "in any order" allows
}

void scatter_to_elements(Rewrite& rewrite) { rewrite.node.op = "ScatterElements"; }
void scatter_from_elements(Rewrite& rewrite) { rewrite.node.op = "Scatter"; }

void scatter_no_reduction(Rewrite& rewrite) {
  const std::string reduction = rewrite.node.attribute_string("reduction", "none");
  if (reduction != "none") rewrite.refuse("reduction '", reduction, "' needs opset 16");
  rewrite.drop("reduction");
}

void scatter_no_min_max(Rewrite& rewrite) {
  const std::string reduction = rewrite.node.attribute_string("reduction", "none");
  if (reduction == "min" || reduction == "max") rewrite.refuse("reduction '", reduction, "' needs opset 18");
}

void gather_nd_no_batch(Rewrite& rewrite) { no_attribute(rewrite, "batch_dims", 0, "12"); }
void arg_first_index(Rewrite& rewrite) { no_attribute(rewrite, "select_last_index", 0, "12"); }

void pad_rename(Rewrite& rewrite) {
  auto pads = rewrite.take<std::vector<int64_t>>("paddings");
  if (!pads) rewrite.malformed("attribute 'paddings' is missing");
  rewrite.node.attributes["pads"] = std::move(*pads);
}

void pad_to_inputs(Rewrite& rewrite) {
  const auto pads = rewrite.take<std::vector<int64_t>>("pads");
  const auto value = rewrite.take<float>("value");
  if (!pads) rewrite.malformed("attribute 'pads' is missing");
  rewrite.set_input(1, rewrite.add_ints("pads", *pads));
  if (value && *value != 0) rewrite.set_input(2, rewrite.add_float("value", *value, rewrite.node.input(0)));
}

void pad_to_attributes(Rewrite& rewrite) {
  rewrite.node.attributes["pads"] = rewrite.constant_ints(1, "pads");
  if (rewrite.has_input(2)) {
    const Tensor* value = rewrite.constant(rewrite.node.input(2));
    if (value == nullptr || value->size() != 1) rewrite.refuse("a padding value computed at run time needs opset 11");
    rewrite.node.attributes["value"] = static_cast<float>(to_doubles(*value)[0]);
  }
  rewrite.node.inputs.resize(1);
}

void pad_all_axes(Rewrite& rewrite) {
  if (!rewrite.has_input(3)) {
    rewrite.node.inputs.resize(std::min<size_t>(rewrite.node.inputs.size(), 3));
    return;
  }
  const int rank = rewrite.rank(rewrite.node.input(0));
  if (rank < 0) rewrite.refuse("axes of a tensor of unknown rank need opset 18");
  const std::vector<int64_t> axes = positive(rewrite, rewrite.constant_ints(3, "axes"), rank);
  const std::vector<int64_t> pads = rewrite.constant_ints(1, "pads with axes");
  std::vector<int64_t> all(2 * rank, 0);
  if (pads.size() != 2 * axes.size()) rewrite.malformed(pads.size(), " pads for ", axes.size(), " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] >= rank) rewrite.malformed("axis ", axes[i], " of a tensor of rank ", rank);
    all[axes[i]] = pads[i];
    all[axes[i] + rank] = pads[i + axes.size()];
  }
  rewrite.node.inputs.resize(3);
  rewrite.set_input(1, rewrite.add_ints("pads", all));
}

void pad_no_wrap(Rewrite& rewrite) {
  if (rewrite.node.attribute_string("mode", "constant") == "wrap") rewrite.refuse("mode 'wrap' needs opset 19");
}

// CRD: [N, C, H, W] -> [N, C/b², b, b, H, W] -> [N, C/b², H, b, W, b] -> [N, C/b², H·b, W·b].
void depth_to_space_dcr(Rewrite& rewrite) {
  if (rewrite.take<std::string>("mode").value_or("DCR") == "DCR") return;
  const ValueId x = rewrite.node.input(0);
  const int64_t b = rewrite.node.attribute_int("blocksize", 1);
  if (rewrite.rank(x) != 4 || b <= 0 || b > kLargestExtent)
    rewrite.refuse("mode CRD on a tensor of unknown shape needs opset 11");
  std::vector<int64_t> d;
  for (int64_t axis = 0; axis < 4; ++axis) {
    d.push_back(extent(rewrite, x, axis));
    if (axis > 0 && d.back() < 0) rewrite.refuse("mode CRD on a tensor of unknown shape needs opset 11");
  }
  const int64_t c = d[1] / (b * b);
  const ValueId blocks = rewrite.add_before("Reshape", {x, rewrite.add_ints("blocks", {0, c, b, b, d[2], d[3]})});
  const ValueId moved = rewrite.add_before("Transpose", {blocks}, {{"perm", std::vector<int64_t>{0, 1, 4, 2, 5, 3}}});
  rewrite.become("Reshape", {moved, rewrite.add_ints("shape", {0, c, d[2] * b, d[3] * b})});
}

void space_to_depth_dcr(Rewrite& rewrite) {
  if (rewrite.take<std::string>("mode").value_or("DCR") != "DCR") rewrite.refuse("mode CRD needs opset 28");
}

void expand_by_ones(Rewrite& rewrite) {
  const std::vector<int64_t> shape = rewrite.constant_ints(1, "shape of Expand before opset 8");
  const DType dtype = rewrite.dtype(rewrite.node.input(0));
  if (!is_float(dtype) && !is_integer(dtype)) rewrite.refuse("Expand of ", dtype_name(dtype), " needs opset 8");
  if (element_count(shape) > kLargestExtent) rewrite.refuse("Expand to ", shape_text(shape), " needs opset 8");
  const std::vector<float> ones(element_count(shape), 1.0f);
  rewrite.become("Mul", {rewrite.node.input(0), rewrite.add_constant("ones", convert(Tensor::of(shape, ones), dtype))});
}

void constant_of_shape_folded(Rewrite& rewrite) {
  const std::vector<int64_t> shape = rewrite.constant_ints(0, "shape of ConstantOfShape before opset 9");
  const auto value = rewrite.take<Tensor>("value");
  const Tensor element = value ? *value : Tensor::scalar(0.0f);
  if (element.size() != 1 || element.dtype() == DType::String) rewrite.malformed("'value' is not one number");
  if (element_count(shape) > kLargestExtent) rewrite.refuse("a constant of ", shape_text(shape), " needs opset 9");
  Tensor filled(element.dtype(), shape);
  for (int64_t i = 0; i < filled.size(); ++i) {
    std::memcpy(filled.mutable_bytes() + static_cast<size_t>(i) * element.size_bytes(), element.bytes().data(),
                element.size_bytes());
  }
  rewrite.become("Identity", {rewrite.add_constant("filled", filled)});
}

// Before opset 11 the branches agree in every shape.
void if_equal_shapes(Rewrite& rewrite) {
  const auto branch = [&](const char* key) -> const Graph* {
    const auto found = rewrite.node.attributes.find(key);
    const auto* body =
        found == rewrite.node.attributes.end() ? nullptr : std::get_if<std::shared_ptr<const Graph>>(&found->second);
    return body == nullptr ? nullptr : body->get();
  };
  const Graph *yes = branch("then_branch"), *no = branch("else_branch");
  if (yes == nullptr || no == nullptr) rewrite.malformed("a branch is missing");
  for (size_t i = 0; i < std::min(yes->outputs.size(), no->outputs.size()); ++i) {
    const auto &a = yes->value(yes->outputs[i]).type.shape, &b = no->value(no->outputs[i]).type.shape;
    if (a && b && *a != *b) rewrite.refuse("branches of different shapes need opset 11");
  }
}

void optional_needs_input(Rewrite& rewrite) {
  if (!rewrite.has_input(0)) rewrite.refuse("a left-out input needs opset 18");
}

void drop_stash_type(Rewrite& rewrite) { rewrite.drop("stash_type"); }

// Every state and scan axis of opset 8 has a batch axis in front and may have its own length.
void scan_batch_axis(Rewrite& rewrite) {
  rewrite.refuse("Scan of opset 8 runs per sample of a batch and has no newer form");
}

}  // namespace dnn::onnx::steps
