// Running step graphs; see trainer.h.
#include "train/trainer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "convert/surgery.h"
#include "ops/op.h"

namespace dnn::train {
namespace {

// Loss and hits of rows of logits, as in log-sum-exp: the largest is subtracted first.
Score score(const Tensor& logits, const std::vector<int64_t>& labels) {
  Score result;
  const int64_t classes = logits.dim(1);
  const float* row = logits.data<float>();
  for (int64_t label : labels) {
    const float* best = std::max_element(row, row + classes);
    double sum = 0;
    for (int64_t i = 0; i < classes; ++i) sum += std::exp(double{row[i]} - double{*best});
    result.loss += std::log(sum) + double{*best} - double{row[label]};
    result.hits += best - row == label ? 1 : 0;
    ++result.samples;
    row += classes;
  }
  return result;
}

Graph with_batch(const Graph& model, int64_t batch) {
  Graph graph = model;
  set_batch(graph, std::to_string(batch));
  infer_types(graph);
  return graph;
}

}  // namespace

void Score::add(const Score& other) {
  loss += other.loss;
  hits += other.hits;
  samples += other.samples;
}

Trainer::Trainer(Graph model, const TrainerOptions& options) : model_(std::move(model)), options_(options) {
  const Graph graph = with_batch(model_, 1);
  const Trained trained = find_parameters(graph, options_.frozen);
  if (trained.parameters.empty()) fail_usage("nothing is left to train: every layer with weights is frozen");
  const StepGraph step =
      make_step(graph, trained, options_.optimizer);  // also: what cannot be trained is refused first
  variables_ = step.variables;
  for (const Variable& variable : variables_) state_.push_back(variable.initial);
  classes_ = step.graph.value(step.graph.inputs[1]).type.fixed_shape()[1];
}

Session& Trainer::session(std::map<int64_t, std::unique_ptr<Session>>& sessions, int64_t batch, bool training) {
  std::unique_ptr<Session>& found = sessions[batch];
  if (found == nullptr) {
    const Graph graph = with_batch(model_, batch);
    const Graph built = training ? make_step(graph, find_parameters(graph, options_.frozen), options_.optimizer).graph
                                 : make_evaluation(graph, variables_);
    found = open_session("cpu", std::make_shared<const Package>(compile(built, options_.compile)),
                         {.threads = options_.threads, .isa = {}});
  }
  return *found;
}

Score Trainer::step(const Tensor& batch, const std::vector<int64_t>& labels, double rate) {
  const int64_t n = batch.dim(0);
  Session& run = session(step_sessions_, n, true);
  ++steps_;
  double root = 1;
  if (options_.optimizer.kind == Optimizer::Kind::Adam) {
    const auto t = static_cast<double>(steps_);
    rate /= 1 - std::pow(options_.optimizer.beta1, t);
    root = std::sqrt(1 - std::pow(options_.optimizer.beta2, t));
  }
  Tensor targets(DType::Float32, {n, classes_});
  for (int64_t i = 0; i < n; ++i) targets.mutable_data<float>()[i * classes_ + labels[static_cast<size_t>(i)]] = 1;
  std::vector<Tensor> inputs = {batch, std::move(targets), Tensor::scalar(static_cast<float>(rate)),
                                Tensor::scalar(static_cast<float>(root))};
  inputs.insert(inputs.end(), state_.begin(), state_.end());
  std::vector<Tensor> outputs = run.run(inputs);
  const Score result = score(outputs[1], labels);
  state_.assign(std::make_move_iterator(outputs.begin() + 2), std::make_move_iterator(outputs.end()));
  return result;
}

Score Trainer::evaluate(const Tensor& batch, const std::vector<int64_t>& labels) {
  std::vector<Tensor> inputs = {batch};
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].in_model) inputs.push_back(state_[i]);
  }
  return score(session(evaluation_sessions_, batch.dim(0), false).run(inputs)[0], labels);
}

int64_t Trainer::trained_numbers() const {
  int64_t n = 0;
  for (const Variable& variable : variables_) n += variable.in_model ? variable.initial.size() : 0;
  return n;
}

void Trainer::restore(std::vector<Tensor> state, int64_t steps) {
  if (state.size() != variables_.size()) fail_malformed("the checkpoint is of another network or optimiser");
  for (size_t i = 0; i < state.size(); ++i) {
    if (state[i].dtype() != variables_[i].initial.dtype() || state[i].shape() != variables_[i].initial.shape())
      fail_malformed("the checkpoint is of another network or optimiser: ", quoted(variables_[i].name), " is ",
                     Type(state[i]).text(), " there");
  }
  state_ = std::move(state);
  steps_ = steps;
}

Graph Trainer::model(const std::vector<Tensor>& state) const {
  Graph graph = model_;
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].in_model) graph.value(graph.find_value(variables_[i].name)).constant = state[i];
  }
  return graph;
}

}  // namespace dnn::train
