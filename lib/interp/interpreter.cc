// The reference interpreter; see interpreter.h.
#include "interp/interpreter.h"

#include <set>
#include <string_view>

#include "graph/locate.h"
#include "ops/op.h"

namespace dnn {
namespace {

// A tensor fits a declared type when dtypes agree and fixed extents are equal.
void check_input(const Value& value, const Tensor& tensor) {
  const Type& type = value.type;
  const bool dtype_fits = type.dtype == DType::Undefined || type.dtype == tensor.dtype();
  bool shape_fits = !type.shape || type.shape->size() == tensor.shape().size();
  for (size_t i = 0; shape_fits && type.shape && i < type.shape->size(); ++i) {
    const Dim& dim = (*type.shape)[i];
    shape_fits = !dim.fixed() || dim.size == tensor.shape()[i];
  }
  if (!dtype_fits || !shape_fits) {
    fail_malformed("input '", value.name, "' wants ", type.text(), ", is given ", Type(tensor).text());
  }
}

// How often subgraphs may run in one run of a graph, loops within loops counted together. A file can ask for 2^62 iterations; what a
// network does on a sample takes a few thousand.
constexpr int64_t kMostIterations = 1 << 20;

std::vector<Tensor> interpret_counted(const Node& node, const std::vector<const Tensor*>& inputs,
                                      const std::map<std::string, Tensor>& captured, ThreadPool* pool,
                                      int64_t* iterations);

class Run {
 public:
  // `iterations`: of subgraphs until now.
  Run(const Graph& graph, const Observer& observe, const std::map<std::string, Tensor>& captured, ThreadPool* pool,
      int64_t* iterations)
      : graph_(graph),
        observe_(observe),
        captured_(captured),
        pool_(pool),
        iterations_(iterations),
        values_(graph.value_count()),
        remaining_(graph.value_count(), 0) {}

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    if (inputs.size() != graph_.inputs.size()) {
      fail_usage("the model has ", graph_.inputs.size(), " inputs, ", inputs.size(), " given");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      check_input(graph_.value(graph_.inputs[i]), inputs[i]);
      set(graph_.inputs[i], inputs[i]);
    }
    for (ValueId id : graph_.captures) {
      auto found = captured_.find(graph_.value(id).name);
      if (found == captured_.end())
        fail_malformed("subgraph reads '", graph_.value(id).name, "', which nothing around it makes");
      values_[id] = found->second;
    }
    count_readers();
    for (NodeId id : graph_.order()) visit(graph_.node(id));
    std::vector<Tensor> outputs;
    for (ValueId id : graph_.outputs) outputs.push_back(get(id));
    return outputs;
  }

 private:
  const Tensor& get(ValueId id) const {
    const Tensor* constant = graph_.constant(id);
    const Tensor& value = values_[id];
    return value.defined() || constant == nullptr ? value : *constant;
  }

  void set(ValueId id, Tensor tensor) {
    if (observe_) observe_(graph_, id, tensor);
    values_[id] = std::move(tensor);
  }

  void count_readers() {
    for (NodeId id : graph_.order()) {
      for (ValueId value : graph_.node(id).inputs) {
        if (value != kNoValue) ++remaining_[value];
      }
      for (ValueId value : captured_values(graph_, graph_.node(id))) ++remaining_[value];  // stay to the end
    }
    for (ValueId value : graph_.outputs) ++remaining_[value];
  }

  void visit(const Node& node) {
    std::vector<const Tensor*> inputs;
    for (ValueId id : node.inputs) inputs.push_back(id == kNoValue ? nullptr : &get(id));
    std::map<std::string, Tensor> around;
    for (ValueId id : captured_values(graph_, node)) around[graph_.value(id).name] = get(id);
    if (!around.empty()) around.insert(captured_.begin(), captured_.end());
    std::vector<Tensor> outputs;
    try {
      outputs = interpret_counted(node, inputs, around.empty() ? captured_ : around, pool_, iterations_);
    } catch (Error& e) {
      locate(e, graph_, node);
      throw;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) set(node.outputs[i], std::move(outputs[i]));
    }
    for (ValueId id : node.inputs) {
      if (id != kNoValue && --remaining_[id] == 0) values_[id] = Tensor();
    }
  }

  const Graph& graph_;
  const Observer& observe_;
  const std::map<std::string, Tensor>& captured_;
  ThreadPool* pool_;
  int64_t* iterations_;
  std::vector<Tensor> values_;
  std::vector<int> remaining_;
};

std::vector<Tensor> interpret_counted(const Node& node, const std::vector<const Tensor*>& inputs,
                                      const std::map<std::string, Tensor>& captured, ThreadPool* pool,
                                      int64_t* iterations) {
  const OpDef* op = find_op(node.domain, node.op);
  if (op == nullptr || op->reference == nullptr) {
    fail_unsupported(node.label(), ": operator ", node.domain.empty() ? "" : node.domain + ".", node.op,
                     " is not supported (see dnn-convert --list-ops)");
  }
  const int n = static_cast<int>(inputs.size());
  if (n < op->min_inputs || (op->max_inputs >= 0 && n > op->max_inputs)) {
    fail_malformed(node.label(), ": has ", n, " inputs, wants ", op->min_inputs, " to ", op->max_inputs);
  }
  ReferenceContext context{node, inputs, std::vector<Tensor>(node.outputs.size()), {}, pool};
  context.run_graph = [&](const Graph& body, const std::vector<Tensor>& arguments) {
    if (++*iterations > kMostIterations)
      fail_unsupported("its subgraph is to run more than ", kMostIterations, " times, the limit");
    return Run(body, {}, captured, pool, iterations).run(arguments);
  };
  try {
    op->reference(context);
  } catch (Error& e) {
    if (std::string_view(e.what()).find(node.label()) == std::string_view::npos) e.within(node.label());
    throw;
  }
  return std::move(context.outputs);
}

