// Findings of a quantised pair; see quantised_pair.h.
#include "localize/quantised_pair.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "base/printable.h"
#include "graph/text.h"
#include "localize/quantised_float.h"
#include "localize/words.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

FindingSide side_with(const Graph& graph, const std::vector<NodeId>& nodes) {
  FindingSide side;
  for (NodeId id : nodes) {
    if (id < 0) continue;
    const Node& node = graph.node(id);
    const std::string made = node.output(0) == kNoValue ? "" : graph.value(node.output(0)).name;
    side.nodes.push_back(node.name.empty() ? made : node.name);
    side.ops.push_back(node.op);
    for (ValueId v : node.outputs) {
      if (v != kNoValue) side.values.push_back(graph.value(v).name);
    }
  }
  return side;
}

constexpr size_t kMostMended = 4;  // faults, worst first, that are mended to see what they leave

bool is_quantiser(const Node& node) { return node.op == "QuantizeLinear" || node.op == "DequantizeLinear"; }

// Activations that are decomposed as one operator each, as TFLite's writers leave a Clip.
Graph with_activations(Graph graph) {
  PassOptions options;
  options.changes = "only:recognize-activations";
  run_passes(graph, options);
  infer_types(graph);
  return graph;
}

bool is_product_of_constants(const Graph& graph, const Node& node) {
  const Tensor *a = graph.constant(node.input(0)), *b = graph.constant(node.input(1));
  return node.domain.empty() && node.op == "Mul" && a != nullptr && b != nullptr && is_float(a->dtype()) &&
         (a->size() == 1 || b->size() == 1);
}

// A quantiser's scale as a constant, rounded as the product of the two is.
void set_product(Graph* graph, NodeId quantiser, NodeId product) {
  const Node& node = graph->node(product);
  const Tensor *a = graph->constant(node.input(0)), *b = graph->constant(node.input(1));
  if (a->size() == 1) std::swap(a, b);
  std::vector<double> numbers = to_doubles(*a);
  const double factor = to_doubles(*b)[0];
  for (double& x : numbers) x *= factor;
  set_constant(*graph, quantiser, 1, convert(Tensor::of<double>(a->shape(), numbers), a->dtype()),
               graph->value(node.output(0)).name);
}

std::string decibels(const std::optional<double>& cost) {
  if (!cost) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", *cost);
  return text;
}

}  // namespace

Graph with_quantisers(const Graph& graph) {
  const Uses uses(graph);
  // A scale that is a product of two, as that of a bias is.
  const auto has_product = [&](NodeId id) {
    const ValueId scale = graph.node(id).input(1);
    const NodeId maker = is_quantiser(graph.node(id)) && scale != kNoValue ? uses.producer[scale] : -1;
    return maker >= 0 && is_product_of_constants(graph, graph.node(maker));
  };
  const auto is_other = [&](NodeId id) {
    return graph.node(id).op == "QLinearConv" || graph.node(id).op == "QLinearMatMul" || has_product(id);
  };
  if (std::none_of(graph.order().begin(), graph.order().end(), is_other)) return graph;
  Graph result = graph;
  for (NodeId id : graph.order()) {
    if (has_product(id)) set_product(&result, id, uses.producer[graph.node(id).input(1)]);
  }
  remove_dead_nodes(result);
  infer_types(result);
  PassOptions options;
  options.changes = "only:expand-qlinear";
  run_passes(result, options);
  infer_types(result);
  return result;
}

void settle_products(Graph* graph) {
  constexpr double kLastDigits = 1e-6;
  const Uses uses(*graph);
  const auto scale_at = [&](NodeId layer, size_t input) -> const Tensor* {
    const ValueId v = graph->node(layer).input(input);
    const NodeId maker = v == kNoValue ? -1 : uses.producer[v];
    if (maker < 0 || graph->node(maker).op != "DequantizeLinear") return nullptr;
    const Tensor* scale = graph->constant(graph->node(maker).input(1));
    return scale != nullptr && scale->dtype() == DType::Float32 ? scale : nullptr;
  };
  for (NodeId id : std::vector<NodeId>(graph->order())) {
    const Node& node = graph->node(id);
    if (!has_weight_input(node) || node.op == "MatMul" || node.input(2) == kNoValue) continue;
    const Tensor *x = scale_at(id, 0), *w = scale_at(id, 1), *b = scale_at(id, 2);
    if (x == nullptr || w == nullptr || b == nullptr || x->size() != 1 || b->size() != w->size()) continue;
    Tensor product(DType::Float32, b->shape());
    bool near = true;
    for (int64_t i = 0; i < w->size(); ++i) {
      const float made = product.mutable_data<float>()[i] = x->data<float>()[0] * w->data<float>()[i];
      near = near && std::abs(static_cast<double>(b->data<float>()[i]) / static_cast<double>(made) - 1) < kLastDigits;
    }
    if (!near || b->identical(product)) continue;
    const NodeId maker = uses.producer[node.input(2)];
    set_constant(*graph, maker, 1, product, graph->value(graph->node(maker).input(1)).name);
  }
}

