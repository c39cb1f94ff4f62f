// build_network() and count_network(): one walk over a configuration that counts each layer and, where a graph is wanted, makes it.
#include "branch/network.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/error.h"
#include "base/read_limit.h"
#include "branch/blocks.h"
#include "convert/weights.h"
#include "formats/format.h"

namespace dnn::branch {
namespace {

// pycls's make_divisible(): the multiple of 8 that is nearest, not less than nine tenths.
int64_t divisible_by_8(double value) {
  int64_t rounded = std::max<int64_t>(8, static_cast<int64_t>(value + 4) / 8 * 8);
  if (static_cast<double>(rounded) < 0.9 * value) rounded += 8;
  return rounded;
}

class Walk {
 public:
  // `graph` null: counts alone.
  Walk(const Config& config, NewGraph* graph, uint64_t seed)
      : config_(config), layers_(config.path, config.epsilon, graph, seed) {}

  Counts counts() const { return layers_.counts(); }

  void network(int64_t size) {
    Wire x;
    x.channels = x.counted = 3;
    x.height = x.width = size;
    NewGraph* graph = layers_.graph();
    if (graph != nullptr) x.value = graph->input("input", Type(DType::Float32, {Dim("batch"), 3, size, size}));
    x = stem(x);
    for (size_t s = 0; s < config_.stages.size(); ++s) x = stage(x, s);
    const ValueId result = head(x);
    if (graph != nullptr) graph->output(result);
  }

 private:
  bool is_branched(size_t s) const { return s < config_.stages.size() && config_.stages[s].branches.size() > 1; }
  // Whether the output of stage `s` (-1: the stem) is where branches part.
  bool parts_behind(size_t s) const { return config_.branches_stride && is_branched(s + 1); }

  Wire stem(const Wire& image) {
    const bool marked = config_.branches_stride && is_branched(0);
    const std::string plain = "st_" + config_.stem_device, name = marked_name(plain, marked);
    const bool all =
        config_.stem == Stem::Cifar || (config_.stem == Stem::Simple && config_.activation == Activation::Relu);
    const std::string prefix = all ? name : plain;
    const int64_t stride = config_.stem == Stem::Cifar ? 1 : 2;
    Wire x = layers_.conv_norm({prefix + "_conv", "stem.conv"}, {prefix + "_bn", "stem.bn"}, image,
                               {.width = config_.stem_width, .kernel = config_.stem_kernel, .stride = stride});
    const bool simple = config_.stem == Stem::Simple;
    x = layers_.act(simple ? prefix + "_act" : act_name(prefix, config_.activation), x, config_.activation,
                    simple && marked && !all);
    if (config_.stem != Stem::Residual) return x;
    return layers_.max_pool(name + "_pool", x);
  }

  Wire stage(Wire x, size_t s) {
    const Stage& stage = config_.stages[s];
    const bool branched = is_branched(s);
    const std::string prefix = cat("s", s + 1, "_");
    const std::string parameters = cat("s", s + 1, ".branches.");
    int64_t done = 0;  // blocks that all branches share
    if (!config_.branches_stride) {
      Branch whole = stage.branches[0];
      whole.width = stage.width;
      x = add_block(config_, &layers_, {cat(prefix, whole.device, "_b0"), cat("s", s + 1, ".b0")}, x, whole,
                    stage.kernel, whole.stride, true);
      done = 1;
    }
    std::vector<Wire> outputs;
    for (size_t j = 0; j < stage.branches.size(); ++j) {
      const Branch& b = stage.branches[j];
      const bool marked = !branched && parts_behind(s);
      outputs.push_back(branch(x, stage, b, {prefix + b.device, cat(parameters, j)}, done, marked));
    }
    if (!branched) {
      outputs[0].counted = stage.width;
      return outputs[0];
    }
    const std::string merge = prefix + config_.merge_device + (parts_behind(s) ? "_mp_start" : "") + "_mp_end_concat";
    return layers_.concat(merge, outputs, stage.width);
  }

