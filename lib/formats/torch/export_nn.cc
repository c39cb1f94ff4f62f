// Convolutions, pooling, normalisation, resizing.
#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/torch/exports.h"
#include "ops/window.h"

namespace dnn::torch {
namespace {

using Numbers = std::vector<int64_t>;

// A window over the spatial axes: paddings alike on both sides, behind a border where they are not.
struct Sliding {
  Numbers kernel, strides, dilations, padding;
  Numbers begin, end;  // of the border; all 0: none
  bool ceil = false;
  bool bordered() const {
    const auto some = [](int64_t n) { return n != 0; };
    return std::any_of(begin.begin(), begin.end(), some) || std::any_of(end.begin(), end.end(), some);
  }
};

bool spatial_known(const Export& e) {
  const Numbers x = e.shape(0);
  return std::all_of(x.begin() + 2, x.end(), [](int64_t n) { return n >= 0; });
}

Window window_of(const Export& e, const Numbers& kernel) {
  const Numbers x = e.shape(0);
  if (!spatial_known(e)) e.refuse("its spatial extents are open; fix them with --shape");
  return Window::of(e.node(), {x.begin() + 2, x.end()}, kernel);
}

Sliding sliding(const Export& e, Numbers kernel, int64_t largest_share) {
  const Node& node = e.node();
  if (e.rank(0) < 3 || e.rank(0) > 5) e.refuse("a window over ", e.rank(0) - 2, " axes");
  const auto n = static_cast<size_t>(e.rank(0)) - 2;
  Sliding s;
  s.kernel = kernel.empty() ? node.attribute_ints("kernel_shape") : std::move(kernel);
  if (s.kernel.size() != n) e.refuse("a kernel of ", s.kernel.size(), " axes");
  s.begin.assign(n, 0);
  s.end.assign(n, 0);
  const std::string auto_pad = node.attribute_string("auto_pad", "NOTSET");
  s.strides = node.attribute_ints("strides", Numbers(n, 1));
  s.dilations = node.attribute_ints("dilations", Numbers(n, 1));
  s.ceil = node.attribute_int("ceil_mode", 0) != 0;
  Numbers pads = node.attribute_ints("pads", Numbers(2 * n, 0));
  if (auto_pad == "VALID") pads.assign(2 * n, 0);
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    const Window w = window_of(e, s.kernel);
    pads = w.pad_begin;
    pads.insert(pads.end(), w.pad_end.begin(), w.pad_end.end());
    s.ceil = false;
  }
  s.padding.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n));
  bool alike = true;
  for (size_t i = 0; i < n; ++i) {
    alike = alike && pads[i] == pads[i + n] && pads[i] >= 0;
    alike = alike && (largest_share == 0 || pads[i] <= s.kernel[i] / largest_share);
  }
  if (alike) return s;
  s.padding.assign(n, 0);
  s.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n));
  s.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(n), pads.end());
  if (s.ceil) {  // the border reaches as far as the last window
    const Window w = window_of(e, s.kernel);
    for (size_t i = 0; i < n; ++i) {
      const int64_t reach = (w.output[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1;
      s.end[i] = std::max(s.end[i], reach - w.input[i] - w.pad_begin[i]);
    }
    s.ceil = false;
  }
  return s;
}

// x, of input 0's extents, inside its border, filled with `fill`.
VarId padded_input(Export& e, const Sliding& s, VarId x, double fill) {
  if (!s.bordered()) return x;
  Numbers pad;  // last axis first
  Type type = e.builder().var_type(x);
  for (size_t i = s.begin.size(); i-- > 0;) {
    pad.insert(pad.end(), {s.begin[i], s.end[i]});
    Dim& dim = (*type.shape)[i + 2];
    dim = dim.fixed() ? Dim(dim.size + s.begin[i] + s.end[i]) : Dim();
  }
  const Arg value = is_float(type.dtype) ? Arg(fill) : number(static_cast<int64_t>(fill));
  return e.step("constant_pad_nd", {tensor(x), ints(pad), value}, "padded", type);
}

std::string over(const char* name, size_t axes, const char* overload = "") { return cat(name, axes, "d", overload); }

double epsilon_of(const Export& e, float fallback) {
  double epsilon = 0;  // the decimal that the float stands for
  parse_double(exact_text(e.node().attribute_float("epsilon", fallback)), &epsilon);
  return epsilon;
}

Type with_extent(const Type& type, size_t axis, const Dim& extent) {
  std::vector<Dim> dims = type.shape.value_or(std::vector<Dim>(axis + 1));
  dims[axis] = extent;
  return {type.dtype, std::move(dims)};
}

}  // namespace

