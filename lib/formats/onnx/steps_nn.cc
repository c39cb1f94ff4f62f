// Version steps of normalisation, pooling, recurrent, quantisation and attention operators.
#include <cmath>
#include <numeric>

#include "formats/onnx/steps.h"

namespace dnn::onnx::steps {
namespace {

constexpr int64_t kMaxRank = 64;

void allow_only(Rewrite& rewrite, const char* key, int64_t allowed, int since) {
  const int64_t value = rewrite.take<int64_t>(key).value_or(allowed);
  if (value != allowed) rewrite.refuse(key, " = ", value, " needs opset ", since);
}

void only_ones(Rewrite& rewrite, const char* key, int since) {
  for (int64_t value : rewrite.take<std::vector<int64_t>>(key).value_or(std::vector<int64_t>())) {
    if (value != 1) rewrite.refuse(key, " = ", value, " needs opset ", since);
  }
}

// Trailing outputs that nothing names.
void trim_outputs(Node& node) {
  while (node.outputs.size() > 1 && node.outputs.back() == kNoValue) node.outputs.pop_back();
}

// [n] -> [n, 1, 1, ...]: along axis 1 of a tensor of that rank.
ValueId along_channels(Rewrite& rewrite, ValueId vector, int rank) {
  if (rank <= 2) return vector;
  std::vector<int64_t> axes(rank - 2);
  std::iota(axes.begin(), axes.end(), 1);
  return rewrite.add_before("Unsqueeze", {vector, rewrite.add_ints("axes", axes)});
}

}  // namespace

void drop_is_test(Rewrite& rewrite) { rewrite.drop("is_test"); }
// Whether a batch normalisation trains shows in its outputs: one only where it infers.
void batch_norm_drop_is_test(Rewrite& rewrite) {
  rewrite.drop("is_test");
  rewrite.drop("consumed_inputs");
}

// spatial = 0 has one mean and variance for each position: (x - mean) / sqrt(var + epsilon) * scale + B.
void batch_norm_drop_spatial(Rewrite& rewrite) {
  if (rewrite.take<int64_t>("spatial").value_or(1) != 0) return;
  trim_outputs(rewrite.node);
  if (rewrite.node.inputs.size() != 5 || rewrite.node.outputs.size() != 1)
    rewrite.refuse("spatial = 0 in training has no newer form");
  const std::vector<ValueId> in = rewrite.node.inputs;
  const Type type = rewrite.type(in[0]);
  const ValueId epsilon = rewrite.add_float("epsilon", rewrite.node.attribute_float("epsilon", 1e-5f), in[4]);
  const ValueId centred = rewrite.add_before("Sub", {in[0], in[3]}, {}, type);
  const ValueId variance = rewrite.add_before("Add", {in[4], epsilon}, {}, rewrite.type(in[4]));
  const ValueId deviation = rewrite.add_before("Sqrt", {variance}, {}, rewrite.type(in[4]));
  const ValueId normal = rewrite.add_before("Div", {centred, deviation}, {}, type);
  rewrite.become("Add", {rewrite.add_before("Mul", {normal, in[1]}, {}, type), in[2]});
}

void batch_norm_outputs(Rewrite& rewrite) {
  trim_outputs(rewrite.node);
  if (rewrite.node.outputs.size() == 1) return;
  if (rewrite.node.output(3) != kNoValue || rewrite.node.output(4) != kNoValue) {
    rewrite.refuse("the outputs saved_mean and saved_var have no newer form");
  }
  rewrite.node.outputs.resize(3, kNoValue);
  rewrite.node.attributes["training_mode"] = int64_t{1};
}

void batch_norm_inference_only(Rewrite& rewrite) { allow_only(rewrite, "training_mode", 0, 14); }

void group_norm_scale_per_channel(Rewrite& rewrite) {
  const int64_t groups = rewrite.node.attribute_int("num_groups", 0);
  if (groups <= 0) rewrite.malformed("num_groups is missing");
  const ValueId x = rewrite.node.input(0);
  // [G] -> [G, 1] -> [G, C / G] -> [C], C / G taken from X's shape
  const ValueId channels =
      rewrite.add_before("Shape", {x}, {{"start", int64_t{1}}, {"end", int64_t{2}}}, Type(DType::Int64, {1}));
  const ValueId count = rewrite.add_ints("groups", {groups});
  const ValueId per_group = rewrite.add_before("Div", {channels, count}, {}, Type(DType::Int64, {1}));
  const ValueId target =
      rewrite.add_before("Concat", {count, per_group}, {{"axis", int64_t{0}}}, Type(DType::Int64, {2}));
  const ValueId column = rewrite.add_ints("column", {groups, 1}), flat = rewrite.add_ints("flat", {-1});
  for (size_t i = 1; i <= 2; ++i) {
    const ValueId one = rewrite.add_before("Reshape", {rewrite.node.input(i), column});
    rewrite.set_input(i, rewrite.add_before("Reshape", {rewrite.add_before("Expand", {one, target}), flat}));
  }
}

// Instance normalisation over [N, G, rest], then scale and bias by channel.
void decompose_group_norm(Rewrite& rewrite) {
  const int64_t groups = rewrite.node.attribute_int("num_groups", 0);
  const std::vector<ValueId> in = rewrite.node.inputs;
  if (groups > kLargestExtent) rewrite.malformed("num_groups = ", groups);
  const int rank = rewrite.rank(in.empty() ? kNoValue : in[0]);
  if (rank < 2 || in.size() != 3 || groups <= 0)
    rewrite.refuse("GroupNormalization of a tensor of unknown rank needs opset 21");
  const DType dtype = rewrite.dtype(in[0]);
  if (!is_float(dtype)) rewrite.refuse("GroupNormalization of a tensor of unknown type needs opset 21");
  const Type type = rewrite.type(in[0]);
  const std::vector<float> ones(groups, 1.0f), zeros(groups, 0.0f);
  const ValueId shape = rewrite.add_before("Shape", {in[0]}, {}, Type(DType::Int64, {rank}));
  const ValueId grouped = rewrite.add_before("Reshape", {in[0], rewrite.add_ints("grouped", {0, groups, -1})}, {},
                                             Type(dtype, {Dim(), groups, Dim()}));
  const ValueId normal = rewrite.add_before(
      "InstanceNormalization",
      {grouped, rewrite.add_constant("ones", convert(Tensor::of({groups}, ones), dtype)),
       rewrite.add_constant("zeros", convert(Tensor::of({groups}, zeros), dtype))},
      {{"epsilon", rewrite.node.attribute_float("epsilon", 1e-5f)}}, Type(dtype, {Dim(), groups, Dim()}));
  const ValueId restored = rewrite.add_before("Reshape", {normal, shape}, {}, type);
  const ValueId scaled = rewrite.add_before("Mul", {restored, along_channels(rewrite, in[1], rank)}, {}, type);
  const ValueId bias = along_channels(rewrite, in[2], rank);
  rewrite.become("Add", {scaled, bias});
}

namespace {

struct Moments {
  ValueId mean, inverse, normal;  // normal = (x - mean) * inverse; without a mean: x * inverse
};

// Over the axes from `axis` on, in float32 where the input is narrower (stash_type).
Moments normalise(Rewrite& rewrite, ValueId x, bool centre) {
  const int rank = rewrite.rank(x);
  const int64_t axis = rewrite.node.attribute_int("axis", -1);
  if (axis >= 0 && rank < 0)
    rewrite.refuse("axis ", axis, " of a tensor of unknown rank needs opset ",
                   versions_of(rewrite.node.op)->front().opset);
  if (rank >= 0 ? axis >= rank || axis < -rank : axis < -kMaxRank) rewrite.malformed("axis ", axis, " is out of range");
  std::vector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis : axis - rank; i < 0; ++i) axes.push_back(i);
  const ValueId axes_id = rewrite.add_ints("axes", axes);
  const Attributes keepdims = {{"keepdims", int64_t{1}}};
  const Type type = rewrite.type(x);
  Type reduced = type;
  for (int64_t i : axes) {
    if (reduced.shape && static_cast<int64_t>(reduced.shape->size()) + i >= 0)
      (*reduced.shape)[reduced.shape->size() - static_cast<size_t>(-i)] = 1;
  }
  Moments moments{kNoValue, kNoValue, kNoValue};
  ValueId centred = x;
  if (centre) {
    moments.mean = rewrite.add_before("ReduceMean", {x, axes_id}, keepdims, reduced);
    centred = rewrite.add_before("Sub", {x, moments.mean}, {}, type);
  }
  const ValueId square = rewrite.add_before("Mul", {centred, centred}, {}, type);
  const ValueId variance = rewrite.add_before("ReduceMean", {square, axes_id}, keepdims, reduced);
  const ValueId epsilon = rewrite.add_float("epsilon", rewrite.node.attribute_float("epsilon", 1e-5f), x);
  const ValueId shifted = rewrite.add_before("Add", {variance, epsilon}, {}, reduced);
  moments.inverse = rewrite.add_before("Reciprocal", {rewrite.add_before("Sqrt", {shifted}, {}, reduced)}, {}, reduced);
  moments.normal = rewrite.add_before("Mul", {centred, moments.inverse}, {}, type);
  return moments;
}

void need_full_precision(const Rewrite& rewrite, ValueId x) {
  const DType dtype = rewrite.dtype(x);
  if (dtype != DType::Float32 && dtype != DType::Float64) {
    rewrite.refuse("statistics of ", dtype_name(dtype), " in float32 need opset ",
                   versions_of(rewrite.node.op)->front().opset);
  }
}

}  // namespace

