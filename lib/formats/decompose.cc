// Operators in simpler ones; see decompose.h. Definitions: ONNX's operator reference, section "Function Body" where there is one.
#include "formats/decompose.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "formats/definitions.h"

namespace dnn {
namespace {

// The inputs behind the first one, which are those of a reduction's axes, and its attributes.
std::vector<ValueId> behind(const Decomposition& s, ValueId first) {
  std::vector<ValueId> inputs = s.node().inputs;
  inputs[0] = first;
  return inputs;
}

bool celu(Decomposition& s) {  // alpha * Elu(x / alpha)
  const double alpha = static_cast<double>(float_attribute(s.node(), "alpha"));
  s.end("Mul", {s.emit("Elu", {s.emit("Div", {s.x(), s.number(alpha)})}), s.number(alpha)});
  return true;
}

// max(x, 0) + alpha * Elu(min(x, 0)), all times gamma
bool elu(Decomposition& s) {
  const double alpha = static_cast<double>(float_attribute(s.node(), "alpha"));
  if (alpha == 1 && s.node().op == "Elu") return false;
  const ValueId below = s.emit("Elu", {s.emit("Min", {s.x(), s.number(0)})}, {{"alpha", 1.0F}});
  const std::vector<ValueId> both = {s.emit("Relu", {s.x()}), s.emit("Mul", {below, s.number(alpha)})};
  if (s.node().op == "Elu") {
    s.end("Add", both);
  } else {
    s.end("Mul", {s.emit("Add", both), s.number(static_cast<double>(float_attribute(s.node(), "gamma")))});
  }
  return true;
}

bool softsign(Decomposition& s) {
  s.end("Div", {s.x(), s.emit("Add", {s.emit("Abs", {s.x()}), s.number(1)})});
  return true;
}

bool thresholded(Decomposition& s) {
  const ValueId above = s.emit("Greater", {s.x(), s.number(static_cast<double>(float_attribute(s.node(), "alpha")))});
  s.end("Where", {above, s.x(), s.number(0)});
  return true;
}

bool reciprocal(Decomposition& s) {
  s.end("Div", {s.number(1), s.x()});
  return true;
}

bool sinh_or_cosh(Decomposition& s) {  // (e^x -+ e^-x) / 2
  const ValueId up = s.emit("Exp", {s.x()}), down = s.emit("Exp", {s.emit("Neg", {s.x()})});
  s.end("Mul", {s.emit(s.node().op == "Sinh" ? "Sub" : "Add", {up, down}), s.number(0.5)});
  return true;
}

bool tangent(Decomposition& s) {
  s.end("Div", {s.emit("Sin", {s.x()}), s.emit("Cos", {s.x()})});
  return true;
}

bool acosh(Decomposition& s) {  // log(x + sqrt((x - 1) * (x + 1))), whose factor x - 1 no rounding touches near 1
  const ValueId squared = s.emit("Mul", {s.emit("Sub", {s.x(), s.number(1)}), s.emit("Add", {s.x(), s.number(1)})});
  s.end("Log", {s.emit("Add", {s.x(), s.emit("Sqrt", {squared})})});
  return true;
}

bool asinh(Decomposition& s) {  // sign(x) * log(|x| + sqrt(x * x + 1))
  const ValueId root = s.emit("Sqrt", {s.emit("Add", {s.emit("Mul", {s.x(), s.x()}), s.number(1)})});
  const ValueId grown = s.emit("Log", {s.emit("Add", {s.emit("Abs", {s.x()}), root})});
  s.end("Mul", {s.emit("Sign", {s.x()}), grown});
  return true;
}

bool atanh(Decomposition& s) {  // log((1 + x) / (1 - x)) / 2
  const ValueId ratio = s.emit("Div", {s.emit("Add", {s.number(1), s.x()}), s.emit("Sub", {s.number(1), s.x()})});
  s.end("Mul", {s.emit("Log", {ratio}), s.number(0.5)});
  return true;
}

bool mean(Decomposition& s) {
  const double n = static_cast<double>(s.node().inputs.size());
  s.end("Mul", {n > 1 ? s.emit("Sum", s.node().inputs) : s.x(), s.number(1 / n)});
  return true;
}

bool of_one(Decomposition& s) {  // Sum, Max, Min
  if (s.node().inputs.size() != 1) return false;
  s.end("Identity", {s.x()});
  return true;
}

bool reduction(Decomposition& s) {
  const std::string& op = s.node().op;
  if (op == "ReduceL1") {
    s.end("ReduceSum", behind(s, s.emit("Abs", {s.x()})), s.node().attributes);
  } else if (op == "ReduceSumSquare") {
    s.end("ReduceSum", behind(s, s.emit("Mul", {s.x(), s.x()})), s.node().attributes);
  } else if (op == "ReduceL2") {
    const ValueId sum = s.emit("ReduceSum", behind(s, s.emit("Mul", {s.x(), s.x()})), s.node().attributes);
    s.end("Sqrt", {sum});
  } else {  // ReduceLogSum
    s.end("Log", {s.emit("ReduceSum", s.node().inputs, s.node().attributes)});
  }
  return true;
}

// The largest, plus log(sum(exp(x - largest)))
bool log_sum_exp(Decomposition& s) {
  Attributes kept = s.node().attributes;
  kept["keepdims"] = int64_t{1};
  const ValueId largest = s.emit("ReduceMax", s.node().inputs, kept);
  const ValueId powers = s.emit("Exp", {s.emit("Sub", {s.x(), largest})});
  const ValueId sum = s.emit("Log", {s.emit("ReduceSum", behind(s, powers), s.node().attributes)});
  const bool keeps = int_attribute(s.node(), "keepdims") != 0;
  s.end("Add", {sum, keeps ? largest : s.emit("ReduceMax", s.node().inputs, s.node().attributes)});
  return true;
}

bool log_softmax(Decomposition& s) {
  const ValueId axis = s.list({int_attribute(s.node(), "axis")});
  const ValueId less = s.emit("Sub", {s.x(), s.emit("ReduceMax", {s.x(), axis})});
  s.end("Sub", {less, s.emit("Log", {s.emit("ReduceSum", {s.emit("Exp", {less}), axis})})});
  return true;
}

// An index that keeps its axis; the last of equal ones, which is the first from behind.
bool extreme_index(Decomposition& s) {
  const int64_t axis = int_attribute(s.node(), "axis");
  const bool keeps = int_attribute(s.node(), "keepdims") != 0, last = int_attribute(s.node(), "select_last_index") != 0;
  if (!s.has_rank() || (!keeps && !last)) return false;
  const Attributes plain = {{"axis", axis}, {"keepdims", int64_t{0}}};
  const Dim extent = (*s.type().shape)[axis < 0 ? axis + s.rank() : axis];
  if (last && !extent.fixed()) return false;
  ValueId from = s.x();
  if (last) from = s.emit("Slice", {from, s.list({-1}), s.list({INT64_MIN}), s.list({axis}), s.list({-1})});
  if (!last) {
    s.end("Unsqueeze", {s.emit(s.node().op, {from}, plain), s.list({axis})});
    return true;
  }
  const ValueId index = s.emit(s.node().op, {from}, plain);
  const std::vector<ValueId> turned = {s.list({extent.size - 1}),
                                       keeps ? s.emit("Unsqueeze", {index, s.list({axis})}) : index};
  s.end("Sub", turned);
  return true;
}

// The smallest are the largest of the others, negated.
bool smallest(Decomposition& s) {
  if (int_attribute(s.node(), "largest") != 0 || !is_float(s.type().dtype)) return false;
  Attributes attributes = s.node().attributes;
  attributes["largest"] = int64_t{1};
  std::vector<ValueId> outputs = s.node().outputs;
  outputs[0] = s.fresh("TopK");
  s.end("TopK", behind(s, s.emit("Neg", {s.x()})), attributes, outputs);
  s.end("Neg", {outputs[0]});
  return true;
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias; the mean is over what follows the channels, or each group of them.
bool normalisation(Decomposition& s) {
  if (!s.has_rank() || s.rank() < 3 || s.constant(1) == nullptr || s.constant(2) == nullptr) return false;
  const int64_t rank = s.rank(), channels = s.constant(1)->size();
  std::vector<int64_t> same = {0};  // of the batch, as it comes
  for (size_t i = 1; i < s.type().shape->size(); ++i) same.push_back((*s.type().shape)[i].size);
  Shape per_channel(static_cast<size_t>(rank - 1), 1);
  per_channel[0] = channels;
  const bool groups = s.node().op == "GroupNormalization";
  if (groups && std::any_of(same.begin(), same.end(), [](int64_t extent) { return extent < 0; })) return false;
  ValueId x = s.x();
  std::vector<int64_t> axes(static_cast<size_t>(rank - 2));
  std::iota(axes.begin(), axes.end(), 2);
  if (groups) {  // [N, groups, all of one]
    x = s.emit("Reshape", {x, s.list({0, int_attribute(s.node(), "num_groups"), -1})});
    axes = {2};
  }
  const ValueId over = s.list(axes), centred = s.emit("Sub", {x, s.emit("ReduceMean", {x, over})});
  const ValueId variance = s.emit("ReduceMean", {s.emit("Mul", {centred, centred}), over});
  const ValueId spread =
      s.emit("Sqrt", {s.emit("Add", {variance, s.number(static_cast<double>(float_attribute(s.node(), "epsilon")))})});
  ValueId normal = s.emit("Div", {centred, spread});
  if (groups) normal = s.emit("Reshape", {normal, s.list(same)});
  const ValueId scale = s.emit("Reshape", {s.node().inputs[1], s.list(per_channel)});
  s.end("Add", {s.emit("Mul", {normal, scale}), s.emit("Reshape", {s.node().inputs[2], s.list(per_channel)})});
  return true;
}

bool shrink(Decomposition& s) {  // x + bias below -lambd, x - bias above lambd
  const double bias = static_cast<double>(float_attribute(s.node(), "bias")),
               bound = static_cast<double>(float_attribute(s.node(), "lambd"));
  if (!is_float(s.type().dtype)) return false;
  const ValueId below =
      s.emit("Where", {s.emit("Less", {s.x(), s.number(-bound)}), s.emit("Add", {s.x(), s.number(bias)}), s.number(0)});
  s.end("Where", {s.emit("Greater", {s.x(), s.number(bound)}), s.emit("Sub", {s.x(), s.number(bias)}), below});
  return true;
}

// Terms that a norm of power 1 or 2 adds up, and the end that makes the norm of their sum.
ValueId norm_terms(Decomposition& s, int64_t p) {
  return p == 1 ? s.emit("Abs", {s.x()}) : s.emit("Mul", {s.x(), s.x()});
}
void end_in_norm(Decomposition& s, int64_t p, ValueId sum) { s.end(p == 1 ? "Identity" : "Sqrt", {sum}); }

// x over its norm along the axis; zeros stay zeros.
bool lp_normalisation(Decomposition& s) {
  const int64_t p = int_attribute(s.node(), "p");
  const ValueId axis = s.list({int_attribute(s.node(), "axis")});
  const ValueId sum = s.emit("ReduceSum", {norm_terms(s, p), axis});
  const ValueId norm = p == 1 ? sum : s.emit("Sqrt", {sum});
  const ValueId nothing = s.emit("Equal", {norm, s.number(0)});
  s.end("Div", {s.x(), s.emit("Where", {nothing, s.number(1), norm})});
  return true;
}

bool global_lp_pool(Decomposition& s) {
  const int64_t p = int_attribute(s.node(), "p");
  if (!s.has_rank() || p < 1 || p > 2) return false;
  std::vector<int64_t> axes(static_cast<size_t>(s.rank() - 2));
  std::iota(axes.begin(), axes.end(), 2);
  end_in_norm(s, p, s.emit("ReduceSum", {norm_terms(s, p), s.list(axes)}));
  return true;
}

// The mean over a window, padding counted, times the window's size.
bool lp_pool(Decomposition& s) {
  const int64_t p = int_attribute(s.node(), "p");
  if (p < 1 || p > 2 || !is_float(s.type().dtype)) return false;
  double size = 1;
  for (int64_t extent : s.node().attribute_ints("kernel_shape")) size *= static_cast<double>(extent);
  Attributes window = s.node().attributes;
  window.erase("p");
  window["count_include_pad"] = int64_t{1};
  if (int_attribute(s.node(), "ceil_mode") != 0) return false;  // whose last windows count less
  end_in_norm(s, p, s.emit("Mul", {s.emit("AveragePool", {norm_terms(s, p)}, window), s.number(size)}));
  return true;
}

// (x - mean) / (sqrt(mean of (x - mean) squared) + 1e-9)
bool mean_variance(Decomposition& s) {
  const ValueId axes = s.list(s.node().attribute_ints("axes", {0, 2, 3}));
  const ValueId centred = s.emit("Sub", {s.x(), s.emit("ReduceMean", {s.x(), axes})});
  const ValueId spread = s.emit("Sqrt", {s.emit("ReduceMean", {s.emit("Mul", {centred, centred}), axes})});
  s.end("Div", {centred, s.emit("Add", {spread, s.number(1e-9)})});
  return true;
}

// x / sqrt(mean of squares + epsilon) * scale, over the axes from `axis` on
bool rms_normalisation(Decomposition& s) {
  if (!s.has_rank() || s.type().dtype != DType::Float32) return false;
  const int64_t given = int_attribute(s.node(), "axis"), first = given < 0 ? given + s.rank() : given;
  std::vector<int64_t> axes(static_cast<size_t>(s.rank() - first));
  std::iota(axes.begin(), axes.end(), first);
  const ValueId squares = s.emit("ReduceMean", {s.emit("Mul", {s.x(), s.x()}), s.list(axes)});
  const ValueId epsilon = s.number(static_cast<double>(float_attribute(s.node(), "epsilon")));
  const ValueId normal = s.emit("Div", {s.x(), s.emit("Sqrt", {s.emit("Add", {squares, epsilon})})});
  s.end("Mul", {normal, s.node().inputs[1]});
  return true;
}

constexpr Definition kDefinitions[] = {{"Acosh", acosh},
                                       {"ArgMax", extreme_index},
                                       {"ArgMin", extreme_index},
                                       {"Asinh", asinh},
                                       {"Atanh", atanh},
                                       {"Celu", celu},
                                       {"Cosh", sinh_or_cosh},
                                       {"Elu", elu},
                                       {"GroupNormalization", normalisation},
                                       {"Shrink", shrink},
                                       {"RMSNormalization", rms_normalisation},
                                       {"MeanVarianceNormalization", mean_variance},
                                       {"LpPool", lp_pool},
                                       {"LpNormalization", lp_normalisation},
                                       {"GlobalLpPool", global_lp_pool},
                                       {"InstanceNormalization", normalisation},
                                       {"LogSoftmax", log_softmax},
                                       {"Max", of_one},
                                       {"Mean", mean},
                                       {"Min", of_one},
                                       {"Reciprocal", reciprocal},
                                       {"ReduceL1", reduction},
                                       {"ReduceL2", reduction},
                                       {"ReduceLogSum", reduction},
                                       {"ReduceLogSumExp", log_sum_exp},
                                       {"ReduceSumSquare", reduction},
                                       {"Selu", elu},
                                       {"Sinh", sinh_or_cosh},
                                       {"Softsign", softsign},
                                       {"Sum", of_one},
                                       {"Tan", tangent},
                                       {"ThresholdedRelu", thresholded},
                                       {"TopK", smallest}};

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = [] {
    std::vector<Definition> rows(std::begin(kDefinitions), std::end(kDefinitions));
    for (const auto* more : {&moving_definitions(), &recurrent_definitions(), &scatter_definitions(),
                             &transform_definitions(), &detection_definitions()})
      rows.insert(rows.end(), more->begin(), more->end());
    return rows;
  }();
  return all;
}

std::optional<Patch> decomposed(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const Definition& row : definitions()) {
    if (!node.domain.empty() || node.op != row.op || graph.value(node.outputs[0]).type.dtype == DType::Undefined)
      continue;
    Patch patch(graph, cat(node.label(), " decomposed"));
    Decomposition decomposition(graph, patch, node);
    if (!row.apply(decomposition)) return std::nullopt;
    patch.remove_node(id);
    return patch;
  }
  return std::nullopt;
}

// An exponent of integers in the base's dtype: ONNX alone lets the two differ.
void cast_exponent(Graph& graph, NodeId id) {
  const DType base = graph.value(graph.node(id).input(0)).type.dtype;
  const ValueId exponent = graph.node(id).input(1);
  if (!is_float(base) || !is_integer(graph.value(exponent).type.dtype)) return;
  const std::string name = graph.unused_value_name(graph.value(exponent).name + "/real");
  if (const Tensor* known = graph.constant(exponent)) {
    graph.node(id).inputs[1] = graph.add_constant(name, convert(*known, base));
    return;
  }
  Node cast;
  cast.op = "Cast";
  cast.name = graph.node(id).name.empty() ? "" : graph.node(id).name + "/Cast";
  cast.inputs = {exponent};
  cast.outputs = {graph.add_value(name)};
  cast.attributes = {{"to", static_cast<int64_t>(base)}};
  cast.sources = graph.node(id).sources;
  graph.node(id).inputs[1] = cast.outputs[0];
  graph.insert_node_before(id, std::move(cast));
}

// Known indices of tuples count from the front: others do not count from the back.
void count_from_front(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Tensor* known = graph.constant(node.input(1));
  const auto& shape = graph.value(node.input(0)).type.shape;
  if (known == nullptr || known->rank() == 0 || !shape) return;
  std::vector<int64_t> places = to_int64s(*known);
  if (std::none_of(places.begin(), places.end(), [](int64_t v) { return v < 0; })) return;
  const int64_t depth = known->dim(known->rank() - 1),
                first = node.op == "GatherND" ? int_attribute(node, "batch_dims") : 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const Dim& extent = shape->at(first + static_cast<int64_t>(i) % depth);
    if (places[i] >= 0) continue;
    if (!extent.fixed()) fail_unsupported(node.label(), ": an index from the end of an open extent");
    places[i] += extent.size;
  }
  const std::string name = graph.unused_value_name(graph.value(node.input(1)).name + "/from_front");
  const ValueId counted =
      graph.add_constant(name, convert(Tensor::of<int64_t>(known->shape(), places), known->dtype()));
  graph.node(id).inputs[1] = counted;
}

