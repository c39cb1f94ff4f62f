// Step graphs; see step.h.
#include "train/step.h"

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "graph/locate.h"
#include "ops/gradient.h"
#include "ops/op.h"
#include "train/differentiate.h"
#include "train/norms.h"

namespace dnn::train {
namespace {

bool only_reshapes(const Node& node) {
  static const std::set<std::string> kOps = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"};
  return node.domain.empty() && kOps.count(node.op) != 0;
}

// A graph under construction whose values have the ids of the model's.
class StepBuilder {
 public:
  StepBuilder(const Graph& model, const Trained& trained, const StepOptions& options, StepKind kind)
      : model_(model),
        trained_(trained),
        options_(options),
        optimizer_(options.optimizer),
        kind_(kind),
        gathers_(kind == StepKind::Gather),
        net_(without_nodes(model)) {}

  StepGraph run() {
    if ((model_.inputs.size() != 1 && !options_.is_masked) || model_.outputs.size() != 1)
      fail_unsupported("a classifier of one input and one output is wanted, this network has ", model_.inputs.size(),
                       " and ", model_.outputs.size());
    net_.graph().outputs.clear();
    net_.graph().inputs.clear();
    // Variables become inputs behind those that feed the step.
    for (const Parameter& parameter : trained_.parameters) net_.graph().value(parameter.value).constant.reset();
    std::vector<ValueId> gradients;
    if (kind_ == StepKind::Update) {
      carry_statistics();
      feed_rates(net_.dtype(trained_.parameters.at(0).value));
    } else {
      gradients = add_pass();
    }
    if (options_.batches > 1) gather(&gradients);
    if (optimizer_.kind == Optimizer::Kind::AdamW && optimizer_.weight_decay != 0)
      decay_ = feed(Feed::Decay, "decay", Type(net_.dtype(rate_), {}));
    if (optimizer_.clip > 0 && !gathers_) clip(&gradients);
    for (size_t i = 0; i < gradients.size(); ++i) update(trained_.parameters[i], gradients[i]);
    carry_gathered();
    net_.set_name("");
    if (kind_ == StepKind::Update) {
      step_.results = 0;
    } else {
      net_.output(loss_, "loss");
      net_.output(logits_, "logits");
    }
    output_variables();
    step_.graph = net_.finish();
    return std::move(step_);
  }

 private:
  // Forward and backward; the gradients by parameter.
  std::vector<ValueId> add_pass() {
    const ValueId model_logits = find_logits(model_);
    net_.graph().inputs = model_.inputs;
    step_.feeds.assign(model_.inputs.size(), Feed::Child);
    step_.feeds[0] = Feed::Batch;
    add_model();
    const Shape shape = net_.shape(model_logits);
    if (shape.empty() || element_count(shape) % shape[0] != 0 || element_count(shape) == shape[0])
      fail_unsupported("the network's output is ", Type(net_.type(model_logits)).text(),
                       ", not scores of two or more classes");
    net_.set_name("loss");
    logits_ = reshape_to(net_, model_logits, {shape[0], element_count(shape) / shape[0]});
    const ValueId targets = feed(Feed::Targets, "targets", net_.type(logits_));
    feed_rates(net_.dtype(logits_));
    loss_ = add_loss(logits_, targets);
    std::vector<ValueId> parameters;
    for (const Parameter& parameter : trained_.parameters) parameters.push_back(parameter.value);
    return add_gradients(net_, loss_, parameters);
  }

  void feed_rates(DType dtype) {
    rate_ = feed(Feed::Rate, "rate", Type(dtype, {}));
    root_ = feed(Feed::Root, "root", Type(dtype, {}));
  }

  void output_variables() {
    for (size_t i = 0; i < step_.variables.size(); ++i) {
      if (reads_[i]) {
        net_.graph().inputs.push_back(before_[i]);
        step_.reads.push_back(i);
      }
      if (after_[i] == kNoValue) continue;
      net_.output(after_[i], cat(net_.graph().value(before_[i]).name, "/next"));
      step_.writes.push_back(i);
    }
  }