std::string convolution(Export& e, VarId x, size_t weight, VarId w, Arg bias, std::vector<Arg>* args) {
  const Numbers extents = e.shape(weight);
  if (!e.type(weight).fixed() || extents.size() < 3) e.refuse("a weight of ", e.type(weight).text());
  const Sliding s = sliding(e, {extents.begin() + 2, extents.end()}, 0);
  *args = {tensor(padded_input(e, s, x, 0)),
           tensor(w),
           std::move(bias),
           ints(s.strides),
           ints(s.padding),
           ints(s.dilations),
           number(e.node().attribute_int("group", 1))};
  return over("conv", s.kernel.size());
}

void write_conv(Export& e) {
  std::vector<Arg> args;
  const std::string op = convolution(e, e.input(0), 1, e.input(1), e.optional(2), &args);
  e.define(op, std::move(args));
}

void write_conv_transpose(Export& e) {
  const Node& node = e.node();
  const Numbers w = e.shape(1), y = e.output_shape(), x = e.shape(0);
  const size_t n = w.size() - 2;
  if (!e.type(1).fixed() || n < 1 || n > 3) e.refuse("a weight of ", e.type(1).text());
  const Numbers strides = node.attribute_ints("strides", Numbers(n, 1));
  const Numbers dilations = node.attribute_ints("dilations", Numbers(n, 1));
  Numbers extra = node.attribute_ints("output_padding", Numbers(n, 0));
  const std::string auto_pad = node.attribute_string("auto_pad", "NOTSET");
  Numbers pads = node.attribute_ints("pads", Numbers(2 * n, 0));
  if (auto_pad == "VALID") pads.assign(2 * n, 0);
  if (node.has_attribute("output_shape") || starts_with(auto_pad, "SAME")) {
    for (size_t i = 0; i < n; ++i) {
      if (x[i + 2] < 0 || y[i + 2] < 0) e.refuse("its spatial extents are open; fix them with --shape");
      const int64_t full = strides[i] * (x[i + 2] - 1) + extra[i] + (w[i + 2] - 1) * dilations[i] + 1;
      const int64_t total = std::max<int64_t>(0, full - y[i + 2]);
      pads[i] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      pads[i + n] = full - y[i + 2] - pads[i];  // below 0: the output ends behind the last window
    }
  }
  // PyTorch cuts both ends alike; what the end has more is added there, what it has less is cut off behind.
  Numbers padding(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n)), cut(n, 0);
  for (size_t i = 0; i < n; ++i) {
    extra[i] += pads[i] - pads[i + n];
    if (extra[i] < 0) std::swap(cut[i], extra[i]);
    if (padding[i] < 0 || (extra[i] > 0 && extra[i] >= std::max(strides[i], dilations[i])))
      e.refuse("padding ", shape_text(pads), " with output padding ", extra[i]);
  }
  std::vector<Arg> args = {tensor(e.input(0)),
                           tensor(e.input(1)),
                           e.optional(2),
                           ints(strides),
                           ints(padding),
                           ints(extra),
                           number(node.attribute_int("group", 1)),
                           ints(dilations)};
  const std::string op = over("conv_transpose", n, n == 1 ? "" : ".input");
  if (cut == Numbers(n, 0)) return e.define(op, args);
  Type type = e.output_type();
  Numbers pad;
  for (size_t i = n; i-- > 0;) {
    pad.insert(pad.end(), {0, cut[i]});
    Dim& dim = (*type.shape)[i + 2];
    if (dim.fixed()) dim = Dim(dim.size - cut[i]);
  }
  const VarId whole = e.step(op, args, "whole", type);
  e.define("constant_pad_nd", {tensor(whole), ints(pad), 0.0});
}

