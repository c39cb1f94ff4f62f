// Upgrades; see upgrade.h.
#include "formats/onnx/upgrade.h"

#include <algorithm>
#include <unordered_map>

#include "formats/onnx/contrib.h"
#include "ops/op.h"

namespace dnn::onnx {
namespace {

struct Span {
  std::string attribute;
  int first, end;  // opsets; end 0: none
};

const std::vector<Span>& spans_of(const std::string& op) {
  static const auto* table = [] {
    auto* rows = new std::unordered_map<std::string, std::vector<Span>>();
#define DNN_ONNX_ATTRIBUTE(op, attribute, first, end) (*rows)[#op].push_back({#attribute, first, end});
#include "formats/onnx/attributes.def"
    return rows;
  }();
  static const std::vector<Span> kNone;
  const auto found = table->find(op);
  return found == table->end() ? kNone : found->second;
}

// ONNX Runtime has these in ONNX's domain from opset 1 on, as ONNX has them later, and its optimiser writes them into models of any opset.
constexpr std::string_view kEarly[] = {"LayerNormalization", "ThresholdedRelu"};

// The opset that the operator is written in: the model's, or the operator's first.
int opset_of(const Rewrite& rewrite, int opset) {
  const std::vector<Version>* versions = versions_of(rewrite.node.op);
  if (versions == nullptr) rewrite.refuse("no opset of ai.onnx up to ", kIrOpset, " has this operator");
  const int first = versions->front().opset;
  if (first <= opset) return opset;
  if (std::find(std::begin(kEarly), std::end(kEarly), rewrite.node.op) != std::end(kEarly)) return first;
  rewrite.refuse("the operator begins at opset ", first, ", the model is written in ", opset);
}

// Steps from one version of the operator to the next until the newest; a step may rename the operator.
void raise(Rewrite& rewrite, int opset) {
  while (!rewrite.replaced) {
    const std::vector<Version>* versions = versions_of(rewrite.node.op);
    const Version* next = nullptr;
    for (const Version& version : *versions) {
      if (version.opset > opset && (next == nullptr || version.opset < next->opset)) next = &version;
    }
    if (next == nullptr) return;
    next->up(rewrite);
    opset = next->opset;
  }
}

// Infers the types of what the nodes upgraded so far make.
void learn_types(Graph& graph, const std::vector<NodeId>& order) {
  Graph so_far = graph;
  so_far.set_order(order);
  so_far.outputs.clear();
  try {
    infer_types(so_far);
  } catch (const Error&) {
    return;  // the nodes contradict each other; whoever runs the model says so
  }
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    Type& type = graph.value(id).type;
    const Type& inferred = so_far.value(id).type;
    if (type.dtype == DType::Undefined) type.dtype = inferred.dtype;
    if (!type.shape) type.shape = inferred.shape;
  }
}

}  // namespace

void check_attributes(Node& node, int opset, const IgnoredFields& ignored) {
  const OpDef* op = find_op(node.domain, node.op);
  std::vector<std::string> known = op == nullptr ? std::vector<std::string>() : attribute_names(op->attributes);
  for (const Span& span : spans_of(node.op)) {
    const bool now = opset >= span.first && (span.end == 0 || opset < span.end);
    std::erase(known, span.attribute);
    if (now) known.push_back(span.attribute);
  }
  for (auto at = node.attributes.begin(); at != node.attributes.end();) {
    const std::string& name = at->first;
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      ++at;
      continue;
    }
    if (!is_ignored(ignored, node.op, name)) {
      for (const Span& span : spans_of(node.op)) {
        if (span.attribute != name) continue;
        fail_unsupported(node.label(), ": the operator has the attribute ", quoted(name), " from opset ", span.first,
                         span.end == 0 ? "" : cat(" to ", span.end - 1), ", the model is written in ", opset,
                         "; dnn-convert --ignore-attribute NAME reads it without");
      }
      fail_unknown_attribute(node, name, known);
    }
    at = node.attributes.erase(at);
  }
}

void upgrade(Graph& graph, const std::vector<int>& opsets, const Enclosing* outer, const IgnoredFields& ignored) {
  std::unordered_set<std::string> names = value_names(graph);
  std::vector<NodeId> order;
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    // ONNX Runtime has one operator of its own in ONNX's domain.
    const bool contrib = graph.node(id).domain == kContribDomain || graph.node(id).op == "SimplifiedLayerNormalization";
    if (graph.node(id).domain.empty() || contrib) {
      Rewrite rewrite(graph, outer, names, std::move(graph.node(id)), [&] { learn_types(graph, order); });
      if (contrib) {
        if (!expand_contrib(rewrite)) expand_fused(rewrite, ignored);
      } else {
        const int opset = opset_of(rewrite, opsets[id]);
        check_attributes(rewrite.node, opset, ignored);
        raise(rewrite, opset);
      }
      for (Node& node : rewrite.before) order.push_back(graph.add_node(std::move(node)));
      graph.node(id) = std::move(rewrite.node);
      order.push_back(id);
      for (Node& node : rewrite.after) order.push_back(graph.add_node(std::move(node)));
    } else {
      order.push_back(id);
    }
  }
  graph.set_order(std::move(order));
}

}  // namespace dnn::onnx
