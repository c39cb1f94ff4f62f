// Type inference over a graph, with the values that types depend on; see op.h.
#include <algorithm>
#include <set>

#include "graph/locate.h"
#include "ops/op.h"
#include "ops/type_inference.h"
#include "ops/window.h"

namespace dnn {
namespace {

// Values are carried through inference up to this many elements: shapes, axes, scalars, not activations.
constexpr int64_t kKnownLimit = 4096;

void check_arity(const Node& node, const OpDef& op) {
  const int n = static_cast<int>(node.inputs.size()), m = static_cast<int>(node.outputs.size());
  if (n < op.min_inputs || (op.max_inputs >= 0 && n > op.max_inputs)) {
    fail_malformed(node.label(), ": ", n, " inputs, ", op.min_inputs, op.max_inputs == op.min_inputs ? "" : " or more",
                   " expected");
  }
  if (op.max_outputs >= 0 && m > op.max_outputs)
    fail_malformed(node.label(), ": ", m, " outputs, at most ", op.max_outputs, " expected");
}

// What the operator's infer() says.
InferContext types_of(const Node& node, const OpDef& op, const std::vector<const Type*>& types,
                      const std::vector<const Tensor*>& known) {
  check_arity(node, op);
  check_schema(node, op);
  InferContext context{
      node, types, known, std::vector<Type>(node.outputs.size()), std::vector<Tensor>(node.outputs.size()), {}};
  context.infer_graph = [](const Graph& body, const std::vector<Type>& inputs) {
    Graph copy = body;
    for (size_t i = 0; i < copy.inputs.size() && i < inputs.size(); ++i) copy.value(copy.inputs[i]).type = inputs[i];
    infer_types(copy);
    std::vector<Type> outputs;
    for (ValueId id : copy.outputs) outputs.push_back(copy.value(id).type);
    return outputs;
  };
  op.infer(context);
  return context;
}

// Shape computations: the values of a node whose inputs are all known, and whose outputs are small; empty for others. What is
// known of a shape alone (Shape, Size) infer() gives.
std::vector<Tensor> values_of(const Node& node, const OpDef& op, const std::vector<const Tensor*>& known,
                              const std::vector<const Type*>& outputs) {
  if (op.reference == nullptr || !op.deterministic || node.inputs.empty()) return {};
  ReferenceContext context{node, {}, std::vector<Tensor>(node.outputs.size()), {}};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (known[i] == nullptr && node.inputs[i] != kNoValue) return {};
    context.inputs.push_back(known[i]);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    if (!outputs[i]->fixed() || element_count(outputs[i]->fixed_shape()) > kKnownLimit) return {};
  }
  for (const auto& [key, attribute] : node.attributes) {
    if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute)) return {};
  }
  op.reference(context);
  return std::move(context.outputs);
}

class Inference {
 public:
  explicit Inference(Graph& graph) : graph_(graph), known_(graph.value_count()) {}

  void run(const std::function<void(NodeId id)>& before = {}) {
    for (NodeId id : graph_.order()) {
      if (before) before(id);
      try {
        visit(graph_.node(id));
      } catch (Error& e) {
        locate(e, graph_, graph_.node(id));
        throw;
      }
    }
  }

  std::vector<Tensor> take_known() { return std::move(known_); }

  // Visits the nodes at the end of the order that were not there before.
  void update() {
    known_.resize(graph_.value_count());
    const std::vector<NodeId>& order = graph_.order();
    while (next_ < order.size()) visit(graph_.node(order[next_++]));
  }

  const Tensor* known(ValueId id) const {
    if (id == kNoValue) return nullptr;
    if (const Tensor* constant = graph_.constant(id)) return constant;
    const Tensor& value = known_[id];
    return value.defined() ? &value : nullptr;
  }