bool QuantisedPair::is_one(const Graph& source, const Graph& target) {
  if (has_quantised_weights(source) || has_quantised_activations(source) || has_quantisers_alone(source)) return false;
  return has_quantised_weights(target) || has_quantisers_alone(target);
}

QuantisedPair::QuantisedPair(const Graph& source, const Graph& target, const Measure& measure)
    : written_(with_activations(target)) {
  source_ = quantised_source(source, written_);
  verdict_ = judge_quantised(source_, written_, measure(instead()));
  judge_behind_each(source, measure);
  undone_ = float_of(source_, written_, verdict_);
}

void QuantisedPair::judge_behind_each(const Graph& source, const Measure& measure) {
  if (source_.scaled.values.empty() || verdict_.faults.size() < 2) return;
  const std::vector<QuantisedFault> faults = verdict_.faults;
  EditSource from(source);
  size_t n_tried = 0;
  for (const QuantisedFault& fault : faults) {
    if (fault.layer < 0 || fault.edits.empty() || ++n_tried > kMostMended) continue;
    Graph mended = written_;
    apply_edits(fault.edits, from, mended);
    infer_types(mended);
    QuantisedPair left(quantised_source(source, mended), mended);
    left.verdict_ = judge_quantised(left.source_, mended, measure(left.instead()));
    if (left.verdict_.faults.size() + 1 >= verdict_.faults.size()) continue;
    source_ = std::move(left.source_);
    verdict_ = std::move(left.verdict_);
    verdict_.faults.insert(verdict_.faults.begin(), fault);
    for (const Edit& edit : fault.edits) (edit.input == 2 ? verdict_.biases : verdict_.weights)[fault.layer] = false;
  }
}

Finding QuantisedPair::finding_of(size_t i) const {
  const QuantisedFault& fault = verdict_.faults[i];
  Finding f;
  f.quantised = i;
  f.own = Finding::kNoOwn;
  f.what = fault.what;
  f.fix = fault.fix;
  std::vector<NodeId> nodes = {fault.node, fault.layer == fault.node ? -1 : fault.layer};
  nodes.insert(nodes.end(), fault.beside.begin(), fault.beside.end());
  f.target = side_with(written_, nodes);
  f.source = side_with(source_.folded, {fault.source});
  f.evidence = {fault.what};
  f.times_rounding = fault.times;
  f.sure = "certain";
  return f;
}

// A quantiser and a dequantiser that do not agree where a layer of the source is missing between them: the layer is the fault, which had
// the one scale in front of it and the other behind.
bool QuantisedPair::is_behind_missing(const QuantisedFault& fault, const OwnErrors& own,
                                      const std::vector<Finding>& findings) const {
  if (fault.layer >= 0 || fault.beside.empty()) return false;
  const Uses uses(written_);
  std::set<NodeId> near = {fault.node};
  near.insert(fault.beside.begin(), fault.beside.end());
  for (NodeId id : std::vector<NodeId>(near.begin(), near.end())) {
    const Node& node = written_.node(id);
    const NodeId maker = uses.producer[node.inputs[0]];
    if (maker >= 0) near.insert(maker);
    const std::vector<NodeId>& readers = uses.readers[node.outputs[0]];
    near.insert(readers.begin(), readers.end());
  }
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
    const std::vector<NodeId>& nodes = own.results()[other.own].target.nodes;
    return other.what.find(" only in the source") != std::string::npos &&
           std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return near.count(id) != 0; });
  });
}

