// Downgrades; see downgrade.h.
#include "formats/onnx/downgrade.h"

namespace dnn::onnx {
namespace {

constexpr int kMaxDepth = 8;  // of nodes that stand in for nodes that stand in for nodes

class Lowering {
 public:
  Lowering(Graph& graph, int opset, const Enclosing* outer)
      : graph_(graph), opset_(opset), outer_(outer), names_(value_names(graph)) {}

  void run() {
    const Enclosing here{graph_, outer_};
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      Node node = std::move(graph_.node(id));
      for (auto& [key, attribute] : node.attributes) {
        const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
        if (body == nullptr) continue;
        auto copy = std::make_shared<Graph>(**body);
        downgrade(*copy, opset_, &here);
        attribute = std::shared_ptr<const Graph>(std::move(copy));
      }
      place(std::move(node), id, 0);
    }
    graph_.set_order(std::move(order_));
  }

 private:
  // Puts the node, in its form of the target opset, behind those placed so far; `slot` -1: in a new slot.
  void place(Node node, NodeId slot, int depth) {
    if (depth > kMaxDepth) fail_internal(node.label(), ": downgrading does not end");
    Rewrite rewrite(graph_, outer_, names_, std::move(node));
    if (rewrite.node.domain.empty()) lower(rewrite);
    for (Node& added : rewrite.before) place(std::move(added), -1, depth + 1);
    if (slot < 0) {
      order_.push_back(graph_.add_node(std::move(rewrite.node)));
    } else {
      graph_.node(slot) = std::move(rewrite.node);
      order_.push_back(slot);
    }
    for (Node& added : rewrite.after) place(std::move(added), -1, depth + 1);
  }

  void lower(Rewrite& rewrite) const {
    check_types(rewrite, opset_);
    int at = kIrOpset;
    while (true) {
      const std::vector<Version>* versions = versions_of(rewrite.node.op);
      if (versions == nullptr) rewrite.refuse("no opset of ai.onnx has this operator");
      const Version* current = nullptr;
      for (const Version& version : *versions) {
        if (version.opset <= at && (current == nullptr || version.opset > current->opset)) current = &version;
      }
      if (current == nullptr) rewrite.refuse("opset ", opset_, " does not have this operator");
      if (current->opset <= opset_) return;
      current->down(rewrite);
      at = current->opset - 1;
      if (!rewrite.replaced) continue;
      rewrite.replaced = false;
      at = kIrOpset;
      check_types(rewrite, opset_);
    }
  }

  Graph& graph_;
  int opset_;
  const Enclosing* outer_;
  std::unordered_set<std::string> names_;
  std::vector<NodeId> order_;
};

}  // namespace

void downgrade(Graph& graph, int opset, const Enclosing* outer) { Lowering(graph, opset, outer).run(); }

}  // namespace dnn::onnx
