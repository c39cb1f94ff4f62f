// Writing TFLite: the graph with channels last, operator by operator; see tflite.h.
#include <algorithm>

#include "formats/tflite/exports.h"
#include "formats/tflite/tflite.h"
#include "layout/channels_last.h"
#include "ops/op.h"

namespace dnn::tflite {
namespace {

const ExportRow* find_row(const Node& node) {
  for (const ExportRow& row : export_rows()) {
    if (node.domain == row.domain && node.op == row.op) return &row;
  }
  return nullptr;
}

// The activation that a node is, as TFLite's operators can do it at their end.
Activation activation_of(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return Activation::NONE;
  if (node.op == "Relu") return Activation::RELU;
  if (node.op != "Clip") return Activation::NONE;
  const dnn::Tensor *low = graph.constant(node.input(1)), *high = graph.constant(node.input(2));
  if (low == nullptr || high == nullptr) return Activation::NONE;
  const double from = to_doubles(*low)[0], to = to_doubles(*high)[0];
  return from == 0 && to == 6 ? Activation::RELU6 : from == -1 && to == 1 ? Activation::RELU_N1_TO_1 : Activation::NONE;
}

}  // namespace

const std::vector<ExportRow>& export_rows() {
  static const std::vector<ExportRow> rows = {
#define DNN_TFLITE_EXPORT(domain, op, fuses, function) {#domain, #op, fuses, function},
#include "formats/tflite/exports.def"
  };
  return rows;
}

namespace {

Graph prepared(const Graph& source) {
  Graph graph = source;
  infer_types(graph);
  to_channels_last(graph);
  return graph;
}

void write_nodes(const Graph& graph, File& file) {
  for (ValueId v : graph.inputs) file.tensor(v);
  const Uses uses(graph);
  std::set<NodeId> done;
  for (NodeId id : graph.order()) {
    if (done.count(id) != 0) continue;
    const Node& node = graph.node(id);
    const ExportRow* row = find_row(node);
    if (row == nullptr) fail_unsupported(node.label(), " has no counterpart in TFLite that can be written");
    Activation activation = Activation::NONE;
    ValueId output = node.outputs[0];
    const std::vector<NodeId>& readers = uses.readers[static_cast<size_t>(output)];
    if (row->fuses && readers.size() == 1 && !graph.is_output(output)) {
      activation = activation_of(graph, graph.node(readers[0]));
      if (activation != Activation::NONE) {
        output = graph.node(readers[0]).outputs[0];
        done.insert(readers[0]);
      }
    }
    Export context(file, node, activation, output);
    row->write(context);
    DNN_CHECK(activation == Activation::NONE || context.took_activation());
  }
}

}  // namespace

ModelFiles to_files(const Graph& source, const WriteOptions& options) {
  const Graph graph = prepared(source);
  File file(graph, options.float16_weights);
  write_nodes(graph, file);
  return {{"", std::string(as_text(file.finish()))}};
}

}  // namespace dnn::tflite
