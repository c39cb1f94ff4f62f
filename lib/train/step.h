// Step graphs: one step of training as an ordinary graph: forward, loss, backward, optimiser. What changes from step to step
// comes in as inputs and goes out as outputs.
#pragma once
#include <string>
#include <vector>

#include "train/parameters.h"

namespace dnn::train {

struct Optimizer {
  enum class Kind { Sgd, Adam, AdamW };
  Kind kind = Kind::Adam;
  double momentum = 0.9;              // of SGD
  bool nesterov = false;              // of SGD
  double beta1 = 0.9, beta2 = 0.999;  // of Adam
  double epsilon = 1e-8;              // of Adam: added to the root, after its bias correction
  double weight_decay = 0;  // where Parameter::decays: the weight times this is added to the gradient; AdamW: times the
                            // rate taken off the weight
  double clip = 0;          // gradients are scaled so that the norm of all together is no more; 0: they are not
  bool is_adam() const { return kind != Kind::Sgd; }
};

// The learning rate of these layers (first outputs) is that of the step times `factor`.
struct RateGroup {
  Frozen layers;
  double factor = 1;
};

struct Distillation {
  double weight = 0;  // of the teacher in the loss; the labels' is 1 - weight. 0: there is none
  double temperature = 1;
};

struct StepOptions {
  Optimizer optimizer;
  std::vector<RateGroup> groups;  // the last that names a layer counts
  Distillation distillation;
  int64_t batches = 1;  // whose gradients make one step
  // The model is a supernet's masked network (branch/masked.h): its inputs behind the first come from outside, and running statistics, which
  // are those of no one child, stay as they are.
  bool is_masked = false;
};

// One tensor that is carried from step to step.
struct Variable {
  std::string name;  // of the model's constant; of the optimiser's: ""
  Tensor initial;
  bool in_model = false;  // a parameter or a running statistic: a constant of the model called `name`
};

// Inputs of a step graph in front of the variables.
enum class Feed {
  Batch,    // the model's input
  Targets,  // float[batch, classes], of which each row sums to 1
  Rate,     // the learning rate, for Adam divided by 1 - beta1^t
  Root,     // the square root of 1 - beta2^t, for SGD unused
  Decay,    // AdamW: the learning rate times weight_decay
  Share,    // of this batch in the samples of the step, with several batches
  Teacher,  // logits of the teacher, with distillation
  Child,    // the model's inputs behind the first, in their order
  Mask,     // of a Dropout: 0, or 1 / (1 - ratio)
};

enum class StepKind {
  Whole,   // one step
  Gather,  // with several batches: all but the last, which add to gradients
  Update,  // with several batches: the optimiser's part alone, on gradients that were gathered
};

struct StepGraph {
  // Inputs: feeds, then the variables that `reads` names. Outputs: the mean loss, a scalar; logits[batch, classes] (`results` of them, none
  // of an Update); then the variables that `writes` names, after the step.
  Graph graph;
  size_t results = 2;
  std::vector<Feed> feeds;
  struct Mask {
    Shape shape;
    double ratio = 0;
  };
  std::vector<Mask> masks;  // by Feed::Mask
  std::vector<Variable> variables;
  std::vector<size_t> reads, writes;
  std::vector<size_t> gathered;  // variables to be zero again after the step
};

// The step graph of a classifier of one input and one output, whose extents are fixed. The loss is the cross entropy of
// the targets and the softmax of the logits: what the model's final Softmax reads, or its output where it ends in none; with
// distillation also temperature^2 times the Kullback-Leibler divergence of teacher and network, both softened (Hinton et al. 2015).
// Throws Unsupported for a network that is no such classifier, and as add_gradients().
StepGraph make_step(const Graph& model, const Trained& trained, const StepOptions& options,
                    StepKind kind = StepKind::Whole);

// The same model for running: inputs: the model's input, then the variables that are in_model; output: logits.
Graph make_evaluation(const Graph& model, const std::vector<Variable>& variables);

// The value that the final Softmax reads, through what only reshapes; the output where there is none.
ValueId find_logits(const Graph& model);

// The graph with its output replaced by logits[batch, classes].
Graph with_logits(const Graph& model);

}  // namespace dnn::train
