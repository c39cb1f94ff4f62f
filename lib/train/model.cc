// Training a model file; see model.h.
#include "train/model.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/counted.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/sha256.h"
#include "convert/certificate.h"
#include "convert/convert.h"
#include "convert/probes.h"
#include "convert/source.h"
#include "graph/locate.h"
#include "infer/setup.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "quant/state.h"
#include "train/batches.h"
#include "train/checkpoint.h"
#include "train/head.h"
#include "train/log.h"
#include "train/quantize.h"
#include "train/random.h"
#include "train/supernet.h"
#include "train/teacher.h"

namespace dnn::train {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

Optimizer optimizer_of(const TrainRequest& request) {
  Optimizer optimizer;
  optimizer.kind = request.optimizer == "sgd"     ? Optimizer::Kind::Sgd
                   : request.optimizer == "adamw" ? Optimizer::Kind::AdamW
                                                  : Optimizer::Kind::Adam;
  optimizer.momentum = request.momentum;
  optimizer.nesterov = request.nesterov;
  optimizer.weight_decay = request.weight_decay;
  optimizer.clip = request.clip;
  if (optimizer.nesterov && (optimizer.kind != Optimizer::Kind::Sgd || optimizer.momentum == 0))
    fail_usage("--nesterov is for --optimizer sgd with a --momentum");
  return optimizer;
}

// "PATTERN=FACTOR" of the layers of `graph`.
std::vector<RateGroup> groups_of(const Graph& graph, const std::vector<std::string>& texts) {
  std::vector<RateGroup> groups;
  for (const std::string& text : texts) {
    const size_t cut = text.rfind('=');
    RateGroup group;
    if (cut == std::string::npos || cut == 0 || !parse_double(text.substr(cut + 1), &group.factor) ||
        !(group.factor >= 0))
      fail_usage("--rate-scale ", quoted(text), " is not of the form PATTERN=FACTOR");
    group.layers = matching_layers(graph, "--rate-scale", text.substr(0, cut));
    groups.push_back(std::move(group));
  }
  return groups;
}

// As Kenning describes a model beside its file; names and layout are those of the file.
void write_io_spec(const std::string& model, const Preprocess& p, const LabelSet& classes) {
  const Graph graph = read_to_convert(model, nullptr, {});
  const auto tensor = [&](ValueId v) {
    nlohmann::ordered_json shape = nlohmann::ordered_json::array();
    for (const Dim& dim : *graph.value(v).type.shape) shape.push_back(dim.fixed() ? dim.size : 1);
    return nlohmann::ordered_json{
        {"name", graph.value(v).name}, {"shape", shape}, {"dtype", dtype_name(graph.value(v).type.dtype)}};
  };
  nlohmann::ordered_json in = tensor(graph.inputs[0]), out = tensor(graph.outputs[0]);
  const auto channels = [&](const std::array<float, 3>& values) {
    std::vector<double> shortest;  // that read back to the same float
    for (int i = 0; i < p.n_channels(); ++i) shortest.push_back(std::stod(exact_text(values[i])));
    return shortest;
  };
  in["mean"] = channels(p.mean);
  in["std"] = channels(p.std);
  in["scale"] = double{p.scale} / double{p.divisor};
  out["class_names"] = nlohmann::ordered_json::array();
  for (int64_t i = 0; i < classes.size(); ++i) out["class_names"].push_back(classes.label(i));
  const nlohmann::ordered_json spec = {{"input", {in}}, {"output", {out}}};
  write_file(model + ".json", json_text(spec, 4) + "\n");
}

// One line with what a run that goes on must have in common with the one that stopped. `ranges`: of a supernet, as text.
struct RunFacts {
  int64_t images = 0, classes = 0;
  std::string names;       // of the classes
  std::string network;     // its fingerprint
  std::string preprocess;  // as JSON
  std::string ranges;      // of a supernet
};

std::string settings_of(const TrainRequest& request, const Schedule& schedule, const RunFacts& facts) {
  nlohmann::ordered_json json = {{"model", fs::path(request.model).filename().string()},
                                 {"network", facts.network},
                                 {"preprocess", facts.preprocess},
                                 {"images", facts.images},
                                 {"classes", facts.classes},
                                 {"names", sha256_hex(as_bytes(facts.names))},
                                 {"batch", request.batch},
                                 {"rate", request.rate},
                                 {"optimizer", request.optimizer},
                                 {"momentum", request.momentum},
                                 {"weight_decay", request.weight_decay},
                                 {"schedule", request.schedule},
                                 {"augment", request.augment},
                                 {"head", request.replace_head.value_or("")},
                                 {"freeze", request.freeze},
                                 {"init", request.init.value_or("")},
                                 {"validate", request.validate},
                                 {"seed", request.seed}};
  if (schedule.kind == Schedule::Kind::Cosine) json["epochs"] = request.epochs;
  // What was not asked for is left out, so that checkpoints of earlier versions stay those of the same run.
  const auto add = [&](const char* key, const auto& value, const auto& plain) {
    if (value != plain) json[key] = value;
  };
  const TrainRequest plain{};
  add("nesterov", request.nesterov, plain.nesterov);
  add("clip", request.clip, plain.clip);
  add("accumulate", request.accumulate, plain.accumulate);
  add("warmup", request.warmup, plain.warmup);
  add("label_smoothing", request.label_smoothing, plain.label_smoothing);
  add("feature_variants", request.feature_variants, plain.feature_variants);
  add("rate_scale", request.rate_scale, plain.rate_scale);
  add("quantize", request.quantize, plain.quantize);
  add("reduce_range", request.reduce_range, plain.reduce_range);
  add("precision", request.precision, plain.precision);
  add("winograd", request.winograd, plain.winograd);
  add("ranks", request.ranks == nullptr ? 1 : request.ranks->size(), 1);
  add("keep_statistics", request.keep_statistics, plain.keep_statistics);
  add("supernet", facts.ranges, std::string());
  if (!request.teacher.empty())
    json["teacher"] = {fs::path(request.teacher).filename().string(), request.temperature, request.teacher_weight};
  return json_text(json);
}

// Weights that the source brings through nodes of constants (turned, reshaped, shared by an Identity) become constants, and norms in
// simpler operators norms, so that they are trained as any other. What is quantised stays so.
void settle_weights(Graph& model) {
  PassOptions options;
  options.changes = "only:fold-constant,recognize-normalization";
  options.allow = [](const Graph& graph, const std::string&, const Patch& patch) {
    return std::none_of(patch.removed().begin(), patch.removed().end(),
                        [&](NodeId id) { return graph.node(id).op == "DequantizeLinear"; });
  };
  run_passes(model, options);
  separate_constants(model);
  infer_types(model);
}

// The output's path; that of a folder (SavedModel) may end in a slash.
fs::path file_of(const std::string& output) {
  const fs::path path = output;
  return path.has_filename() ? path : path.parent_path();
}

// Options that contradict one another, or have nothing to do.
void check_options(const TrainRequest& request) {
  if (const fs::path folder = file_of(request.output).parent_path(); !folder.empty() && !is_folder(folder.string()))
    throw Error(ErrorKind::Environment, cat(request.output, ": there is no folder ", folder.string()));
  const TrainRequest plain{};
  if (request.teacher.empty() &&
      (request.temperature != plain.temperature || request.teacher_weight != plain.teacher_weight))
    fail_usage("--temperature and --teacher-weight are for --teacher");
  if (request.histograms && request.logdir.empty()) fail_usage("--histograms go to --logdir");
  if (request.patience > 0 && request.validate.empty())
    fail_usage("--patience: without --validate no epoch is better than another");
  if (!(request.label_smoothing < 1)) fail_usage("--label-smoothing ", request.label_smoothing, ": give less than 1");
  if (!(request.teacher_weight > 0 && request.teacher_weight <= 1))
    fail_usage("--teacher-weight ", request.teacher_weight, ": give a number up to 1, above 0");
  if (!(request.temperature > 0)) fail_usage("--temperature ", request.temperature, ": give a number above 0");
}

void check_input(const TrainRequest& request, const Value& input) {
  std::vector<std::string> extents = {"1"};
  bool open = false;
  for (size_t i = 1; input.type.shape && i < input.type.shape->size(); ++i) {
    const Dim& dim = (*input.type.shape)[i];
    open = open || !dim.fixed();
    extents.push_back(dim.fixed() ? std::to_string(dim.size) : "N");
  }
  if (open)
    fail_usage(request.model, ": extents of its input ", input.name,
               " are open; a training has images of one size: --shape ", input.name, ":", dnn::join(extents, "x"),
               ", with numbers for N");
  const DType dtype = input.type.dtype;
  const std::string what = cat(request.model, ": its input is ", dtype_name(dtype));
  if (!is_float(dtype) && !request.augment.empty())
    fail_unsupported(what, "; --augment changes images of real numbers");
  if (dtype == DType::Float64 && request.replace_head) fail_unsupported(what, "; --replace-head wants float32");
  if (is_float(dtype) && dtype != DType::Float32 && !(dtype == DType::Float64 && request.precision == "float64"))
    fail_unsupported(what, dtype == DType::Float64 ? "; --precision float64 trains it"
                                                   : "; dnn-convert --dtype float32 gives one of float32");
}

// The order of the classes that the network was trained with, where it says one and all of the data's are in it.
std::optional<LabelSet> own_classes(const TrainRequest& request, const Graph& model) {
  if (request.replace_head) return std::nullopt;
  for (const auto& [key, text] : model.metadata) {
    if (key != "labels") continue;
    const Images given(request.data, std::nullopt);
    const LabelSet own = LabelSet::parse(text, "model");
    bool known = own.size() == given.classes().size();
    for (int64_t i = 0; known && i < given.classes().size(); ++i) known = own.index_of(given.classes().label(i)) >= 0;
    if (known) return own;
    if (request.warn) request.warn("the network's labels are not the data's classes, which take their places in order");
  }
  return std::nullopt;
}

// Scores of each class by itself are not what is learnt here.
void check_output(const TrainRequest& request, const Graph& model) {
  const NodeId maker = Uses(model).producer[find_logits(model)];
  if (!request.replace_head && maker >= 0 && model.node(maker).op == "Sigmoid")
    fail_unsupported("the network ends in ", label_in(model, model.node(maker)),
                     ", which scores each class by itself; one class of several is learnt: --replace-head linear");
}

void say_what_stays(const TrainRequest& request, const Graph& model, const Frozen& frozen) {
  int64_t numbers = 0;
  const std::vector<ValueId> left = untrained_numbers(model, find_parameters(model, frozen), frozen);
  for (ValueId v : left) numbers += model.constant(v)->size();
  if (left.empty() || !request.warn) return;
  request.warn(cat(numbers, " numbers of ", counted(static_cast<int64_t>(left.size()), "constant"),
                   " stay as they are, as ", quoted(model.value(left[0]).name),
                   ": no weights of a layer, its bias or a norm's"));
}

std::vector<std::string> names_of(const LabelSet& classes) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < classes.size(); ++i) names.push_back(classes.line(i));
  return names;
}