void write_max_pool(Export& e) {
  if (e.node().output(1) != kNoValue) e.refuse("indices of largest elements");
  const Sliding s = sliding(e, {}, 2);
  const bool real = is_float(e.dtype());
  if (!real && s.bordered()) e.refuse("a border of integers");
  const VarId x = padded_input(e, s, e.input(0), -std::numeric_limits<double>::infinity());
  e.define(over("max_pool", s.kernel.size()),
           {tensor(x), ints(s.kernel), ints(s.strides), ints(s.padding), ints(s.dilations), s.ceil});
}

// PyTorch divides by all of the window inside a border. Any other count is a factor for each position.
void write_average_pool(Export& e) {
  const Sliding s = sliding(e, {}, 2);
  if (std::any_of(s.dilations.begin(), s.dilations.end(), [](int64_t d) { return d != 1; }))
    e.refuse("a dilated window");
  const bool count_padding = e.node().attribute_int("count_include_pad", 0) != 0;
  const std::string op = over("avg_pool", s.kernel.size());
  const VarId x = padded_input(e, s, e.input(0), 0);
  std::vector<Arg> args = {tensor(x), ints(s.kernel), ints(s.strides), ints(s.padding), s.ceil, count_padding};
  if (!s.bordered()) return e.define(op, args);
  const Window w = window_of(e, s.kernel);
  Shape extents = {1, 1};
  extents.insert(extents.end(), w.output.begin(), w.output.end());
  std::vector<float> factors;
  bool even = true;
  const int64_t all = element_count(w.kernel), positions = element_count(w.output);
  for (int64_t p = 0; p < positions; ++p) {
    int64_t counted = 1, rest = p;
    for (size_t i = w.rank(); i-- > 0;) {
      const int64_t o = rest % w.output[i];
      rest /= w.output[i];
      counted *= (count_padding ? w.taps(i, o, w.pad_begin[i], w.pad_end[i]) : w.taps(i, o)).count();
    }
    even = even && counted == all;
    factors.push_back(
        static_cast<float>(static_cast<double>(all) / static_cast<double>(std::max<int64_t>(1, counted))));
  }
  args[5] = true;
  if (even) return e.define(op, args);
  const VarId mean = e.step(op, args, "mean", e.output_type());
  const VarId share = e.store("share", convert(Tensor::of<float>(extents, factors), e.dtype()));
  e.define("mul.Tensor", {tensor(mean), tensor(share)});
}

void write_global_average_pool(Export& e) {
  const auto n = static_cast<size_t>(e.rank(0)) - 2;
  if (n < 1 || n > 3) e.refuse("a window over ", n, " axes");
  e.define(over("adaptive_avg_pool", n), {tensor(e.input(0)), ints(Numbers(n, 1))});
}

void write_global_max_pool(Export& e) {
  Numbers axes;
  for (int64_t i = 2; i < e.rank(0); ++i) axes.push_back(i);
  e.define("amax", {tensor(e.input(0)), ints(axes), true});
}

void write_batch_normalization(Export& e) {
  const Node& node = e.node();
  if (node.attribute_int("training_mode", 0) != 0) e.refuse("it is in training");
  if (e.rank(0) < 2) e.refuse("an input without channels");
  // The share of the new, where ONNX has that of the old; as the decimal that was meant.
  const double momentum = std::round((1 - static_cast<double>(node.attribute_float("momentum", 0.9f))) * 1e6) / 1e6;
  e.define("batch_norm", {tensor(e.input(0)), tensor(e.input(1)), tensor(e.input(2)), tensor(e.input(3)),
                          tensor(e.input(4)), false, momentum, epsilon_of(e, 1e-5f), false});
}

