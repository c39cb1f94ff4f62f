// Convolutions, pooling, normalisation, attention.
#include <algorithm>
#include <cmath>

#include "formats/torch/imports.h"

namespace dnn::torch {
namespace {

// Spatial axes of a row's function: "2" for max_pool2d.
size_t spatial_of(const Op& op) { return static_cast<size_t>(op.row().op[0] - '0'); }

// torch takes images without a batch too: a batch of one around those.
ValueId with_batch(Op& op, ValueId x, size_t spatial, bool* added) {
  *added = op.type(x).shape && op.rank(x) == spatial + 1;
  return *added ? op.unsqueeze(x, {0}) : x;
}

std::vector<int64_t> both_ends(const std::vector<int64_t>& pads) {
  std::vector<int64_t> result = pads;
  result.insert(result.end(), pads.begin(), pads.end());
  return result;
}

void check_positive(Op& op, const char* what, const std::vector<int64_t>& values) {
  for (int64_t value : values) {
    if (value < 1 || value > INT32_MAX) op.fail(what, " ", value);
  }
}

// strides, dilations, pads of argument lists; padding may be "same" or "valid".
Attributes window(Op& op, size_t spatial, size_t stride, size_t padding, size_t dilation) {
  Attributes attributes;
  const std::vector<int64_t> strides = op.ints(stride, spatial), dilations = op.ints(dilation, spatial);
  check_positive(op, "stride", strides);
  check_positive(op, "dilation", dilations);
  attributes["strides"] = strides;
  attributes["dilations"] = dilations;
  if (op.argument(padding).get<std::string>() != nullptr) {
    const std::string text = op.text(padding);
    if (text == "same") {
      attributes["auto_pad"] = std::string("SAME_UPPER");
    } else if (text != "valid") {
      op.fail("padding ", dnn::quoted(text));
    }
    return attributes;
  }
  const std::vector<int64_t> pads = op.ints(padding, spatial);
  for (int64_t pad : pads) {
    if (pad < 0) op.fail("padding ", pad);
  }
  if (pads != std::vector<int64_t>(spatial, 0)) attributes["pads"] = both_ends(pads);
  return attributes;
}

ValueId convolve(Op& op, Attributes attributes, int64_t groups, bool transposed) {
  ValueId x = op.tensor(0);
  const ValueId weight = op.tensor(1);
  const std::vector<Dim> w = op.shape(weight);
  if (w.size() < 3) op.fail("weights of ", op.type(weight).text());
  if (groups < 1) op.fail(groups, " groups");
  const size_t spatial = w.size() - 2;
  if (!op.type(x).shape) {
    std::vector<Dim> image = {Dim(std::string("batch")), Dim(transposed ? w[0].size : w[1].size * groups)};
    if (spatial == 2) {
      image.emplace_back(std::string("height"));
      image.emplace_back(std::string("width"));
    } else {
      for (size_t i = 0; i < spatial; ++i) image.emplace_back(cat("extent", i));
    }
    op.importer().guess_input(x, image);
  }
  bool added = false;
  op.rank(x);
  x = with_batch(op, x, spatial, &added);
  if (groups != 1) attributes["group"] = groups;
  if (attributes.erase("auto_pad") != 0) {  // "same": of a stride of 1, so that the windows alone say it
    const std::vector<int64_t> dilations = std::get<std::vector<int64_t>>(attributes["dilations"]);
    std::vector<int64_t> pads(2 * spatial);
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t all = dilations[i] * (w[i + 2].size - 1);
      pads[i] = all / 2;
      pads[i + spatial] = all - all / 2;
    }
    attributes["pads"] = pads;
  }
  std::vector<ValueId> inputs = {x, weight};
  if (op.has(2)) inputs.push_back(op.tensor(2));
  const ValueId y = op.emit(transposed ? "ConvTranspose" : "Conv", std::move(inputs), std::move(attributes));
  return added ? op.squeeze(y, {0}) : y;
}

size_t spatial_of_weight(Op& op) { return std::max<size_t>(op.rank(op.tensor(1)), 3) - 2; }

ValueId transposed_convolution(Op& op, size_t stride, size_t padding, size_t output_padding, size_t dilation,
                               int64_t groups) {
  const size_t spatial = spatial_of_weight(op);
  Attributes attributes = window(op, spatial, stride, padding, dilation);
  const std::vector<int64_t> extra = op.ints(output_padding, spatial);
  if (extra != std::vector<int64_t>(spatial, 0)) attributes["output_padding"] = extra;
  return convolve(op, std::move(attributes), groups, true);
}

// x[..., from, ...] averaged over the ranges that torch takes, as a product with a matrix of [out, in].
Tensor averaging(int64_t in, int64_t out) {
  Tensor matrix(DType::Float32, {out, in});
  auto* values = matrix.mutable_data<float>();
  for (int64_t i = 0; i < out; ++i) {
    const int64_t begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
    for (int64_t k = begin; k < end; ++k) values[i * in + k] = 1.0f / static_cast<float>(end - begin);
  }
  return matrix;
}

struct Norm {
  ValueId x, scale, bias;
};

ValueId vector_or(Op& op, size_t i, int64_t n, float value, DType dtype) {
  if (op.has(i)) return op.tensor(i);
  return op.store(value == 0 ? "bias" : "scale", convert(Tensor::of<float>({n}, std::vector<float>(n, value)), dtype));
}

// `momentum`: the share of the new statistics, which is what ONNX's leaves.
ValueId normalize_batch(Op& op, double momentum, double eps) {
  const ValueId x = op.tensor(0);
  if (!op.has(3) || !op.has(4)) op.refuse("a batch norm without running statistics, as in training, is not read");
  const ValueId mean = op.tensor(3), variance = op.tensor(4);
  if (!op.type(x).shape) {
    op.importer().guess_input(
        x, {Dim(std::string("batch")), Dim(op.extent(mean, 0)), Dim(std::string("height")), Dim(std::string("width"))});
  }
  const int64_t n = op.extent(mean, 0);
  const DType dtype = op.type(mean).dtype;
  Attributes attributes = {{"epsilon", static_cast<float>(eps)}};
  constexpr float kUsual = 0.9F;
  if (const auto left = static_cast<float>(1 - momentum); left != kUsual) attributes["momentum"] = left;
  return op.emit("BatchNormalization",
                 {x, vector_or(op, 1, n, 1, dtype), vector_or(op, 2, n, 0, dtype), mean, variance}, attributes);
}

ValueId normalize_layer(Op& op) {
  const ValueId x = op.tensor(0);
  const std::vector<int64_t> shape = op.ints(1);
  if (shape.empty()) op.fail("an empty shape");
  const int64_t n = element_count(shape);
  if (n > 1 << 24) op.fail("a shape of ", n, " elements");
  DType dtype = op.type(x).dtype;
  if (dtype == DType::Undefined) dtype = DType::Float32;
  std::vector<ValueId> inputs = {x};
  if (op.has(2)) {
    inputs.push_back(op.tensor(2));
  } else {
    Tensor ones(dtype, shape);
    inputs.push_back(op.store("scale", convert(Tensor::of<float>(shape, std::vector<float>(n, 1.0f)), dtype)));
  }
  if (op.has(3)) inputs.push_back(op.tensor(3));
  return op.emit("LayerNormalization", std::move(inputs),
                 {{"axis", -static_cast<int64_t>(shape.size())}, {"epsilon", static_cast<float>(op.real(4))}});
}

ValueId swap_last(Op& op, ValueId x) {
  const size_t rank = op.rank(x);
  if (rank < 2) op.fail("a matrix is expected, not ", op.type(x).text());
  std::vector<int64_t> perm;
  for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(i));
  std::swap(perm[rank - 1], perm[rank - 2]);
  return op.transpose(x, perm);
}

}  // namespace

