// Gradients of convolutions; see conv_gradient.h.
#include "ops/conv_gradient.h"

namespace dnn {
namespace {

// The window as attributes, with padding for exactly the outputs that there are.
Attributes attributes_of(const Window& window, int64_t group) {
  std::vector<int64_t> pads = window.pad_begin;
  for (size_t i = 0; i < window.rank(); ++i)
    pads.push_back(window.position(i, window.output[i] - 1, window.kernel[i] - 1) + 1 - window.input[i]);
  return {{"kernel_shape", window.kernel},
          {"strides", window.strides},
          {"dilations", window.dilations},
          {"pads", pads},
          {"group", group},
          {"input_shape", window.input}};
}

Node node_of(const char* op, ValueId a, ValueId b, Attributes attributes) {
  Node node;
  node.op = op;
  node.domain = kInternalDomain;
  node.inputs = {a, b};
  node.attributes = std::move(attributes);
  return node;
}

}  // namespace

ValueId conv_input_gradient(GraphBuilder& build, ValueId dy, ValueId w, const Window& window, int64_t group) {
  return build.add(node_of("ConvInputGradient", dy, w, attributes_of(window, group)), {build.name() + "/input"})[0];
}

ValueId conv_weight_gradient(GraphBuilder& build, ValueId x, ValueId dy, const Window& window, int64_t group) {
  return build.add(node_of("ConvWeightGradient", x, dy, attributes_of(window, group)), {build.name() + "/weight"})[0];
}

ValueId conv_bias_gradient(GraphBuilder& build, ValueId dy) { return channel_sums(build, dy)[0]; }

}  // namespace dnn
