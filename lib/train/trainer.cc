// Running step graphs; see trainer.h.
#include "train/trainer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/sha256.h"
#include "convert/surgery.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "train/profile.h"
#include "train/random.h"

namespace dnn::train {
namespace {

std::unique_ptr<Session> open_here(const Graph& graph, int threads, const CompileOptions& options) {
  return open_session("cpu", std::make_shared<const Package>(compile(graph, options)), {.threads = threads, .isa = {}});
}

Graph with_batch(const Graph& model, int64_t batch) {
  Graph graph = model;
  set_batch(graph, std::to_string(batch));
  infer_types(graph);
  return graph;
}

Score total_of(const std::vector<Score>& scores) {
  Score total;
  for (const Score& score : scores) total.add(score);
  return total;
}

constexpr uint64_t kChildDraw = 1000;  // a counter beyond the layers of dropouts

// The same parameters, of a masked network; its norms and dropouts are all trained.
Trained same_parameters(const Graph& model, const Trained& trained, const Graph& masked) {
  Trained same = find_parameters(masked, {});
  same.parameters.clear();
  for (Parameter parameter : trained.parameters) {
    parameter.value = masked.find_value(model.value(parameter.value).name);
    same.parameters.push_back(std::move(parameter));
  }
  return same;
}

// A masked step works on the model's state: its variables must be the model's, in their order.
void check_masked(const StepGraph& masked, const std::vector<Variable>& variables) {
  const auto same = [](const Variable& a, const Variable& b) {
    return a.name == b.name && a.in_model == b.in_model && a.initial.shape() == b.initial.shape();
  };
  if (!std::equal(masked.variables.begin(), masked.variables.end(), variables.begin(), variables.end(), same))
    fail_internal("the steps of a supernet's children carry other variables than the largest one's");
}

int64_t bytes_of(const Type& type) {
  return element_count(type.fixed_shape()) * static_cast<int64_t>(dtype_size(type.dtype));
}

void measure(const Session& session, const StepGraph& step, int64_t samples, StepMemory* memory) {
  const Variant& variant = session.variant();
  memory->samples = samples;
  memory->between =
      variant.arena_bytes + std::min<int64_t>(variant.samples(), session.threads()) * variant.sample_arena_bytes;
  const std::vector<Type>&inputs = session.package().input_types, &outputs = session.package().output_types;
  const size_t feeds = inputs.size() - step.reads.size(), results = outputs.size() - step.writes.size();
  for (size_t i = 0; i < inputs.size(); ++i) (i < feeds ? memory->batch : memory->state) += bytes_of(inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) (i < results ? memory->batch : memory->state) += bytes_of(outputs[i]);
}

}  // namespace

std::string memory_text(const StepMemory& memory) {
  constexpr double kMiB = 1 << 20;
  const auto mib = [](int64_t bytes) { return std::llround(static_cast<double>(bytes) / kMiB); };
  std::string text = cat("a step of ", memory.samples, " samples takes ", mib(memory.total()), " MiB: activations and ",
                         "gradients ", mib(memory.between), ", weights and the optimiser's state ", mib(memory.state),
                         ", samples ", mib(memory.batch));
  if (!memory.recomputation) return text;
  const codegen::Recomputation& done = *memory.recomputation;
  return text + cat("\n--recompute: activations and gradients ", mib(done.after_bytes), " MiB, without ",
                    mib(done.before_bytes), "; ", done.nodes, " nodes run again, about ",
                    std::llround(100 * done.added), " % more time");
}

// As in log-sum-exp: the largest is subtracted first.
Score score_logits(const Tensor& logits, const std::vector<int64_t>& labels) {
  constexpr std::ptrdiff_t kFew = 5;
  Score result;
  const int64_t classes = logits.dim(1);
  const Tensor wide = convert(logits, DType::Float64);
  const double* row = wide.data<double>();
  for (int64_t label : labels) {
    const double* best = std::max_element(row, row + classes);
    double sum = 0;
    for (int64_t i = 0; i < classes; ++i) sum += std::exp(row[i] - *best);
    result.loss += std::log(sum) + *best - row[label];
    result.hits += best - row == label ? 1 : 0;
    // Among equal logits the first comes first.
    const auto before = std::count_if(row, row + label, [&](double v) { return v >= row[label]; }) +
                        std::count_if(row + label, row + classes, [&](double v) { return v > row[label]; });
    result.hits5 += before < kFew ? 1 : 0;
    ++result.samples;
    row += classes;
  }
  return result;
}

void Score::add(const Score& other) {
  loss += other.loss;
  hits += other.hits;
  hits5 += other.hits5;
  samples += other.samples;
}

Trainer::Trainer(Graph model, const TrainerOptions& options) : model_(std::move(model)), options_(options) {
  const Graph graph = network(1);
  const Trained trained = find_parameters(graph, options_.frozen);
  if (trained.parameters.empty()) fail_usage("nothing is left to train: every layer with weights is frozen");
  if (options_.keep_statistics && trained.norms.empty())
    fail_usage("--keep-statistics: no BatchNormalization is trained; frozen and folded ones keep theirs anyway");
  if (options_.children || options_.ranks != nullptr)  // gradients are gathered
    options_.step.batches = std::max<int64_t>(options_.step.batches, 2);
  const StepGraph step = build({1, StepKind::Whole, false});  // also: what cannot be trained is refused first
  variables_ = step.variables;
  if (options_.children) check_masked(build({1, StepKind::Whole, true}), variables_);
  for (const Variable& variable : variables_) state_.push_back(variable.initial);
  const auto targets = std::find(step.feeds.begin(), step.feeds.end(), Feed::Targets) - step.feeds.begin();
  classes_ = step.graph.value(step.graph.inputs[targets]).type.fixed_shape()[1];
  if (options_.ranks != nullptr) prepare_ranks();
}

void Trainer::prepare_ranks() {
  const StepGraph step = build({1, StepKind::Gather, false});
  gathered_ = step.gathered;
  for (size_t i : step.writes) {
    if (std::find(gathered_.begin(), gathered_.end(), i) == gathered_.end()) followed_.push_back(i);
  }
  samples_.assign(options_.ranks->size(), 0);
}

Graph Trainer::network(int64_t batch) const {
  Graph graph = with_batch(model_, batch);
  if (options_.precision != DType::Float64) return graph;
  graph = widen_to_float64(graph);  // before the step is made, whose own numbers are then of float64, too
  infer_types(graph);
  return graph;
}

StepGraph Trainer::build(const StepKey& key) const {
  const auto& [batch, kind, is_masked] = key;
  const Graph graph = network(std::max<int64_t>(1, batch));
  Trained trained = find_parameters(graph, options_.frozen);
  if (options_.keep_statistics) trained.norms.clear();
  if (!is_masked) return make_step(graph, trained, options_.step, kind);
  const Graph masked = options_.children->network(graph);
  StepOptions options = options_.step;
  options.is_masked = true;
  options.distillation = {1, 1};
  return make_step(masked, same_parameters(graph, trained, masked), options, kind);
}

std::unique_ptr<Session> Trainer::open(const Graph& graph, CompileOptions compile) const {
  compile.element = options_.precision;
  return open_here(graph, options_.threads, compile);
}

Trainer::Step& Trainer::step_of(const StepKey& key) {
  Step& step = steps_by_batch_[key];
  if (step.session == nullptr) {
    const int64_t batch = std::get<0>(key);
    step.graph = build(key);
    // A step writes where the one before it read: memory that is there. Smaller batches, which are few, do not.
    CompileOptions compile = options_.compile;
    if (options_.winograd) compile.pass_changes = "+winograd";
    compile.recompute = options_.recompute;
    compile.on_recompute = [&](const codegen::Recomputation& done) { step.memory.recomputation = done; };
    const Graph& graph = step.graph.graph;
    const size_t first_read = graph.inputs.size() - step.graph.reads.size();
    largest_ = std::max(largest_, batch);
    const bool in_place = batch == largest_ || std::get<1>(key) == StepKind::Update;
    for (size_t k = 0; in_place && k < step.graph.writes.size(); ++k) {
      const auto& reads = step.graph.reads;
      const auto read = std::find(reads.begin(), reads.end(), step.graph.writes[k]);
      if (read == reads.end()) continue;
      const ValueId before = graph.inputs[first_read + static_cast<size_t>(read - reads.begin())];
      compile.state.emplace_back(graph.value(graph.outputs[k + step.graph.results]).name, graph.value(before).name);
    }
    step.session = open(graph, compile);
    measure(*step.session, step.graph, batch, &step.memory);
    step.graph.graph = Graph();
    step.graph.variables.clear();
  }
  return step;
}

StepMemory Trainer::prepare(int64_t batch) {
  return step_of({batch, options_.step.batches > 1 ? StepKind::Gather : StepKind::Whole, false}).memory;
}

Tensor Trainer::targets(const std::vector<int64_t>& labels) const {
  const auto n = static_cast<int64_t>(labels.size());
  Tensor targets(DType::Float64, {n, classes_});
  const double other = options_.label_smoothing / static_cast<double>(classes_);
  double* row = targets.mutable_data<double>();
  for (int64_t label : labels) {
    if (other != 0) std::fill_n(row, classes_, other);
    row[label] = 1 - options_.label_smoothing + other;
    row += classes_;
  }
  return targets;
}

// By the number of the step, of its batch and of the element in the whole batch: whatever was drawn before, and by whom.
Tensor Trainer::mask(const StepGraph::Mask& mask, uint64_t layer, const StepBatch& batch) const {
  const uint64_t key =
      random_bits(options_.seed, {layer, static_cast<uint64_t>(steps_), static_cast<uint64_t>(batches_)});
  const auto fill = [&](auto kept) {
    using Number = decltype(kept);
    Tensor tensor(options_.precision, mask.shape);
    Number* out = tensor.mutable_data<Number>();
    const int64_t before = batch.first * (tensor.size() / batch.batch.dim(0));
    for (int64_t i = 0; i < tensor.size(); ++i)
      out[i] = random_unit(key, {static_cast<uint64_t>(before + i)}) < mask.ratio ? Number{0} : kept;
    return tensor;
  };
  const double kept = 1 / (1 - mask.ratio);
  return options_.precision == DType::Float64 ? fill(kept) : fill(static_cast<float>(kept));
}

std::vector<Score> Trainer::scores_of_ranks(const Score& own) const {
  return options_.ranks == nullptr ? std::vector<Score>{own} : options_.ranks->gather(own);
}

Score Trainer::step(const StepBatch& batch, double rate) {
  const std::vector<Score> scores = scores_of_ranks(step_alone(batch, rate));
  if (options_.ranks != nullptr) step_together(scores, batch.last, rate);
  return total_of(scores);
}

void Trainer::step_together(const std::vector<Score>& scores, bool is_last, double rate) {
  Ranks& ranks = *options_.ranks;
  int64_t all = 0;
  for (size_t r = 0; r < scores.size(); ++r) samples_[r] += scores[r].samples;
  if (!is_last) return;
  for (int64_t n : samples_) all += n;
  std::vector<double> shares;
  for (int64_t n : samples_) shares.push_back(static_cast<double>(n) / static_cast<double>(all));
  // Each rank's gradients are times its share already.
  const auto sum = [&](const std::vector<size_t>& variables, const std::vector<double>& weights,
                       std::vector<Tensor>* sums) {
    std::vector<Tensor> own;
    for (size_t i : variables) own.push_back(state_[i]);
    ranks.sum(own, weights, sums);
    for (size_t k = 0; k < variables.size(); ++k) state_[variables[k]] = (*sums)[k];
  };
  sum(gathered_, std::vector<double>(scores.size(), 1), &gradients_);
  sum(followed_, shares, &statistics_);
  Step& update = step_of({0, StepKind::Update, false});
  run_graph(update, inputs_of(update.graph, {}, rate, nullptr));
  for (size_t i : gathered_) state_[i] = variables_[i].initial;
  std::fill(samples_.begin(), samples_.end(), 0);
  end_step();
}

void Trainer::end_step() {
  batches_ = 0;
  ++steps_;
}

Score Trainer::step_alone(const StepBatch& batch, double rate) {
  if (batch.labels.empty()) {  // draws go on as on the other ranks
    batches_ += 1 + (options_.children ? options_.children->count : 0);
    return {};
  }
  if (!options_.children) return run_step(batch, rate, nullptr, nullptr);
  const Children& children = *options_.children;
  StepBatch part = batch;
  part.share /= static_cast<double>(children.count + 1);
  part.last = false;
  Tensor logits;
  const Score score = run_step(part, rate, nullptr, &logits);
  part.teacher = logits;
  for (int64_t i = 0; i < children.count; ++i) {
    part.last = batch.last && i + 1 == children.count;
    const uint64_t draw =
        random_bits(options_.seed, {kChildDraw, static_cast<uint64_t>(steps_), static_cast<uint64_t>(batches_)});
    const std::vector<Tensor> masks = children.masks(draw, i);
    run_step(part, rate, &masks, nullptr);
  }
  return score;
}

std::vector<Tensor> Trainer::inputs_of(const StepGraph& step, const StepBatch& batch, double rate,
                                       const std::vector<Tensor>* masks) const {
  const Optimizer& optimizer = options_.step.optimizer;
  const double plain_rate = rate;
  double root = 1;
  if (optimizer.is_adam()) {
    const auto t = static_cast<double>(steps_ + 1);
    rate /= 1 - std::pow(optimizer.beta1, t);
    root = std::sqrt(1 - std::pow(optimizer.beta2, t));
  }
  const auto number = [](double value) { return Tensor::scalar(value); };
  std::vector<Tensor> inputs;
  uint64_t dropouts = 0;
  size_t child = 0;
  for (Feed feed : step.feeds) {
    switch (feed) {
      case Feed::Batch: inputs.push_back(batch.batch); break;
      case Feed::Targets: inputs.push_back(targets(batch.labels)); break;
      case Feed::Rate: inputs.push_back(number(rate)); break;
      case Feed::Root: inputs.push_back(number(root)); break;
      case Feed::Decay: inputs.push_back(number(plain_rate * optimizer.weight_decay)); break;
      case Feed::Share: inputs.push_back(number(batch.share)); break;
      case Feed::Teacher: inputs.push_back(batch.teacher); break;
      case Feed::Mask:
        inputs.push_back(mask(step.masks[dropouts], dropouts, batch));
        ++dropouts;
        break;
      case Feed::Child: inputs.push_back(masks->at(child++)); break;
    }
  }
  for (Tensor& input : inputs) input = in_precision(input);
  for (size_t i : step.reads) inputs.push_back(state_[i]);
  return inputs;
}

std::vector<Tensor> Trainer::run_graph(Step& run, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outputs = run.session->run(inputs);
  if (profile_) run.session->enable_profile(true);  // the first run also asks for its memory
  const size_t results = run.graph.results;
  for (size_t k = 0; k < run.graph.writes.size(); ++k) state_[run.graph.writes[k]] = std::move(outputs[k + results]);
  outputs.resize(results);
  return outputs;
}

Score Trainer::run_step(const StepBatch& batch, double rate, const std::vector<Tensor>* masks, Tensor* logits) {
  const int64_t n = batch.batch.dim(0);
  const bool is_whole = batch.last && options_.ranks == nullptr;
  Step& run = step_of({n, is_whole ? StepKind::Whole : StepKind::Gather, masks != nullptr});
  const std::vector<Tensor> outputs = run_graph(run, inputs_of(run.graph, batch, rate, masks));
  Score result = score_logits(outputs[1], batch.labels);
  if (logits != nullptr) *logits = outputs[1];
  if (options_.label_smoothing != 0 || options_.step.distillation.weight != 0)
    result.loss = to_doubles(outputs[0])[0] * static_cast<double>(n);
  ++batches_;
  if (!is_whole) return result;
  for (size_t i : run.graph.gathered) state_[i] = variables_[i].initial;
  end_step();
  return result;
}

Tensor Trainer::in_precision(const Tensor& tensor) const {
  const bool is_other = is_float(tensor.dtype()) && tensor.dtype() != options_.precision;
  return is_other ? convert(tensor, options_.precision) : tensor;
}

Score Trainer::evaluate(const Tensor& batch, const std::vector<int64_t>& labels) {
  return total_of(scores_of_ranks(labels.empty() ? Score() : evaluate_alone(batch, labels)));
}

Score Trainer::evaluate_alone(const Tensor& batch, const std::vector<int64_t>& labels) {
  std::unique_ptr<Session>& found = evaluations_[batch.dim(0)];
  if (found == nullptr) found = open(make_evaluation(network(batch.dim(0)), variables_), options_.compile);
  std::vector<Tensor> inputs = {in_precision(batch)};
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].in_model) inputs.push_back(state_[i]);
  }
  return score_logits(found->run(inputs)[0], labels);
}

