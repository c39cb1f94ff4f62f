// Counted layers; see counted_layers.h.
#include "branch/counted_layers.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace dnn::branch {
namespace {

constexpr int64_t kMostWeights = int64_t{1} << 31;
constexpr int64_t kBytesOfNode = 1024;  // with its names, its output and its attributes, about

}  // namespace

std::string act_name(const std::string& name, Activation activation) {
  return name + (activation == Activation::Relu ? "_relu" : "_act");
}

std::string marked_name(const std::string& name, bool marked) { return marked ? name + "_mp_start" : name; }

void CountedLayers::count(int64_t params, int64_t flops, int64_t acts) {
  counts_.params += params;
  counts_.flops += flops;
  counts_.acts += acts;
}

ValueId CountedLayers::emit(const std::string& op, const std::string& name, std::vector<ValueId> inputs,
                            Attributes attributes) {
  counts_.bytes += kBytesOfNode;
  if (graph_ == nullptr) return kNoValue;
  Node node;
  node.op = op;
  node.name = name;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return graph_->add(std::move(node), {name})[0];
}

ValueId CountedLayers::integers(const std::string& name, const std::vector<int64_t>& values) {
  if (graph_ == nullptr) return kNoValue;
  return graph_->store(name, Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId CountedLayers::parameter(const std::string& name, Shape shape, double deviation, float mean) {
  int64_t size = 1;
  for (int64_t extent : shape) size *= extent;
  counts_.weights += size;
  counts_.bytes += size * static_cast<int64_t>(sizeof(float)) + kBytesOfNode;
  if (counts_.weights > kMostWeights) fail_unsupported(path_, ": more than ", kMostWeights, " weights");
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

Wire CountedLayers::conv(const LayerNames& names, const Wire& x, const ConvShape& c) {
  if (x.counted % c.groups != 0 || c.width % c.groups != 0 || (c.groups > 1 && x.counted != x.channels))
    fail_unsupported(path_, ": ", names.node, ": ", x.channels, " channels to ", c.width, " in ", c.groups, " groups");
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

Wire CountedLayers::norm(const LayerNames& names, Wire x, bool is_counted) {
  if (is_counted) counts_.params += 2 * x.counted;
  std::vector<ValueId> inputs = {x.value};
  for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
    const bool one = part[1] == 'w' || ends_with(part, "var");
    const int64_t before = counts_.weights;
    inputs.push_back(parameter(names.parameters + part, {x.channels}, 0, one ? 1 : 0));
    if (starts_with(part, ".running")) counts_.weights = before;  // statistics are no parameters
  }
  x.value = emit("BatchNormalization", names.node, std::move(inputs), {{"epsilon", epsilon_}});
  return x;
}

Wire CountedLayers::conv_norm(const LayerNames& conv_names, const LayerNames& norm_names, const Wire& x,
                              const ConvShape& c) {
  return norm(norm_names, conv(conv_names, x, c), c.is_counted);
}

Wire CountedLayers::act(const std::string& name, Wire x, Activation activation, bool marked) {
  if (activation == Activation::Relu) {
    x.value = emit("Relu", name, {x.value});
  } else {
    const ValueId gate = emit("Sigmoid", name + "_sigmoid", {x.value});
    x.value = emit("Mul", name + (marked ? "_mp_start_mul" : "_mul"), {x.value, gate});
  }
  return x;
}

Wire CountedLayers::add(const std::string& name, const Wire& a, Wire b) {
  if (a.channels != b.channels)
    fail_unsupported(path_, ": ", name, ": ", a.channels, " channels and ", b.channels,
                     " cannot be added; correct ORIGINAL_WIDTHS");
  b.value = emit("Add", name, {a.value, b.value});
  return b;
}

Wire CountedLayers::max_pool(const std::string& name, Wire x) {
  x.height = (x.height - 1) / 2 + 1;
  x.width = (x.width - 1) / 2 + 1;
  counts_.acts += x.counted * x.height * x.width;
  x.value = emit("MaxPool", name, {x.value},
                 {{"kernel_shape", std::vector<int64_t>(2, 3)},
                  {"strides", std::vector<int64_t>(2, 2)},
                  {"pads", std::vector<int64_t>(4, 1)}});
  return x;
}

Wire CountedLayers::slice(const std::string& name, const Wire& x, int64_t from, int64_t to) {
  Wire y = x;
  y.channels = y.counted = to - from;
  if (graph_ == nullptr) return y;
  y.value =
      emit("Slice", name,
           {x.value, integers(name + "_from", {from}), integers(name + "_to", {to}), integers(name + "_axis", {1})});
  return y;
}

Wire CountedLayers::concat(const std::string& name, const std::vector<Wire>& parts, int64_t counted) {
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

}  // namespace dnn::branch
