// Convolutions and poolings. Activations have their channels last, mostly, and kernels stand as [window..., in, out]; the IR's
// operators want [N, C, ...] and [out, in, window...], so each stands between Transposes, which settle_transposes() removes.
#include <algorithm>

#include "formats/keras/layers.h"

namespace dnn::keras {
namespace {

// [N, D..., C] to [N, C, D...] and back.
Permutation to_first(size_t n) {
  Permutation perm = {0, static_cast<int64_t>(n) + 1};
  for (size_t i = 0; i < n; ++i) perm.push_back(static_cast<int64_t>(i) + 1);
  return perm;
}

Permutation to_last(size_t n) {
  Permutation perm = {0};
  for (size_t i = 0; i < n; ++i) perm.push_back(static_cast<int64_t>(i) + 2);
  perm.push_back(1);
  return perm;
}

// The input with its channels first.
ValueId entering(Call& call, size_t n) {
  const ValueId x = call.x();
  if (call.rank(x) != static_cast<int64_t>(n) + 2) call.fail("its input has rank ", call.rank(x), ", not ", n + 2);
  return call.channels_first() ? x : call.transpose(x, to_first(n));
}

ValueId leaving(Call& call, ValueId y, size_t n) { return call.channels_first() ? y : call.transpose(y, to_last(n)); }

// Options that say one extent per spatial axis, under their names in Keras 2 and 1.
std::vector<int64_t> extents(Call& call, const char* key, const char* old, size_t n, int64_t fallback) {
  std::vector<int64_t> result = call.integers(call.has(key) ? key : old, n, fallback);
  for (int64_t v : result) {
    if (v < 1 || v > INT32_MAX) call.fail("'", key, "' is ", v);
  }
  return result;
}

std::string padding_of(Call& call) {
  std::string padding = call.text("padding", call.text("border_mode", "valid"));
  std::transform(padding.begin(), padding.end(), padding.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (padding != "valid" && padding != "same" && padding != "causal") call.refuse("padding '", padding, "'");
  return padding;
}

// Attributes strides, dilations and padding of windows over the spatial axes of `x` ([N, C, D...]). "same" makes
// ceil(in / stride) positions, with the odd element of padding at the end; "causal" pads at the front alone.
Attributes window(Call& call, ValueId x, const std::vector<int64_t>& kernel, const std::vector<int64_t>& strides,
                  const std::vector<int64_t>& dilations) {
  const size_t n = kernel.size();
  Attributes attributes = {{"strides", strides}, {"dilations", dilations}};
  const std::string padding = padding_of(call);
  if (padding == "valid") return attributes;
  const std::vector<int64_t> shape = call.shape(x);
  std::vector<int64_t> pads(2 * n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t in = shape[i + 2], reach = (kernel[i] - 1) * dilations[i];
    if (padding == "causal") {
      pads[i] = reach;
      continue;
    }
    int64_t all = reach;  // at a stride of 1
    if (strides[i] != 1) {
      if (in < 0) {
        attributes["auto_pad"] = std::string("SAME_UPPER");
        return attributes;
      }
      all = std::max<int64_t>(0, ((in + strides[i] - 1) / strides[i] - 1) * strides[i] + reach + 1 - in);
    }
    pads[i] = all / 2;
    pads[i + n] = all - all / 2;
  }
  if (pads != std::vector<int64_t>(2 * n, 0)) attributes["pads"] = std::move(pads);
  return attributes;
}

bool has_bias(Call& call) { return call.flag("use_bias", call.flag("bias", true)); }

// Turned round along its first n axes, as Theano's convolutions are.
Tensor flipped(const Tensor& kernel, size_t n) {
  Tensor result(kernel.dtype(), kernel.shape());
  int64_t window = 1;
  for (size_t i = 0; i < n; ++i) window *= kernel.dim(static_cast<int>(i));
  const size_t row = window == 0 ? 0 : kernel.size_bytes() / static_cast<size_t>(window);
  for (int64_t i = 0; i < window; ++i) {
    std::memcpy(result.mutable_bytes() + static_cast<size_t>(window - 1 - i) * row,
                kernel.bytes().data() + static_cast<size_t>(i) * row, row);
  }
  return result;
}

// A kernel as [window..., in, out]: files of Keras 1 have others.
Tensor modern_kernel(Call& call, const Tensor& kernel, size_t n, bool flips) {
  if (kernel.rank() != static_cast<int>(n) + 2) {
    const bool row =
        call.version() == 1 && n == 1 && kernel.rank() == 4;  // [out, in, length, 1], or [length, 1, in, out]
    if (!row) call.fail("a kernel of shape ", shape_text(kernel.shape()));
    const bool modern = kernel.dim(1) == 1 && kernel.dim(3) == call.integer("nb_filter", kernel.dim(3));
    const Tensor turned = modern ? kernel : transposed(kernel, {2, 3, 1, 0});
    return turned.reshaped({turned.dim(0), turned.dim(2), turned.dim(3)});
  }
  Tensor result = kernel;
  if (call.version() == 1 && n == 2 && call.channels_first()) result = transposed(kernel, {2, 3, 1, 0});
  return flips ? flipped(result, n) : result;
}

// [window..., in, out] to [out, in, window...].
Permutation kernel_order(size_t n) {
  Permutation perm = {static_cast<int64_t>(n) + 1, static_cast<int64_t>(n)};
  for (size_t i = 0; i < n; ++i) perm.push_back(static_cast<int64_t>(i));
  return perm;
}

// [window..., C, m] to [C * m, 1, window...].
Tensor depthwise_kernel(const Tensor& kernel, size_t n) {
  Permutation perm = {static_cast<int64_t>(n), static_cast<int64_t>(n) + 1};
  for (size_t i = 0; i < n; ++i) perm.push_back(static_cast<int64_t>(i));
  const Tensor turned = transposed(kernel, perm);
  Shape shape = {turned.dim(0) * turned.dim(1), 1};
  for (size_t i = 0; i < n; ++i) shape.push_back(turned.dim(static_cast<int>(i) + 2));
  return turned.reshaped(shape);
}

std::vector<int64_t> window_of(Call& call, const Tensor& kernel, size_t n) {
  std::vector<int64_t> result(kernel.shape().begin(), kernel.shape().begin() + static_cast<std::ptrdiff_t>(n));
  for (int64_t extent : result) {
    if (extent < 1) call.fail("a kernel of shape ", shape_text(kernel.shape()));
  }
  return result;
}

std::vector<int64_t> dilations_of(Call& call, size_t n) { return extents(call, "dilation_rate", "atrous_rate", n, 1); }

template <size_t n>
ValueId pool(Call& call, const char* op) {
  const ValueId x = entering(call, n);
  const char* key = call.has("pool_length") ? "pool_length" : "pool_size";
  const std::vector<int64_t> size = extents(call, key, key, n, 2);
  const char* stride_key = call.has("stride") ? "stride" : "strides";
  const std::vector<int64_t> strides = call.has(stride_key) ? extents(call, stride_key, stride_key, n, 1) : size;
  Attributes attributes = window(call, x, size, strides, std::vector<int64_t>(n, 1));
  attributes.erase("dilations");
  attributes["kernel_shape"] = size;
  return leaving(call, call.emit(op, {x}, std::move(attributes)), n);
}

template <size_t n>
ValueId global_pool(Call& call, const char* op) {
  const ValueId x = call.x();
  if (call.rank(x) != static_cast<int64_t>(n) + 2) call.fail("its input has rank ", call.rank(x), ", not ", n + 2);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < n; ++i) axes.push_back(static_cast<int64_t>(i) + (call.channels_first() ? 2 : 1));
  return call.emit(op, {x, call.list(axes)}, {{"keepdims", int64_t{call.flag("keepdims", false)}}});
}

}  // namespace

template <size_t n>
ValueId import_conv(Call& call) {
  const ValueId x = entering(call, n);
  const Tensor kernel = modern_kernel(call, call.stored(0, "kernel"), n, call.flips_kernels());
  const char* strides = call.has("subsample_length") ? "subsample_length" : "subsample";
  Attributes attributes =
      window(call, x, window_of(call, kernel, n), extents(call, "strides", strides, n, 1), dilations_of(call, n));
  const int64_t groups = call.integer("groups", 1);
  if (groups < 1) call.fail(groups, " groups");
  if (groups > 1) attributes["group"] = groups;
  std::vector<ValueId> inputs = {
      x, call.weight(0, "kernel", [&](const Tensor&) { return transposed(kernel, kernel_order(n)); })};
  if (has_bias(call)) inputs.push_back(call.weight(1, "bias"));
  return call.activated(leaving(call, call.emit("Conv", std::move(inputs), std::move(attributes)), n));
}
template ValueId import_conv<1>(Call&);
template ValueId import_conv<2>(Call&);
template ValueId import_conv<3>(Call&);

template <size_t n>
ValueId import_depthwise_conv(Call& call) {
  const ValueId x = entering(call, n);
  const Tensor& kernel = call.stored(0, "depthwise_kernel");
  if (kernel.rank() != static_cast<int>(n) + 2) call.fail("a kernel of shape ", shape_text(kernel.shape()));
  Attributes attributes =
      window(call, x, window_of(call, kernel, n), extents(call, "strides", "strides", n, 1), dilations_of(call, n));
  attributes["group"] = kernel.dim(n);
  std::vector<ValueId> inputs = {
      x, call.weight(0, "depthwise_kernel", [&](const Tensor& k) { return depthwise_kernel(k, n); })};
  if (has_bias(call)) inputs.push_back(call.weight(1, "bias"));
  return call.activated(leaving(call, call.emit("Conv", std::move(inputs), std::move(attributes)), n));
}
template ValueId import_depthwise_conv<1>(Call&);
template ValueId import_depthwise_conv<2>(Call&);

template <size_t n>
ValueId import_separable_conv(Call& call) {
  const ValueId x = entering(call, n);
  const Tensor &depthwise = call.stored(0, "depthwise_kernel"), &pointwise = call.stored(1, "pointwise_kernel");
  for (const Tensor* kernel : {&depthwise, &pointwise}) {
    if (kernel->rank() != static_cast<int>(n) + 2) call.fail("a kernel of shape ", shape_text(kernel->shape()));
  }
  Attributes attributes = window(call, x, window_of(call, depthwise, n), extents(call, "strides", "subsample", n, 1),
                                 dilations_of(call, n));
  attributes["group"] = depthwise.dim(n);
  const ValueId kernel = call.weight(0, "depthwise_kernel", [&](const Tensor& k) { return depthwise_kernel(k, n); });
  const ValueId y = call.emit("Conv", {x, kernel}, std::move(attributes));
  std::vector<ValueId> inputs = {
      y, call.weight(1, "pointwise_kernel", [&](const Tensor& k) { return transposed(k, kernel_order(n)); })};
  if (has_bias(call)) inputs.push_back(call.weight(2, "bias"));
  return call.activated(leaving(call, call.emit("Conv", std::move(inputs)), n));
}
template ValueId import_separable_conv<1>(Call&);
template ValueId import_separable_conv<2>(Call&);

// The extents of the output decide what is cut off of all that the windows cover.
template <size_t n>
ValueId import_conv_transpose(Call& call) {
  const ValueId x = entering(call, n);
  const Tensor& kernel = call.stored(0, "kernel");
  if (kernel.rank() != static_cast<int>(n) + 2) call.fail("a kernel of shape ", shape_text(kernel.shape()));
  const std::vector<int64_t> strides = extents(call, "strides", "strides", n, 1), window = window_of(call, kernel, n),
                             dilations = dilations_of(call, n);
  const bool same = padding_of(call) == "same";
  std::vector<int64_t> pads(2 * n), extra(n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t reach = (window[i] - 1) * dilations[i] + 1;
    int64_t cut = same ? reach - strides[i] : std::min<int64_t>(reach - strides[i], 0);
    if (call.has("output_padding")) {
      const int64_t more = call.integers("output_padding", n, 0)[i];
      cut = (same ? 2 * (reach / 2) : 0) - more;
    }
    extra[i] = std::max<int64_t>(0, -cut);
    pads[i] = std::max<int64_t>(0, cut) / 2;
    pads[i + n] = std::max<int64_t>(0, cut) - pads[i];
  }
  Attributes attributes = {{"strides", strides}, {"pads", pads}, {"dilations", dilations}};
  if (extra != std::vector<int64_t>(n, 0)) attributes["output_padding"] = extra;
  std::vector<ValueId> inputs = {
      x, call.weight(0, "kernel", [&](const Tensor& k) { return transposed(k, kernel_order(n)); })};
  if (has_bias(call)) inputs.push_back(call.weight(1, "bias"));
  return call.activated(leaving(call, call.emit("ConvTranspose", std::move(inputs), std::move(attributes)), n));
}
template ValueId import_conv_transpose<1>(Call&);
template ValueId import_conv_transpose<2>(Call&);
template ValueId import_conv_transpose<3>(Call&);

template <size_t n>
ValueId import_max_pool(Call& call) {
  return pool<n>(call, "MaxPool");
}
template <size_t n>
ValueId import_average_pool(Call& call) {
  return pool<n>(call, "AveragePool");
}
template <size_t n>
ValueId import_global_max_pool(Call& call) {
  return global_pool<n>(call, "ReduceMax");
}
template <size_t n>
ValueId import_global_average_pool(Call& call) {
  return global_pool<n>(call, "ReduceMean");
}
#define INSTANTIATE(n)                               \
  template ValueId import_max_pool<n>(Call&);        \
  template ValueId import_average_pool<n>(Call&);    \
  template ValueId import_global_max_pool<n>(Call&); \
  template ValueId import_global_average_pool<n>(Call&);
INSTANTIATE(1)
INSTANTIATE(2)
INSTANTIATE(3)
#undef INSTANTIATE

}  // namespace dnn::keras