Predictor::Predictor(Graph model, int threads, const CompileOptions& compile)
    : model_(std::move(model)), threads_(threads), compile_(compile) {
  const Graph graph = with_logits(with_batch(model_, 1));
  classes_ = graph.value(graph.outputs[0]).type.fixed_shape()[1];
}

Tensor Predictor::logits(const Tensor& batch) {
  std::unique_ptr<Session>& found = sessions_[batch.dim(0)];
  if (found == nullptr) found = open_here(with_logits(with_batch(model_, batch.dim(0))), threads_, compile_);
  return found->run({batch})[0];
}

int64_t Trainer::trained_numbers() const {
  int64_t n = 0;
  for (const Variable& variable : variables_) n += variable.in_model ? variable.initial.size() : 0;
  return n;
}

void Trainer::check(const std::vector<Tensor>& state) const {
  if (state.size() != variables_.size()) fail_malformed("the checkpoint is of another network or optimiser");
  for (size_t i = 0; i < state.size(); ++i) {
    if (state[i].dtype() != variables_[i].initial.dtype() || state[i].shape() != variables_[i].initial.shape())
      fail_malformed("the checkpoint is of another network or optimiser: ", quoted(variables_[i].name), " is ",
                     Type(state[i]).text(), " there");
  }
}

void Trainer::check_ranks(const std::string& when) const {
  if (options_.ranks == nullptr) return;
  Sha256Stream digest;
  for (const Tensor& tensor : state_) digest.add(tensor.bytes());
  options_.ranks->check_same(digest.hex(), "weights", when);
}

void Trainer::enable_profile() { profile_ = true; }

std::string Trainer::profile() const {
  std::string text;
  for (const auto& [key, step] : steps_by_batch_) {
    if (step.session != nullptr) text += step_profile(*step.session, std::get<0>(key));
  }
  return text;
}

void Trainer::restore(std::vector<Tensor> state, int64_t steps) {
  check(state);
  state_ = std::move(state);
  steps_ = steps;
}

Graph Trainer::model(const std::vector<Tensor>& state) const {
  Graph graph = model_;
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (!variables_[i].in_model) continue;
    std::optional<Tensor>& constant = graph.value(graph.find_value(variables_[i].name)).constant;
    constant = convert(state[i], constant->dtype());
  }
  return graph;
}

}  // namespace dnn::train
