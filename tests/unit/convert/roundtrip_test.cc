// Round trips A -> B -> A over every pair of formats that hold graphs: the same graph up to canonical form and the same weights
// to the bit, or A folded in the way that B forces.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.h"
#include "formats/format.h"
#include "graph/text.h"
#include "layout/settle.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

struct Net {
  const char* name;
  const char* text;
};

constexpr Net kNets[] = {{"plain", R"(graph "plain" {
  opset 17
  input x: float32[1,3,9,9]
  const conv1.weight: float32[8,3,3,3] = random(1)
  const conv1.bias: float32[8] = random(2)
  const conv2.weight: float32[8,1,3,3] = random(3)
  const conv2.bias: float32[8] = random(4)
  const fc.weight: float32[8,5] = random(5)
  const fc.bias: float32[5] = random(6)
  a = Conv(x, conv1.weight, conv1.bias) @conv1 {pads = [1, 1, 1, 1], strides = [2, 2]}
  b = Relu(a) @relu1
  c = Conv(b, conv2.weight, conv2.bias) @conv2 {pads = [1, 1, 1, 1], group = 8}
  d = Relu(c) @relu2
  e = MaxPool(d) @pool {kernel_shape = [2, 2], strides = [2, 2]}
  f = GlobalAveragePool(e) @gap
  g = Flatten(f) @flatten
  h = Gemm(g, fc.weight, fc.bias) @fc
  y = Softmax(h) @softmax {axis = 1}
  output y
})"},
                         {"residual", R"(graph "residual" {
  opset 17
  input image: float32[1,4,8,8]
  const conv1.weight: float32[8,4,3,3] = random(1)
  const bn1.weight: float32[8] = {1.1, 0.7, 1.3, 0.9, 1, 1.2, 0.8, 0.6}
  const bn1.bias: float32[8] = random(2)
  const bn1.running_mean: float32[8] = random(3)
  const bn1.running_var: float32[8] = {1.7, 2.1, 0.6, 1.2, 1, 0.9, 1.4, 2}
  const conv2.weight: float32[8,8,1,1] = random(4)
  const conv2.bias: float32[8] = random(5)
  const side.weight: float32[3,8,1,1] = random(6)
  const side.bias: float32[3] = random(7)
  a = Conv(image, conv1.weight) @conv1 {pads = [1, 1, 1, 1]}
  b = BatchNormalization(a, bn1.weight, bn1.bias, bn1.running_mean, bn1.running_var) @bn1
  c = Relu(b) @relu1
  d = Conv(c, conv2.weight, conv2.bias) @conv2
  e = Add(d, c) @add
  f = Conv(e, side.weight, side.bias) @side
  g = Sigmoid(f) @gate
  h = Concat(e, g) @concat {axis = 1}
  p = AveragePool(h) @pool {kernel_shape = [2, 2], strides = [2, 2]}
  y = GlobalMaxPool(p) @gmp
  output y
})"}};

// Attributes that say what is meant without them.
bool is_default(const Node& node, const std::string& key, const Attribute& value, size_t rank) {
  const auto all = [&](int64_t wanted) {
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    return list != nullptr && std::all_of(list->begin(), list->end(), [&](int64_t x) { return x == wanted; });
  };
  const auto is = [&](int64_t wanted) { return value.index() == 0 && std::get<int64_t>(value) == wanted; };
  const auto near = [&](float wanted) { return value.index() == 1 && std::get<float>(value) == wanted; };
  if (key == "kernel_shape") return node.op == "Conv";
  if (key == "strides" || key == "dilations") return all(1);
  if (key == "pads") return all(0);
  if (key == "group") return is(1);
  if (key == "ceil_mode" || key == "count_include_pad" || key == "storage_order") return is(0);
  if (key == "transA" || key == "transB" || key == "training_mode") return is(0);
  if (key == "alpha" || key == "beta") return node.op == "Gemm" && near(1);
  if (key == "epsilon") return near(1e-5f);
  if (key == "momentum") return true;
  if (key == "axis" && node.op == "Softmax") return is(-1) || is(static_cast<int64_t>(rank) - 1);
  if (key == "auto_pad") return value.index() == 2 && std::get<std::string>(value) == "NOTSET";
  return false;
}

// Every value as what computes it from inputs and constants, without names: equal for graphs that compute alike. A bias is an
// addition, a product with a transposed constant one with the constant's transpose, a global pooling a reduction, and a
// reshape what it leads to.
class Canonical {
 public:
  explicit Canonical(Graph graph) : graph_(std::move(graph)) {
    PassOptions passes;
    passes.changes = "only:canonicalize-ops,fold-constant,eliminate-common-subexpr";
    run_passes(graph_, passes);
    for (ValueId v : graph_.inputs) keys_[v] = "input " + graph_.value(v).name + " " + graph_.value(v).type.text();
    for (NodeId id : graph_.order()) add(graph_.node(id));
    for (ValueId v : graph_.outputs) text_ += "output " + key(v) + "\n";
  }
  // One line per operator, then the outputs.
  const std::string& text() const { return text_; }

 private:
  static std::string constant_key(const Tensor& tensor) {
    std::string extents;
    for (int64_t extent : tensor.shape()) extents += extent == 1 ? "" : cat(extent, " ");
    return cat(dtype_name(tensor.dtype()), "[", extents, "]#", sha256_hex(tensor.bytes()).substr(0, 8));
  }

