// ConvTranspose: the transposed convolution, over any number of spatial axes, with groups.
//
// Each output element gathers: order (reference, and compiled at -O0): input channel of the group, then the kernel's
// axes, outermost first, taps that meet no input element skipped; the bias is added last.
#include <algorithm>

#include "ops/conv_gradient.h"
#include "ops/outputs.h"
#include "ops/window.h"
#include "tensor/dispatch.h"

namespace dnn::conv_transpose_ops {
namespace {

// x: [N, C, D...], w: [C, M/group, K...], b: [M] -> y: [N, M, O...]
constexpr int64_t kParameterLimit = int64_t{1} << 30;

struct Form {
  std::vector<int64_t> kernel, strides, dilations, pad_begin, output;

  Form(const Node& node, const std::vector<int64_t>& input, std::vector<int64_t> kernel_extents)
      : kernel(std::move(kernel_extents)) {
    const size_t rank = input.size();
    const auto read = [&](const char* name, size_t size, int64_t least) {
      std::vector<int64_t> values = ints_attribute(node, name, size);
      if (values.size() != size) fail_malformed(node.label(), ": ", name, " must have ", size, " entries");
      for (int64_t value : values) {
        if (value < least || value > kParameterLimit)
          fail_malformed(node.label(), ": ", name, " ", value, " is out of range");
      }
      return values;
    };
    strides = read("strides", rank, 1);
    dilations = read("dilations", rank, 1);
    const std::vector<int64_t> pads = read("pads", 2 * rank, 0), extra = read("output_padding", rank, 0);
    const std::string auto_pad = string_attribute(node, "auto_pad");
    const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER", given = node.has_attribute("output_shape");
    std::vector<int64_t> asked;
    if (given) asked = read("output_shape", rank, 0);
    for (size_t i = 0; i < rank; ++i) {
      if (kernel[i] < 1 || kernel[i] > kParameterLimit || input[i] > kParameterLimit)
        fail_malformed(node.label(), ": kernel ", kernel[i], " over an input of ", input[i]);
      const int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
      const int64_t full = strides[i] * (input[i] - 1) + extra[i] + reach;
      if (given || same) {
        output.push_back(given ? asked[i] : input[i] * strides[i]);
        if (same && !given && full < output[i])
          fail_unsupported(node.label(), ": auto_pad ", auto_pad, " of a kernel that spans less than a stride");
        const int64_t total = std::max<int64_t>(0, full - output[i]);
        pad_begin.push_back(auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2);
      } else {
        const bool valid = auto_pad == "VALID";
        pad_begin.push_back(valid ? 0 : pads[i]);
        output.push_back(full - (valid ? 0 : pads[i] + pads[rank + i]));
      }
      if (output[i] < 0)
        fail_malformed(node.label(), ": axis ", i + 2, " of the output would have ", output[i], " elements");
    }
  }
};

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  expect_dtype(context, 1, type.dtype);
  expect_dtype(context, 2, type.dtype);
  if (context.has_shape(0) && context.has_shape(1)) {
    const auto &x = context.shape(0), &w = context.shape(1);
    const std::string shown = cat("weight ", context.input(1).text());
    if (x.size() < 3 || x.size() != w.size())
      context.fail("input ", context.input(0).text(), " and ", shown, " disagree in rank");
    const int64_t group = int_attribute(context.node, "group");
    if (group < 1 || group > kParameterLimit) context.fail("group ", group, " is out of range");
    if (x[1].fixed() && (x[1].size % group != 0 || (w[0].fixed() && w[0].size != x[1].size)))
      context.fail(shown, " with group ", group, " does not fit input ", context.input(0).text());
    std::vector<Dim> out(x.size());
    out[0] = x[0];
    if (w[1].fixed()) {
      out[1] = Dim(element_count({w[1].size, group}));
      if (context.has_shape(2)) {
        const Dim bias = context.shape(2, 1)[0];
        if (bias.fixed() && bias.size != out[1].size)
          context.fail("bias ", context.input(2).text(), " does not fit ", shown);
      }
    }
    std::vector<int64_t> extents, kernel;
    for (size_t i = 2; i < x.size(); ++i) {
      extents.push_back(x[i].fixed() ? x[i].size : 1);
      kernel.push_back(w[i].fixed() ? w[i].size : 1);
    }
    const bool fixed = std::all_of(x.begin() + 2, x.end(), [](const Dim& d) { return d.fixed(); }) &&
                       std::all_of(w.begin() + 2, w.end(), [](const Dim& d) { return d.fixed(); });
    if (fixed) {
      if (context.node.has_attribute("kernel_shape") && ints_attribute(context.node, "kernel_shape") != kernel)
        context.fail("kernel_shape ", shape_text(ints_attribute(context.node, "kernel_shape")), " is not that of ",
                     shown);
      const Form form(context.node, extents, kernel);
      for (size_t i = 2; i < x.size(); ++i) out[i] = form.output[i - 2];
    }
    type.shape = std::move(out);
  }
  context.set_output(0, std::move(type));
}

Form form_of(const Node& node, const Shape& x, const Shape& w) {
  return Form(node, {x.begin() + 2, x.end()}, {w.begin() + 2, w.end()});
}

// One (input offset, tap) that meets an output position.
struct Meeting {
  int64_t input, tap;
};

// The meetings of output position `at`, in the order of the taps.
void find_meetings(const Form& form, const Shape& x, const std::vector<int64_t>& at, std::vector<Meeting>& meetings) {
  meetings.assign(1, {0, 0});
  std::vector<Meeting> longer;
  for (size_t i = 0; i < at.size(); ++i) {
    longer.clear();
    for (const Meeting& m : meetings) {
      for (int64_t k = 0; k < form.kernel[i]; ++k) {
        const int64_t position = at[i] + form.pad_begin[i] - k * form.dilations[i];
        if (position < 0) break;
        if (position % form.strides[i] != 0 || position / form.strides[i] >= x[i + 2]) continue;
        longer.push_back({m.input * x[i + 2] + position / form.strides[i], m.tap * form.kernel[i] + k});
      }
    }
    meetings.swap(longer);
  }
}

template <class T>
void compute(ReferenceContext& context, Tensor& y) {
  const Tensor &x = context.input(0), &w = context.input(1);
  const Form form = form_of(context.node, x.shape(), w.shape());
  const int64_t group = int_attribute(context.node, "group");
  const int64_t c_per_group = x.dim(1) / group, m_per_group = w.dim(1), channels = y.dim(1);
  const int64_t plane = element_count({x.shape().begin() + 2, x.shape().end()}), taps = element_count(form.kernel);
  const int64_t positions = element_count(form.output);
  const T *in = x.data<T>(), *weight = w.data<T>(), *bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
  T* out = y.mutable_data<T>();
  std::vector<int64_t> at(form.output.size(), 0);
  std::vector<Meeting> meetings;
  for (int64_t p = 0; p < positions; ++p) {
    find_meetings(form, x.shape(), at, meetings);
    for (int64_t n = 0; n < x.dim(0); ++n) {
      for (int64_t m = 0; m < channels; ++m) {
        const int64_t first = m / m_per_group * c_per_group;
        Compute<T> sum = 0;
        for (int64_t c = first; c < first + c_per_group; ++c) {
          const T* image = in + (n * x.dim(1) + c) * plane;
          const T* filter = weight + (c * m_per_group + m % m_per_group) * taps;
          for (const Meeting& meeting : meetings) sum += widen(image[meeting.input]) * widen(filter[meeting.tap]);
        }
        out[(n * channels + m) * positions + p] = narrow<T>(bias == nullptr ? sum : sum + widen(bias[m]));
      }
    }
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < form.output[i]) break;
      at[i] = 0;
    }
  }
}