void decompose_layer_norm(Rewrite& rewrite) {
  const std::vector<ValueId> in = rewrite.node.inputs;
  if (in.size() < 2) rewrite.malformed("the scale is missing");
  need_full_precision(rewrite, in[0]);
  const Moments moments = normalise(rewrite, in[0], true);
  const ValueId mean = rewrite.node.output(1), inverse = rewrite.node.output(2);
  if (mean != kNoValue) rewrite.add_after("Identity", {moments.mean}, mean);
  if (inverse != kNoValue) rewrite.add_after("Identity", {moments.inverse}, inverse);
  rewrite.node.outputs.resize(1);
  if (rewrite.has_input(2)) {
    rewrite.become("Add", {rewrite.add_before("Mul", {moments.normal, in[1]}, {}, rewrite.type(in[0])), in[2]});
  } else {
    rewrite.become("Mul", {moments.normal, in[1]});
  }
}

void decompose_rms_norm(Rewrite& rewrite) {
  const std::vector<ValueId> in = rewrite.node.inputs;
  if (in.size() < 2) rewrite.malformed("the scale is missing");
  need_full_precision(rewrite, in[0]);
  const Moments moments = normalise(rewrite, in[0], false);
  rewrite.become("Mul", {moments.normal, in[1]});
}

// Before opset 10 the mask has the type of the data; one that nothing reads goes.
void dropout_mask_to_bool(Rewrite& rewrite) {
  const ValueId mask = rewrite.node.output(1);
  if (mask == kNoValue) return;
  if (!rewrite.is_read(mask)) {
    rewrite.node.outputs.resize(1);
    return;
  }
  rewrite.refuse("a Dropout mask in the type of the data (opset 9 and older) has no newer form");
}