// All ranks go on from the checkpoint that rank 0 has read. Throws FailedTogether where one does not begin with what the others begin
// with; `same`: text that all must have.
void begin_together(Ranks& ranks, const std::string& same, Trainer& trainer, Progress* progress) {
  struct Counts {
    int64_t epoch = 0, steps = 0, best_epoch = 0;
    double best_accuracy = -1;
  };
  ranks.check_same(same, "settings or images", "before the first step");
  const Counts counts =
      ranks.gather(Counts{progress->epoch, progress->steps, progress->best_epoch, progress->best_accuracy})[0];
  if (counts.epoch > 0) {
    std::vector<Tensor> state = trainer.state();
    ranks.spread(&state);
    trainer.restore(std::move(state), counts.steps);
    progress->epoch = counts.epoch;
    progress->steps = counts.steps;
    progress->best_epoch = counts.best_epoch;
    progress->best_accuracy = counts.best_accuracy;
  }
  trainer.check_ranks("before the first step");
}

// What is trained: a whole network, or a head on the features of a frozen one.
class Run {
 public:
  explicit Run(const TrainRequest& request) : request_(request), pool_(request.threads) {}

  void operator()() {
    train::together(request_.ranks, [this] {
      check();
      read();
      open_images();
      build();
    });
    train();
  }

