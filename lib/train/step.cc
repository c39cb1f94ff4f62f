// Step graphs; see step.h.
#include "train/step.h"

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "ops/gradient.h"
#include "ops/op.h"
#include "train/differentiate.h"

namespace dnn::train {
namespace {

bool only_reshapes(const Node& node) {
  static const std::set<std::string> kOps = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"};
  return node.domain.empty() && kOps.count(node.op) != 0;
}

// A graph under construction whose values have the ids of the model's.
class StepBuilder {
 public:
  StepBuilder(const Graph& model, const Trained& trained, const Optimizer& optimizer)
      : model_(model), trained_(trained), optimizer_(optimizer), net_(without_nodes(model)) {}

  StepGraph run() {
    StepGraph step;
    if (model_.inputs.size() != 1 || model_.outputs.size() != 1)
      fail_unsupported("a classifier of one input and one output is wanted, this network has ", model_.inputs.size(),
                       " and ", model_.outputs.size());
    const ValueId model_logits = find_logits(model_);
    std::vector<ValueId> parameters;
    const std::set<NodeId> norms(trained_.norms.begin(), trained_.norms.end());
    net_.graph().outputs.clear();
    net_.graph().inputs = model_.inputs;
    // Variables become inputs behind the four that follow the model's.
    for (const Parameter& parameter : trained_.parameters) {
      parameters.push_back(parameter.value);
      net_.graph().value(parameter.value).constant.reset();
    }
    for (NodeId id : model_.order()) {
      const Node& node = model_.node(id);
      if (norms.count(id) == 0)
        net_.add(node, {});
      else
        normalize(node);
    }
    const Shape shape = net_.shape(model_logits);
    if (shape.empty() || element_count(shape) % shape[0] != 0 || element_count(shape) == shape[0])
      fail_unsupported("the network's output is ", Type(net_.type(model_logits)).text(),
                       ", not scores of two or more classes");
    const Shape rows = {shape[0], element_count(shape) / shape[0]};
    net_.set_name("loss");
    const ValueId logits = reshape_to(net_, model_logits, rows);
    const DType dtype = net_.dtype(logits);
    const Type row_type(Tensor(dtype, rows)), scalar(dtype, {});
    const ValueId targets = net_.input("targets", row_type), rate = net_.input("rate", scalar),
                  root = net_.input("root", scalar);
    const ValueId likelihood = node("Mul", targets, net_.emit("LogSoftmax", {logits}, {{"axis", int64_t{1}}}));
    const ValueId sum = net_.emit("ReduceSum", {likelihood}, {{"keepdims", int64_t{0}}});
    const ValueId loss = node("Div", sum, net_.number(-static_cast<double>(rows[0]), dtype));
    const std::vector<ValueId> gradients = add_gradients(net_, loss, parameters);
    for (size_t i = 0; i < parameters.size(); ++i) update(trained_.parameters[i], gradients[i], rate, root);
    net_.set_name("");
    net_.output(loss, "loss");
    net_.output(logits, "logits");
    for (size_t i = 0; i < variables_.size(); ++i) {
      net_.graph().inputs.push_back(before_[i]);
      net_.output(after_[i], cat(net_.graph().value(before_[i]).name, "/next"));
    }
    step.variables = std::move(variables_);
    step.graph = net_.finish();
    return step;
  }

 private:
  static Graph without_nodes(const Graph& model) {
    Graph graph = model;
    graph.outputs.clear();
    for (NodeId id : std::vector<NodeId>(graph.order())) graph.remove_node(id);
    return graph;
  }

  ValueId node(const char* op, ValueId a, ValueId b) { return net_.emit(op, {a, b}); }
  ValueId scaled(ValueId v, double factor) {
    return factor == 1 ? v : node("Mul", v, net_.number(factor, net_.dtype(v)));
  }

  void carry(Variable variable, ValueId before, ValueId after) {
    variables_.push_back(std::move(variable));
    before_.push_back(before);
    after_.push_back(after);
  }

  void carry_constant(ValueId v, ValueId after) {
    carry({net_.graph().value(v).name, *model_.constant(v), true}, v, after);
  }

  // A tensor of the optimiser, zeros at first.
  ValueId moment(ValueId parameter, const char* what) {
    return net_.graph().add_value(cat(net_.graph().value(parameter).name, "/", what), net_.type(parameter));
  }

