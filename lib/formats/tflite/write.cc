// Writing TFLite: the graph with channels last, operator by operator; see tflite.h.
#include <algorithm>

#include "formats/decompose.h"
#include "formats/indices.h"
#include "formats/tflite/exports.h"
#include "formats/tflite/metadata.h"
#include "formats/tflite/suppression.h"
#include "formats/tflite/tflite.h"
#include "layout/channels_last.h"
#include "ops/op.h"

namespace dnn::tflite {
const std::vector<ExportRow>& export_rows() {
  static const std::vector<ExportRow> rows = {
#define DNN_TFLITE_EXPORT(domain, op, fuses, on_quantized, function) \
  {#domain, #op, fuses, OnQuantized::on_quantized, function},
#include "formats/tflite/exports.def"
  };
  return rows;
}

namespace {

bool has_counterpart(const Node& node) {
  if (node.op == "ArgMax" || node.op == "ArgMin")
    return node.attribute_int("select_last_index", 0) == 0 && node.attribute_int("keepdims", 1) == 0;
  if (node.op == "TopK" && node.attribute_int("largest", 1) == 0) return false;
  if (!has_usual_numbers(node)) return false;
  if ((node.op == "Sum" || node.op == "Max" || node.op == "Min") && node.inputs.size() == 1) return false;
  return std::any_of(export_rows().begin(), export_rows().end(),
                     [&](const ExportRow& row) { return node.op == row.op; });
}

// TFLite's kernels compute real numbers in float32 alone: other floats are weights, or what a Cast reads or makes.
void refuse_other_floats(const Graph& graph) {
  const auto other = [&](ValueId v) {
    const DType dtype = graph.value(v).type.dtype;
    return graph.constant(v) == nullptr && is_float(dtype) && dtype != DType::Float32;
  };
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op == "Cast") continue;
    const auto found = std::find_if(node.outputs.begin(), node.outputs.end(), other);
    if (found == node.outputs.end()) continue;
    const DType dtype = graph.value(*found).type.dtype;
    fail_unsupported(node.label(), " computes in ", dtype_name(dtype), ", and TFLite in float32",
                     dtype == DType::Float16 ? "; --dtype float32 writes it so" : "");
  }
}

// Integers of 64 bits are computed in 32: bounds beyond those bound nothing.
void narrow_bounds(Graph& graph) {
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op != "Clip" && node.op != "Max" && node.op != "Min") continue;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const dnn::Tensor* bound = graph.constant(node.inputs[i]);
      if (bound == nullptr || bound->dtype() != DType::Int64) continue;
      std::vector<int64_t> values = to_int64s(*bound);
      for (int64_t& v : values) v = std::clamp<int64_t>(v, INT32_MIN, INT32_MAX);
      if (values == to_int64s(*bound)) continue;
      set_constant(graph, id, i, dnn::Tensor::of<int64_t>(bound->shape(), values), graph.value(node.inputs[i]).name);
    }
  }
}

Graph prepared(const Graph& source) {
  Graph graph = source;
  infer_types(graph);
  refuse_other_floats(graph);
  count_indices_from_front(graph);
  decompose(graph, [&](const Node& node) {
    if (node.op == "NonMaxSuppression") return suppresses_once(graph, node);
    if (makes_places(node)) return false;
    if (node.op == "ScatterND" && graph.value(node.inputs[0]).type.shape.value_or(std::vector<Dim>()).size() != 1)
      return false;  // in one row alone
    return has_counterpart(node);
  });
  settle_suppression(graph);
  narrow_bounds(graph);
  make_signed(graph);
  to_channels_last(graph);
  move_quantized(graph);
  return graph;
}

void write_nodes(const Graph& graph, const Plan& plan, File& file) {
  for (ValueId v : graph.inputs) file.outer(v);
  for (NodeId id : graph.order()) {
    const auto planned = plan.nodes.find(id);
    if (planned == plan.nodes.end() || plan.skipped.count(id) != 0) continue;
    Export context(file, graph.node(id), planned->second);
    planned->second.row->write(context);
    context.finish();
  }
}

}  // namespace

ModelFiles to_files(const Graph& source, const WriteOptions& options) {
  const Graph graph = prepared(source);
  const Plan plan = make_plan(graph);
  File file(graph, plan, options.float16_weights);
  write_nodes(graph, plan, file);
  Content content = file.finish();
  content.append(archive_of(graph));
  return {{"", std::move(content)}};
}

}  // namespace dnn::tflite
