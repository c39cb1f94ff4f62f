// build_network() and count_network(): one walk over a configuration that counts each layer and, where a graph is wanted, makes it.
#include "branch/network.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "convert/weights.h"
#include "formats/format.h"
#include "ops/build.h"

namespace dnn::branch {
namespace {

constexpr int64_t kMostWeights = int64_t{1} << 31;

// A tensor [N, channels, height, width] between two layers. `counted` channels are what the configuration says; `channels` what there are.
struct Wire {
  ValueId value = kNoValue;
  int64_t channels = 0, counted = 0, height = 0, width = 0;
};

// What a layer is called: `node` in the graph, `parameters` in the state dict.
struct Names {
  std::string node, parameters;
};

struct ConvShape {
  int64_t width = 0, kernel = 1, stride = 1, groups = 1;
  bool bias = false;
  bool is_counted = true;
};

// pycls's make_divisible(): the multiple of 8 that is nearest, not less than nine tenths.
int64_t divisible_by_8(double value) {
  int64_t rounded = std::max<int64_t>(8, static_cast<int64_t>(value + 4) / 8 * 8);
  if (static_cast<double>(rounded) < 0.9 * value) rounded += 8;
  return rounded;
}

int64_t rounded(double value) {
  return static_cast<int64_t>(std::nearbyint(value));
}  // ties to even, as Python's round()

class Walk {
 public:
  // `graph` null: counts alone.
  Walk(const Config& config, NewGraph* graph, uint64_t seed) : config_(config), graph_(graph), random_(seed) {}

  Counts counts() const { return counts_; }

  void network(int64_t size) {
    Wire x;
    x.channels = x.counted = 3;
    x.height = x.width = size;
    if (graph_ != nullptr) x.value = graph_->input("input", Type(DType::Float32, {Dim("batch"), 3, size, size}));
    x = stem(x);
    for (size_t s = 0; s < config_.stages.size(); ++s) x = stage(x, s);
    const ValueId result = head(x);
    if (graph_ != nullptr) graph_->output(result);
  }

 private:
  // ---- layers
  ValueId emit(const std::string& op, const std::string& name, std::vector<ValueId> inputs,
               Attributes attributes = {}) {
    if (graph_ == nullptr) return kNoValue;
    Node node;
    node.op = op;
    node.name = name;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    return graph_->add(std::move(node), {name})[0];
  }

  // A parameter of uniform random numbers with this standard deviation around `mean`.
  ValueId parameter(const std::string& name, Shape shape, double deviation, float mean = 0) {
    int64_t size = 1;
    for (int64_t extent : shape) size *= extent;
    counts_.weights += size;
    if (counts_.weights > kMostWeights) fail_unsupported(config_.path, ": more than ", kMostWeights, " weights");
    if (graph_ == nullptr) return kNoValue;
    Tensor tensor(DType::Float32, std::move(shape));
    float* values = tensor.mutable_data<float>();
    const double reach = deviation * std::sqrt(3.0);
    for (int64_t i = 0; i < size; ++i) {
      const double unit = static_cast<double>(random_() >> 11) * 0x1p-53;
      values[i] = deviation == 0 ? mean : static_cast<float>((2 * unit - 1) * reach);
    }
    return graph_->store(name, std::move(tensor));
  }