 private:
  void visit(const Node& node) {
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr || op->infer == nullptr) return;
    std::vector<const Type*> types;
    std::vector<const Tensor*> values;
    for (ValueId input : node.inputs) {
      types.push_back(input == kNoValue ? nullptr : &graph_.value(input).type);
      values.push_back(known(input));
    }
    InferContext context = types_of(node, *op, types, values);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (context.known_outputs[i].defined()) known_[node.outputs[i]] = context.known_outputs[i];
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const std::vector<Dim> old = extents_of_old_pool(node, types, context.outputs[i]);
      if (!old.empty() || is_behind_old_pool(node)) by_old_pool_.insert(node.outputs[i]);
      merge(node, node.outputs[i], context.outputs[i], old);
    }
    std::vector<const Type*> declared;
    for (ValueId output : node.outputs) declared.push_back(output == kNoValue ? nullptr : &graph_.value(output).type);
    std::vector<Tensor> computed = values_of(node, *op, values, declared);
    for (size_t i = 0; i < computed.size(); ++i) {
      if (node.outputs[i] != kNoValue) known_[node.outputs[i]] = std::move(computed[i]);
    }
  }

  // What inference finds wins over what the file declares, extent by extent; a contradiction of fixed extents is an error.
  // Extents by an older rule (`old`) and behind it are none.
  void merge(const Node& node, ValueId id, const Type& found, const std::vector<Dim>& old) {
    Value& value = graph_.value(id);
    Type& type = value.type;
    const auto contradicts = [&] {
      fail_malformed(node.label(), ": output '", value.name, "' is declared ", type.text(), ", but is ", found.text());
    };
    if (found.dtype != DType::Undefined) {
      if (type.dtype != DType::Undefined && type.dtype != found.dtype) contradicts();
      type.dtype = found.dtype;
    }
    if (!found.shape) return;
    if (!type.shape) {
      type.shape = found.shape;
      return;
    }
    if (type.shape->size() != found.shape->size()) contradicts();
    for (size_t i = 0; i < found.shape->size(); ++i) {
      Dim& declared = (*type.shape)[i];
      const Dim& dim = (*found.shape)[i];
      if (declared.fixed() && dim.fixed() && declared.size != dim.size) {
        if (!is_behind_old_pool(node) && (old.empty() || !(declared == old[i]))) contradicts();
      }
      if (dim.fixed() || (!declared.fixed() && !dim.symbol.empty())) declared = dim;
    }
  }

  // onnx's inference before opset 22 counts a last window that starts in the padding at the end (ceil_mode), which no runtime
  // computes: https://github.com/onnx/onnx/pull/5741. Files of ONNX Runtime's optimiser declare such extents, and what follows of
  // them. Extents of a pool by that rule; empty where it says the same.
  static std::vector<Dim> extents_of_old_pool(const Node& node, const std::vector<const Type*>& inputs,
                                              const Type& found) {
    if (node.attribute_int("ceil_mode", 0) == 0 || inputs.empty() || inputs[0] == nullptr || !inputs[0]->fixed() ||
        !found.fixed() || inputs[0]->shape->size() != found.shape->size())
      return {};
    const Shape shape = inputs[0]->fixed_shape();
    const Window window = Window::of(node, {shape.begin() + 2, shape.end()}, {});
    std::vector<Dim> extents = *found.shape;
    for (size_t i = 0; i < window.rank(); ++i) {
      const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
      const int64_t room = window.input[i] + window.pad_begin[i] + window.pad_end[i] - reach;
      extents[i + 2] = Dim((room + window.strides[i] - 1) / window.strides[i] + 1);
    }
    return extents == *found.shape ? std::vector<Dim>() : extents;
  }

  bool is_behind_old_pool(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return by_old_pool_.count(v) > 0; });
  }

  Graph& graph_;
  std::vector<Tensor> known_;      // by ValueId
  std::set<ValueId> by_old_pool_;  // which extents_of_old_pool() has others of, and those behind them
  size_t next_ = 0;                // in the order: where update() goes on
};

}  // namespace

InferredNode infer_node(const Node& node, const std::vector<const Type*>& inputs,
                        const std::vector<const Tensor*>& known) {
  InferredNode result{std::vector<Type>(node.outputs.size()), std::vector<Tensor>(node.outputs.size())};
  const OpDef* op = find_op(node.domain, node.op);
  if (op == nullptr || op->infer == nullptr) return result;
  InferContext context = types_of(node, *op, inputs, known);
  result.types = std::move(context.outputs);
  result.known = std::move(context.known_outputs);
  std::vector<const Type*> types;
  for (const Type& type : result.types) types.push_back(&type);
  std::vector<Tensor> computed = values_of(node, *op, known, types);
  if (!computed.empty()) result.known = std::move(computed);
  return result;
}

void infer_types(Graph& graph, const std::function<void(NodeId id)>& before) { Inference(graph).run(before); }

struct TypeInference::State : Inference {
  using Inference::Inference;
};

TypeInference::TypeInference(Graph& graph) : state_(std::make_unique<State>(graph)) {}
TypeInference::~TypeInference() = default;
void TypeInference::update() { state_->update(); }
const Tensor* TypeInference::known(ValueId id) const { return state_->known(id); }

std::vector<Tensor> infer_known_values(Graph& graph) {
  Inference inference(graph);
  inference.run();
  return inference.take_known();
}

}  // namespace dnn
