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

Graph widen_to_float64(const Graph& graph) {
  Graph wide = graph;
  for (ValueId id = 0; id < wide.value_count(); ++id) {
    Value& value = wide.value(id);
    if (value.type.dtype == DType::Float32) value.type.dtype = DType::Float64;
    if (value.constant && value.constant->dtype() == DType::Float32)
      value.constant = convert(*value.constant, DType::Float64);
  }
  constexpr auto kFloat = static_cast<int64_t>(DType::Float32), kDouble = static_cast<int64_t>(DType::Float64);
  for (NodeId id : wide.order()) {
    for (auto& [key, attribute] : wide.node(id).attributes) {
      if (auto* number = std::get_if<int64_t>(&attribute)) {  // Cast.to, RandomNormal.dtype and their kind
        static const std::set<std::string_view> kTypes = {"to",         "dtype",     "output_dtype",
                                                          "stash_type", "precision", "softmax_precision"};
        if (kTypes.count(key) != 0 && *number == kFloat) *number = kDouble;
      } else if (auto* tensor = std::get_if<Tensor>(&attribute)) {
        if (tensor->dtype() == DType::Float32) *tensor = convert(*tensor, DType::Float64);
      } else if (auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute)) {
        *body = std::make_shared<const Graph>(widen_to_float64(**body));
      }
    }
  }
  return wide;
}

}  // namespace dnn
