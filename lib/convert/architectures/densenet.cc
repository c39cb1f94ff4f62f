// DenseNet (Huang et al., 2017): each layer sees the outputs of all those before it in its block.
#include "convert/architectures/builders.h"

namespace dnn::architecture {
namespace {

ValueId norm_relu(Modules& m, const std::string& prefix, const std::string& number, ValueId x) {
  return m.relu(prefix + "relu" + number, m.batch_norm(prefix + "norm" + number, x));
}

}  // namespace

Graph densenet(Modules& m, int64_t image_size) {
  ValueId x = m.conv("features.conv0", m.image(3, image_size), {.stride = 2});
  x = norm_relu(m, "features.", "0", x);
  x = m.max_pool("features.pool0", x, {.kernel = 3, .stride = 2, .pad = 1});
  for (int b = 1; m.has(cat("features.denseblock", b, ".denselayer1.norm1.weight")); ++b) {
    std::vector<ValueId> parts = {x};
    for (int l = 1; m.has(cat("features.denseblock", b, ".denselayer", l, ".norm1.weight")); ++l) {
      const std::string layer = cat("features.denseblock", b, ".denselayer", l, ".");
      ValueId y = parts.size() == 1 ? x : m.concat(layer + "cat", parts);
      y = m.conv(layer + "conv1", norm_relu(m, layer, "1", y));
      parts.push_back(m.conv(layer + "conv2", norm_relu(m, layer, "2", y)));
    }
    x = m.concat(cat("features.denseblock", b, ".cat"), parts);
    const std::string transition = cat("features.transition", b, ".");
    if (!m.has(transition + "conv.weight")) break;
    x = m.conv(transition + "conv", norm_relu(m, transition, "", x));
    x = m.average_pool(transition + "pool", x, {.kernel = 2, .stride = 2});
  }
  x = norm_relu(m, "features.", "5", x);
  x = m.flatten("flatten", m.global_average_pool("avgpool", x));
  return m.finish(m.linear("classifier", x));
}

}  // namespace dnn::architecture