Any conv(Op& op) {
  const size_t spatial = spatial_of_weight(op);
  return op.result(convolve(op, window(op, spatial, 3, 4, 5), op.integer(6), false));
}

Any conv_transpose(Op& op) { return op.result(transposed_convolution(op, 3, 4, 5, 7, op.integer(6))); }

Any convolution(Op& op) {
  const size_t spatial = spatial_of_weight(op);
  if (op.flag(6)) return op.result(transposed_convolution(op, 3, 4, 7, 5, op.integer(8)));
  op.without(7);  // output_padding is of a transposed one
  return op.result(convolve(op, window(op, spatial, 3, 4, 5), op.integer(8), false));
}

ValueId pool_max(Op& op, ValueId x) {
  const size_t spatial = spatial_of(op);
  const std::vector<int64_t> kernel = op.ints(1, spatial);
  check_positive(op, "a kernel of", kernel);
  Attributes attributes;
  std::vector<int64_t> strides = op.ints(2, spatial);
  if (strides.empty()) strides = kernel;
  check_positive(op, "stride", strides);
  const std::vector<int64_t> pads = op.ints(3, spatial), dilations = op.ints(4, spatial);
  check_positive(op, "dilation", dilations);
  attributes["kernel_shape"] = kernel;
  attributes["strides"] = strides;
  if (pads != std::vector<int64_t>(spatial, 0)) attributes["pads"] = both_ends(pads);
  if (dilations != std::vector<int64_t>(spatial, 1)) attributes["dilations"] = dilations;
  if (op.flag(5)) attributes["ceil_mode"] = int64_t{1};
  bool added = false;
  op.rank(x);
  const ValueId y = op.emit("MaxPool", {with_batch(op, x, spatial, &added)}, std::move(attributes));
  return added ? op.squeeze(y, {0}) : y;
}