void dropout_no_mask(Rewrite& rewrite) {
  if (rewrite.node.output(1) != kNoValue) rewrite.refuse("a mask of type bool needs opset 10");
}

void dropout_ratio_to_input(Rewrite& rewrite) {
  const auto ratio = rewrite.take<float>("ratio");
  if (ratio) rewrite.set_input(1, rewrite.add_constant("ratio", Tensor::scalar(*ratio)));
}

void dropout_ratio_to_attribute(Rewrite& rewrite) {
  rewrite.drop("seed");
  if (rewrite.has_input(2)) {
    const Tensor* training = rewrite.constant(rewrite.node.input(2));
    if (training == nullptr || training->dtype() != DType::Bool || training->size() != 1 || training->data<bool>()[0]) {
      rewrite.refuse("training_mode needs opset 12");
    }
  }
  if (rewrite.has_input(1)) {
    const Tensor* ratio = rewrite.constant(rewrite.node.input(1));
    if (ratio == nullptr || ratio->size() != 1) rewrite.refuse("a ratio computed at run time needs opset 12");
    rewrite.node.attributes["ratio"] = static_cast<float>(to_doubles(*ratio)[0]);
  }
  rewrite.node.inputs.resize(1);
}

void pool_no_dilations(Rewrite& rewrite) { only_ones(rewrite, "dilations", 19); }