  ValueId node(const char* op, ValueId a, ValueId b) { return net_.emit(op, {a, b}); }
  ValueId scaled(ValueId v, double factor) {
    return factor == 1 ? v : node("Mul", v, net_.number(factor, net_.dtype(v)));
  }

  ValueId feed(Feed what, const std::string& name, const Type& type) {
    step_.feeds.push_back(what);
    return net_.input(name, type);
  }

  // A variable; without `after` the step only reads it.
  void carry(Variable variable, ValueId before, ValueId after, bool reads = true) {
    step_.variables.push_back(std::move(variable));
    before_.push_back(before);
    after_.push_back(after);
    reads_.push_back(reads);
  }

  void carry_constant(ValueId v, ValueId after) {
    carry({net_.graph().value(v).name, *model_.constant(v), true}, v, after);
  }

  // A tensor of the optimiser, zeros at first.
  ValueId moment(ValueId parameter, const char* what) {
    return net_.graph().add_value(cat(net_.graph().value(parameter).name, "/", what), net_.type(parameter));
  }

  void add_model() {
    const std::set<NodeId> norms(trained_.norms.begin(), trained_.norms.end()),
        dropouts(trained_.dropouts.begin(), trained_.dropouts.end());
    for (NodeId id : model_.order()) {
      const Node& node = model_.node(id);
      if (norms.count(id) != 0)
        normalize(node);
      else if (dropouts.count(id) != 0)
        drop(node);
      else
        net_.add(node, {});
    }
  }

  // A Dropout as a product with a mask that is drawn outside.
  void drop(const Node& dropout) {
    net_.set_name(dropout.name);
    const ValueId mask = feed(Feed::Mask, cat("mask", step_.masks.size()), net_.type(dropout.inputs[0]));
    step_.masks.push_back({net_.shape(dropout.inputs[0]), dropout_ratio(model_, dropout)});
    Node product;
    product.op = "Mul";
    product.name = dropout.name;
    product.inputs = {dropout.inputs[0], mask};
    product.outputs = {dropout.outputs[0]};
    net_.add(std::move(product), {});
  }

  ValueId add_loss(ValueId logits, ValueId targets) {
    const DType dtype = net_.dtype(logits);
    const auto rows = static_cast<double>(net_.shape(logits)[0]);
    const auto log_softmax = [&](ValueId v) { return net_.emit("LogSoftmax", {v}, {{"axis", int64_t{1}}}); };
    const auto total = [&](ValueId v) { return net_.emit("ReduceSum", {v}, {{"keepdims", int64_t{0}}}); };
    const ValueId sum = total(node("Mul", targets, log_softmax(logits)));
    const ValueId hard = node("Div", sum, net_.number(-rows, dtype));
    const Distillation& distillation = options_.distillation;
    if (distillation.weight == 0) return hard;
    const ValueId teacher = feed(Feed::Teacher, "teacher", net_.type(logits));
    const double temperature = distillation.temperature;
    const auto softened = [&](ValueId v) { return log_softmax(scaled(v, 1 / temperature)); };
    const ValueId wanted = softened(teacher);
    const ValueId divergence = total(node("Mul", net_.emit("Exp", {wanted}), node("Sub", wanted, softened(logits))));
    return node("Add", scaled(hard, 1 - distillation.weight),
                scaled(divergence, distillation.weight * temperature * temperature / rows));
  }

  // The gradients of several batches, each by its share in the samples. An Update finds them there.
  void gather(std::vector<ValueId>* gradients) {
    if (kind_ == StepKind::Update) {
      for (const Parameter& parameter : trained_.parameters) gathered_.push_back(moment(parameter.value, "gathered"));
      *gradients = gathered_;
      return;
    }
    const ValueId share = feed(Feed::Share, "share", Type(net_.dtype(rate_), {}));
    for (size_t i = 0; i < gradients->size(); ++i) {
      const ValueId w = trained_.parameters[i].value;
      net_.set_name(cat("gather/", net_.graph().value(w).name));
      gathered_.push_back(moment(w, "gathered"));
      gradients->at(i) = node("Add", gathered_[i], node("Mul", gradients->at(i), share));
    }
    gathered_after_ = *gradients;
  }