void reference(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer);
  dispatch_float(y.dtype(), [&](auto tag) { compute<typename decltype(tag)::type>(context, y); });
  context.outputs[0] = std::move(y);
}

// Loops n, g, m, o0..; the sum over c, k0..; a tap that meets no input element adds zero.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], w = context.inputs[1], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const Form form = form_of(context.node, x->shape, w->shape);
  const int64_t group = int_attribute(context.node, "group"), c_per_group = x->shape[1] / group,
                m_per_group = w->shape[1];
  const size_t rank = form.kernel.size();
  const Expr n = variable("n"), g = variable("g"), m = variable("m"), c = variable("c");
  const Expr in_channel = group == 1 ? c : g * c_per_group + c, out_channel = group == 1 ? m : g * m_per_group + m;
  std::vector<Expr> x_index = {n, in_channel}, w_index = {in_channel, m}, y_index = {n, out_channel};
  Expr meets;
  for (size_t i = 0; i < rank; ++i) {
    const Expr o = variable(cat("o", i)), k = variable(cat("k", i));
    const Expr position = o + form.pad_begin[i] - k * form.dilations[i];
    Expr here = position >= 0 && position < x->shape[i + 2] * form.strides[i];
    if (form.strides[i] > 1) here = here && floormod(position, form.strides[i]) == 0;
    meets = meets.defined() ? meets && here : here;
    x_index.push_back(form.strides[i] > 1 ? floordiv(position, form.strides[i]) : position);
    w_index.push_back(k);
    y_index.push_back(o);
  }
  const BufferRef sum = local_buffer("sum", dtype);
  const Expr product = loops::select(meets, load(x, x_index) * load(w, w_index), constant(dtype, 0));
  Stmt reduce = store(sum, {}, load(sum, {}) + product);
  for (size_t i = rank; i-- > 0;) reduce = loop(cat("k", i), form.kernel[i], std::move(reduce));
  reduce = loop("c", c_per_group, std::move(reduce));
  Expr result = load(sum, {});
  if (context.has_input(2)) result = result + load(context.inputs[2], {out_channel});
  Stmt body = block({alloc(sum), store(sum, {}, constant(dtype, 0)), std::move(reduce), store(y, y_index, result)});
  for (size_t i = rank; i-- > 0;) body = loop(cat("o", i), form.output[i], std::move(body));
  body = loop("m", m_per_group, std::move(body));
  if (group > 1) body = loop("g", group, std::move(body));
  context.emit("reduce", loop("n", x->shape[0], std::move(body)));
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  const int64_t per_input = element_count(inputs[1]) / std::max<int64_t>(1, inputs[1][0]);
  return 2.0 * static_cast<double>(per_input) * static_cast<double>(element_count(inputs[0]));
}

