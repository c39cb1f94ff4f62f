// Networks of depthwise convolutions: MobileNetV1, V2 (Sandler et al., 2018), V3 (Howard et al., 2019), EfficientNet (Tan and Le,
// 2019), ShuffleNetV2 (Ma et al., 2018).
#include <set>

#include "convert/architectures/builders.h"

namespace dnn::architecture {
namespace {

using Activation = ValueId (*)(Modules& m, const std::string& name, ValueId x);

ValueId relu(Modules& m, const std::string& name, ValueId x) { return m.relu(name, x); }
ValueId relu6(Modules& m, const std::string& name, ValueId x) { return m.relu6(name, x); }
ValueId hard_swish(Modules& m, const std::string& name, ValueId x) { return m.op("HardSwish", name, {x}); }
ValueId silu(Modules& m, const std::string& name, ValueId x) {
  return m.mul(name, x, m.op("Sigmoid", name + ".sigmoid", {x}));
}
ValueId sigmoid(Modules& m, const std::string& name, ValueId x) { return m.op("Sigmoid", name, {x}); }
ValueId hard_sigmoid(Modules& m, const std::string& name, ValueId x) {
  return m.op("HardSigmoid", name, {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
}
ValueId leaky(Modules& m, const std::string& name, ValueId x) {
  return m.op("LeakyRelu", name, {x}, {{"alpha", 0.1f}});
}
ValueId none(Modules&, const std::string&, ValueId x) { return x; }

struct Style {
  Activation activation;
  Activation gate;      // of squeeze and excitation
  Activation squeezed;  // between its two layers
  float epsilon;
};

// NAME.0 a convolution, one filter a channel where the weights say so, NAME.1 its batch norm.
ValueId conv_norm(Modules& m, const std::string& name, ValueId x, int64_t stride, float epsilon,
                  Activation activation) {
  const bool single = m.shape(name + ".0.weight").at(1) == 1;
  x = single ? m.depthwise(name + ".0", x, stride) : m.conv(name + ".0", x, {.stride = stride});
  return activation(m, name + ".2", m.batch_norm(name + ".1", x, epsilon));
}

ValueId squeeze_excitation(Modules& m, const std::string& name, ValueId x, const Style& style) {
  ValueId s = m.conv(name + ".fc1", m.global_average_pool(name + ".avgpool", x));
  s = m.conv(name + ".fc2", style.squeezed(m, name + ".activation", s));
  return m.mul(name + ".mul", x, style.gate(m, name + ".scale_activation", s));
}

// NAME.block: expansion where there is one, depthwise convolution, squeeze and excitation where there is one, projection.
ValueId inverted_residual(Modules& m, const std::string& name, ValueId x, int64_t stride, const Style& style) {
  const std::string block = name + ".block.";
  const int64_t given = m.shape(block + "0.0.weight").at(1) == 1 ? m.shape(block + "0.0.weight").at(0)
                                                                 : m.shape(block + "0.0.weight").at(1);
  ValueId y = x;
  int64_t made = 0;
  for (int i = 0; i < 5; ++i) {
    const std::string part = cat(block, i);
    if (m.has(part + ".fc1.weight")) {
      y = squeeze_excitation(m, part, y, style);
    } else if (m.has(part + ".0.weight")) {
      const bool depthwise = m.shape(part + ".0.weight").at(1) == 1;
      const bool last = !m.has(cat(block, i + 1, ".0.weight")) && !m.has(cat(block, i + 1, ".fc1.weight"));
      y = conv_norm(m, part, y, depthwise ? stride : 1, style.epsilon, last ? none : style.activation);
      made = m.shape(part + ".0.weight").at(0);
    }
  }
  return stride == 1 && made == given ? m.add(name + ".add", y, x) : y;
}

ValueId pooled(Modules& m, ValueId x) { return m.flatten("flatten", m.global_average_pool("avgpool", x)); }

}  // namespace

Graph mobilenet_v1(Modules& m, int64_t image_size) {
  ValueId x = conv_norm(m, "stage1.0", m.image(3, image_size), 2, 1e-5f, leaky);
  static const std::set<std::string> halving = {"stage1.2", "stage1.4", "stage2.0", "stage3.0"};
  for (int stage = 1; stage <= 3; ++stage) {
    for (int i = stage == 1 ? 1 : 0; m.has(cat("stage", stage, ".", i, ".3.weight")); ++i) {
      const std::string name = cat("stage", stage, ".", i);
      x = conv_norm(m, name, x, halving.count(name) != 0 ? 2 : 1, 1e-5f, leaky);
      x = leaky(m, name + ".5", m.batch_norm(name + ".4", m.conv(name + ".3", x)));
    }
  }
  return m.finish(m.linear("fc", pooled(m, x)));
}

Graph mobilenet_v2(Modules& m, int64_t image_size) {
  static const std::set<int> halving = {2, 4, 7, 14};
  ValueId x = conv_norm(m, "features.0", m.image(3, image_size), 2, 1e-5f, relu6);
  int i = 1;
  for (; m.has(cat("features.", i, ".conv.0.0.weight")); ++i) {
    const std::string conv = cat("features.", i, ".conv.");
    const int64_t stride = halving.count(i) != 0 ? 2 : 1;
    const bool expands = m.has(conv + "1.0.weight");
    ValueId y = conv_norm(m, conv + "0", x, expands ? 1 : stride, 1e-5f, relu6);
    if (expands) y = conv_norm(m, conv + "1", y, stride, 1e-5f, relu6);
    const std::string project = conv + (expands ? "2" : "1"), norm = conv + (expands ? "3" : "2");
    y = m.batch_norm(norm, m.conv(project, y));
    const bool same = expands && m.shape(project + ".weight").at(0) == m.shape(conv + "0.0.weight").at(1);
    x = same && stride == 1 ? m.add(cat("features.", i, ".add"), y, x) : y;
  }
  x = conv_norm(m, cat("features.", i), x, 1, 1e-5f, relu6);
  return m.finish(m.linear("classifier.1", pooled(m, x)));
}

Graph mobilenet_v3(Modules& m, int64_t image_size) {
  const bool large = m.has("features.15.block.0.0.weight");
  const std::set<int> halving = large ? std::set<int>{2, 4, 7, 13} : std::set<int>{1, 2, 4, 9};
  const int first_swish = large ? 7 : 4;
  ValueId x = conv_norm(m, "features.0", m.image(3, image_size), 2, 0.001f, hard_swish);
  int i = 1;
  for (; m.has(cat("features.", i, ".block.0.0.weight")); ++i) {
    const Style style = {i >= first_swish ? hard_swish : relu, hard_sigmoid, relu, 0.001f};
    x = inverted_residual(m, cat("features.", i), x, halving.count(i) != 0 ? 2 : 1, style);
  }
  x = conv_norm(m, cat("features.", i), x, 1, 0.001f, hard_swish);
  x = hard_swish(m, "classifier.1", m.linear("classifier.0", pooled(m, x)));
  return m.finish(m.linear("classifier.3", x));
}

Graph efficientnet(Modules& m, int64_t image_size) {
  // Torchvision's B5 to B7, whose first layer is wider, have other batch norms.
  const float epsilon = m.shape("features.0.0.weight").at(0) >= 48 ? 0.001f : 1e-5f;
  const Style style = {silu, sigmoid, silu, epsilon};
  static const std::set<int> halving = {2, 3, 4, 6};
  ValueId x = conv_norm(m, "features.0", m.image(3, image_size), 2, epsilon, silu);
  int stage = 1;
  for (; m.has(cat("features.", stage, ".0.block.0.0.weight")); ++stage) {
    for (int i = 0; m.has(cat("features.", stage, ".", i, ".block.0.0.weight")); ++i)
      x = inverted_residual(m, cat("features.", stage, ".", i), x, i == 0 && halving.count(stage) != 0 ? 2 : 1, style);
  }
  x = conv_norm(m, cat("features.", stage), x, 1, epsilon, silu);
  return m.finish(m.linear("classifier.1", pooled(m, x)));
}

namespace {

// Parts of a branch are numbered modules: convolution, batch norm, and an activation behind those of 1x1.
ValueId shuffle_branch(Modules& m, const std::string& name, ValueId x, int64_t stride) {
  for (int i = 0; m.has(cat(name, ".", i, ".weight")); i += 2) {
    const std::string conv = cat(name, ".", i);
    const bool depthwise = m.shape(conv + ".weight").at(1) == 1;
    x = m.batch_norm(cat(name, ".", i + 1), depthwise ? m.depthwise(conv, x, stride) : m.conv(conv, x));
    if (!depthwise) x = m.relu(cat(name, ".", i++ + 2), x);
  }
  return x;
}

// Channels of two groups, taken in turn.
ValueId shuffle_channels(Modules& m, const std::string& name, ValueId x, int64_t channels, int64_t size) {
  const ValueId groups = m.reshape(name + ".groups", x, {-1, 2, channels / 2, size, size});
  return m.reshape(name, m.transpose(name + ".turn", groups, {0, 2, 1, 3, 4}), {-1, channels, size, size});
}

}  // namespace

Graph shufflenet_v2(Modules& m, int64_t image_size) {
  ValueId x = conv_norm(m, "conv1", m.image(3, image_size), 2, 1e-5f, relu);
  x = m.max_pool("maxpool", x, {.kernel = 3, .stride = 2, .pad = 1});
  int64_t size = ((image_size + 1) / 2 + 1) / 2;
  for (int stage = 2; stage <= 4; ++stage) {
    size = (size + 1) / 2;
    for (int i = 0; m.has(cat("stage", stage, ".", i, ".branch2.0.weight")); ++i) {
      const std::string name = cat("stage", stage, ".", i);
      const int64_t half = m.shape(name + ".branch2.5.weight").at(0);
      const ValueId left = i == 0 ? shuffle_branch(m, name + ".branch1", x, 2) : m.slice(name + ".left", x, 1, 0, half);
      const ValueId right = i == 0 ? x : m.slice(name + ".right", x, 1, half, 2 * half);
      x = m.concat(name + ".cat", {left, shuffle_branch(m, name + ".branch2", right, i == 0 ? 2 : 1)});
      x = shuffle_channels(m, name + ".shuffle", x, 2 * half, size);
    }
  }
  x = conv_norm(m, "conv5", x, 1, 1e-5f, relu);
  return m.finish(m.linear("fc", pooled(m, x)));
}

}  // namespace dnn::architecture