  std::string key(ValueId v) const {
    if (v == kNoValue) return "-";
    const Tensor* tensor = graph_.constant(v);
    return tensor != nullptr ? constant_key(*tensor) : keys_.at(v);
  }

  std::string say(const std::string& op, const std::vector<std::string>& inputs, const std::string& attributes) {
    const std::string line = cat(op, "(", join(inputs), ") ", attributes);
    std::string made = "%" + sha256_hex(as_bytes(line)).substr(0, 8);
    text_ += made + " = " + line + "\n";
    return made;
  }

  std::string sum(const std::string& a, const std::string& b) {
    return say("Add", {std::min(a, b), std::max(a, b)}, "");
  }

  std::string product(const Node& node) {
    const Tensor* weight = graph_.constant(node.inputs[1]);
    const bool turned = node.attribute_int("transB", 0) != 0 && weight != nullptr;
    return say("MatMul",
               {key(node.inputs[0]), turned ? constant_key(transposed(*weight, {1, 0})) : key(node.inputs[1])}, "");
  }

  std::string computed(const Node& node) {
    std::vector<std::string> inputs;
    for (ValueId v : node.inputs) inputs.push_back(key(v));
    while (inputs.back() == "-") inputs.pop_back();
    if (node.op == "Reshape") return say("Reshape", {inputs[0]}, graph_.value(node.outputs[0]).type.text());
    if (node.op == "GlobalAveragePool") return say("ReduceMean", {inputs[0]}, "2 3 keepdims");
    if (node.op == "GlobalMaxPool") return say("ReduceMax", {inputs[0]}, "2 3 keepdims");
    const bool spatial = starts_with(node.op, "Reduce") && inputs.size() == 2 && graph_.constant(node.inputs[1]) &&
                         to_int64s(*graph_.constant(node.inputs[1])) == std::vector<int64_t>{2, 3};
    if (spatial) {
      std::string reduced = say(node.op, {inputs[0]}, "2 3 keepdims");
      if (node.attribute_int("keepdims", 1) != 0) return reduced;
      return say("Reshape", {reduced}, graph_.value(node.outputs[0]).type.text());
    }
    if (node.op == "Gemm") return inputs.size() == 3 ? sum(product(node), inputs[2]) : product(node);
    if (node.op == "MatMul") return product(node);
    if (node.op == "Add") return sum(inputs[0], inputs[1]);
    std::string attributes;
    const auto& shape = graph_.value(node.inputs[0]).type.shape;
    for (const auto& [name, value] : node.attributes) {
      if (!is_default(node, name, value, shape ? shape->size() : 0))
        attributes += name + " = " + attribute_text(value) + " ";
    }
    if (node.op != "Conv" || inputs.size() < 3) return say(node.op, inputs, attributes);
    return sum(say(node.op, {inputs[0], inputs[1]}, attributes), inputs[2]);
  }

  void add(const Node& node) {
    const std::string made = computed(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) keys_[node.outputs[i]] = i == 0 ? made : cat(made, ".", i);
    }
  }

  Graph graph_;
  std::map<ValueId, std::string> keys_;
  std::string text_;
};

Graph through(const Format& format, Graph graph) {
  infer_types(graph);
  if (*format.passes != 0) {
    PassOptions passes;
    passes.changes = std::string("only:") + format.passes;
    run_passes(graph, passes);
  }
  Graph back = format.read(model_in_memory(cat("model", split(format.extensions, ' ')[0]), format.to_files(graph, {})));
  infer_types(back);
  return back;
}

// Names of the float constants of more than one element.
std::set<std::string> parameters(const Graph& graph) {
  std::set<std::string> names;
  const Uses uses(graph);
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Tensor* tensor = graph.constant(v);
    if (tensor != nullptr && is_float(tensor->dtype()) && tensor->size() > 1 &&
        !uses.readers[static_cast<size_t>(v)].empty())
      names.insert(graph.value(v).name);
  }
  return names;
}

struct Case {
  const Format* a;
  const Format* b;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const Format& a : formats()) {
    for (const Format& b : formats()) {
      if (a.holds == Holds::Graph && b.holds == Holds::Graph && a.read && b.read && a.to_files && b.to_files)
        list.push_back({&a, &b});
    }
  }
  return list;
}

class RoundTrip : public ::testing::TestWithParam<Case> {};

TEST_P(RoundTrip, GivesTheSameGraphAndWeights) {
  for (const Net& net : kNets) {
    SCOPED_TRACE(net.name);
    const Graph first = through(*GetParam().a, parse_graph(net.text));
    Graph forced = first;
    if (*GetParam().b->passes != 0) {
      PassOptions passes;
      passes.changes = std::string("only:") + GetParam().b->passes;
      run_passes(forced, passes);
    }
    const Graph back = through(*GetParam().a, through(*GetParam().b, first));
    EXPECT_EQ(Canonical(back).text(), Canonical(through(*GetParam().a, forced)).text());
    if (*GetParam().a->passes == 0 && *GetParam().b->passes == 0) {
      EXPECT_EQ(parameters(back), parameters(parse_graph(net.text)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return cat(info.param.a->name, "_", info.param.b->name); });

}  // namespace
}  // namespace dnn