Any max_pool(Op& op) {
  const Quantizer* q = op.quantizer(0);
  const ValueId y = pool_max(op, op.tensor(0));
  return q == nullptr ? op.result(y) : op.quantized(y, *q);
}
Any max_pool_with_indices(Op& op) {
  return make_list({op.result(pool_max(op, op.tensor(0))), op.not_made("indices")}, true);
}

Any average_pool(Op& op) {
  const Quantizer* q = op.quantizer(0);
  const size_t spatial = spatial_of(op);
  const std::vector<int64_t> kernel = op.ints(1, spatial);
  check_positive(op, "a kernel of", kernel);
  std::vector<int64_t> strides = op.ints(2, spatial);
  if (strides.empty()) strides = kernel;
  check_positive(op, "stride", strides);
  const std::vector<int64_t> pads = op.ints(3, spatial);
  const bool count_padding = op.flag(5);
  if (op.has(6)) op.refuse("a divisor_override is not read");
  Attributes attributes = {{"kernel_shape", kernel}, {"strides", strides}};
  if (pads != std::vector<int64_t>(spatial, 0)) {
    attributes["pads"] = both_ends(pads);
    if (count_padding) attributes["count_include_pad"] = int64_t{1};
  }
  if (op.flag(4)) attributes["ceil_mode"] = int64_t{1};
  bool added = false;
  op.rank(op.tensor(0));
  ValueId y = op.emit("AveragePool", {with_batch(op, op.tensor(0), spatial, &added)}, std::move(attributes));
  if (added) y = op.squeeze(y, {0});
  return q == nullptr ? op.result(y) : op.quantized(y, *q);
}

