// Blocks; see blocks.h.
#include "branch/blocks.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace dnn::branch {
namespace {

int64_t rounded(double value) {
  return static_cast<int64_t>(std::nearbyint(value));
}  // ties to even, as Python's round()

class BlockMaker {
 public:
  BlockMaker(const Config& config, CountedLayers* layers) : config_(config), layers_(*layers) {}

  Wire residual(const LayerNames& names, const Wire& x, const Branch& b, int64_t stride, bool marked) {
    const auto step = [&](const char* node, const char* parameter) {
      return LayerNames{names.node + "_" + node, names.parameters + ".f." + parameter};
    };
    const Wire past = shortcut(names, x, b.width, stride);
    Wire y = x;
    if (config_.block == Block::Basic) {
      y = layers_.conv_norm(step("0_conv", "a"), step("0_bn", "a_bn"), y,
                            {.width = b.width, .kernel = 3, .stride = stride});
      y = layers_.act(act_name(names.node + "_0", b.activation), y, b.activation);
      y = layers_.conv_norm(step("1_conv", "b"), step("1_bn", "b_bn"), y, {.width = b.width, .kernel = 3});
    } else {
      const int64_t inner = rounded(static_cast<double>(b.width) * b.bottleneck);
      const int64_t squeezed = rounded(static_cast<double>(x.counted) * config_.squeeze);
      const int64_t groups = inner / b.group_width;
      if (inner < 1 || groups < 1)
        fail_unsupported(config_.path, ": ", names.node, ": a bottleneck of ", inner, " channels in groups of ",
                         b.group_width);
      y = layers_.conv_norm(step("a_conv", "a"), step("a_bn", "a_bn"), y, {.width = inner});
      y = layers_.act(act_name(names.node + "_a", b.activation), y, b.activation);
      y = layers_.conv_norm(step("b_conv", "b"), step("b_bn", "b_bn"), y,
                            {.width = inner, .kernel = 3, .stride = stride, .groups = groups});
      y = layers_.act(act_name(names.node + "_b", b.activation), y, b.activation);
      if (squeezed > 0) y = squeeze(step("se", "se"), y, squeezed);
      y = layers_.conv_norm(step("c_conv", "c"), step("c_bn", "c_bn"), y, {.width = b.width});
    }
    const std::string last = marked_name(names.node, marked);
    return layers_.act(act_name(last, b.activation), layers_.add(last + "_add", past, y), b.activation);
  }

  Wire inverted_bottleneck(const LayerNames& names, const Wire& x, const Branch& b, int64_t kernel, int64_t stride,
                           bool marked) {
    const auto expanded = static_cast<int64_t>(static_cast<double>(x.counted) * b.bottleneck);
    const auto squeezed = static_cast<int64_t>(static_cast<double>(x.counted) * config_.squeeze);
    const auto step = [&](const std::string& node, const char* parameter) {
      return LayerNames{node, names.parameters + parameter};
    };
    Wire y = x;
    if (expanded != x.counted) {
      y = layers_.conv_norm(step(names.node + "_exp_conv", ".exp"), step(names.node + "_exp_bn", ".exp_bn"), y,
                            {.width = expanded});
      y = layers_.act(names.node + "_exp_act", y, b.activation);
    }
    y = layers_.conv_norm(step(names.node + "_dw", ".dwise"), step(names.node + "_dw_bn", ".dwise_bn"), y,
                          {.width = expanded, .kernel = kernel, .stride = stride, .groups = expanded});
    y = layers_.act(names.node + "_dw_act", y, b.activation);
    if (squeezed > 0) y = squeeze(step(names.node + "_se", ".se"), y, squeezed);
    const bool skips = stride == 1 && x.counted == b.width;
    const std::string last = marked_name(names.node, marked), projection = skips ? names.node : last;
    y = layers_.conv_norm(step(projection + "_proj_conv", ".lin_proj"), step(projection + "_proj_bn", ".lin_proj_bn"),
                          y, {.width = b.width});
    return skips ? layers_.add(last + "_add", x, y) : y;
  }

