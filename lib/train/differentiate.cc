// Reverse-mode differentiation; see differentiate.h.
#include "train/differentiate.h"

#include "base/text.h"
#include "graph/locate.h"
#include "ops/gradient.h"
#include "ops/op.h"

namespace dnn::train {
namespace {

class Differentiation {
 public:
  Differentiation(NewGraph& net, ValueId loss) : net_(net) {
    const Type type = net.type(loss);  // a copy: the graph grows
    if (!is_float(type.dtype) || !type.fixed() || element_count(type.fixed_shape()) != 1)
      fail_internal("a loss is one float, not ", type.text());
    order_ = net.graph().order();
    resize();
    gradient_[index(loss)] = expand_to(net, net.number(1, type.dtype), type.fixed_shape());
    resize();
    mark_needed(loss);
  }

  std::vector<ValueId> run(const std::vector<ValueId>& parameters) {
    mark_active(parameters);
    check();
    for (size_t i = order_.size(); i-- > 0;) {
      if (active_node_[i]) visit(order_[i]);
    }
    report();
    std::vector<ValueId> result;
    net_.set_name("");
    for (ValueId v : parameters) {
      const ValueId found = gradient_[index(v)];
      result.push_back(found != kNoValue ? found : zeros_like(net_, v));
    }
    return result;
  }

 private:
  static size_t index(ValueId v) { return static_cast<size_t>(v); }
  void resize() {
    const size_t n = net_.graph().value_count();
    gradient_.resize(n, kNoValue);
    depends_.resize(n, false);
    needed_.resize(n, false);
  }
  bool is_differentiable(ValueId v) const { return v != kNoValue && is_float(net_.dtype(v)); }

  // Values that the loss depends on.
  void mark_needed(ValueId loss) {
    needed_[index(loss)] = true;
    for (size_t i = order_.size(); i-- > 0;) {
      const Node& node = net_.graph().node(order_[i]);
      bool any = false;
      for (ValueId v : node.outputs) any = any || (v != kNoValue && needed_[index(v)]);
      for (ValueId v : node.inputs) {
        if (any && v != kNoValue) needed_[index(v)] = true;
      }
    }
  }

  // Values that depend on a parameter, and nodes between the parameters and the loss.
  void mark_active(const std::vector<ValueId>& parameters) {
    for (ValueId v : parameters) depends_[index(v)] = true;
    active_node_.assign(order_.size(), false);
    for (size_t i = 0; i < order_.size(); ++i) {
      const Node& node = net_.graph().node(order_[i]);
      bool reads = false, leads = false;
      for (ValueId v : node.inputs) reads = reads || (is_differentiable(v) && depends_[index(v)]);
      for (ValueId v : node.outputs) leads = leads || (is_differentiable(v) && needed_[index(v)]);
      if (!reads) continue;
      const OpDef* op = find_op(node.domain, node.op);
      if (op != nullptr && op->no_gradient) continue;
      for (ValueId v : node.outputs) {
        if (is_differentiable(v)) depends_[index(v)] = true;
      }
      active_node_[i] = leads;
    }
  }

  void check() {
    for (size_t i = 0; i < order_.size(); ++i) {
      const Node& node = net_.graph().node(order_[i]);
      const OpDef* op = find_op(node.domain, node.op);
      if (active_node_[i] && (op == nullptr || op->gradient == nullptr))
        missing_.push_back(label_in(net_.graph(), node));
    }
    report();
  }

  void report() const {
    if (missing_.empty()) return;
    fail_unsupported("cannot train: no gradient of ", dnn::join(missing_, "; "),
                     "; freeze the layers up to them with --freeze");
  }

  void visit(NodeId id) {
    const Node node = net_.graph().node(id);  // a copy: the graph grows
    GradientContext context{node, net_, {}, {}, std::vector<ValueId>(node.inputs.size(), kNoValue)};
    bool any = false;
    for (ValueId v : node.outputs) {
      context.output_gradients.push_back(v == kNoValue ? kNoValue : gradient_[index(v)]);
      any = any || context.output_gradients.back() != kNoValue;
    }
    if (!any) return;
    for (ValueId v : node.inputs) context.wanted.push_back(is_differentiable(v) && depends_[index(v)]);
    net_.set_name(cat("gradient/", node.name.empty() ? node.op : node.name));
    // An operator of one gradient may ask for the first output's alone.
    if (context.output_gradients[0] == kNoValue && node.outputs.size() > 1 && node.outputs[0] != kNoValue)
      context.output_gradients[0] = zeros_like(net_, node.outputs[0]);
    try {
      find_op(node.domain, node.op)->gradient(context);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      missing_.push_back(error.what());
      return;
    }
    resize();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (context.wants(i) && context.input_gradients[i] != kNoValue) add(node.inputs[i], context.input_gradients[i]);
    }
  }

  void add(ValueId v, ValueId part) {
    const ValueId before = gradient_[index(v)];
    const ValueId sum = before == kNoValue ? part : net_.emit("Add", {before, part});
    resize();
    gradient_[index(v)] = sum;
  }

  NewGraph& net_;
  std::vector<NodeId> order_;  // of the nodes that were there before
  std::vector<ValueId> gradient_;
  std::vector<bool> depends_, needed_, active_node_;
  std::vector<std::string> missing_;
};

}  // namespace

std::vector<ValueId> add_gradients(NewGraph& net, ValueId loss, const std::vector<ValueId>& parameters) {
  return Differentiation(net, loss).run(parameters);
}

}  // namespace dnn::train