// Bounds that cross: ONNX's result is the upper one, others' the lower one. Where both are the same, all agree.
void uncross_bounds(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Tensor *low = graph.constant(node.input(1)), *high = graph.constant(node.input(2));
  if (low != nullptr && high != nullptr && to_doubles(*low)[0] > to_doubles(*high)[0])
    graph.node(id).inputs[1] = node.inputs[2];
}

// Writes operands that ONNX alone allows as all allow them.
void settle_operands(Graph& graph) {
  const Uses uses(graph);
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node& node = graph.node(id);
    if (!node.domain.empty()) continue;
    if (node.op == "Pow") cast_exponent(graph, id);
    if (node.op == "GatherND" || node.op == "ScatterND") count_from_front(graph, id);
    if (node.op == "Clip") uncross_bounds(graph, id);
    if (node.op != "Dropout" || node.outputs.size() < 2 || node.outputs[1] == kNoValue) continue;
    if (!uses.readers[node.outputs[1]].empty() || graph.is_output(node.outputs[1]))
      fail_unsupported(node.label(), ": a mask that is read; the format's own Dropout gives none");
  }
  infer_types(graph);
}

}  // namespace

std::vector<std::string> decomposed_operators() {
  std::vector<std::string> names;
  for (const Definition& row : definitions()) names.push_back(row.op);
  std::sort(names.begin(), names.end());
  return names;
}