void write_layer_normalization(Export& e) {
  if (e.node().output(1) != kNoValue || e.node().output(2) != kNoValue) e.refuse("its mean and deviation as outputs");
  const Numbers x = e.shape(0);
  const int64_t axis = e.axis("axis", -1);
  const Numbers extents(x.begin() + axis, x.end());
  if (std::any_of(extents.begin(), extents.end(), [](int64_t n) { return n < 0; }))
    e.refuse("the extents that it runs over are open; fix them with --shape");
  const bool fits = e.shape(1) == extents && (!e.has_input(2) || e.shape(2) == extents);
  const double epsilon = epsilon_of(e, 1e-5f);
  if (fits) {
    return e.define("layer_norm",
                    {tensor(e.input(0)), ints(extents), tensor(e.input(1)), e.optional(2), epsilon, false});
  }
  VarId y =
      e.step("layer_norm", {tensor(e.input(0)), ints(extents), none(), none(), epsilon, false}, "normal", e.type(0));
  if (!e.has_input(2)) return e.define("mul.Tensor", {tensor(y), tensor(e.input(1))});
  y = e.step("mul.Tensor", {tensor(y), tensor(e.input(1))}, "scaled", e.type(0));
  e.define("add.Tensor", {tensor(y), tensor(e.input(2))});
}

// x / sqrt(mean of squares + epsilon) * scale
void write_rms_normalization(Export& e) {
  const VarId x = e.input(0);
  Numbers axes;
  Type reduced = e.type(0);
  for (int64_t i = e.axis("axis", -1); i < e.rank(0); ++i) {
    axes.push_back(i);
    reduced = with_extent(reduced, i, Dim(1));
  }
  const VarId squared = e.step("mul.Tensor", {tensor(x), tensor(x)}, "squared", e.type(0));
  const VarId mean = e.step("mean.dim", {tensor(squared), ints(axes), true}, "mean", reduced);
  const VarId raised = e.step("add.Scalar", {tensor(mean), epsilon_of(e, 1e-5f)}, "raised", reduced);
  const VarId root = e.step("sqrt", {tensor(raised)}, "root", reduced);
  const VarId normal = e.step("div.Tensor", {tensor(x), tensor(root)}, "normal", e.type(0));
  e.define("mul.Tensor", {tensor(normal), tensor(e.input(1))});
}

void write_instance_normalization(Export& e) {
  e.define("instance_norm", {tensor(e.input(0)), tensor(e.input(1)), tensor(e.input(2)), none(), none(), true, 0.1,
                             epsilon_of(e, 1e-5f), false});
}

void write_group_normalization(Export& e) {
  const int64_t groups = e.node().attribute_int("num_groups", 1);
  if (e.shape(1) != Numbers{e.shape(0)[1]}) e.refuse("a scale that is not one number per channel");
  e.define("group_norm",
           {tensor(e.input(0)), number(groups), tensor(e.input(1)), tensor(e.input(2)), epsilon_of(e, 1e-5f), false});
}

// x / (bias + alpha * mean of squares over `size` channels) ^ beta, as torch.nn.functional.local_response_norm has it
void write_lrn(Export& e) {
  const Node& node = e.node();
  if (e.rank(0) != 4) e.refuse("an input of ", e.rank(0), " axes");
  const int64_t size = node.attribute_int("size", 1);
  const VarId x = e.input(0);
  std::vector<Dim> dims = *e.type(0).shape;
  dims.insert(dims.begin() + 1, Dim(1));
  const Type five(e.dtype(), dims);
  const Dim channels = dims[2].fixed() ? Dim(dims[2].size + size - 1) : Dim();
  VarId y = e.step("mul.Tensor", {tensor(x), tensor(x)}, "squared", e.type(0));
  y = e.step("unsqueeze", {tensor(y), number(1)}, "planes", five);
  y = e.step("constant_pad_nd", {tensor(y), ints({0, 0, 0, 0, (size - 1) / 2, size - 1 - (size - 1) / 2}), 0.0},
             "padded", with_extent(five, 2, channels));
  y = e.step("avg_pool3d", {tensor(y), ints({size, 1, 1}), ints({1, 1, 1})}, "mean", five);
  y = e.step("squeeze.dim", {tensor(y), number(1)}, "energy", e.type(0));
  y = e.step("mul.Scalar", {tensor(y), static_cast<double>(node.attribute_float("alpha", 1e-4f))}, "weighted",
             e.type(0));
  y = e.step("add.Scalar", {tensor(y), static_cast<double>(node.attribute_float("bias", 1))}, "raised", e.type(0));
  y = e.step("pow.Tensor_Scalar", {tensor(y), static_cast<double>(node.attribute_float("beta", 0.75f))}, "divisor",
             e.type(0));
  e.define("div.Tensor", {tensor(x), tensor(y)});
}

}  // namespace dnn::torch