 private:
  void note(const std::string& line) const {
    if (request_.note) request_.note(line);
  }

  void check() {
    const Format* format = format_for_path(request_.output);
    if (request_.output.empty() || request_.output == "-") fail_usage("where to? give a file with -o");
    if (format == nullptr || format->to_files == nullptr)
      fail_usage(request_.output, ": no format that is written has this extension");
    checkpoint_ = file_of(request_.output).string() + ".checkpoint";
    augmentation_ = parse_augmentation(request_.augment);
    schedule_ = parse_schedule(request_.schedule);
    schedule_.rate = request_.rate;
    schedule_.warmup = request_.warmup;
    if (request_.replace_head) hidden_ = parse_head(*request_.replace_head);
    if (request_.init && !request_.freeze.empty())
      fail_usage("--init draws all weights anew; --freeze would keep them so");
    if (request_.ranks != nullptr && request_.batch < request_.ranks->size())
      fail_usage("--batch-size ", request_.batch, ": ", request_.ranks->size(),
                 " ranks share out each batch, so give at least as many");
    check_options(request_);
    if (!request_.validate.empty() && !is_folder(request_.validate) && !is_pack(request_.validate)) {
      if (!parse_double(request_.validate, &share_) || !(share_ > 0 && share_ < 1))
        fail_usage("--validate ", quoted(request_.validate),
                   ": give a folder, or a share of the images between 0 and 1");
    }
    if (request_.init && *request_.init != "he" && *request_.init != "torch")
      fail_usage("--init=", *request_.init, ": choose from torch, he");
    optimizer_of(request_);
    if (is_wide() && (!request_.supernet.empty() || !request_.quantize.empty()))
      fail_usage("--precision float64: without --supernet and --quantize");
    if (!request_.supernet.empty()) {
      if (request_.replace_head || !request_.freeze.empty() || !request_.quantize.empty())
        fail_usage("--supernet trains all layers of a float network: without --replace-head, --freeze and --quantize");
      if (request_.keep_statistics)
        fail_usage("--supernet takes a norm's statistics from batches: without --keep-statistics");
      ranges_ = branch::parse_ranges(read_file(request_.supernet), request_.supernet);
    }
    if (request_.quantize.empty()) return;
    if (request_.replace_head || request_.init)
      fail_usage("--quantize goes on from a trained network: without --replace-head and --init");
    if (format != find_format("onnx") && format != find_format("tflite"))
      fail_usage(request_.output, ": quantised networks are written as .onnx or .tflite");
  }