  Wire conv(const Names& names, const Wire& x, const ConvShape& c) {
    if (x.counted % c.groups != 0 || c.width % c.groups != 0 || (c.groups > 1 && x.counted != x.channels))
      fail_unsupported(config_.path, ": ", names.node, ": ", x.channels, " channels to ", c.width, " in ", c.groups,
                       " groups");
    Wire y = x;
    y.channels = y.counted = c.width;
    y.height = (x.height - 1) / c.stride + 1;
    y.width = (x.width - 1) / c.stride + 1;
    const int64_t taps = c.kernel * c.kernel, area = y.height * y.width, inner = x.channels / c.groups;
    // He's initialisation by what an output reads, so that numbers keep their size from layer to layer, in depthwise ones too.
    const ValueId weight = parameter(names.parameters + ".weight", {c.width, inner, c.kernel, c.kernel},
                                     std::sqrt(2.0 / static_cast<double>(taps * inner)));
    if (c.is_counted) {
      const int64_t products = taps * (x.counted / c.groups) * c.width;
      counts_.flops += products * area + (c.bias ? c.width * area : 0);
      counts_.params += products + (c.bias ? c.width : 0);
      counts_.acts += c.width * area;
    }
    std::vector<ValueId> inputs = {x.value, weight};
    if (c.bias) inputs.push_back(parameter(names.parameters + ".bias", {c.width}, 0));
    y.value = emit("Conv", names.node, std::move(inputs),
                   {{"kernel_shape", std::vector<int64_t>(2, c.kernel)},
                    {"strides", std::vector<int64_t>(2, c.stride)},
                    {"pads", std::vector<int64_t>(4, (c.kernel - 1) / 2)},
                    {"group", c.groups}});
    return y;
  }

  Wire norm(const Names& names, Wire x, bool is_counted = true) {
    if (is_counted) counts_.params += 2 * x.counted;
    std::vector<ValueId> inputs = {x.value};
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      const bool one = part[1] == 'w' || ends_with(part, "var");
      const int64_t before = counts_.weights;
      inputs.push_back(parameter(names.parameters + part, {x.channels}, 0, one ? 1 : 0));
      if (starts_with(part, ".running")) counts_.weights = before;  // statistics are no parameters
    }
    x.value = emit("BatchNormalization", names.node, std::move(inputs), {{"epsilon", config_.epsilon}});
    return x;
  }

  Wire conv_norm(const Names& conv_names, const Names& norm_names, const Wire& x, const ConvShape& c) {
    return norm(norm_names, conv(conv_names, x, c), c.is_counted);
  }

  // `marked`: the product of SiLU, its last node, is a point where branches part.
  Wire act(const std::string& name, Wire x, Activation activation, bool marked = false) {
    if (activation == Activation::Relu) {
      x.value = emit("Relu", name, {x.value});
    } else {
      const ValueId gate = emit("Sigmoid", name + "_sigmoid", {x.value});
      x.value = emit("Mul", name + (marked ? "_mp_start_mul" : "_mul"), {x.value, gate});
    }
    return x;
  }

  Wire add(const std::string& name, const Wire& a, Wire b) {
    if (a.channels != b.channels)
      fail_unsupported(config_.path, ": ", name, ": ", a.channels, " channels and ", b.channels,
                       " cannot be added; correct ORIGINAL_WIDTHS");
    b.value = emit("Add", name, {a.value, b.value});
    return b;
  }

  Wire squeeze(const Names& names, const Wire& x, int64_t width) {
    Wire s = x;
    s.height = s.width = 1;
    s.value = emit("GlobalAveragePool", names.node + "_gap", {x.value});
    s = conv({names.node + "_0_conv", names.parameters + ".f_ex.0"}, s, {.width = width, .bias = true});
    s = act(names.node + (config_.activation == Activation::Relu ? "_0_relu" : "_0_act"), s, config_.activation);
    s = conv({names.node + "_1_conv", names.parameters + ".f_ex.2"}, s, {.width = x.channels, .bias = true});
    Wire y = x;
    y.value = emit("Mul", names.node + "_mul", {x.value, emit("Sigmoid", names.node + "_sigmoid", {s.value})});
    return y;
  }

  // ---- blocks
  static std::string act_name(const std::string& name, Activation activation) {
    return name + (activation == Activation::Relu ? "_relu" : "_act");
  }
  static std::string marked_name(const std::string& name, bool marked) { return marked ? name + "_mp_start" : name; }

  Wire shortcut(const Names& names, const Wire& x, int64_t width, int64_t stride) {
    if (x.counted == width && stride == 1) return x;
    return conv_norm({names.node + "_proj_conv", names.parameters + ".proj"},
                     {names.node + "_proj_bn", names.parameters + ".bn"}, x, {.width = width, .stride = stride});
  }