// A scatter to known places is a choice of elements, which every format has: that is taken before the format's own scatter.
static bool is_known_scatter(const Graph& graph, const Node& node) {
  return node.domain.empty() && (node.op == "ScatterElements" || node.op == "ScatterND") &&
         graph.constant(node.input(1)) != nullptr && string_attribute(node, "reduction") == "none";
}

bool makes_places(const Node& node) {
  return node.domain.empty() && node.op == "MaxPool" && node.outputs.size() > 1 && node.outputs[1] != kNoValue;
}

std::string way_out(const Graph& graph, const Node& node) {
  const std::vector<std::string> known = decomposed_operators();
  const bool defined = node.domain.empty() && std::find(known.begin(), known.end(), node.op) != known.end();
  const bool open = std::any_of(node.inputs.begin(), node.inputs.end(),
                                [&](ValueId v) { return v != kNoValue && !graph.value(v).type.fixed(); });
  return defined && open ? "; fix the model's extents with --shape, or write ONNX" : "; ONNX holds it";
}

bool suppresses_once(const Graph& graph, const Node& node) {
  const auto& boxes = graph.value(node.input(0)).type.shape;
  const auto& scores = graph.value(node.input(1)).type.shape;
  return boxes && scores && boxes->size() == 3 && scores->size() == 3 && (*boxes)[0] == Dim(1) &&
         (*scores)[1] == Dim(1) && int_attribute(node, "center_point_box") == 0;
}

bool has_usual_numbers(const Node& node) {
  if (node.op != "Elu" && node.op != "Selu") return true;
  const OpDef* op = find_op(node.domain, node.op);
  Node usual = node;
  usual.attributes.clear();
  for (const char* name : {"alpha", "gamma"}) {
    if (find_attribute(op->attributes, name) != nullptr && float_attribute(node, name) != float_attribute(usual, name))
      return false;
  }
  return true;
}

void decompose(Graph& graph, const std::function<bool(const Node&)>& takes) {
  settle_operands(graph);
  constexpr int kRounds = 4;  // definitions of definitions
  for (int round = 0; round < kRounds; ++round) {
    bool changed = false;
    for (NodeId id : std::vector<NodeId>(graph.order())) {
      const Node& node = graph.node(id);
      if (takes(node) && !is_known_scatter(graph, node)) continue;
      if (const std::optional<Patch> patch = decomposed(graph, id)) changed = patch->apply(graph) || changed;
    }
    if (!changed) return;
    infer_types(graph);
  }
}

}  // namespace dnn