void QuantisedPair::add_findings(const OwnErrors& own, std::vector<Finding>* findings) {
  if (verdict_.faults.empty() && findings->empty()) verdict_.faults = verdict_.ranges;
  std::vector<Finding> first, later;
  std::set<size_t> explained;
  for (size_t i = 0; i < verdict_.faults.size(); ++i) {
    const QuantisedFault& fault = verdict_.faults[i];
    Finding f = finding_of(i);
    // The same layer in the float network, which keeps what is wrong.
    for (size_t at = 0; fault.layer >= 0 && at < findings->size(); ++at) {
      const Finding& other = (*findings)[at];
      const std::vector<NodeId>& nodes = own.results()[other.own].target.nodes;
      if (std::find(nodes.begin(), nodes.end(), fault.layer) == nodes.end()) continue;
      explained.insert(at);
      f.own = other.own;
      f.error = other.error;
      f.max_abs = other.max_abs;
      f.largest = other.largest;
      f.exact = other.exact;
      f.rounding = other.rounding;
      f.n_samples = other.n_samples;
      f.n_differing = other.n_differing;
      break;
    }
    (is_behind_missing(fault, own, *findings) ? later : first).push_back(std::move(f));
  }
  for (size_t at = 0; at < findings->size(); ++at) {
    if (explained.count(at) == 0) first.push_back(std::move((*findings)[at]));
  }
  std::move(later.begin(), later.end(), std::back_inserter(first));
  *findings = std::move(first);
}

QuantisationReport QuantisedPair::report() const {
  QuantisationReport report;
  report.n_layers = verdict_.n_layers;
  report.n_activations = verdict_.n_activations;
  report.adaptive = verdict_.adaptive;
  report.n_scaled = static_cast<int64_t>(source_.scaled.values.size());
  std::string weights, activations;
  for (NodeId id : written_.order()) {
    const Node& node = written_.node(id);
    if (node.op == "DequantizeLinear" && weights.empty()) {
      const Tensor* integers = written_.constant(node.input(0));
      if (integers != nullptr && integers->rank() > 1) weights = std::string(dtype_name(integers->dtype()));
    }
    if (node.op == "QuantizeLinear" && activations.empty())
      activations = std::string(dtype_name(written_.value(node.output(0)).type.dtype));
  }
  report.form = activations.empty()      ? weights + " weights"
                : weights == activations ? weights + " weights and activations"
                                         : cat(weights, " weights, ", activations, " activations");
  return report;
}

std::string quantisation_text(const QuantisationReport& r, int64_t top) {
  std::string out =
      cat("the target is a quantisation of the source: ", r.form, "; ", r.n_layers,
          r.n_layers == 1 ? " layer" : " layers", " and ", r.n_activations,
          " activations held to what quantising can choose", r.adaptive ? ", weights rounded adaptively" : "",
          r.n_scaled == 0
              ? ""
              : cat(", channels of ", r.n_scaled, r.n_scaled == 1 ? " value" : " values", " scaled between layers"),
          "\n");
  if (!r.why_no_costs.empty()) return out + cat("it does not run: ", plain(r.why_no_costs), "\n");
  if (r.n_samples > 0)
    out += cat("as it runs, its outputs are ", words::number(r.outputs_apart), " of their largest apart, and ",
               r.n_relabelled, " of ", r.n_samples, " labels differ\n");
  if (r.costs.empty()) return out;
  const size_t n = std::min(r.costs.size(), top == 0 ? r.costs.size() : static_cast<size_t>(top));
  out += cat("what quantisation costs, dearest layers first",
             n < r.costs.size() ? cat(" (", n, " of ", r.costs.size(), ")") : "",
             ", in dB of signal to noise:\n   here   so far  clipped  layer\n");
  for (size_t i = 0; i < n; ++i) {
    const QuantisedCost& c = r.costs[i];
    char text[64];
    std::snprintf(text, sizeof text, "%7s  %7s  %5.2f %%  ", decibels(c.local).c_str(), decibels(c.whole).c_str(),
                  100 * c.clipped);
    out += cat(text, plain(c.layer), " (", plain(c.op), ")\n");
  }
  return out;
}

std::string quantisation_json(const QuantisationReport& r) {
  const auto number = [](const std::optional<double>& n) { return n ? words::json_number(*n) : Json(nullptr); };
  Json costs = Json::array();
  for (const QuantisedCost& c : r.costs)
    costs.push_back({{"layer", c.layer},
                     {"op", c.op},
                     {"local_db", number(c.local)},
                     {"whole_db", number(c.whole)},
                     {"clipped", words::json_number(c.clipped)}});
  const Json json = {{"form", r.form},
                     {"layers", r.n_layers},
                     {"activations", r.n_activations},
                     {"adaptive", r.adaptive},
                     {"scaled_values", r.n_scaled},
                     {"samples", r.n_samples},
                     {"outputs_apart", words::json_number(r.outputs_apart)},
                     {"relabelled", r.n_relabelled},
                     {"why_no_costs", r.why_no_costs},
                     {"costs", costs}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dnn