  Wire residual(const Names& names, const Wire& x, const Branch& b, int64_t stride, bool marked) {
    const auto step = [&](const char* node, const char* parameter) {
      return Names{names.node + "_" + node, names.parameters + ".f." + parameter};
    };
    const Wire past = shortcut(names, x, b.width, stride);
    Wire y = x;
    if (config_.block == Block::Basic) {
      y = conv_norm(step("0_conv", "a"), step("0_bn", "a_bn"), y, {.width = b.width, .kernel = 3, .stride = stride});
      y = act(act_name(names.node + "_0", b.activation), y, b.activation);
      y = conv_norm(step("1_conv", "b"), step("1_bn", "b_bn"), y, {.width = b.width, .kernel = 3});
    } else {
      const int64_t inner = rounded(static_cast<double>(b.width) * b.bottleneck);
      const int64_t squeezed = rounded(static_cast<double>(x.counted) * config_.squeeze);
      const int64_t groups = inner / b.group_width;
      if (inner < 1 || groups < 1)
        fail_unsupported(config_.path, ": ", names.node, ": a bottleneck of ", inner, " channels in groups of ",
                         b.group_width);
      y = conv_norm(step("a_conv", "a"), step("a_bn", "a_bn"), y, {.width = inner});
      y = act(act_name(names.node + "_a", b.activation), y, b.activation);
      y = conv_norm(step("b_conv", "b"), step("b_bn", "b_bn"), y,
                    {.width = inner, .kernel = 3, .stride = stride, .groups = groups});
      y = act(act_name(names.node + "_b", b.activation), y, b.activation);
      if (squeezed > 0) y = squeeze(step("se", "se"), y, squeezed);
      y = conv_norm(step("c_conv", "c"), step("c_bn", "c_bn"), y, {.width = b.width});
    }
    const std::string last = marked_name(names.node, marked);
    return act(act_name(last, b.activation), add(last + "_add", past, y), b.activation);
  }

  Wire inverted_bottleneck(const Names& names, const Wire& x, const Branch& b, int64_t kernel, int64_t stride,
                           bool marked) {
    const auto expanded = static_cast<int64_t>(static_cast<double>(x.counted) * b.bottleneck);
    const auto squeezed = static_cast<int64_t>(static_cast<double>(x.counted) * config_.squeeze);
    const auto step = [&](const std::string& node, const char* parameter) {
      return Names{node, names.parameters + parameter};
    };
    Wire y = x;
    if (expanded != x.counted) {
      y = conv_norm(step(names.node + "_exp_conv", ".exp"), step(names.node + "_exp_bn", ".exp_bn"), y,
                    {.width = expanded});
      y = act(names.node + "_exp_act", y, b.activation);
    }
    y = conv_norm(step(names.node + "_dw", ".dwise"), step(names.node + "_dw_bn", ".dwise_bn"), y,
                  {.width = expanded, .kernel = kernel, .stride = stride, .groups = expanded});
    y = act(names.node + "_dw_act", y, b.activation);
    if (squeezed > 0) y = squeeze(step(names.node + "_se", ".se"), y, squeezed);
    const bool skips = stride == 1 && x.counted == b.width;
    const std::string last = marked_name(names.node, marked), projection = skips ? names.node : last;
    y = conv_norm(step(projection + "_proj_conv", ".lin_proj"), step(projection + "_proj_bn", ".lin_proj_bn"), y,
                  {.width = b.width});
    return skips ? add(last + "_add", x, y) : y;
  }

  Wire half(const Names& names, const Wire& x, int64_t from, int64_t to) {
    Wire y = x;
    y.channels = y.counted = to - from;
    if (graph_ == nullptr) return y;
    const auto ints = [&](const char* what, int64_t value) {
      return graph_->store(names.node + "_" + what, Tensor::of<int64_t>({1}, {value}));
    };
    y.value = emit("Slice", names.node, {x.value, ints("from", from), ints("to", to), ints("axis", 1)});
    return y;
  }