  bool is_wide() const { return request_.precision == "float64"; }

  void read() {
    model_ = read_to_convert(request_.model, format_for_path(request_.output),
                             {.surgery = request_.surgery, .warn = request_.warn});
    if (model_.inputs.size() != 1 || model_.outputs.size() != 1)
      fail_unsupported(request_.model, ": a network of one input and one output is wanted, it has ",
                       model_.inputs.size(), " and ", model_.outputs.size());
    if (!request_.supernet.empty()) {
      supernet_ = make_supernet(std::move(model_), ranges_);
      model_ = supernet_->model;
    }
    set_batch(model_, "batch");
    infer_types(model_);
    // A supernet has its structure already; a quantiser's state is of the network as it was.
    if (!supernet_ && request_.quantize.empty()) settle_weights(model_);
    if (!request_.quantize.empty()) {
      const bool for_tflite = format_for_path(request_.output) == find_format("tflite");
      integers_ = std::make_unique<FakeQuantized>(std::move(model_), request_.quantize,
                                                  FakeQuantized::Options{for_tflite, request_.reduce_range});
      model_ = integers_->graph();
      infer_types(model_);
      note(integers_->summary());
    }
    if (request_.init) draw_weights(model_, *request_.init == "he" ? Init::He : Init::Torch, request_.seed);
    network_ = quant::fingerprint(model_);
    check_input(request_, model_.value(model_.inputs[0]));
    input_ = input_of(model_, request_.preprocess, request_.spelled_out, request_.apply_orientation);
  }

  void open_images() {
    images_ = std::make_unique<Images>(request_.data, own_classes(request_, model_));
    Split parts;
    if (share_ > 0) {
      parts = split(images_->labels(), images_->classes().size(), share_, request_.seed);
      if (parts.validation.empty())
        fail_usage("--validate ", request_.validate, ": no class has two images, so that none is held back");
    } else {
      parts.train.resize(images_->labels().size());
      std::iota(parts.train.begin(), parts.train.end(), int64_t{0});
    }
    if (!request_.validate.empty() && share_ == 0) {
      held_ = std::make_unique<Images>(request_.validate, images_->classes());
      parts.validation.resize(held_->labels().size());
      std::iota(parts.validation.begin(), parts.validation.end(), int64_t{0});
    }
    images_to_train_ = static_cast<int64_t>(parts.train.size());
    note(cat(counted(images_to_train_, "image"), " of ", images_->classes().size(), " classes to train on, ",
             parts.validation.size(), " to validate on"));
    training_.emplace(*images_, std::move(parts.train), augmentation_, request_.feature_variants, request_.seed, pool_,
                      request_.ranks);
    if (!request_.validate.empty())
      validation_.emplace(held_ ? *held_ : *images_, std::move(parts.validation), Augmentation(), 0, request_.seed,
                          pool_, request_.ranks);
  }