  // ShuffleNet's: half of the channels goes past, then the two halves are interleaved.
  Wire shuffle(const LayerNames& names, const Wire& x, const Branch& b, int64_t stride, bool marked) {
    const int64_t part = b.width / 2;
    if (b.width % 2 != 0 || (stride == 1 && x.channels != b.width))
      fail_unsupported(config_.path, ": ", names.node, ": inverted_residual of stride ", stride, " takes ", x.channels,
                       " channels to ", b.width, "; an even width, and with stride 1 the same one, is needed");
    const auto step = [&](int branch, const std::string& node, int index) {
      return LayerNames{cat(names.node, "_branch", branch, "_", node),
                        cat(names.parameters, ".branch", branch, ".", index)};
    };
    Wire left = x, right = x;
    if (stride > 1) {
      left = layers_.conv_norm(step(1, "conv1", 0), step(1, "bn1", 1), left,
                               {.width = x.channels, .kernel = 3, .stride = stride, .groups = x.channels});
      left = layers_.conv_norm(step(1, "conv2", 2), step(1, "bn2", 3), left, {.width = part});
      left = layers_.act(act_name(names.node + "_branch1", b.activation), left, b.activation);
    } else {
      left = layers_.slice(names.node + "_split_0", x, 0, part);
      right = layers_.slice(names.node + "_split_1", x, part, b.width);
    }
    right = layers_.conv_norm(step(2, "conv1", 0), step(2, "bn1", 1), right, {.width = part});
    right = layers_.act(act_name(names.node + "_branch2_1", b.activation), right, b.activation);
    right = layers_.conv_norm(step(2, "conv2", 3), step(2, "bn2", 4), right,
                              {.width = part, .kernel = 3, .stride = stride, .groups = part});
    right = layers_.conv_norm(step(2, "conv3", 5), step(2, "bn3", 6), right, {.width = part});
    right = layers_.act(act_name(names.node + "_branch2_2", b.activation), right, b.activation);
    const Wire y = layers_.concat(names.node + "_concat", {left, right}, b.width);
    return interleaved(marked_name(names.node, marked) + "_shuffle", y);
  }

 private:
  Wire squeeze(const LayerNames& names, const Wire& x, int64_t width) {
    Wire s = x;
    s.height = s.width = 1;
    s.value = layers_.emit("GlobalAveragePool", names.node + "_gap", {x.value});
    s = layers_.conv({names.node + "_0_conv", names.parameters + ".f_ex.0"}, s, {.width = width, .bias = true});
    s = layers_.act(names.node + (config_.activation == Activation::Relu ? "_0_relu" : "_0_act"), s,
                    config_.activation);
    s = layers_.conv({names.node + "_1_conv", names.parameters + ".f_ex.2"}, s, {.width = x.channels, .bias = true});
    Wire y = x;
    y.value = layers_.emit("Mul", names.node + "_mul",
                           {x.value, layers_.emit("Sigmoid", names.node + "_sigmoid", {s.value})});
    return y;
  }

  Wire shortcut(const LayerNames& names, const Wire& x, int64_t width, int64_t stride) {
    if (x.counted == width && stride == 1) return x;
    return layers_.conv_norm({names.node + "_proj_conv", names.parameters + ".proj"},
                             {names.node + "_proj_bn", names.parameters + ".bn"}, x,
                             {.width = width, .stride = stride});
  }

  // The channels of the two halves in turn.
  Wire interleaved(const std::string& name, Wire x) {
    const auto reshape = [&](const std::string& node, const std::vector<int64_t>& shape) {
      x.value = layers_.emit("Reshape", node, {x.value, layers_.integers(node + "_shape", shape)});
    };
    reshape(name + "_reshape1", {0, 2, x.counted / 2, x.height, x.width});
    x.value =
        layers_.emit("Transpose", name + "_transpose", {x.value}, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}});
    reshape(name + "_reshape2", {0, x.counted, x.height, x.width});
    return x;
  }

  const Config& config_;
  CountedLayers& layers_;
};

}  // namespace

Wire add_block(const Config& config, CountedLayers* layers, const LayerNames& names, const Wire& x,
               const Branch& branch, int64_t kernel, int64_t stride, bool marked) {
  BlockMaker maker(config, layers);
  if (config.block == Block::InvertedBottleneck)
    return maker.inverted_bottleneck(names, x, branch, kernel, stride, marked);
  if (config.block == Block::Shuffle) return maker.shuffle(names, x, branch, stride, marked);
  return maker.residual(names, x, branch, stride, marked);
}

}  // namespace dnn::branch