namespace {

// Rounding up is padding at the end, by what the last window needs; windows that begin in that padding do not count.
void ceil_mode_to_pads(Rewrite& rewrite) {
  if (rewrite.take<int64_t>("ceil_mode").value_or(0) == 0) return;
  const Type type = rewrite.type(rewrite.node.input(0));
  const std::vector<int64_t> kernel = rewrite.node.attribute_ints("kernel_shape");
  const size_t n = kernel.size();
  std::vector<int64_t> pads = rewrite.node.attribute_ints("pads", std::vector<int64_t>(2 * n, 0));
  const std::vector<int64_t> ones(n, 1), strides = rewrite.node.attribute_ints("strides", ones),
                                         dilations = rewrite.node.attribute_ints("dilations", ones);
  const std::string auto_pad = rewrite.node.attribute_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" || rewrite.node.attribute_int("count_include_pad", 0) != 0 || !type.shape ||
      type.shape->size() != n + 2 || pads.size() != 2 * n || strides.size() != n || dilations.size() != n) {
    rewrite.refuse("ceil_mode = 1 needs opset 10");
  }
  const auto too_large = [](int64_t value) { return value < 0 || value > kLargestExtent; };
  for (const std::vector<int64_t>& list : {kernel, pads, strides, dilations}) {
    if (std::any_of(list.begin(), list.end(), too_large))
      rewrite.malformed("a window's extent is negative or above ", kLargestExtent);
  }
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = (*type.shape)[i + 2].size, window = dilations[i] * (kernel[i] - 1) + 1;
    if (size < 0 || size > INT32_MAX || strides[i] == 0)
      rewrite.refuse("ceil_mode = 1 over an open extent needs opset 10, or the extents fixed with --shape");
    const int64_t padded = size + pads[i] + pads[i + n];
    if (padded < window) rewrite.malformed("a window of ", window, " does not fit into ", padded);
    int64_t last = (padded - window + strides[i] - 1) / strides[i] * strides[i];  // where the last window begins
    if (last >= size + pads[i]) last -= strides[i];
    pads[i + n] += std::max<int64_t>(0, last + window - padded);
  }
  rewrite.node.attributes["pads"] = pads;
}

}  // namespace

void pool_no_ceil_mode(Rewrite& rewrite) { ceil_mode_to_pads(rewrite); }
void pool_plain(Rewrite& rewrite) {
  ceil_mode_to_pads(rewrite);
  only_ones(rewrite, "dilations", 10);
}
void max_pool_no_indices(Rewrite& rewrite) {
  rewrite.drop("storage_order");
  trim_outputs(rewrite.node);
  if (rewrite.node.outputs.size() > 1) rewrite.refuse("the output Indices needs opset 8");
}
void lp_pool_plain(Rewrite& rewrite) {
  allow_only(rewrite, "ceil_mode", 0, 18);
  only_ones(rewrite, "dilations", 18);
}
void lp_norm_to_int(Rewrite& rewrite) {
  const auto p = rewrite.take<float>("p");
  if (!p) return;
  if (*p != std::floor(*p) || std::abs(*p) > 1e6f) rewrite.refuse("p = ", *p, " has no newer form");
  rewrite.node.attributes["p"] = static_cast<int64_t>(*p);
}

