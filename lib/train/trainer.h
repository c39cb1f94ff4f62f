// Trainer: runs step graphs over batches of any size, holding what they carry from step to step.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "compile/compile.h"
#include "devices/device.h"
#include "train/ranks.h"
#include "train/step.h"

namespace dnn::train {

// The children of a supernet that learn in each step besides the largest one, which is the model itself (the sandwich rule of Yu and
// Huang: Universally slimmable networks, ICCV 2019). They learn from the largest one's answers to the same batch.
struct Children {
  int64_t count = 0;  // of a step
  // The model, its extents fixed, with masks as further inputs.
  std::function<Graph(const Graph& model)> network;
  // Values of these inputs for a child: `draw` is another number for each step, batch of the step and child; `index` counts from 0.
  std::function<std::vector<Tensor>(uint64_t draw, int64_t index)> masks;
};

struct TrainerOptions {
  StepOptions step;
  Frozen frozen;
  double label_smoothing = 0;  // targets are 1 - x for the class, and x shared out over all
  uint64_t seed = 0;           // of Dropouts and children
  std::optional<Children> children;
  int threads = 0;
  bool winograd = false;             // steps go by the pass winograd, too, which -O3 does without
  DType precision = DType::Float32;  // or Float64: of all arithmetic, and of what is carried from step to step
  bool keep_statistics = false;      // norms that learn use their running statistics, which stay
  bool recompute = false;            // steps compute activations again in place of keeping them (codegen/recompute.h)
  Ranks* ranks =
      nullptr;  // whose gradients make one step together, and outlive the trainer; null: this process's alone
  CompileOptions compile;
};

struct Score {
  double loss = 0;  // sum over the samples
  int64_t hits = 0, hits5 = 0, samples = 0;
  double mean_loss() const { return samples == 0 ? 0 : loss / static_cast<double>(samples); }
  double accuracy() const { return share(hits); }
  double accuracy5() const { return share(hits5); }
  void add(const Score& other);

 private:
  double share(int64_t n) const { return samples == 0 ? 0 : static_cast<double>(n) / static_cast<double>(samples); }
};

// Cross entropy and hits of logits [n, classes], of any real numbers.
Score score_logits(const Tensor& logits, const std::vector<int64_t>& labels);

// One batch of a step; with ranks this rank's share of it, which may be empty.
struct StepBatch {
  Tensor batch;                 // [b, ...]; undefined where b is 0
  std::vector<int64_t> labels;  // classes
  Tensor teacher;               // logits [b, classes], with distillation
  double share = 1;             // of its samples in those of the step
  bool last = true;             // of the step
  int64_t first = 0;            // samples of the batch in front of a rank's share
};

// What a step holds in memory at once, in bytes.
struct StepMemory {
  int64_t samples = 0;
  int64_t between = 0;  // its nodes: activations, gradients and what kernels need
  int64_t state = 0;    // what is carried from step to step, before and after the step
  int64_t batch = 0;
  std::optional<codegen::Recomputation> recomputation;
  int64_t total() const { return between + state + batch; }
};

// "a step of 16 samples takes 598 MiB: ...", and a second line for a recomputation.
std::string memory_text(const StepMemory& memory);

// Gives the same bits on any number of threads.
class Trainer {
 public:
  // `model`: a classifier whose batch may be set. Throws Usage where nothing is left to train.
  Trainer(Graph model, const TrainerOptions& options);

  // Compiles the step that a batch of so many samples begins with, which step() does else.
  StepMemory prepare(int64_t batch);

  // One step, or with several batches a step, a part of one. The loss is that of the step graph. With children, their gradients and those
  // of the model count alike, and make one step together; loss and hits are the model's. With ranks all call it with their shares of one
  // batch, and all have the same state afterwards: their gradients are added up, and running statistics are means of the ranks', by samples.
  // The score is that of all of them.
  Score step(const StepBatch& batch, double rate);
  Score step(const Tensor& batch, const std::vector<int64_t>& labels, double rate) {
    return step({batch, labels, {}, 1, true}, rate);
  }
  // Of the network as it is now: cross entropy of the labels. With ranks as step().
  Score evaluate(const Tensor& batch, const std::vector<int64_t>& labels);

