// Networks without branches, and SqueezeNet: AlexNet (Krizhevsky, 2014), VGG (Simonyan and Zisserman, 2015), SqueezeNet (Iandola
// et al., 2016). Where a pooling stands, the gap between the numbers of modules tells.
#include "convert/architectures/builders.h"

namespace dnn::architecture {
namespace {

std::string feature(int64_t i) { return cat("features.", i); }

ValueId classifier(Modules& m, ValueId x, const std::vector<int>& layers) {
  x = m.flatten("flatten", x);
  for (int i : layers) {
    x = m.linear(cat("classifier.", i), x);
    if (i != layers.back()) x = m.relu(cat("classifier.", i + 1), x);
  }
  return x;
}

int64_t last_feature(const Modules& m) {
  int64_t last = 0;
  for (const std::string& name : m.names()) {
    const std::vector<std::string> parts = split(name, '.');
    int64_t at = 0;
    if (parts.size() > 2 && parts[0] == "features" && parse_int(parts[1], &at)) last = std::max(last, at);
  }
  if (last > 1000) fail_malformed("features.", last, " is no layer of such a network");
  return last;
}

}  // namespace

Graph alexnet(Modules& m, int64_t image_size) {
  ValueId x = m.relu(feature(1), m.conv(feature(0), m.image(3, image_size), {.stride = 4, .pad = 2}));
  x = m.max_pool(feature(2), x, {.kernel = 3, .stride = 2});
  x = m.max_pool(feature(5), m.relu(feature(4), m.conv(feature(3), x)), {.kernel = 3, .stride = 2});
  for (int i : {6, 8, 10}) x = m.relu(feature(i + 1), m.conv(feature(i), x));
  x = m.max_pool(feature(12), x, {.kernel = 3, .stride = 2});
  return m.finish(classifier(m, x, {1, 4, 6}));
}

Graph vgg(Modules& m, int64_t image_size) {
  ValueId x = m.image(3, image_size);
  const int64_t last = last_feature(m);
  const bool norms = m.has("features.1.running_mean");
  for (int64_t i = 0; i <= last; ++i) {
    if (!m.has(feature(i) + ".weight")) {
      x = m.max_pool(feature(i), x, {.kernel = 2, .stride = 2});
      continue;
    }
    x = m.conv(feature(i), x);
    if (norms) x = m.batch_norm(feature(++i), x);
    x = m.relu(feature(++i), x);
  }
  x = m.max_pool(feature(last + 2), x, {.kernel = 2, .stride = 2});
  return m.finish(classifier(m, x, {0, 3, 6}));
}

Graph squeezenet(Modules& m, int64_t image_size) {
  ValueId x = m.relu(feature(1), m.conv(feature(0), m.image(3, image_size), {.stride = 2, .pad = 0}));
  const int64_t last = last_feature(m);
  for (int64_t i = 2; i <= last; ++i) {
    const std::string fire = feature(i);
    if (!m.has(fire + ".squeeze.weight")) {
      x = m.max_pool(fire, x, {.kernel = 3, .stride = 2, .pad = 0, .ceil = true});
      continue;
    }
    x = m.relu(fire + ".squeeze_activation", m.conv(fire + ".squeeze", x));
    const ValueId one = m.relu(fire + ".expand1x1_activation", m.conv(fire + ".expand1x1", x));
    const ValueId three = m.relu(fire + ".expand3x3_activation", m.conv(fire + ".expand3x3", x));
    x = m.concat(fire + ".cat", {one, three});
  }
  x = m.relu("classifier.2", m.conv("classifier.1", x));
  return m.finish(m.flatten("flatten", m.global_average_pool("classifier.3", x)));
}

}  // namespace dnn::architecture
