// Types of convolutions; see convolve.h.
#include "ops/convolve.h"

namespace dnn {

Type infer_convolution(const InferContext& context, size_t x_i, size_t w_i, size_t bias_i, DType dtype) {
  Type type;
  type.dtype = dtype;
  if (!context.has_shape(x_i) || !context.has_shape(w_i)) return type;
  const auto &x = context.shape(x_i), &w = context.shape(w_i);
  const std::string shown = cat("weight ", context.input(w_i).text());
  if (x.size() < 3 || x.size() != w.size())
    context.fail("input ", context.input(x_i).text(), " and ", shown, " disagree in rank");
  const int64_t group = int_attribute(context.node, "group");
  if (group < 1) context.fail("group ", group, " must be at least 1");
  if (x[1].fixed() && w[1].fixed() && (x[1].size % group != 0 || x[1].size / group != w[1].size))
    context.fail(shown, " with group ", group, " does not fit input ", context.input(x_i).text());
  if (w[0].fixed() && w[0].size % group != 0) context.fail(shown, " does not divide into ", group, " groups");
  if (context.has_shape(bias_i)) {
    const Dim bias = context.shape(bias_i, 1)[0];
    if (bias.fixed() && w[0].fixed() && bias.size != w[0].size)
      context.fail("bias ", context.input(bias_i).text(), " does not fit ", shown);
  }
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < w.size(); ++i) {
    if (w[i].fixed()) kernel.push_back(w[i].size);
  }
  std::vector<Dim> out = {x[0], w[0]};
  if (kernel.size() == w.size() - 2) {
    if (context.node.has_attribute("kernel_shape") && ints_attribute(context.node, "kernel_shape") != kernel)
      context.fail("kernel_shape ", shape_text(ints_attribute(context.node, "kernel_shape")), " is not that of ",
                   shown);
    for (const Dim& dim : window_output(context.node, {x.begin() + 2, x.end()}, kernel)) out.push_back(dim);
  } else {
    out.resize(x.size());
  }
  type.shape = std::move(out);
  return type;
}

}  // namespace dnn
