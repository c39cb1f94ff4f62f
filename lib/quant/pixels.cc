// Pixels as a network's input; see pixels.h.
#include "quant/pixels.h"

#include <algorithm>

#include "base/error.h"
#include "graph/rename.h"

namespace dnn::quant {
namespace {

constexpr const char* kNoImage =
    "--inference-input-type pixels: the network does not read one image of float32 numbers";

// Nodes one behind another, from the pixels to the value that the network reads.
class Arithmetic {
 public:
  Arithmetic(Graph& graph, ValueId pixels) : graph_(graph), name_(graph.value(pixels).name) {
    Node cast;
    cast.op = "Cast";
    cast.attributes["to"] = static_cast<int64_t>(DType::Float32);
    cast.inputs = {pixels};
    nodes_.push_back(std::move(cast));
  }

  // Nothing where it would change no number.
  void step(const char* op, const Tensor& by, float without) {
    const std::span<const float> values = by.values<float>();
    if (std::all_of(values.begin(), values.end(), [&](float value) { return value == without; })) return;
    Node node;
    node.op = op;
    node.inputs = {kNoValue, graph_.add_constant(graph_.unused_value_name(cat(name_, ".", op)), by)};
    nodes_.push_back(std::move(node));
  }

  void make(ValueId real) {
    const Type type = graph_.value(real).type;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      node.name = cat(name_, "_", i, "_", node.op);
      if (i > 0) node.inputs[0] = nodes_[i - 1].outputs[0];
      node.outputs = {i + 1 == nodes_.size() ? real : graph_.add_value(graph_.unused_value_name(node.name), type)};
    }
    for (Node& node : nodes_) graph_.add_node(std::move(node));
    sort_nodes(graph_);
  }

 private:
  Graph& graph_;
  const std::string name_;
  std::vector<Node> nodes_;
};

// One number, or one for each channel at its axis.
Tensor by_channel(const std::array<float, 3>& numbers, const Preprocess& preprocess) {
  const int channels = preprocess.n_channels();
  if (std::all_of(numbers.begin(), numbers.begin() + channels, [&](float x) { return x == numbers[0]; }))
    return Tensor::scalar<float>(numbers[0]);
  const Shape shape = preprocess.layout == Layout::Nchw ? Shape{channels, 1, 1} : Shape{channels};
  return Tensor::of<float>(shape, {numbers.begin(), numbers.begin() + channels});
}

}  // namespace

void require_image(const Graph& graph) {
  if (graph.inputs.size() != 1 || graph.is_output(graph.inputs[0])) fail_usage(kNoImage);
  const Type& type = graph.value(graph.inputs[0]).type;
  if (type.dtype != DType::Float32 || !type.shape || type.shape->size() != 4) fail_usage(kNoImage);
}

void read_pixels(Graph& graph, const Preprocess& preprocess) {
  require_image(graph);
  const size_t axis = preprocess.layout == Layout::Nchw ? 1 : 3;
  if ((*graph.value(graph.inputs[0]).type.shape)[axis] != Dim(preprocess.n_channels())) fail_usage(kNoImage);
  const ValueId real = graph.inputs[0];
  const std::string name = graph.value(real).name;
  rename_value(graph, real, graph.unused_value_name(name + ".float32"));
  Type type = graph.value(real).type;
  type.dtype = DType::UInt8;
  const ValueId pixels = graph.add_value(name, std::move(type));
  graph.inputs[0] = pixels;
  Arithmetic arithmetic(graph, pixels);
  arithmetic.step("Mul", Tensor::scalar<float>(preprocess.scale), 1);
  arithmetic.step("Div", Tensor::scalar<float>(preprocess.divisor), 1);
  arithmetic.step("Sub", by_channel(preprocess.mean, preprocess), 0);
  arithmetic.step("Div", by_channel(preprocess.std, preprocess), 1);
  arithmetic.make(real);

  Preprocess left = without_arithmetic(preprocess);
  left.name = "custom";
  std::erase_if(graph.metadata, [](const auto& entry) { return entry.first == "preprocess"; });
  graph.metadata.emplace_back("preprocess", to_json(left));
}

}  // namespace dnn::quant