  void build() {
    check_output(request_, model_);
    const Frozen frozen = frozen_layers(model_, request_.freeze);
    Graph trained = model_;
    softmax_ = !request_.logits && find_logits(model_) != model_.outputs[0];
    if (request_.replace_head) {
      backbone_ = take_head_off(model_);
      const Graph head = new_head(backbone_.value(backbone_.outputs[0]).type.shape->back().size, hidden_,
                                  images_->classes().size(), random_bits(request_.seed, {0}));
      cached_ = find_parameters(backbone_, frozen).parameters.empty();
      trained = cached_ ? head : train::join(backbone_, head, softmax_);
    }
    if (request_.feature_variants > 0 && !cached_)
      fail_usage("--feature-variants is for a new head on a wholly frozen network");
    TrainerOptions options;
    if (!cached_) options.frozen = frozen;
    options.step.optimizer = optimizer_of(request_);
    options.step.groups = groups_of(trained, request_.rate_scale);
    options.step.batches = request_.accumulate;
    if (!request_.teacher.empty()) options.step.distillation = {request_.teacher_weight, request_.temperature};
    options.label_smoothing = request_.label_smoothing;
    if (supernet_) options.children = children_of(supernet_);
    options.seed = random_bits(request_.seed, {5});
    options.threads = request_.threads;
    if (is_wide()) options.precision = DType::Float64;
    options.winograd = request_.winograd;
    options.keep_statistics = request_.keep_statistics;
    options.recompute = request_.recompute;
    options.ranks = request_.ranks;
    options.compile = request_.compile;
    trainer_ = std::make_unique<Trainer>(std::move(trained), options);
    if (trainer_->classes() != images_->classes().size())
      fail_usage("the network has ", trainer_->classes(), " classes, the images ", images_->classes().size(),
                 "; --replace-head linear gives it a new last layer");
    if (supernet_)
      note(cat("a supernet of ", counted(supernet_->stages.stages.size(), "stage"), "; ",
               counted(ranges_.networks, "network"), " in each step"));
    if (!cached_) say_what_stays(request_, model_, frozen);
    note(cat(trainer_->trained_numbers(), " numbers to train", cached_ ? ", on features that are computed once" : ""));
  }

  Batches batches_of(DataPart& part) {
    if (!cached_) return part.images(input_);
    Graph fixed = backbone_;
    fix_open_extents(fixed);
    return part.features(fixed, input_, request_.compile);
  }

  void train() {
    std::optional<Teacher> teacher;
    Progress progress;
    train::together(request_.ranks, [&] {
      if (!request_.teacher.empty())
        teacher = read_teacher(request_.teacher, images_->classes(), request_.preprocess, request_.spelled_out,
                               request_.apply_orientation, request_.warn);
      resume(&progress);
    });
    if (request_.ranks != nullptr) {
      std::string same = cat(settings(), " ", request_.epochs, " ", request_.patience);
      for (const std::string& name : names_of(images_->classes())) same += "\n" + name;
      for (const Images* images : {images_.get(), held_.get()}) {
        for (int64_t label : images == nullptr ? std::vector<int64_t>() : images->labels()) same += cat(" ", label);
      }
      begin_together(*request_.ranks, same, *trainer_, &progress);
    }
    Batches training = batches_of(*training_);
    if (teacher)
      training.teach = training_->teacher(teacher->graph, teacher->input, input_, request_.threads, request_.compile);
    std::optional<Batches> validation;
    if (validation_) validation = batches_of(*validation_);
    FitOptions options;
    options.epochs = request_.epochs;
    options.batch = request_.batch;
    options.batches = request_.accumulate;
    options.patience = request_.patience;
    options.schedule = schedule_;
    options.seed = random_bits(request_.seed, {4});
    std::optional<TrainLog> log;
    FitHooks hooks;
    if (request_.profile) trainer_->enable_profile();
    train::together(request_.ranks, [&] {
      if (is_first()) watch(progress, &log, &hooks);
    });
    const FitEnd end = fit(*trainer_, training, validation ? &*validation : nullptr, options, hooks, &progress);
    train::together(request_.ranks, [&] {
      if (is_first()) finish(end, options, progress);
    });
  }