  void carry_gathered() {
    for (size_t i = 0; i < gathered_.size(); ++i) {
      const ValueId w = trained_.parameters[i].value;
      step_.gathered.push_back(step_.variables.size());
      carry({"", Tensor(net_.dtype(w), net_.shape(w)), false}, gathered_[i], gathers_ ? gathered_after_[i] : kNoValue);
    }
  }

  // Scaled by clip / (norm + 1e-6) where that is below 1.
  void clip(std::vector<ValueId>* gradients) {
    net_.set_name("clip");
    constexpr double kAdded = 1e-6;
    const DType dtype = net_.dtype(rate_);
    ValueId sum = kNoValue;
    for (ValueId gradient : *gradients) {
      const ValueId square = net_.emit("ReduceSumSquare", {gradient}, {{"keepdims", int64_t{0}}});
      sum = sum == kNoValue ? square : node("Add", sum, square);
    }
    const ValueId norm = node("Add", net_.emit("Sqrt", {sum}), net_.number(kAdded, dtype));
    const ValueId factor = node("Min", node("Div", net_.number(optimizer_.clip, dtype), norm), net_.number(1, dtype));
    for (ValueId& gradient : *gradients) gradient = node("Mul", gradient, factor);
  }

  // BatchNormalization by the batch's statistics (population variance), with the running ones as variables.
  void normalize(const Node& norm) {
    const BatchMoments batch = normalize_by_batch(net_, norm);
    const double momentum = double{float_attribute(norm, "momentum")};
    const auto follow = [&](ValueId running, ValueId moment) {
      net_.graph().value(running).constant.reset();
      const ValueId seen = reshape_to(net_, moment, net_.shape(running));
      carry_constant(running, node("Add", scaled(running, momentum), scaled(seen, 1 - momentum)));
    };
    if (model_.constant(norm.inputs[3]) == nullptr || model_.constant(norm.inputs[4]) == nullptr)
      fail_unsupported(label_in(model_, norm), ": its statistics are computed");
    if (options_.is_masked) {
      for (size_t i : {3, 4}) {
        if (statistics_.insert(norm.inputs[i]).second)
          carry({model_.value(norm.inputs[i]).name, *model_.constant(norm.inputs[i]), true}, kNoValue, kNoValue, false);
      }
      return;
    }
    follow(norm.inputs[3], batch.mean);
    follow(norm.inputs[4], batch.variance);
  }

  // Running statistics of an Update, which neither reads nor writes them: variables in the order of the other kinds.
  void carry_statistics() {
    const std::set<NodeId> norms(trained_.norms.begin(), trained_.norms.end());
    for (NodeId id : model_.order()) {
      if (norms.count(id) == 0) continue;
      for (size_t i : {3, 4}) {
        const ValueId v = model_.node(id).inputs[i];
        carry({model_.value(v).name, *model_.constant(v), true}, kNoValue, kNoValue, false);
      }
    }
  }

  double rate_factor(const Parameter& parameter) const {
    double factor = 1;
    for (const RateGroup& group : options_.groups) {
      if (group.layers.count(parameter.layer) != 0) factor = group.factor;
    }
    return factor;
  }