Any adaptive_average_pool(Op& op) {
  const Quantizer* q = op.quantizer(0);
  const size_t spatial = spatial_of(op);
  ValueId x = op.tensor(0);
  std::vector<Any> wanted;
  if (op.argument(1).list()) {
    wanted = op.items(1);
  } else {
    wanted.assign(spatial, op.argument(1));
  }
  if (wanted.size() != spatial) op.fail("an output of ", wanted.size(), " extents");
  const bool one = std::all_of(wanted.begin(), wanted.end(), [](const Any& w) {
    const auto* n = w.get<int64_t>();
    return n != nullptr && *n == 1;
  });
  bool added = false;
  ValueId y = kNoValue;
  if (one) {
    x = with_batch(op, x, spatial, &added);
    y = op.emit("GlobalAveragePool", {x});
  } else {
    op.rank(x);
    x = with_batch(op, x, spatial, &added);
    std::vector<int64_t> in, out;
    bool even = true, equal = true;
    for (size_t i = 0; i < spatial; ++i) {
      in.push_back(op.extent(x, static_cast<int64_t>(i) + 2));
      const auto* n = wanted[i].get<int64_t>();
      out.push_back(n == nullptr ? in[i] : *n);
      if (out[i] < 1 || in[i] < 1 || out[i] > 4096 || in[i] > 1 << 16)
        op.fail("an output of ", out[i], " from ", in[i]);
      even = even && in[i] % out[i] == 0;
      equal = equal && in[i] == out[i];
    }
    if (equal) return op.view(0, op.tensor(0));
    if (even) {
      std::vector<int64_t> kernel;
      for (size_t i = 0; i < spatial; ++i) kernel.push_back(in[i] / out[i]);
      y = op.emit("AveragePool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}});
    } else {
      if (spatial > 2) op.refuse("uneven ranges over ", spatial, " axes are not read");
      y = spatial == 2 ? op.emit("MatMul", {op.store("rows", averaging(in[0], out[0])), x}) : x;
      const Tensor columns = transposed(averaging(in[spatial - 1], out[spatial - 1]), {1, 0});
      y = op.emit("MatMul", {y, op.store("columns", columns)});
    }
  }
  if (added) y = op.squeeze(y, {0});
  return q == nullptr ? op.result(y) : op.quantized(y, *q);
}

Any adaptive_max_pool(Op& op) {
  const size_t spatial = spatial_of(op);
  const ValueId x = op.tensor(0);
  const std::vector<int64_t> out = op.ints(1, spatial);
  if (out == std::vector<int64_t>(spatial, 1))
    return make_list({op.result(op.emit("GlobalMaxPool", {x})), op.not_made("indices")}, true);
  std::vector<int64_t> kernel;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t in = op.extent(x, static_cast<int64_t>(i) + 2);
    if (out[i] < 1 || in % out[i] != 0) op.refuse("an output of ", out[i], " from ", in, ", which it does not divide");
    kernel.push_back(in / out[i]);
  }
  const ValueId y = op.emit("MaxPool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}});
  return make_list({op.result(y), op.not_made("indices")}, true);
}

namespace {
Any with_statistics(Op& op, ValueId y) {
  return make_list({op.result(y), op.not_made("mean"), op.not_made("deviation")}, true);
}
}  // namespace

Any batch_norm(Op& op) {
  if (op.flag(5)) op.refuse("a batch norm in training mode is not read; call eval() before the export");
  return op.result(normalize_batch(op, op.real(6), op.real(7)));
}
Any native_batch_norm(Op& op) { return with_statistics(op, normalize_batch(op, op.real(5), op.real(6))); }
Any native_batch_norm_training(Op& op) {
  if (op.flag(5)) op.refuse("a batch norm in training mode is not read; call eval() before the export");
  return with_statistics(op, normalize_batch(op, op.real(6), op.real(7)));
}

Any layer_norm(Op& op) { return op.result(normalize_layer(op)); }
Any native_layer_norm(Op& op) { return with_statistics(op, normalize_layer(op)); }

Any group_norm(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t n = op.extent(x, 1);
  DType dtype = op.type(x).dtype;
  if (dtype == DType::Undefined) dtype = DType::Float32;
  return op.result(op.emit("GroupNormalization", {x, vector_or(op, 2, n, 1, dtype), vector_or(op, 3, n, 0, dtype)},
                           {{"num_groups", op.integer(1)}, {"epsilon", static_cast<float>(op.real(4))}}));
}

Any native_group_norm(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t n = op.extent(x, 1);
  for (size_t i = 3; i <= 5; ++i) op.without(i);  // the extents, which the input has
  const DType dtype = op.type(x).dtype;
  const ValueId y = op.emit("GroupNormalization", {x, vector_or(op, 1, n, 1, dtype), vector_or(op, 2, n, 0, dtype)},
                            {{"num_groups", op.integer(6)}, {"epsilon", static_cast<float>(op.real(7))}});
  return with_statistics(op, y);
}

// g v / |v|, the length over all axes but `dim`
Any weight_norm(Op& op) {
  const ValueId v = op.tensor(0), g = op.tensor(1);
  const int64_t dim = op.integer(2), rank = static_cast<int64_t>(op.rank(v));
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != dim) axes.push_back(i);
  }
  const ValueId length = op.emit("ReduceL2", {v, op.list(axes)}, {{"keepdims", int64_t{1}}});
  return op.result(op.emit("Mul", {v, op.emit("Div", {g, length})}));
}

Any instance_norm(Op& op) {
  if (!op.flag(5)) op.refuse("running statistics are not read");
  const ValueId x = op.tensor(0);
  const int64_t n = op.extent(x, 1);
  DType dtype = op.type(x).dtype;
  if (dtype == DType::Undefined) dtype = DType::Float32;
  return op.result(op.emit("InstanceNormalization", {x, vector_or(op, 1, n, 1, dtype), vector_or(op, 2, n, 0, dtype)},
                           {{"epsilon", static_cast<float>(op.real(7))}}));
}

// softmax(q k^T scale + mask) v
ValueId attend(Op& op, ValueId q, ValueId k, ValueId v, ValueId mask, double scale) {
  const ValueId scaled = op.emit("Mul", {q, op.scalar(scale, op.type(q).dtype)});
  ValueId scores = op.emit("MatMul", {scaled, swap_last(op, k)});
  if (mask != kNoValue) {
    if (op.type(mask).dtype == DType::Bool) {
      const DType dtype = op.type(scores).dtype;
      scores = op.emit("Where", {mask, scores, op.scalar(-INFINITY, dtype)});
    } else {
      scores = op.emit("Add", {scores, mask});
    }
  }
  return op.emit("MatMul", {op.emit("Softmax", {scores}, {{"axis", int64_t{-1}}}), v});
}

