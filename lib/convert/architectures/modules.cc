// Modules and their steps; see modules.h.
#include "convert/architectures/modules.h"

#include <algorithm>

namespace dnn {

Modules::Modules(const Graph& weights) : weights_(weights) {
  graph_.metadata = weights.metadata;
  graph_.producer = weights.producer;
}

const Shape& Modules::shape(const std::string& parameter) const {
  const Tensor* tensor = weights_.constant(weights_.find_value(parameter));
  if (tensor == nullptr) fail_malformed("there is no parameter ", quoted(parameter));
  return tensor->shape();
}

std::vector<std::string> Modules::names() const {
  std::vector<std::string> names;
  for (ValueId v = 0; v < weights_.value_count(); ++v) {
    if (weights_.constant(v) != nullptr) names.push_back(weights_.value(v).name);
  }
  return names;
}

ValueId Modules::image(int64_t channels, int64_t size) {
  const ValueId v = graph_.add_value("input", Type(DType::Float32, {Dim("batch"), channels, size, size}));
  graph_.inputs = {v};
  return v;
}

ValueId Modules::op(const std::string& type, const std::string& name, std::vector<ValueId> inputs,
                    Attributes attributes) {
  Node node;
  node.op = type;
  node.name = name;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const ValueId made = graph_.add_value(graph_.unused_value_name(name + ".output"));
  node.outputs = {made};
  graph_.add_node(std::move(node));
  return made;
}

ValueId Modules::parameter(const std::string& name) {
  const ValueId there = graph_.find_value(name);
  if (there != kNoValue) return there;
  const Tensor* tensor = weights_.constant(weights_.find_value(name));
  if (tensor == nullptr) fail_malformed("there is no parameter ", quoted(name));
  used_.insert(name);
  return graph_.add_constant(name, *tensor);
}

ValueId Modules::constant(const std::string& name, Tensor tensor) {
  return graph_.add_constant(graph_.unused_value_name(name), std::move(tensor));
}

ValueId Modules::ints(const std::string& name, const std::vector<int64_t>& values) {
  return constant(name, Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId Modules::number(const std::string& name, float value) { return constant(name, Tensor::scalar(value)); }

ValueId Modules::conv(const std::string& name, ValueId x, const Window& window) {
  const Shape kernel = shape(name + ".weight");
  if (kernel.size() != 4) fail_malformed("parameter '", name, ".weight' is ", shape_text(kernel), ", not of rank 4");
  const int64_t up = window.pad < 0 ? kernel[2] / 2 : window.pad, left = window.pad < 0 ? kernel[3] / 2 : window.pad;
  std::vector<ValueId> inputs = {x, parameter(name + ".weight")};
  if (has(name + ".bias")) inputs.push_back(parameter(name + ".bias"));
  return op("Conv", name, std::move(inputs),
            {{"kernel_shape", std::vector<int64_t>{kernel[2], kernel[3]}},
             {"strides", std::vector<int64_t>{window.stride, window.stride}},
             {"pads", std::vector<int64_t>{up, left, up, left}},
             {"group", window.groups}});
}

ValueId Modules::depthwise(const std::string& name, ValueId x, int64_t stride) {
  return conv(name, x, {.stride = stride, .pad = -1, .groups = shape(name + ".weight").at(0)});
}

ValueId Modules::batch_norm(const std::string& name, ValueId x, float epsilon) {
  return op("BatchNormalization", name,
            {x, parameter(name + ".weight"), parameter(name + ".bias"), parameter(name + ".running_mean"),
             parameter(name + ".running_var")},
            {{"epsilon", epsilon}});
}

ValueId Modules::layer_norm(const std::string& name, ValueId x, float epsilon) {
  return op("LayerNormalization", name, {x, parameter(name + ".weight"), parameter(name + ".bias")},
            {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
}

ValueId Modules::channel_norm(const std::string& name, ValueId x, float epsilon) {
  const ValueId last = transpose(name + ".last", x, {0, 2, 3, 1});
  return transpose(name + ".first", layer_norm(name, last, epsilon), {0, 3, 1, 2});
}

ValueId Modules::linear(const std::string& name, ValueId x) {
  std::vector<ValueId> inputs = {x, parameter(name + ".weight")};
  if (has(name + ".bias")) inputs.push_back(parameter(name + ".bias"));
  return op("Gemm", name, std::move(inputs), {{"transB", int64_t{1}}});
}

ValueId Modules::linear(const std::string& name, const std::string& weight, const std::string& bias, ValueId x) {
  const ValueId turned = op("Transpose", name + ".turned", {parameter(weight)}, {{"perm", std::vector<int64_t>{1, 0}}});
  return add(name + ".add", op("MatMul", name, {x, turned}), parameter(bias));
}

namespace {
Attributes attributes_of(const Modules::Pool& pool) {
  return {{"kernel_shape", std::vector<int64_t>(2, pool.kernel)},
          {"strides", std::vector<int64_t>(2, pool.stride)},
          {"pads", std::vector<int64_t>(4, pool.pad)},
          {"ceil_mode", int64_t{pool.ceil}}};
}
}  // namespace

ValueId Modules::max_pool(const std::string& name, ValueId x, const Pool& pool) {
  return op("MaxPool", name, {x}, attributes_of(pool));
}

ValueId Modules::average_pool(const std::string& name, ValueId x, const Pool& pool) {
  Attributes attributes = attributes_of(pool);
  attributes["count_include_pad"] = int64_t{1};
  return op("AveragePool", name, {x}, std::move(attributes));
}

ValueId Modules::global_average_pool(const std::string& name, ValueId x) { return op("GlobalAveragePool", name, {x}); }

ValueId Modules::flatten(const std::string& name, ValueId x) {
  return op("Flatten", name, {x}, {{"axis", int64_t{1}}});
}

ValueId Modules::relu6(const std::string& name, ValueId x) {
  return op("Clip", name, {x, number(name + ".min", 0), number(name + ".max", 6)});
}

ValueId Modules::concat(const std::string& name, std::vector<ValueId> parts, int64_t axis) {
  return op("Concat", name, std::move(parts), {{"axis", axis}});
}

ValueId Modules::transpose(const std::string& name, ValueId x, std::vector<int64_t> perm) {
  return op("Transpose", name, {x}, {{"perm", std::move(perm)}});
}

ValueId Modules::reshape(const std::string& name, ValueId x, const std::vector<int64_t>& shape) {
  return op("Reshape", name, {x, ints(name + ".shape", shape)});
}

ValueId Modules::slice(const std::string& name, ValueId x, int64_t axis, int64_t from, int64_t to, int64_t step) {
  return op("Slice", name,
            {x, ints(name + ".starts", {from}), ints(name + ".ends", {to}), ints(name + ".axes", {axis}),
             ints(name + ".steps", {step})});
}

Graph Modules::finish(ValueId output, const std::vector<std::string>& ignored) {
  std::vector<std::string> left;
  for (const std::string& name : names()) {
    const auto is_ignored = [&](const std::string& start) { return starts_with(name, start); };
    if (used_.count(name) == 0 && !ends_with(name, "num_batches_tracked") &&
        std::none_of(ignored.begin(), ignored.end(), is_ignored))
      left.push_back(quoted(name));
  }
  if (!left.empty()) {
    const size_t n = left.size();
    left.resize(std::min<size_t>(n, 3));
    fail_malformed(n, " parameters have no place in it: ", join(left), n > 3 ? ", ..." : "");
  }
  graph_.value(output).name = "output";
  graph_.outputs = {output};
  return std::move(graph_);
}

}  // namespace dnn
