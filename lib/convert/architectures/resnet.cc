// Residual networks (He et al., 2016): basic and bottleneck blocks, grouped ones (ResNeXt), and the narrow ones for CIFAR-10.
#include "convert/architectures/builders.h"

namespace dnn::architecture {
namespace {

ValueId shortcut(Modules& m, const std::string& block, ValueId x, int64_t stride) {
  const std::string name = block + ".downsample";
  if (m.has(name + ".0.weight")) return m.batch_norm(name + ".1", m.conv(name + ".0", x, {.stride = stride}));
  const int64_t wanted = m.shape(block + ".conv2.weight")[0], given = m.shape(block + ".conv1.weight")[1];
  if (m.has(block + ".conv3.weight") || wanted == given) return x;
  // Every second row and column, and channels of zeros on either side.
  const ValueId rows = m.slice(name + ".rows", x, 2, 0, INT64_MAX, 2);
  const ValueId columns = m.slice(name + ".columns", rows, 3, 0, INT64_MAX, 2);
  const int64_t before = (wanted - given) / 2;
  return m.op("Pad", name, {columns, m.ints(name + ".pads", {0, before, 0, 0, 0, wanted - given - before, 0, 0})});
}

ValueId residual_block(Modules& m, const std::string& block, ValueId x, int64_t stride) {
  const bool bottleneck = m.has(block + ".conv3.weight");
  ValueId y = m.conv(block + ".conv1", x, {.stride = bottleneck ? 1 : stride});
  y = m.relu(block + ".relu1", m.batch_norm(block + ".bn1", y));
  const int64_t groups =
      m.shape(block + ".conv1.weight")[0] / std::max<int64_t>(m.shape(block + ".conv2.weight")[1], 1);
  y = m.conv(block + ".conv2", y, {.stride = bottleneck ? stride : 1, .pad = -1, .groups = groups});
  y = m.batch_norm(block + ".bn2", y);
  if (bottleneck) {
    y = m.conv(block + ".conv3", m.relu(block + ".relu2", y));
    y = m.batch_norm(block + ".bn3", y);
  }
  return m.relu(block + ".relu", m.add(block + ".add", y, shortcut(m, block, x, stride)));
}

ValueId residual_layers(Modules& m, ValueId x, int n_layers) {
  for (int layer = 1; layer <= n_layers; ++layer) {
    for (int i = 0; i == 0 || m.has(cat("layer", layer, ".", i, ".conv1.weight")); ++i)
      x = residual_block(m, cat("layer", layer, ".", i), x, layer > 1 && i == 0 ? 2 : 1);
  }
  return m.flatten("flatten", m.global_average_pool("avgpool", x));
}

}  // namespace

Graph resnet(Modules& m, int64_t image_size) {
  ValueId x = m.conv("conv1", m.image(3, image_size), {.stride = 2});
  x = m.relu("relu", m.batch_norm("bn1", x));
  x = m.max_pool("maxpool", x, {.kernel = 3, .stride = 2, .pad = 1});
  return m.finish(m.linear("fc", residual_layers(m, x, 4)));
}

Graph cifar_resnet(Modules& m, int64_t image_size) {
  ValueId x = m.conv("conv1", m.image(3, image_size));
  x = m.relu("relu", m.batch_norm("bn1", x));
  x = residual_layers(m, x, 3);
  return m.finish(m.linear(m.has("linear.weight") ? "linear" : "fc", x));
}

}  // namespace dnn::architecture