  // Of several ranks the first one alone says and writes.
  bool is_first() const { return request_.ranks == nullptr || request_.ranks->is_first(); }

  void watch(const Progress& progress, std::optional<TrainLog>* log, FitHooks* hooks) {
    log->emplace(LogOptions{.folder = request_.logdir,
                            .histograms = request_.histograms,
                            .epochs = request_.epochs,
                            .parameters = trainer_->trained_numbers(),
                            .say = request_.say},
                 progress.epoch, progress.steps);
    hooks->report = [this, log](const EpochReport& report) { (*log)->epoch(report, *trainer_); };
    hooks->step = [log](const StepReport& report) { (*log)->step(report); };
    hooks->checkpoint = [this](const Progress& now) { write_checkpoint(checkpoint_, now, settings()); };
    if (!request_.say || progress.epoch >= request_.epochs) return;
    int64_t batch = std::min(request_.batch, images_to_train_);
    if (request_.ranks != nullptr) batch = request_.ranks->share(batch).count;
    request_.say(memory_text(trainer_->prepare(batch)));
  }

  void finish(FitEnd end, const FitOptions& options, const Progress& progress) {
    if (request_.profile && request_.say) {
      const std::string profile = trainer_->profile();
      request_.say(profile.empty() ? "no step to profile: of each batch size the first is not timed" : profile);
    }
    if (progress.epoch > 0) write(progress);
    if (end == FitEnd::NotFinite) {
      const std::string kept = progress.epoch == 0
                                   ? "nothing is written"
                                   : cat(request_.output, " holds the network of epoch ", progress.best_epoch);
      throw Error(ErrorKind::Negative, cat("the loss is not finite in epoch ", progress.epoch + 1, "; ", kept,
                                           "; try a smaller --learning-rate"));
    }
    if (end == FitEnd::Stopped)
      note(cat("stopped: no epoch was better than epoch ", progress.best_epoch, " for ", options.patience));
    std::error_code ignored;
    fs::remove(checkpoint_, ignored);
  }

  std::string settings() const {
    return settings_of(request_, schedule_,
                       {.images = images_to_train_,
                        .classes = images_->classes().size(),
                        .names = dnn::join(names_of(images_->classes()), "\n"),
                        .network = network_,
                        .preprocess = to_json(input_.preprocess),
                        .ranges = supernet_ ? branch::ranges_text(ranges_) : ""});
  }

  void resume(Progress* progress) {
    std::error_code error;
    if (!request_.resume || !is_first() || !fs::exists(checkpoint_, error)) return;
    *progress = read_checkpoint(checkpoint_, settings());
    trainer_->restore(progress->state, progress->steps);
    trainer_->check(progress->best);
    note(cat("goes on after epoch ", progress->epoch));
  }

  void write(const Progress& progress) {
    Graph graph = trainer_->model(progress.best);
    if (cached_) graph = train::join(backbone_, graph, softmax_);
    if (integers_) graph = integers_->finish(graph);
    const auto set = [&](const std::string& key, const std::string& text) {
      auto& all = graph.metadata;
      all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == key; }),
                all.end());
      all.emplace_back(key, text);
    };
    set("labels", dnn::join(names_of(images_->classes()), "\n"));
    set("preprocess", to_json(input_.preprocess));
    if (supernet_) set(branch::kSupernetKey, branch::ranges_text(ranges_));
    ConvertOptions convert;
    convert.warn = request_.warn;
    convert.certify = integers_ == nullptr;  // as dnn-quantize: a certificate would ask for more than integers promise
    convert_model(std::move(graph), request_.output, convert);
    if (request_.io_spec) write_io_spec(request_.output, input_.preprocess, images_->classes());
  }

  const TrainRequest& request_;
  ThreadPool pool_;
  std::string checkpoint_;
  Augmentation augmentation_;
  Schedule schedule_;
  std::vector<HiddenLayer> hidden_;
  double share_ = 0;
  Graph model_, backbone_;
  std::string network_;  // fingerprint of model_
  NetworkInput input_;
  std::unique_ptr<Images> images_, held_;
  int64_t images_to_train_ = 0;
  std::optional<DataPart> training_, validation_;
  bool softmax_ = false, cached_ = false;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<FakeQuantized> integers_;
  branch::ElasticRanges ranges_;
  std::shared_ptr<const Supernet> supernet_;
};

}  // namespace

void train_model(const TrainRequest& request) {
  Run run(request);
  run();
}

}  // namespace dnn::train