  Wire branch(Wire x, const Stage& stage, const Branch& b, const LayerNames& names, int64_t done, bool marked) {
    const auto share = stage.width / static_cast<int64_t>(stage.branches.size());
    const bool projected = config_.version == 1, widened = projected && share != b.width;
    // In the state dict a branch is its blocks, a sequence of projection and blocks, or a sequence of that and what is behind.
    const std::string outer = names.parameters + (widened ? ".0" : ""), blocks = outer + (projected ? ".2" : "");
    int64_t stride = b.stride;
    if (done > 0) {
      stride = 1;
      if (b.width != x.channels)
        x = layers_.conv({names.node + "_convfirst", names.parameters + ".first"}, x, {.width = b.width, .bias = true});
    }
    if (projected) {
      const int64_t width = divisible_by_8(static_cast<double>(b.width) / static_cast<double>(stage.width) *
                                           static_cast<double>(x.counted));
      x = layers_.conv_norm({names.node + "_convfirst", outer + ".0"}, {names.node + "_convfirst_bn", outer + ".1"}, x,
                            {.width = width});
    }
    for (int64_t i = 1; i <= b.depth - done; ++i) {
      x = add_block(config_, &layers_, {cat(names.node, "_b", i), cat(blocks, ".b", i)}, x, b, stage.kernel, stride,
                    marked && i == b.depth - done);
      stride = 1;
    }
    if (widened) {
      x = layers_.conv_norm({names.node + "_convlast", names.parameters + ".1"},
                            {names.node + "_convlast_bn", names.parameters + ".2"}, x,
                            {.width = share, .is_counted = false});
    }
    return x;
  }

  ValueId head(Wire x) {
    const std::string name = "head_" + config_.head_device;
    if (config_.head_width > 0) {
      x = layers_.conv_norm({name + "_conv", "head.conv"}, {name + "_bn", "head.bn"}, x, {.width = config_.head_width});
      x = layers_.act(name + "_act", x, config_.activation);
    }
    const int64_t products = x.counted * config_.classes;
    layers_.count(products + config_.classes, products + config_.classes, config_.classes);
    const ValueId pooled = layers_.emit("GlobalAveragePool", name + "_gap", {x.value});
    const ValueId flat = layers_.emit("Flatten", name + "_flatten", {pooled}, {{"axis", int64_t{1}}});
    const ValueId weight = layers_.parameter("head.fc.weight", {config_.classes, x.channels},
                                             1 / std::sqrt(static_cast<double>(x.channels)));
    const ValueId bias = layers_.parameter("head.fc.bias", {config_.classes}, 0);
    return layers_.emit("Gemm", name + "_dense", {flat, weight, bias}, {{"transB", int64_t{1}}});
  }

  const Config& config_;
  CountedLayers layers_;
};

// Throws Unsupported: some lines of a configuration can ask for any memory.
void check_size(const std::string& path, const Counts& counts) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const uint64_t given = read_memory_limit();
  if (static_cast<uint64_t>(counts.bytes) <= (given != 0 ? given : kMostBytes)) return;
  fail_unsupported(path, ": its network of ", counts.weights, " weights takes some ", counts.bytes / 1000000,
                   " MB of memory; --max-memory BYTES allows more");
}

}  // namespace

Counts count_network(const Config& config, int64_t image_size) {
  Walk walk(config, nullptr, 0);
  walk.network(image_size == 0 ? config.image_size : image_size);
  return walk.counts();
}

Graph build_network(const Config& config, uint64_t seed, int64_t image_size) {
  check_size(config.path, count_network(config, image_size));  // before memory is filled
  NewGraph made;
  made.graph().name = "branched";
  Walk(config, &made, seed).network(image_size == 0 ? config.image_size : image_size);
  Graph graph = made.finish();
  graph.metadata.emplace_back(kWeightsKey, cat("random, seed ", seed));
  return graph;
}

void load_weights(Graph& graph, const std::string& path, const std::function<void(const std::string&)>& warn) {
  const Graph weights = read_model(path);
  std::vector<std::string> kept;
  try {
    kept = put_weights(graph, weights);
  } catch (Error& e) {
    throw e.within(path);
  }
  std::string text = "a file's";
  if (!kept.empty()) {
    warn(cat(path, ": says nothing of ", counted(kept.size(), "weight"),
             kept.size() == 1 ? ", which stays random: " : ", which stay random; the first is ", kept[0]));
    text = cat("a file's, ", kept.size(), " are random");
  }
  for (auto& [key, value] : graph.metadata) {
    if (key == kWeightsKey) value = text;
  }
}

}  // namespace dnn::branch
