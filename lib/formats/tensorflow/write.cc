// Writing GraphDef and SavedModel: the graph with channels last, operator by operator; see tensorflow.h.
#include <algorithm>

#include "formats/decompose.h"
#include "formats/indices.h"
#include "formats/tensorflow/exports.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/tensorflow/tensorflow.h"
#include "formats/tensorflow/write.h"
#include "layout/channels_last.h"
#include "ops/op.h"

namespace dnn::tensorflow {
namespace {

const ExportRow* find_export_row(const Node& node) {
  for (const ExportRow& row : export_rows()) {
    if (node.domain == row.domain && node.op == row.op) return &row;
  }
  return nullptr;
}

void write_inputs(const Graph& graph, File& file) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId v = graph.inputs[i];
    const Type& type = graph.value(v).type;
    NodeBuilder node("Placeholder", file.name_of(v));
    node.type("dtype", type_of(type.dtype));
    set_shape(node.attr("shape").mutable_shape(), type);
    // Attributes that begin with _ are nobody's business but ours, so that is where text about the model can be.
    for (const auto& [key, text] : graph.metadata) {
      if (i == 0) node.text(kMetadataPrefix + key, text);
    }
    file.bind(v, file.add(std::move(node)));
  }
}

}  // namespace

Graph prepared(const Graph& source) {
  Graph graph = source;
  infer_types(graph);
  count_indices_from_front(graph);
  decompose(graph, [&](const Node& node) {
    if (node.op == "NonMaxSuppression") return suppresses_once(graph, node);
    if (makes_places(node)) return false;
    const bool known = std::any_of(export_rows().begin(), export_rows().end(),
                                   [&](const ExportRow& row) { return node.op == row.op; });
    return known && has_usual_numbers(node) && node.attribute_int("select_last_index", 0) == 0 &&
           node.attribute_int("largest", 1) != 0;
  });
  to_channels_last(graph);
  return graph;
}

void set_shape(TensorShapeProto* proto, const Type& type) {
  if (!type.shape) {
    proto->set_unknown_rank(true);
    return;
  }
  for (const Dim& dim : *type.shape) proto->add_dim()->set_size(dim.fixed() ? dim.size : -1);
}

const std::vector<ExportRow>& export_rows() {
  static const std::vector<ExportRow> rows = {
#define DNN_TENSORFLOW_EXPORT(domain, op, function, as) {#domain, #op, function, as},
#include "formats/tensorflow/exports.def"
  };
  return rows;
}

void write_graph(const Graph& graph, File& file, std::vector<Edge>* outputs) {
  write_inputs(graph, file);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const ExportRow* row = find_export_row(node);
    if (row == nullptr)
      fail_unsupported(node.label(), " has no counterpart in TensorFlow that can be written", way_out(graph, node));
    Export context(file, node, row->as);
    row->write(context);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId v = graph.outputs[i];
    if (file.is_leaf(v)) {
      outputs->push_back(file.edge(v));
      continue;
    }
    NodeBuilder node("Identity", file.output_name(i));
    node.in(file.edge(v)).type("T", type_of(graph.value(v).type.dtype));
    outputs->push_back(file.add(std::move(node)));
  }
}

}  // namespace dnn::tensorflow

namespace dnn::graphdef {

ModelFiles to_files(const Graph& source, const WriteOptions&) {
  const Graph graph = tensorflow::prepared(source);
  tensorflow::File file(graph, false);
  std::vector<tensorflow::Edge> outputs;
  tensorflow::write_graph(graph, file, &outputs);
  return {{"", file.take()}};
}

}  // namespace dnn::graphdef