  Wire concat(const std::string& name, const std::vector<Wire>& parts, int64_t counted) {
    Wire y = parts[0];
    std::vector<ValueId> values;
    y.channels = 0;
    for (const Wire& part : parts) {
      y.channels += part.channels;
      values.push_back(part.value);
    }
    y.counted = counted;
    y.value = emit("Concat", name, std::move(values), {{"axis", int64_t{1}}});
    return y;
  }

  // ShuffleNet's: half of the channels goes past, then the two halves are interleaved.
  Wire shuffle(const Names& names, const Wire& x, const Branch& b, int64_t stride, bool marked) {
    const int64_t part = b.width / 2;
    if (b.width % 2 != 0 || (stride == 1 && x.channels != b.width))
      fail_unsupported(config_.path, ": ", names.node, ": inverted_residual of stride ", stride, " takes ", x.channels,
                       " channels to ", b.width, "; an even width, and with stride 1 the same one, is needed");
    const auto step = [&](int branch, const std::string& node, int index) {
      return Names{cat(names.node, "_branch", branch, "_", node), cat(names.parameters, ".branch", branch, ".", index)};
    };
    Wire left = x, right = x;
    if (stride > 1) {
      left = conv_norm(step(1, "conv1", 0), step(1, "bn1", 1), left,
                       {.width = x.channels, .kernel = 3, .stride = stride, .groups = x.channels});
      left = conv_norm(step(1, "conv2", 2), step(1, "bn2", 3), left, {.width = part});
      left = act(act_name(names.node + "_branch1", b.activation), left, b.activation);
    } else {
      left = half({names.node + "_split_0", ""}, x, 0, part);
      right = half({names.node + "_split_1", ""}, x, part, b.width);
    }
    right = conv_norm(step(2, "conv1", 0), step(2, "bn1", 1), right, {.width = part});
    right = act(act_name(names.node + "_branch2_1", b.activation), right, b.activation);
    right = conv_norm(step(2, "conv2", 3), step(2, "bn2", 4), right,
                      {.width = part, .kernel = 3, .stride = stride, .groups = part});
    right = conv_norm(step(2, "conv3", 5), step(2, "bn3", 6), right, {.width = part});
    right = act(act_name(names.node + "_branch2_2", b.activation), right, b.activation);
    Wire y = concat(names.node + "_concat", {left, right}, b.width);
    if (graph_ == nullptr) return y;
    const auto reshape = [&](const std::string& name, const std::vector<int64_t>& shape) {
      const ValueId to =
          graph_->store(name + "_shape", Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape));
      y.value = emit("Reshape", name, {y.value, to});
    };
    const std::string last = marked_name(names.node, marked) + "_shuffle";
    reshape(last + "_reshape1", {0, 2, part, y.height, y.width});
    y.value = emit("Transpose", last + "_transpose", {y.value}, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}});
    reshape(last + "_reshape2", {0, b.width, y.height, y.width});
    return y;
  }

  Wire block(const Names& names, const Wire& x, const Branch& b, int64_t kernel, int64_t stride, bool marked) {
    if (config_.block == Block::InvertedBottleneck) return inverted_bottleneck(names, x, b, kernel, stride, marked);
    if (config_.block == Block::Shuffle) return shuffle(names, x, b, stride, marked);
    return residual(names, x, b, stride, marked);
  }

  // ---- the network
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
    Wire x = conv_norm({prefix + "_conv", "stem.conv"}, {prefix + "_bn", "stem.bn"}, image,
                       {.width = config_.stem_width, .kernel = config_.stem_kernel, .stride = stride});
    const bool simple = config_.stem == Stem::Simple;
    x = act(simple ? prefix + "_act" : act_name(prefix, config_.activation), x, config_.activation,
            simple && marked && !all);
    if (config_.stem != Stem::Residual) return x;
    x.height = (x.height - 1) / 2 + 1;
    x.width = (x.width - 1) / 2 + 1;
    counts_.acts += x.counted * x.height * x.width;
    x.value = emit("MaxPool", name + "_pool", {x.value},
                   {{"kernel_shape", std::vector<int64_t>(2, 3)},
                    {"strides", std::vector<int64_t>(2, 2)},
                    {"pads", std::vector<int64_t>(4, 1)}});
    return x;
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
      x = block({cat(prefix, whole.device, "_b0"), cat("s", s + 1, ".b0")}, x, whole, stage.kernel, whole.stride, true);
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
    return concat(merge, outputs, stage.width);
  }

  Wire branch(Wire x, const Stage& stage, const Branch& b, const Names& names, int64_t done, bool marked) {
    const auto share = stage.width / static_cast<int64_t>(stage.branches.size());
    const bool projected = config_.version == 1, widened = projected && share != b.width;
    // In the state dict a branch is its blocks, a sequence of projection and blocks, or a sequence of that and what is behind.
    const std::string outer = names.parameters + (widened ? ".0" : ""), blocks = outer + (projected ? ".2" : "");
    int64_t stride = b.stride;
    if (done > 0) {
      stride = 1;
      if (b.width != x.channels)
        x = conv({names.node + "_convfirst", names.parameters + ".first"}, x, {.width = b.width, .bias = true});
    }
    if (projected) {
      const int64_t width = divisible_by_8(static_cast<double>(b.width) / static_cast<double>(stage.width) *
                                           static_cast<double>(x.counted));
      x = conv_norm({names.node + "_convfirst", outer + ".0"}, {names.node + "_convfirst_bn", outer + ".1"}, x,
                    {.width = width});
    }
    for (int64_t i = 1; i <= b.depth - done; ++i) {
      x = block({cat(names.node, "_b", i), cat(blocks, ".b", i)}, x, b, stage.kernel, stride,
                marked && i == b.depth - done);
      stride = 1;
    }
    if (widened) {
      x = conv_norm({names.node + "_convlast", names.parameters + ".1"},
                    {names.node + "_convlast_bn", names.parameters + ".2"}, x, {.width = share, .is_counted = false});
    }
    return x;
  }

  ValueId head(Wire x) {
    const std::string name = "head_" + config_.head_device;
    if (config_.head_width > 0) {
      x = conv_norm({name + "_conv", "head.conv"}, {name + "_bn", "head.bn"}, x, {.width = config_.head_width});
      x = act(name + "_act", x, config_.activation);
    }
    counts_.flops += x.counted * config_.classes + config_.classes;
    counts_.params += x.counted * config_.classes + config_.classes;
    counts_.acts += config_.classes;
    const ValueId pooled = emit("GlobalAveragePool", name + "_gap", {x.value});
    const ValueId flat = emit("Flatten", name + "_flatten", {pooled}, {{"axis", int64_t{1}}});
    const ValueId weight =
        parameter("head.fc.weight", {config_.classes, x.channels}, 1 / std::sqrt(static_cast<double>(x.channels)));
    const ValueId bias = parameter("head.fc.bias", {config_.classes}, 0);
    return emit("Gemm", name + "_dense", {flat, weight, bias}, {{"transB", int64_t{1}}});
  }

  const Config& config_;
  NewGraph* graph_;
  std::mt19937_64 random_;
  Counts counts_;
};

}  // namespace

Counts count_network(const Config& config, int64_t image_size) {
  Walk walk(config, nullptr, 0);
  walk.network(image_size == 0 ? config.image_size : image_size);
  return walk.counts();
}

Graph build_network(const Config& config, uint64_t seed, int64_t image_size) {
  count_network(config, image_size);  // refuses what is too large before memory is filled
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
    warn(cat(path, ": says nothing of ", kept.size(), " weights, which stay random; the first is ", kept[0]));
    text = cat("a file's, ", kept.size(), " are random");
  }
  for (auto& [key, value] : graph.metadata) {
    if (key == kWeightsKey) value = text;
  }
}

}  // namespace dnn::branch
