// Networks of parallel branches: GoogLeNet (Szegedy et al., 2015, with batch norms) and Inception-V3 (Szegedy et al., 2016). The
// auxiliary classifiers of training are left out.
#include "convert/architectures/builders.h"

namespace dnn::architecture {
namespace {

ValueId unit(Modules& m, const std::string& name, ValueId x, const Modules::Window& window) {
  return m.relu(name + ".relu", m.batch_norm(name + ".bn", m.conv(name + ".conv", x, window), 0.001f));
}
ValueId unit(Modules& m, const std::string& name, ValueId x) { return unit(m, name, x, {}); }

ValueId google_block(Modules& m, const std::string& name, ValueId x) {
  const ValueId one = unit(m, name + ".branch1", x);
  const ValueId two = unit(m, name + ".branch2.1", unit(m, name + ".branch2.0", x));
  const ValueId three = unit(m, name + ".branch3.1", unit(m, name + ".branch3.0", x));
  const ValueId pool = m.max_pool(name + ".branch4.0", x, {.kernel = 3, .stride = 1, .pad = 1, .ceil = true});
  return m.concat(name + ".cat", {one, two, three, unit(m, name + ".branch4.1", pool)});
}

// Units one behind the other, padded by half their kernels.
ValueId chain(Modules& m, const std::string& block, const std::vector<const char*>& units, ValueId x) {
  for (const char* name : units) x = unit(m, block + name, x);
  return x;
}

ValueId pooled_branch(Modules& m, const std::string& block, ValueId x) {
  const ValueId pool = m.average_pool(block + "pool", x, {.kernel = 3, .stride = 1, .pad = 1});
  return unit(m, block + "branch_pool", pool);
}

ValueId block_a(Modules& m, const std::string& b, ValueId x) {
  const ValueId one = unit(m, b + "branch1x1", x), five = chain(m, b, {"branch5x5_1", "branch5x5_2"}, x);
  const ValueId three = chain(m, b, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}, x);
  return m.concat(b + "cat", {one, five, three, pooled_branch(m, b, x)});
}

ValueId block_b(Modules& m, const std::string& b, ValueId x) {
  const Modules::Window halving = {.stride = 2, .pad = 0};
  const ValueId three = unit(m, b + "branch3x3", x, halving);
  const ValueId twice = unit(m, b + "branch3x3dbl_3", chain(m, b, {"branch3x3dbl_1", "branch3x3dbl_2"}, x), halving);
  return m.concat(b + "cat", {three, twice, m.max_pool(b + "pool", x, {.kernel = 3, .stride = 2})});
}

ValueId block_c(Modules& m, const std::string& b, ValueId x) {
  const ValueId one = unit(m, b + "branch1x1", x);
  const ValueId seven = chain(m, b, {"branch7x7_1", "branch7x7_2", "branch7x7_3"}, x);
  const ValueId twice =
      chain(m, b, {"branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4", "branch7x7dbl_5"}, x);
  return m.concat(b + "cat", {one, seven, twice, pooled_branch(m, b, x)});
}

ValueId block_d(Modules& m, const std::string& b, ValueId x) {
  const Modules::Window halving = {.stride = 2, .pad = 0};
  const ValueId three = unit(m, b + "branch3x3_2", unit(m, b + "branch3x3_1", x), halving);
  const ValueId seven =
      unit(m, b + "branch7x7x3_4", chain(m, b, {"branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3"}, x), halving);
  return m.concat(b + "cat", {three, seven, m.max_pool(b + "pool", x, {.kernel = 3, .stride = 2})});
}

ValueId block_e(Modules& m, const std::string& b, ValueId x) {
  const auto fork = [&](const std::string& name, ValueId from) {
    return m.concat(name + ".cat", {unit(m, name + "a", from), unit(m, name + "b", from)});
  };
  const ValueId one = unit(m, b + "branch1x1", x);
  const ValueId three = fork(b + "branch3x3_2", unit(m, b + "branch3x3_1", x));
  const ValueId twice = fork(b + "branch3x3dbl_3", chain(m, b, {"branch3x3dbl_1", "branch3x3dbl_2"}, x));
  return m.concat(b + "cat", {one, three, twice, pooled_branch(m, b, x)});
}

}  // namespace

Graph googlenet(Modules& m, int64_t image_size) {
  const Modules::Pool halving = {.kernel = 3, .stride = 2, .pad = 0, .ceil = true};
  ValueId x = m.max_pool("maxpool1", unit(m, "conv1", m.image(3, image_size), {.stride = 2}), halving);
  x = m.max_pool("maxpool2", unit(m, "conv3", unit(m, "conv2", x)), halving);
  for (const char* name : {"inception3a", "inception3b"}) x = google_block(m, name, x);
  x = m.max_pool("maxpool3", x, halving);
  for (const char* name : {"inception4a", "inception4b", "inception4c", "inception4d", "inception4e"})
    x = google_block(m, name, x);
  x = m.max_pool("maxpool4", x, {.kernel = 2, .stride = 2, .pad = 0, .ceil = true});
  for (const char* name : {"inception5a", "inception5b"}) x = google_block(m, name, x);
  x = m.flatten("flatten", m.global_average_pool("avgpool", x));
  return m.finish(m.linear("fc", x), {"aux1.", "aux2."});
}

Graph inception_v3(Modules& m, int64_t image_size) {
  const Modules::Pool halving = {.kernel = 3, .stride = 2};
  ValueId x = unit(m, "Conv2d_1a_3x3", m.image(3, image_size), {.stride = 2, .pad = 0});
  x = unit(m, "Conv2d_2b_3x3", unit(m, "Conv2d_2a_3x3", x, {.stride = 1, .pad = 0}));
  x = m.max_pool("maxpool1", x, halving);
  x = unit(m, "Conv2d_4a_3x3", unit(m, "Conv2d_3b_1x1", x), {.stride = 1, .pad = 0});
  x = m.max_pool("maxpool2", x, halving);
  for (const char* name : {"Mixed_5b.", "Mixed_5c.", "Mixed_5d."}) x = block_a(m, name, x);
  x = block_b(m, "Mixed_6a.", x);
  for (const char* name : {"Mixed_6b.", "Mixed_6c.", "Mixed_6d.", "Mixed_6e."}) x = block_c(m, name, x);
  x = block_d(m, "Mixed_7a.", x);
  for (const char* name : {"Mixed_7b.", "Mixed_7c."}) x = block_e(m, name, x);
  x = m.flatten("flatten", m.global_average_pool("avgpool", x));
  return m.finish(m.linear("fc", x), {"AuxLogits."});
}

}  // namespace dnn::architecture