  int64_t classes() const { return classes_; }
  int64_t trained_numbers() const;  // elements of parameters
  // What the steps carry, in a fixed order, and how many there were.
  const std::vector<Tensor>& state() const { return state_; }
  const std::vector<Variable>& variables() const { return variables_; }
  int64_t steps() const { return steps_; }
  // What each node of the steps took since this was called (profile.h); "" before the first step.
  void enable_profile();
  std::string profile() const;
  void restore(std::vector<Tensor> state, int64_t steps);
  Ranks* ranks() const { return options_.ranks; }
  // Throws FailedTogether where a rank's state is not that of rank 0. `when`: "after epoch 3".
  void check_ranks(const std::string& when) const;
  // Throws Malformed unless the state fits the variables.
  void check(const std::vector<Tensor>& state) const;
  // The model with constants of that state, in the model's own precision.
  Graph model(const std::vector<Tensor>& state) const;

 private:
  // A compiled step graph.
  struct Step {
    StepGraph graph;  // without nodes
    std::unique_ptr<Session> session;
    StepMemory memory;
  };

  // A step of the model, or of its masked network.
  using StepKey = std::tuple<int64_t, StepKind, bool>;  // batch, kind, masked

  Graph network(int64_t batch) const;  // the model with its batch, in the precision asked for
  void prepare_ranks();
  StepGraph build(const StepKey& key) const;
  Step& step_of(const StepKey& key);
  Score evaluate_alone(const Tensor& batch, const std::vector<int64_t>& labels);
  // This process's part of step().
  Score step_alone(const StepBatch& batch, double rate);
  void step_together(const std::vector<Score>& scores, bool is_last, double rate);
  std::vector<Score> scores_of_ranks(const Score& own) const;  // without ranks its own
  // Runs a step graph; `masks`: of a child, or null for the model. `logits`: may be null.
  Score run_step(const StepBatch& batch, double rate, const std::vector<Tensor>* masks, Tensor* logits);
  std::vector<Tensor> inputs_of(const StepGraph& step, const StepBatch& batch, double rate,
                                const std::vector<Tensor>* masks) const;
  std::vector<Tensor> run_graph(Step& run,
                                const std::vector<Tensor>& inputs);  // and takes up the state; returns loss and logits
  void end_step();
  std::unique_ptr<Session> open(const Graph& graph, CompileOptions compile) const;
  Tensor in_precision(const Tensor& tensor) const;
  Tensor targets(const std::vector<int64_t>& labels) const;
  Tensor mask(const StepGraph::Mask& mask, uint64_t layer, const StepBatch& batch) const;

  Graph model_;
  TrainerOptions options_;
  std::vector<Variable> variables_;
  std::vector<Tensor> state_;
  int64_t classes_ = 0, steps_ = 0, batches_ = 0;  // batches_: of the step that is under way
  int64_t largest_ = 0;                            // batch of a step
  bool profile_ = false;
  // Variables that ranks exchange, the sums of these, and the samples of the step so far, by rank.
  std::vector<size_t> gathered_, followed_;
  std::vector<Tensor> gradients_, statistics_;
  std::vector<int64_t> samples_;
  std::map<StepKey, Step> steps_by_batch_;
  std::map<int64_t, std::unique_ptr<Session>> evaluations_;  // by batch
};

// What a network makes of batches of any size: logits.
class Predictor {
 public:
  Predictor(Graph model, int threads, const CompileOptions& compile);
  int64_t classes() const { return classes_; }
  Tensor logits(const Tensor& batch);

 private:
  Graph model_;
  int threads_;
  CompileOptions compile_;
  int64_t classes_ = 0;
  std::map<int64_t, std::unique_ptr<Session>> sessions_;  // by batch
};

}  // namespace dnn::train