  void update(const Parameter& parameter, ValueId gradient) {
    const ValueId w = parameter.value;
    const auto zeros = [&] { return Variable{"", Tensor(net_.dtype(w), net_.shape(w)), false}; };
    if (gathers_) {  // the step is the last batch's
      const int moments = optimizer_.is_adam() ? 2 : optimizer_.momentum != 0 ? 1 : 0;
      for (int i = 0; i < moments; ++i) carry(zeros(), kNoValue, kNoValue, false);
      return carry_constant(w, kNoValue);
    }
    net_.set_name(cat("update/", net_.graph().value(w).name));
    const ValueId rate = scaled(rate_, rate_factor(parameter));
    const bool decays = parameter.decays && optimizer_.weight_decay != 0;
    if (decays && optimizer_.kind != Optimizer::Kind::AdamW)
      gradient = node("Add", gradient, scaled(w, optimizer_.weight_decay));
    if (!optimizer_.is_adam()) {
      if (optimizer_.momentum != 0) {
        const ValueId speed = moment(w, "speed"), next = node("Add", scaled(speed, optimizer_.momentum), gradient);
        carry(zeros(), speed, next);
        gradient = optimizer_.nesterov ? node("Add", gradient, scaled(next, optimizer_.momentum)) : next;
      }
      return carry_constant(w, node("Sub", w, node("Mul", rate, gradient)));
    }
    const ValueId m = moment(w, "mean"), v = moment(w, "square");
    const ValueId mean = node("Add", scaled(m, optimizer_.beta1), scaled(gradient, 1 - optimizer_.beta1));
    const ValueId square =
        node("Add", scaled(v, optimizer_.beta2), scaled(node("Mul", gradient, gradient), 1 - optimizer_.beta2));
    const ValueId size =
        node("Add", node("Div", net_.emit("Sqrt", {square}), root_), net_.number(optimizer_.epsilon, net_.dtype(w)));
    ValueId decayed = w;
    if (decays && optimizer_.kind == Optimizer::Kind::AdamW) {
      const ValueId left = node("Sub", net_.number(1, net_.dtype(w)), scaled(decay_, rate_factor(parameter)));
      decayed = node("Mul", w, left);
    }
    carry(zeros(), m, mean);
    carry(zeros(), v, square);
    carry_constant(w, node("Sub", decayed, node("Mul", rate, node("Div", mean, size))));
  }

  const Graph& model_;
  const Trained& trained_;
  const StepOptions& options_;
  const Optimizer& optimizer_;
  const StepKind kind_;
  const bool gathers_;
  NewGraph net_;
  StepGraph step_;
  ValueId rate_ = kNoValue, root_ = kNoValue, decay_ = kNoValue, loss_ = kNoValue, logits_ = kNoValue;
  std::vector<ValueId> before_, after_;  // by variable
  std::vector<bool> reads_;
  std::vector<ValueId> gathered_, gathered_after_;  // by parameter
  std::set<ValueId> statistics_;                    // of a masked network: those that are carried
};

}  // namespace

ValueId find_logits(const Graph& model) {
  const Uses uses(model);
  ValueId v = model.outputs.at(0);
  for (;;) {
    const NodeId id = uses.producer[v];
    if (id < 0) return model.outputs[0];
    const Node& node = model.node(id);
    if (node.domain.empty() && node.op == "Softmax") return node.inputs[0];
    if (!only_reshapes(node)) return model.outputs[0];
    v = node.inputs[0];
  }
}

StepGraph make_step(const Graph& model, const Trained& trained, const StepOptions& options, StepKind kind) {
  Graph typed = model;
  infer_types(typed);
  return StepBuilder(typed, trained, options, kind).run();
}

Graph make_evaluation(const Graph& model, const std::vector<Variable>& variables) {
  Graph graph = model;
  for (const Variable& variable : variables) {
    if (!variable.in_model) continue;
    const ValueId v = graph.find_value(variable.name);
    graph.value(v).constant.reset();
    graph.inputs.push_back(v);
  }
  return with_logits(graph);
}

Graph with_logits(const Graph& model) {
  Graph graph = model;
  infer_types(graph);
  const ValueId logits = find_logits(graph);
  graph.outputs = {logits};
  NewGraph net(std::move(graph));
  const Shape shape = net.shape(logits);
  net.graph().outputs.clear();
  net.output(reshape_to(net, logits, {shape[0], element_count(shape) / shape[0]}));
  return net.finish();
}

}  // namespace dnn::train