// Operators that read or make numbers of one type alone, or whose numbers no operand says the type of.
bool keeps_its_type(const Node& node) {
  static const std::set<std::string_view> kOps = {"BitCast",           "BlackmanWindow",   "DynamicQuantizeLinear",
                                                  "HannWindow",        "HammingWindow",    "MelWeightMatrix",
                                                  "NonMaxSuppression", "RandomNormal",     "RandomNormalLike",
                                                  "RandomUniform",     "RandomUniformLike"};
  return node.domain.empty() && kOps.count(node.op) != 0;
}

// The node as it is in `narrow`, between Casts from float64 and back to it.
void keep_type(const Graph& narrow, Graph& wide, NodeId id) {
  const auto cast = [&](ValueId from, ValueId to, DType dtype) {
    Node node;
    node.op = "Cast";
    node.inputs = {from};
    node.outputs = {to};
    node.attributes["to"] = static_cast<int64_t>(dtype);
    wide.add_node(std::move(node));
  };
  const auto twin = [&](ValueId v) {
    return wide.add_value(wide.unused_value_name(narrow.value(v).name + "_narrow"), narrow.value(v).type);
  };
  for (size_t i = 0; i < wide.node(id).inputs.size(); ++i) {
    const ValueId v = wide.node(id).inputs[i];
    if (v == kNoValue) continue;
    const DType dtype = narrow.constant(v) != nullptr ? narrow.constant(v)->dtype() : narrow.value(v).type.dtype;
    if (!is_widened(dtype)) continue;
    const ValueId same = twin(v);
    wide.node(id).inputs[i] = same;
    cast(v, same, dtype);
  }
  for (size_t i = 0; i < wide.node(id).outputs.size(); ++i) {
    const ValueId v = wide.node(id).outputs[i];
    if (v == kNoValue || !is_widened(narrow.value(v).type.dtype)) continue;
    const ValueId made = twin(v);
    wide.node(id).outputs[i] = made;
    cast(made, v, DType::Float64);
  }
}

// Cast.to, Bernoulli.dtype and their kind.
bool names_a_type(const std::string& key) {
  static const std::set<std::string_view> kTypes = {"to",         "dtype",     "output_dtype",
                                                    "stash_type", "precision", "softmax_precision"};
  return kTypes.count(key) != 0;
}

void widen_attribute(const std::string& key, Attribute& attribute) {
  if (auto* number = std::get_if<int64_t>(&attribute)) {
    if (!names_a_type(key)) return;
    if (is_widened(dtype_from_onnx(*number))) *number = static_cast<int64_t>(DType::Float64);
  } else if (auto* tensor = std::get_if<Tensor>(&attribute)) {
    if (is_widened(tensor->dtype())) *tensor = convert(*tensor, DType::Float64);
  } else if (auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute)) {
    *body = std::make_shared<const Graph>(widen_to_float64(**body));
  }
}

// Those that a node leaves out hold as their defaults.
void widen_attributes(Node& node) {
  if (const OpDef* op = find_op(node.domain, node.op); op != nullptr) {
    for (const AttributeDef& row : op->attributes) {
      if (row.fallback && names_a_type(row.name)) node.attributes.emplace(row.name, *row.fallback);
    }
  }
  for (auto& [key, attribute] : node.attributes) widen_attribute(key, attribute);
  if (node.domain.empty() && node.op == "ConstantOfShape" && !node.has_attribute("value"))  // it stands for a float32 0
    node.attributes["value"] = Tensor::of<double>({1}, {0});
}

}  // namespace

std::vector<Tensor> interpret_node(const Node& node, const std::vector<const Tensor*>& inputs,
                                   const std::map<std::string, Tensor>& captured, ThreadPool* pool) {
  int64_t iterations = 0;
  return interpret_counted(node, inputs, captured, pool, &iterations);
}

std::vector<Tensor> interpret(const Graph& graph, const std::vector<Tensor>& inputs, const Observer& observe,
                              const std::map<std::string, Tensor>& captured, ThreadPool* pool) {
  int64_t iterations = 0;
  return Run(graph, observe, captured, pool, &iterations).run(inputs);
}

bool is_widened(DType dtype) { return is_float(dtype) && dtype != DType::Float64 && dtype_size(dtype) > 1; }

Graph widen_to_float64(const Graph& graph) {
  Graph wide = graph;
  for (ValueId id = 0; id < wide.value_count(); ++id) {
    Value& value = wide.value(id);
    if (is_widened(value.type.dtype)) value.type.dtype = DType::Float64;
    if (value.constant && is_widened(value.constant->dtype()))
      value.constant = convert(*value.constant, DType::Float64);
  }
  bool kept = false;
  for (NodeId id : std::vector<NodeId>(wide.order())) {
    if (keeps_its_type(wide.node(id))) {
      keep_type(graph, wide, id);
      kept = true;
    } else {
      widen_attributes(wide.node(id));
    }
  }
  if (kept) sort_nodes(wide);
  return wide;
}

}  // namespace dnn