  // BatchNormalization by the batch's statistics (population variance), with the running ones as variables.
  void normalize(const Node& norm) {
    net_.set_name(norm.name);
    const ValueId x = norm.inputs[0];
    const Shape shape = net_.shape(x);
    if (shape.size() < 2) fail_unsupported(norm.label(), ": no batch to take statistics of");
    const DType dtype = net_.dtype(x);
    std::vector<int64_t> axes = {0};
    Shape broadcast(shape.size(), 1);
    broadcast[1] = shape[1];
    for (size_t i = 2; i < shape.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    const auto mean_of = [&](ValueId v) { return net_.emit("ReduceMean", {v, net_.list(axes)}); };
    const ValueId mean = mean_of(x), centered = node("Sub", x, mean),
                  variance = mean_of(node("Mul", centered, centered));
    const double epsilon = double{float_attribute(norm, "epsilon")},
                 momentum = double{float_attribute(norm, "momentum")};
    const ValueId deviation = net_.emit("Sqrt", {node("Add", variance, net_.number(epsilon, dtype))});
    const ValueId scale = reshape_to(net_, norm.inputs[1], broadcast),
                  bias = reshape_to(net_, norm.inputs[2], broadcast);
    Node last;
    last.op = "Add";
    last.name = norm.name;
    last.inputs = {node("Mul", node("Div", centered, deviation), scale), bias};
    last.outputs = {norm.outputs[0]};
    net_.add(std::move(last), {});
    const auto follow = [&](ValueId running, ValueId batch) {
      net_.graph().value(running).constant.reset();
      const ValueId seen = reshape_to(net_, batch, net_.shape(running));
      carry_constant(running, node("Add", scaled(running, momentum), scaled(seen, 1 - momentum)));
    };
    if (model_.constant(norm.inputs[3]) == nullptr || model_.constant(norm.inputs[4]) == nullptr)
      fail_unsupported(norm.label(), ": its statistics are computed");
    follow(norm.inputs[3], mean);
    follow(norm.inputs[4], variance);
  }

  void update(const Parameter& parameter, ValueId gradient, ValueId rate, ValueId root) {
    const ValueId w = parameter.value;
    net_.set_name(cat("update/", net_.graph().value(w).name));
    if (parameter.decays && optimizer_.weight_decay != 0)
      gradient = node("Add", gradient, scaled(w, optimizer_.weight_decay));
    const auto zeros = [&] { return Variable{"", Tensor(net_.dtype(w), net_.shape(w)), false}; };
    if (optimizer_.kind == Optimizer::Kind::Sgd) {
      if (optimizer_.momentum != 0) {
        const ValueId speed = moment(w, "speed");
        gradient = node("Add", scaled(speed, optimizer_.momentum), gradient);
        carry(zeros(), speed, gradient);
      }
      carry_constant(w, node("Sub", w, node("Mul", rate, gradient)));
      return;
    }
    const ValueId m = moment(w, "mean"), v = moment(w, "square");
    const ValueId mean = node("Add", scaled(m, optimizer_.beta1), scaled(gradient, 1 - optimizer_.beta1));
    const ValueId square =
        node("Add", scaled(v, optimizer_.beta2), scaled(node("Mul", gradient, gradient), 1 - optimizer_.beta2));
    const ValueId size =
        node("Add", node("Div", net_.emit("Sqrt", {square}), root), net_.number(optimizer_.epsilon, net_.dtype(w)));
    carry(zeros(), m, mean);
    carry(zeros(), v, square);
    carry_constant(w, node("Sub", w, node("Mul", rate, node("Div", mean, size))));
  }

  const Graph& model_;
  const Trained& trained_;
  const Optimizer& optimizer_;
  NewGraph net_;
  std::vector<Variable> variables_;
  std::vector<ValueId> before_, after_;  // by variable
};

}  // namespace

ValueId find_logits(const Graph& model) {
  const Uses uses(model);
  ValueId v = model.outputs.at(0);
  for (;;) {
    const NodeId id = uses.producer[static_cast<size_t>(v)];
    if (id < 0) return model.outputs[0];
    const Node& node = model.node(id);
    if (node.domain.empty() && node.op == "Softmax") return node.inputs[0];
    if (!only_reshapes(node)) return model.outputs[0];
    v = node.inputs[0];
  }
}

StepGraph make_step(const Graph& model, const Trained& trained, const Optimizer& optimizer) {
  Graph typed = model;
  infer_types(typed);
  return StepBuilder(typed, trained, optimizer).run();
}

Graph make_evaluation(const Graph& model, const std::vector<Variable>& variables) {
  Graph graph = model;
  infer_types(graph);
  const ValueId logits = find_logits(graph);
  for (const Variable& variable : variables) {
    if (!variable.in_model) continue;
    const ValueId v = graph.find_value(variable.name);
    graph.value(v).constant.reset();
    graph.inputs.push_back(v);
  }
  graph.outputs = {logits};
  NewGraph net(std::move(graph));
  const Shape shape = net.shape(logits);
  net.graph().outputs.clear();
  net.output(reshape_to(net, logits, {shape[0], element_count(shape) / shape[0]}));
  return net.finish();
}

}  // namespace dnn::train
