// Channels last; see channels_last.h.
#include "layout/channels_last.h"

#include "layout/fold_flatten.h"
#include "layout/settle.h"

namespace dnn {
namespace {

bool insists(const Node& node) {
  static const std::set<std::string, std::less<>> names = {
      "AveragePool",        "BatchNormalization",    "Conv", "ConvTranspose", "DepthToSpace", "GlobalLpPool",
      "GroupNormalization", "InstanceNormalization", "LRN",  "LpPool",        "MaxPool",      "SpaceToDepth"};
  const bool resizes = node.op == "Resize" && node.attribute_ints("axes") == std::vector<int64_t>{2, 3};
  return node.domain.empty() && (names.count(node.op) != 0 || resizes);
}

class ChannelsLastMover {
 public:
  explicit ChannelsLastMover(Graph& graph) : graph_(graph) {}

  void run() {
    const std::vector<NodeId> before = graph_.order();
    for (NodeId id : before) {
      if (rank(graph_.node(id)) == 4) name_axes(graph_.node(id));
      if (rank(graph_.node(id)) == 4 && insists(graph_.node(id))) {
        wrap(id);
      } else {
        if (rank(graph_.node(id)) >= 3) reduce(graph_.node(id));
        order_.push_back(id);
      }
    }
    graph_.set_order(std::move(order_));
    settle_transposes(graph_, unnamed_);
    fold_flattens(graph_);
    remove_dead_nodes(graph_);
  }

 private:
  size_t rank(const Node& node) const {
    if (node.inputs.empty() || node.inputs[0] == kNoValue) return 0;
    const auto& shape = graph_.value(node.inputs[0]).type.shape;
    return shape ? shape->size() : 0;
  }

  ValueId permuted(ValueId v, const Permutation& perm) {
    Type type = graph_.value(v).type;
    for (size_t i = 0; type.shape && i < perm.size(); ++i) (*type.shape)[i] = (*graph_.value(v).type.shape)[perm[i]];
    const ValueId made = graph_.add_value(graph_.unused_value_name(graph_.value(v).name + ".nhwc"), std::move(type));
    unnamed_.insert(made);
    return made;
  }

  void transpose(ValueId from, ValueId to, const Permutation& perm) {
    Node node;
    node.op = "Transpose";
    node.inputs = {from};
    node.outputs = {to};
    node.attributes["perm"] = perm;
    order_.push_back(graph_.add_node(std::move(node)));
  }

  void wrap(NodeId id) {
    const ValueId x = permuted(graph_.node(id).inputs[0], kToChannelsLast);
    transpose(graph_.node(id).inputs[0], x, kToChannelsLast);
    graph_.node(id).inputs[0] = x;
    graph_.node(id).domain = kChannelsLastDomain;
    if (graph_.node(id).has_attribute("axes")) graph_.node(id).attributes["axes"] = std::vector<int64_t>{1, 2};
    order_.push_back(id);
    for (size_t i = 0; i < graph_.node(id).outputs.size(); ++i) {
      const ValueId y = graph_.node(id).outputs[i];
      if (y == kNoValue) continue;
      const ValueId made = permuted(y, kToChannelsLast);
      graph_.node(id).outputs[i] = made;
      transpose(made, y, kToChannelsFirst);
    }
  }

  // GlobalAveragePool and GlobalMaxPool as reductions over the spatial axes, which have no order of their own.
  void reduce(Node& node) {
    if (!node.domain.empty() || (node.op != "GlobalAveragePool" && node.op != "GlobalMaxPool")) return;
    std::vector<int64_t> axes;
    for (size_t i = 2; i < rank(node); ++i) axes.push_back(static_cast<int64_t>(i));
    const ValueId list = graph_.add_constant(graph_.unused_value_name(graph_.value(node.outputs[0]).name + ".axes"),
                                             Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, axes));
    node.op = node.op == "GlobalMaxPool" ? "ReduceMax" : "ReduceMean";
    node.attributes = {{"keepdims", int64_t{1}}};
    node.inputs.push_back(list);
  }

  // A Resize of the spatial axes alone says so in its attribute "axes".
  void name_axes(Node& node) {
    if (!node.domain.empty() || node.op != "Resize" || node.has_attribute("axes")) return;
    for (size_t i : {2, 3}) {
      const Tensor* list = graph_.constant(node.input(i));
      if (list == nullptr || list->size() != 4) continue;
      const std::vector<double> values = to_doubles(*list);
      for (size_t axis : {0, 1}) {
        const Dim& extent = (*graph_.value(node.inputs[0]).type.shape)[axis];
        if (i == 2 ? values[axis] != 1 : static_cast<double>(extent.size) != values[axis]) return;
      }
      const Tensor spatial = convert(Tensor::of<double>({2}, {values[2], values[3]}), list->dtype());
      node.inputs[i] = graph_.add_constant(graph_.unused_value_name(graph_.value(node.inputs[i]).name), spatial);
      node.attributes["axes"] = std::vector<int64_t>{2, 3};
      if (node.inputs.size() > 1) node.inputs[1] = kNoValue;
    }
  }

  Graph& graph_;
  std::vector<NodeId> order_;
  std::set<ValueId> unnamed_;
};

}  // namespace

void to_channels_last(Graph& graph) { ChannelsLastMover(graph).run(); }

}  // namespace dnn