// It is the gradient of a convolution from y to x, so its own is that convolution.
void gradient(GradientContext& context) {
  GraphBuilder& build = context.build;
  const ValueId x = context.input(0), w = context.input(1), dy = context.dy();
  const Shape x_shape = build.shape(x);
  const Form form = form_of(context.node, x_shape, build.shape(w));
  const int64_t group = int_attribute(context.node, "group");
  Window window;
  window.kernel = form.kernel;
  window.strides = form.strides;
  window.dilations = form.dilations;
  window.pad_begin = form.pad_begin;
  window.input = form.output;
  window.output = {x_shape.begin() + 2, x_shape.end()};
  if (context.wants(0)) {
    std::vector<int64_t> begin = {0, 0}, end = {0, 0};
    for (size_t i = 0; i < form.kernel.size(); ++i) {
      const int64_t reach = (form.kernel[i] - 1) * form.dilations[i] + (window.output[i] - 1) * form.strides[i] + 1;
      begin.push_back(form.pad_begin[i]);
      end.push_back(reach - form.output[i] - form.pad_begin[i]);
    }
    const ValueId padded = pad_with_zeros(build, dy, begin, end);
    context.set(0, build.emit("Conv", {padded, w},
                              {{"strides", form.strides}, {"dilations", form.dilations}, {"group", group}}));
  }
  if (context.wants(1)) context.set(1, conv_weight_gradient(build, dy, x, window, group));
  if (context.wants(2)) context.set(2, conv_bias_gradient(build, dy));
}

}  // namespace

OpDef define_ConvTranspose() {
  OpDef op;
  op.name = "ConvTranspose";
  op.since = 22;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.traits = {Trait::ChannelsFirst, Trait::Weighted};
  op.attributes = window_attributes(false, {{"group", 1, "groups of channels"},
                                            {"output_padding", per_axis(0), "extent added at the end"},
                                            {"output_shape", optional(AttributeType::Ints),
                                             "extents of the result, which the padding follows from"}});
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  op.gradient = gradient;
  return op;
}

}  // namespace dnn::conv_transpose_ops
