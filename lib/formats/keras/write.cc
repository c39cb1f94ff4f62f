// Writing Keras: the graph with channels last, node by node, as layers; see keras.h.
#include <algorithm>

#include "formats/decompose.h"
#include "formats/keras/batch_copies.h"
#include "formats/keras/export.h"
#include "formats/keras/keras.h"
#include "layout/channels_last.h"
#include "ops/op.h"

namespace dnn::keras {
namespace {

// Activations that layers take by name, with the operator that each is in the IR.
const char* activation_name(const Node& node, Dialect dialect) {
  static const std::map<std::string, const char*, std::less<>> names = {
      {"Relu", "relu"},         {"Sigmoid", "sigmoid"},   {"Tanh", "tanh"},       {"Selu", "selu"},
      {"Softplus", "softplus"}, {"Softsign", "softsign"}, {"Exp", "exponential"}, {"Mish", "mish"}};
  if (!node.domain.empty()) return nullptr;
  const auto found = names.find(node.op);
  if (found != names.end()) return found->second;
  if (node.op == "Elu" && node.attribute_float("alpha", 1) == 1) return "elu";
  if (node.op == "Gelu" && node.attribute_string("approximate", "none") == "none") return "gelu";
  if (node.op == "Softmax" && node.attribute_int("axis", -1) == -1) return "softmax";
  if (node.op == "Swish" && node.attribute_float("alpha", 1) == 1) return "swish";
  if (node.op == "HardSwish" && dialect == Dialect::Keras3) return "hard_silu";
  return nullptr;
}

// What follows a node under its own name: the layer's activation, where the model was one of Keras before.
FollowingActivation following(const Plan& plan, const Node& node) {
  const Graph& graph = plan.graph();
  const ValueId v = node.outputs[0];
  const std::vector<NodeId>& readers = plan.uses().readers[v];
  if (node.name.empty() || graph.is_output(v) || readers.size() != 1) return {};
  const Node& next = graph.node(readers[0]);
  if (next.name != node.name) return {};
  const char* name = activation_name(next, plan.dialect());
  return name == nullptr ? FollowingActivation() : FollowingActivation{name, next.outputs[0], readers};
}

void add_inputs(Plan& plan) {
  for (ValueId v : plan.graph().inputs) {
    const Value& value = plan.graph().value(v);
    if (!value.type.shape || value.type.shape->empty())
      fail_unsupported("input '", value.name, "' has no axis for the batch, which Keras wants");
    WrittenLayer layer;
    layer.class_name = "InputLayer";
    layer.type = value.type;
    plan.define(v, plan.add(std::move(layer), value.name));
  }
}

// Outputs are layers of their own: an input that is one, or one value that is two, goes through a layer that does nothing.
void add_outputs(Plan& plan) {
  std::set<LayerId> used;
  for (ValueId v : plan.graph().outputs) {
    const LayerId made = plan.maker(v);
    if (made < 0)
      fail_unsupported("output '", plan.graph().value(v).name, "' is constant, which a Keras model cannot give");
    if (plan.layers()[made].class_name != "InputLayer" && used.insert(made).second) continue;
    WrittenLayer layer;
    layer.class_name = "Activation";
    layer.config["activation"] = "linear";
    layer.type = plan.graph().value(v).type;
    layer.args.push_back(Export::tensor(made));
    plan.define(v, plan.add(std::move(layer), plan.graph().value(v).name));
  }
}

}  // namespace

Plan plan_model(const Graph& graph, Dialect dialect) {
  Plan plan(graph, dialect);
  add_inputs(plan);
  std::set<NodeId> done;
  for (NodeId id : graph.order()) {
    if (graph.node(id).op != "Attention") continue;
    if (const auto parts = attention_parts(plan, graph.node(id)))
      done.insert(parts->before.begin(), parts->before.end());
  }
  for (NodeId id : graph.order()) {
    if (done.count(id) != 0) continue;
    const Node& node = graph.node(id);
    const ExportRow* row = find_export(node);
    if (row == nullptr && node.op == "Shape")
      fail_unsupported(node.label(), " reads extents that are open; fix them with --shape");
    if (row == nullptr)
      fail_unsupported(node.label(), " has no counterpart in Keras that can be written; ONNX holds it");
    Export context(plan, node, row->fuses ? following(plan, node) : FollowingActivation());
    row->write(context);
    if (context.took_activation()) done.insert(context.activation().nodes.begin(), context.activation().nodes.end());
    done.insert(context.absorbed().begin(), context.absorbed().end());
  }
  add_outputs(plan);
  plan.order_as_keras();
  return plan;
}

namespace {
Graph prepared(const Graph& source) {
  Graph graph = source;
  infer_types(graph);
  // Those of whole batches are refused by their own names: layers know one sample.
  static const std::set<std::string> whole = {"MaxUnpool", "NonMaxSuppression", "RoiAlign", "ScatterElements",
                                              "ScatterND"};
  decompose(graph, [](const Node& node) {
    if (node.domain.empty() && whole.count(node.op) != 0) return true;
    return (node.op == "Elu" || has_usual_numbers(node)) && node.attribute_int("select_last_index", 0) == 0 &&
           std::any_of(export_rows().begin(), export_rows().end(),
                       [&](const ExportRow& row) { return node.op == row.op; });
  });
  const std::set<std::string> copies = batch_copies(graph);
  to_channels_last(graph);
  infer_types(graph);
  read_once(copies, graph);
  return graph;
}
}  // namespace

ModelFiles to_files(const Graph& source, const WriteOptions&) {
  const Graph graph = prepared(source);
  return {{"", write_zip(plan_model(graph, Dialect::Keras3))}};
}

}  // namespace dnn::keras

namespace dnn::keras_h5 {

ModelFiles to_files(const Graph& source, const WriteOptions&) {
  const Graph graph = keras::prepared(source);
  return {{"", keras::write_h5(keras::plan_model(graph, keras::Dialect::Keras2))}};
}

}  // namespace dnn::keras_h5
