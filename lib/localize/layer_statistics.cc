// Statistics of layers; see layer_statistics.h.
#include "localize/layer_statistics.h"

#include "base/rows.h"
#include "interp/interpreter.h"
#include "localize/edits.h"
#include "localize/localize.h"

namespace dnn {
namespace {

// What a DequantizeLinear makes of constants; undefined where something is computed.
Tensor dequantized(const Graph& graph, const Uses& uses, NodeId maker) {
  const Node& node = graph.node(maker);
  std::vector<const Tensor*> inputs;
  for (ValueId v : node.inputs) {
    inputs.push_back(v == kNoValue ? nullptr : graph.constant(constant_behind(graph, uses, v)));
    if (v != kNoValue && inputs.back() == nullptr) return {};
  }
  return interpret_node(node, inputs)[0];
}

bool is_small_integer(const Tensor& tensor) { return is_integer(tensor.dtype()) && dtype_bits(tensor.dtype()) <= 8; }

using words::csv_line;
using words::Row;

void put(const Moments& moments, Row* row) {
  for (double value : {moments.mean(), moments.deviation(), moments.largest()})
    row->push_back(moments.count() == 0 ? "" : exact_text(value));
}

void put_parameters(const std::optional<Moments>& moments, Row* row) {
  row->push_back(moments ? cat(moments->count()) : "");
  put(moments.value_or(Moments()), row);
}

}  // namespace

Moments parameters_of(const Graph& graph, const Uses& uses, const std::string& value) {
  Moments moments;
  const ValueId id = graph.find_value(value);
  const NodeId maker = id == kNoValue ? -1 : uses.producer[id];
  if (maker < 0 || graph.node(maker).op == "QuantizeLinear" || graph.node(maker).op == "DequantizeLinear") return {};
  for (ValueId v : graph.node(maker).inputs) {
    if (v == kNoValue) continue;
    const NodeId before = uses.producer[v];
    if (before >= 0 && graph.node(before).op == "DequantizeLinear") {
      const Tensor made = dequantized(graph, uses, before);
      if (made.defined()) moments.add(made);
      continue;
    }
    const ValueId known = constant_behind(graph, uses, v);
    if (known == kNoValue) continue;
    const Tensor& constant = *graph.constant(known);
    if (is_small_integer(constant)) return {};
    if (is_float(constant.dtype())) moments.add(constant);
  }
  return moments;
}

std::string statistics_csv(const LocalizeReport& report) {
  Row header = {"layer", "source", "target"};
  for (const char* column : {"node", "op"}) {
    for (const char* side : {"source", "target"}) header.push_back(cat(side, '_', column));
  }
  for (const char* column : {"lined_up_by", "samples", "elements"}) header.emplace_back(column);
  const auto title = [&](const std::string& what) {
    for (const char* column : {"mean", "std", "max_abs"}) header.push_back(cat(what, '_', column));
  };
  title("source");
  title("target");
  header.insert(header.end(), {"difference_max_abs", "difference_mean_abs", "source_parameters"});
  title("source_parameter");
  header.emplace_back("target_parameters");
  title("target_parameter");
  if (report.label_ranking) header.insert(header.end(), {"label_place", "label_points"});
  std::vector<Row> places(report.layers.size(), Row(report.label_ranking ? 2 : 0));
  for (size_t i = 0; report.label_ranking && i < report.label_ranking->rows.size(); ++i) {
    const LabelRanking::Row& row = report.label_ranking->rows[i];
    places[row.layer] = {cat(i + 1), exact_text(row.points)};
  }
  std::string out = csv_line(header);
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerResult& r = report.layers[i];
    if (!r.statistics) continue;
    const Layer &a = report.source[r.source], &b = report.target[r.target];
    const LayerStatistics& s = *r.statistics;
    const int64_t n = s.source.count();
    Row row = {cat(i + 1),       a.name, b.name, a.node, b.node, a.op, b.op, std::string(by_name(r.by)),
               cat(r.n_samples), cat(n)};
    put(s.source, &row);
    put(s.target, &row);
    row.push_back(exact_text(r.max_abs));
    row.push_back(n == 0 ? "" : exact_text(s.difference_sum / static_cast<double>(n)));
    put_parameters(s.source_parameters, &row);
    put_parameters(s.target_parameters, &row);
    row.insert(row.end(), places[i].begin(), places[i].end());
    out += csv_line(row);
  }
  return out;
}

}  // namespace dnn
