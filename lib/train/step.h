// Step graphs: one step of training as an ordinary graph: forward, loss, backward, optimiser. What changes from step to step
// comes in as inputs and goes out as outputs.
#pragma once
#include <string>
#include <vector>

#include "train/parameters.h"

namespace dnn::train {

struct Optimizer {
  enum class Kind { Sgd, Adam };
  Kind kind = Kind::Adam;
  double momentum = 0.9;              // of SGD
  double beta1 = 0.9, beta2 = 0.999;  // of Adam
  double epsilon = 1e-8;              // of Adam: added to the root, after its bias correction
  double weight_decay = 0;            // added to the gradient, times the weight, where Parameter::decays
};

// One tensor that is carried from step to step.
struct Variable {
  std::string name;  // of the model's constant; of the optimiser's: "" (see `of`)
  Tensor initial;
  bool in_model = false;  // a parameter or a running statistic: a constant of the model called `name`
};

struct StepGraph {
  // Inputs: the model's input; targets float[batch, classes], of which each row sums to 1; rate; root; then the variables.
  // Outputs: the mean loss, a scalar; logits[batch, classes]; then the variables after the step.
  // rate: the learning rate, for Adam divided by 1 - beta1^t; root: the square root of 1 - beta2^t, for SGD unused.
  Graph graph;
  std::vector<Variable> variables;
};

// The step graph of a classifier of one input and one output, whose extents are fixed. The loss is the cross entropy of
// the targets and the softmax of the logits: what the model's final Softmax reads, or its output where it ends in none.
// Throws Unsupported for a network that is no such classifier, and as add_gradients().
StepGraph make_step(const Graph& model, const Trained& trained, const Optimizer& optimizer);

// The same model for running: inputs: the model's input, then the variables that are in_model; output: logits.
Graph make_evaluation(const Graph& model, const std::vector<Variable>& variables);

// The value that the final Softmax reads, through what only reshapes; the output where there is none.
ValueId find_logits(const Graph& model);

}  // namespace dnn::train