Any attention(Op& op) {
  const ValueId q = op.tensor(0), k = op.tensor(1), v = op.tensor(2);
  const bool causal = op.flag(5);
  if (op.real(4) != 0) op.refuse("dropout in training mode is not read; call eval() before the export");
  if (op.flag(7)) op.refuse("enable_gqa is not read");
  const double scale = op.has(6) ? op.real(6) : 1 / std::sqrt(static_cast<double>(op.extent(q, -1)));
  ValueId mask = op.has(3) ? op.tensor(3) : kNoValue;
  if (causal) {  // each row sees the columns up to its own
    if (mask != kNoValue) op.fail("a mask beside is_causal");
    const int64_t rows = op.extent(q, -2), columns = op.extent(k, -2);
    if (rows > 1 << 12 || columns > 1 << 12)
      op.refuse("is_causal over ", rows, " and ", columns, " places is not read");
    Tensor lower(DType::Bool, {rows, columns});
    for (int64_t i = 0; i < rows * columns; ++i) lower.mutable_data<bool>()[i] = i % columns <= i / columns;
    mask = op.store("causal", std::move(lower));
  }
  return op.result(attend(op, q, k, v, mask, scale));
}

// Self-attention as nn.MultiheadAttention's fast path computes it: x: [N, L, E].
Any multi_head_attention(Op& op) {
  const ValueId x = op.tensor(0);
  if (op.tensor(1) != x || op.tensor(2) != x) op.refuse("only self-attention is read");
  if (op.has(9)) op.refuse("a mask is not read");
  if (op.rank(x) != 3) op.fail("its input is ", op.type(x).text());
  const int64_t embed = op.integer(3), heads = op.integer(4);
  if (heads < 1 || embed < 1 || embed % heads != 0) op.fail(embed, " features in ", heads, " heads");
  const ValueId projected = affine(op, x, op.tensor(5), op.tensor(6));
  const std::vector<ValueId> parts =
      op.emit_many("Split", {projected}, {{"axis", int64_t{2}}, {"num_outputs", int64_t{3}}}, 3);
  const int64_t width = embed / heads;
  std::vector<ValueId> split;
  for (ValueId part : parts) split.push_back(op.transpose(op.reshape(part, {0, 0, heads, width}), {0, 2, 1, 3}));
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const ValueId mixed = attend(op, split[0], split[1], split[2], kNoValue, scale);
  const ValueId joined = op.reshape(op.transpose(mixed, {0, 2, 1, 3}), {0, 0, embed});
  const Any weights = op.flag(10) ? op.not_made("weights") : Any();
  return make_list({op.result(affine(op, joined, op.tensor(7), op.tensor(8))), weights}, true);
}

Any pixel_shuffle(Op& op) {
  return op.result(
      op.emit("DepthToSpace", {op.tensor(0)}, {{"blocksize", op.integer(1)}, {"mode", std::string("CRD")}}));
}
// [N, C, H r, W r] -> [N, C r r, H, W]
Any pixel_unshuffle(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t r = op.integer(1), c = op.extent(x, 1), h = op.extent(x, 2), w = op.extent(x, 3);
  if (r < 1 || h % r != 0 || w % r != 0) op.fail("a factor of ", r);
  const ValueId split = op.reshape(x, {0, c, h / r, r, w / r, r});
  return op.result(op.reshape(op.transpose(split, {0, 1, 3, 5, 2, 4}), {0, c * r * r, h / r, w / r}));
}
Any channel_shuffle(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t groups = op.integer(1), c = op.extent(x, 1);
  if (groups < 1 || c % groups != 0) op.fail(c, " channels in ", groups, " groups");
  const Any h = op.importer().extent(x, 2), w = op.importer().extent(x, 3);
  const ValueId split = op.reshape(x, std::vector<Any>{int64_t{0}, groups, c / groups, h, w});
  return op.result(op.reshape(op.transpose(split, {0, 2, 1, 3, 4}), std::vector<Any>{int64_t{0}, c, h, w}));
}

Any dropout(Op& op) {
  if (op.flag(2)) op.refuse("dropout in training mode is not read; call eval() before the export");
  return op.argument(0);
}
Any native_dropout(Op& op) { return make_list({dropout(op), op.not_made("mask")}, true); }

}  // namespace dnn::torch
