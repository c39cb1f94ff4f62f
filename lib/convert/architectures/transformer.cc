// Vision Transformer (Dosovitskiy et al., 2021) and ConvNeXt (Liu et al., 2022).
#include <cmath>

#include "convert/architectures/builders.h"

namespace dnn::architecture {
namespace {

ValueId linear(Modules& m, const std::string& name, ValueId x) {
  return m.linear(name, name + ".weight", name + ".bias", x);
}

// x: [N, L, E]; the three projections lie behind one another in one parameter.
ValueId self_attention(Modules& m, const std::string& name, ValueId x, int64_t width, int64_t n_heads) {
  const ValueId qkv = m.linear(name + ".in_proj", name + ".in_proj_weight", name + ".in_proj_bias", x);
  const int64_t head = width / n_heads;
  std::vector<ValueId> parts;  // [N, heads, L, E / heads]
  for (int64_t i = 0; i < 3; ++i) {
    const std::string part = cat(name, ".", "qkv"[i]);
    const ValueId own = m.slice(part, qkv, 2, i * width, (i + 1) * width);
    parts.push_back(m.transpose(part + ".heads", m.reshape(part + ".split", own, {0, 0, n_heads, head}), {0, 2, 1, 3}));
  }
  const ValueId keys = m.transpose(name + ".k.turned", parts[1], {0, 1, 3, 2});
  const ValueId scale = m.number(name + ".scale", 1 / std::sqrt(static_cast<float>(head)));
  const ValueId scores = m.op("MatMul", name + ".scores", {m.mul(name + ".scaled", parts[0], scale), keys});
  const ValueId weights = m.op("Softmax", name + ".softmax", {scores}, {{"axis", int64_t{-1}}});
  const ValueId mixed = m.op("MatMul", name + ".mixed", {weights, parts[2]});
  const ValueId joined = m.reshape(name + ".joined", m.transpose(name + ".turned", mixed, {0, 2, 1, 3}), {0, 0, width});
  return linear(m, name + ".out_proj", joined);
}

}  // namespace

Graph vit(Modules& m, int64_t image_size) {
  const Shape patches = m.shape("conv_proj.weight");
  const int64_t width = patches.at(0), patch = std::max<int64_t>(patches.at(2), 1);
  if (m.shape("encoder.pos_embedding").size() != 3) fail_malformed("'encoder.pos_embedding' is not of rank 3");
  // A square of patches and the class's token; the model may have been made for larger images.
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(m.shape("encoder.pos_embedding")[1] - 1)));
  if (side > 0) image_size = side * patch;
  const ValueId image = m.image(patches.at(1), image_size);
  ValueId x = m.conv("conv_proj", image, {.stride = patch, .pad = 0});
  x = m.transpose("tokens", m.reshape("conv_proj.flat", x, {0, width, -1}), {0, 2, 1});
  const ValueId batch = m.op("Shape", "batch", {image}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
  const ValueId extents = m.concat("class_token.shape", {batch, m.ints("class_token.extents", {1, width})}, 0);
  x = m.concat("class_token.cat", {m.op("Expand", "class_token.expand", {m.parameter("class_token"), extents}), x});
  x = m.add("encoder.pos", x, m.parameter("encoder.pos_embedding"));
  const int64_t n_heads = std::max<int64_t>(width / (width == 1280 ? 80 : 64), 1);  // 80 in ViT-H/14
  for (int i = 0; m.has(cat("encoder.layers.encoder_layer_", i, ".ln_1.weight")); ++i) {
    const std::string layer = cat("encoder.layers.encoder_layer_", i, ".");
    const ValueId seen = m.layer_norm(layer + "ln_1", x, 1e-6f);
    x = m.add(layer + "add_1", self_attention(m, layer + "self_attention", seen, width, n_heads), x);
    const std::string first = m.has(layer + "mlp.0.weight") ? "mlp.0" : "mlp.linear_1";
    const std::string second = m.has(layer + "mlp.3.weight") ? "mlp.3" : "mlp.linear_2";
    ValueId y = linear(m, layer + first, m.layer_norm(layer + "ln_2", x, 1e-6f));
    y = linear(m, layer + second, m.op("Gelu", layer + "mlp.1", {y}));
    x = m.add(layer + "add_2", x, y);
  }
  x = m.layer_norm("encoder.ln", x, 1e-6f);
  x = m.op("Gather", "class", {x, m.constant("class.index", Tensor::scalar(int64_t{0}))}, {{"axis", int64_t{1}}});
  return m.finish(m.linear("heads.head", x));
}

Graph convnext(Modules& m, int64_t image_size) {
  ValueId x = m.conv("features.0.0", m.image(3, image_size), {.stride = 4, .pad = 0});
  x = m.channel_norm("features.0.1", x, 1e-6f);
  for (int stage = 1; m.has(cat("features.", stage, ".0.layer_scale")); stage += 2) {
    if (stage > 1) {
      const std::string halving = cat("features.", stage - 1);
      x = m.conv(halving + ".1", m.channel_norm(halving + ".0", x, 1e-6f), {.stride = 2, .pad = 0});
    }
    for (int i = 0; m.has(cat("features.", stage, ".", i, ".layer_scale")); ++i) {
      const std::string name = cat("features.", stage, ".", i);
      ValueId y = m.transpose(name + ".block.1", m.depthwise(name + ".block.0", x), {0, 2, 3, 1});
      y = linear(m, name + ".block.3", m.layer_norm(name + ".block.2", y, 1e-6f));
      y = linear(m, name + ".block.5", m.op("Gelu", name + ".block.4", {y}));
      y = m.transpose(name + ".block.6", y, {0, 3, 1, 2});
      x = m.add(name + ".add", m.mul(name + ".scale", y, m.parameter(name + ".layer_scale")), x);
    }
  }
  x = m.channel_norm("classifier.0", m.global_average_pool("avgpool", x), 1e-6f);
  return m.finish(m.linear("classifier.2", m.flatten("classifier.1", x)));
}

}  // namespace dnn::architecture