void gru_direction(Rewrite& rewrite) {  // opset 1 misspells its default
  if (rewrite.node.attribute_string("direction", "forward") == "foward") rewrite.drop("direction");
}
void drop_output_sequence(Rewrite& rewrite) { rewrite.drop("output_sequence"); }
void rnn_plain_layout(Rewrite& rewrite) { allow_only(rewrite, "layout", 0, 14); }

void roi_align_half_pixel(Rewrite& rewrite) {
  rewrite.node.attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
}
void roi_align_output_half_pixel(Rewrite& rewrite) {
  if (rewrite.take<std::string>("coordinate_transformation_mode").value_or("half_pixel") != "output_half_pixel") {
    rewrite.refuse("half_pixel coordinates need opset 16");
  }
}

void grid_sample_new_modes(Rewrite& rewrite) {
  const std::string mode = rewrite.take<std::string>("mode").value_or("bilinear");
  rewrite.node.attributes["mode"] = mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode;
}
void grid_sample_old_modes(Rewrite& rewrite) {
  const int rank = rewrite.rank(rewrite.node.input(0));
  if (rank >= 0 && rank != 4) rewrite.refuse("an input of rank ", rank, " needs opset 20");
  const std::string mode = rewrite.take<std::string>("mode").value_or("linear");
  rewrite.node.attributes["mode"] = mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode;
}

void quantize_per_tensor(Rewrite& rewrite) {
  rewrite.drop("axis");
  const ValueId scale = rewrite.node.input(1);
  if (scale == kNoValue) rewrite.malformed("the scale is missing");
  if (rewrite.rank(scale) != 0) rewrite.refuse("a scale that is not known to be one number needs opset 13");
}
void quantize_no_blocks(Rewrite& rewrite) {
  allow_only(rewrite, "block_size", 0, 21);
  const auto wanted = rewrite.take<int64_t>("output_dtype");
  if (rewrite.node.op != "QuantizeLinear" || !wanted || *wanted == 0 || rewrite.has_input(2)) return;
  const DType dtype = dtype_from_onnx(*wanted);
  if (dtype == DType::UInt8) return;  // what a left-out zero point means
  const Type& scale = rewrite.type(rewrite.node.input(1));
  if (!is_integer(dtype) || !scale.fixed() || element_count(scale.fixed_shape()) > kLargestExtent)
    rewrite.refuse("output_dtype needs opset 21");
  rewrite.set_input(2, rewrite.add_constant("zero_point", Tensor(dtype, scale.fixed_shape())));
}
void quantize_no_precision(Rewrite& rewrite) { allow_only(rewrite, "precision", 0, 23); }
void quantize_no_output_dtype(Rewrite& rewrite) { allow_only(rewrite, "output_dtype", 0, 23); }

void dft_axis_to_input(Rewrite& rewrite) {
  const int64_t axis = rewrite.take<int64_t>("axis").value_or(1);
  rewrite.set_input(2, rewrite.add_constant("axis", Tensor::scalar(axis)));
}
void dft_axis_to_attribute(Rewrite& rewrite) {
  int64_t axis = -2;
  if (rewrite.has_input(2)) {
    const std::vector<int64_t> given = rewrite.constant_ints(2, "axis");
    if (given.size() != 1) rewrite.malformed("axis has ", given.size(), " elements");
    axis = given[0];
  }
  if (axis < 0) {
    const int rank = rewrite.rank(rewrite.node.input(0));
    if (rank < 0) rewrite.refuse("negative axis ", axis, " of a tensor of unknown rank needs opset 20");
    axis += rank;
  }
  rewrite.node.inputs.resize(rewrite.has_input(1) ? 2 : 1);
  rewrite.node.attributes["axis"] = axis;
}

void attention_no_windows(Rewrite& rewrite) {
  allow_only(rewrite, "left_window_size", -1, 25);
  allow_only(rewrite, "right_window_size", -1, 25);
}
void attention_no_seqlen(Rewrite& rewrite) {
  if (rewrite.has_input(6)) rewrite.refuse("nonpad_kv_seqlen needs opset 24");
  rewrite.node.inputs.resize(std::min<size_t>(rewrite.node.inputs.size(), 6));
}

}  // namespace dnn::onnx::steps
