// Training a model file; see model.h.
#include "train/model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "convert/certificate.h"
#include "convert/convert.h"
#include "convert/probes.h"
#include "convert/source.h"
#include "infer/setup.h"
#include "ops/op.h"
#include "train/checkpoint.h"
#include "train/data.h"
#include "train/features.h"
#include "train/head.h"
#include "train/random.h"

namespace dnn::train {
namespace {

constexpr int64_t kKeptImageBytes = int64_t{2} << 30;  // decoded images beyond this are decoded anew in each epoch

// What is trained: a whole network, or a head on the features of a frozen one.
class Run {
 public:
  explicit Run(const TrainRequest& request) : request_(request), pool_(request.threads) {}

  void operator()() {
    check();
    read();
    open_images();
    build();
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
    checkpoint_ = request_.output + ".checkpoint";
    augmentation_ = parse_augmentation(request_.augment);
    if (request_.replace_head) hidden_ = parse_head(*request_.replace_head);
    if (request_.init && !request_.freeze.empty())
      fail_usage("--init draws all weights anew; --freeze would keep them so");
    std::error_code error;
    if (!request_.validate.empty() && !std::filesystem::is_directory(request_.validate, error)) {
      if (!parse_double(request_.validate, &share_) || !(share_ > 0 && share_ < 1))
        fail_usage("--validate ", quoted(request_.validate),
                   ": give a folder, or a share of the images between 0 and 1");
    }
  }

  void read() {
    model_ = read_to_convert(request_.model, format_for_path(request_.output), {.warn = request_.warn});
    if (model_.inputs.size() != 1 || model_.outputs.size() != 1)
      fail_unsupported(request_.model, ": a network of one input and one output is wanted, it has ",
                       model_.inputs.size(), " and ", model_.outputs.size());
    set_batch(model_, "batch");
    infer_types(model_);
    if (request_.init) draw_weights(model_, request_.seed);
    package_ = package_of(model_);
    plan_ = plan_batch(package_);
    const std::optional<Preprocess> chosen =
        choose_preprocess(package_, plan_, request_.preprocess, request_.spelled_out, request_.apply_orientation);
    if (!chosen) fail_usage("images need a --preprocess: ", dnn::join(preprocess_names()));
    preprocess_ = *chosen;
  }

  void open_images() {
    images_ = std::make_unique<Images>(request_.data, std::nullopt, preprocess_, plan_);
    if (share_ > 0) {
      split_ = split(images_->labels(), images_->classes().size(), share_, request_.seed);
    } else {
      for (int64_t i = 0; i < images_->count(); ++i) split_.train.push_back(i);
    }
    if (!request_.validate.empty() && share_ == 0)
      held_ = std::make_unique<Images>(request_.validate, images_->classes(), preprocess_, plan_);
    validating_ = !request_.validate.empty();
    note(cat(split_.train.size(), " images of ", images_->classes().size(), " classes to train on, ",
             held_ ? held_->count() : static_cast<int64_t>(split_.validation.size()), " to validate on"));
  }

  void build() {
    frozen_ = frozen_layers(model_, request_.freeze);
    Graph trained = model_;
    softmax_ = find_logits(model_) != model_.outputs[0];
    if (request_.replace_head) {
      backbone_ = take_head_off(model_);
      const Graph head = new_head(backbone_.value(backbone_.outputs[0]).type.shape->back().size, hidden_,
                                  images_->classes().size(), random_bits(request_.seed, {0}));
      cached_ = find_parameters(backbone_, frozen_).parameters.empty();
      trained = cached_ ? head : train::join(backbone_, head, softmax_);
    }
    TrainerOptions options;
    if (!cached_) options.frozen = frozen_;
    options.threads = request_.threads;
    options.compile = request_.compile;
    options.optimizer.kind = request_.optimizer == "sgd" ? Optimizer::Kind::Sgd : Optimizer::Kind::Adam;
    options.optimizer.momentum = request_.momentum;
    options.optimizer.weight_decay = request_.weight_decay;
    trainer_ = std::make_unique<Trainer>(std::move(trained), options);
    if (trainer_->classes() != images_->classes().size())
      fail_usage("the network has ", trainer_->classes(), " classes, the images ", images_->classes().size(),
                 "; --replace-head linear gives it a new last layer");
    note(cat(trainer_->trained_numbers(), " numbers to train", cached_ ? ", on features that are computed once" : ""));
  }

  // Rows of precomputed features, of the mirrored images too where training may draw them.
  Batches feature_batches(const Images& images, const std::vector<int64_t>& picked, bool training) {
    Graph fixed = backbone_;
    fix_open_extents(fixed);
    std::vector<Tensor> tables;
    for (const bool mirrored : {false, true}) {
      if (mirrored && !(training && augmentation_.flip)) continue;
      tables.push_back(compute_features(fixed, images, preprocess_.layout, mirrored, pool_, request_.compile));
    }
    const uint64_t seed = request_.seed;
    Batches batches = labels_of(images, picked);
    batches.load = [tables, picked, seed](const std::vector<int64_t>& samples, int64_t epoch) {
      const int64_t width = tables[0].dim(1);
      Tensor batch(DType::Float32, {static_cast<int64_t>(samples.size()), width});
      float* out = batch.mutable_data<float>();
      for (int64_t i : samples) {
        const int64_t image = picked[static_cast<size_t>(i)];
        const bool mirrored = epoch > 0 && tables.size() > 1 && draws_mirror(seed, epoch, image);
        std::memcpy(out, tables[mirrored ? 1 : 0].data<float>() + image * width,
                    static_cast<size_t>(width) * sizeof(float));
        out += width;
      }
      return batch;
    };
    return batches;
  }

  static bool draws_mirror(uint64_t seed, int64_t epoch, int64_t image) {
    return (random_bits(seed, {1, static_cast<uint64_t>(epoch), static_cast<uint64_t>(image)}) & 1) != 0;
  }

  Batches image_batches(Images& images, const std::vector<int64_t>& picked) {
    images.keep(pool_, kKeptImageBytes);
    Batches batches = labels_of(images, picked);
    batches.load = [this, &images, picked](const std::vector<int64_t>& samples, int64_t epoch) {
      const auto n = static_cast<int64_t>(samples.size());
      std::vector<Tensor> parts(samples.size());
      share_out(pool_, n, [&](int64_t k) {
        const int64_t image = picked[static_cast<size_t>(samples[static_cast<size_t>(k)])];
        parts[static_cast<size_t>(k)] = augmented(images.load(image), epoch, image);
      });
      Shape shape = parts[0].shape();
      shape[0] = n;
      Tensor batch(DType::Float32, shape);
      auto* out = batch.mutable_bytes();
      for (const Tensor& part : parts) {
        std::memcpy(out, part.bytes().data(), part.size_bytes());
        out += part.size_bytes();
      }
      return batch;
    };
    return batches;
  }

  Tensor augmented(const Tensor& image, int64_t epoch, int64_t i) const {
    if (epoch == 0 || !augmentation_.any()) return image;
    const auto drawn = [&](uint64_t use) {
      const uint64_t span = 2 * static_cast<uint64_t>(augmentation_.shift) + 1;
      const uint64_t bits = random_bits(request_.seed, {use, static_cast<uint64_t>(epoch), static_cast<uint64_t>(i)});
      return static_cast<int64_t>(bits % span) - augmentation_.shift;
    };
    const bool mirrored = augmentation_.flip && draws_mirror(request_.seed, epoch, i);
    return moved(image, preprocess_.layout, mirrored, drawn(2), drawn(3));
  }

  static Batches labels_of(const Images& images, const std::vector<int64_t>& picked) {
    Batches batches;
    for (int64_t i : picked) batches.labels.push_back(images.labels()[static_cast<size_t>(i)]);
    return batches;
  }

  void train() {
    if (cached_ && augmentation_.shift > 0)
      fail_usage(
          "--augment shift: features are computed once, of each image and its mirror image; take flip, or freeze less");
    std::vector<int64_t> validated = split_.validation;
    if (held_) {
      validated.clear();
      for (int64_t i = 0; i < held_->count(); ++i) validated.push_back(i);
    }
    Images& other = held_ ? *held_ : *images_;
    const Batches training =
        cached_ ? feature_batches(*images_, split_.train, true) : image_batches(*images_, split_.train);
    Batches validation;
    if (validating_) validation = cached_ ? feature_batches(other, validated, false) : image_batches(other, validated);
    FitOptions options;
    options.epochs = request_.epochs;
    options.batch = request_.batch;
    options.schedule = {request_.schedule == "cosine", request_.rate};
    options.seed = random_bits(request_.seed, {4});
    Progress progress;
    resume(&progress);
    FitHooks hooks;
    hooks.report = [this](const EpochReport& report) { say(report); };
    hooks.checkpoint = [this](const Progress& now) { write_checkpoint(checkpoint_, now, settings()); };
    const FitEnd end = fit(*trainer_, training, validating_ ? &validation : nullptr, options, hooks, &progress);
    if (progress.epoch > 0) write(progress);
    if (end == FitEnd::NotFinite) {
      const std::string kept = progress.epoch == 0
                                   ? "nothing is written"
                                   : cat(request_.output, " holds the network of epoch ", progress.best_epoch);
      throw Error(ErrorKind::Negative, cat("the loss is not finite in epoch ", progress.epoch + 1, "; ", kept,
                                           "; try a smaller --learning-rate"));
    }
    std::error_code ignored;
    std::filesystem::remove(checkpoint_, ignored);
  }

  // What a run that goes on must have in common with the one that stopped.
  std::string settings() const {
    nlohmann::ordered_json json = {{"model", std::filesystem::path(request_.model).filename().string()},
                                   {"images", split_.train.size()},
                                   {"classes", images_->classes().size()},
                                   {"batch", request_.batch},
                                   {"rate", request_.rate},
                                   {"optimizer", request_.optimizer},
                                   {"momentum", request_.momentum},
                                   {"weight_decay", request_.weight_decay},
                                   {"schedule", request_.schedule},
                                   {"augment", request_.augment},
                                   {"head", request_.replace_head.value_or("")},
                                   {"freeze", request_.freeze},
                                   {"init", request_.init},
                                   {"validate", request_.validate},
                                   {"seed", request_.seed}};
    if (request_.schedule == "cosine") json["epochs"] = request_.epochs;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  void resume(Progress* progress) {
    std::error_code error;
    if (!request_.resume || !std::filesystem::exists(checkpoint_, error)) return;
    *progress = read_checkpoint(checkpoint_, settings());
    trainer_->restore(progress->state, progress->steps);
    note(cat("goes on after epoch ", progress->epoch));
  }

  void say(const EpochReport& report) {
    if (!request_.say) return;
    const auto number = [](double value, int digits) {
      const double scale = std::pow(10, digits);
      return std::round(value * scale) / scale;
    };
    const auto line = [&](const char* type, const Score& score) {
      nlohmann::json json = {{"_type", type},
                             {"epoch", cat(report.epoch, "/", request_.epochs)},
                             {"loss", number(score.mean_loss(), 4)},
                             {"top1_err", number(100 * (1 - score.accuracy()), 4)}};
      return json;
    };
    nlohmann::json trained = line("train_epoch", report.training);
    trained["lr"] = number(report.rate, 8);
    trained["time_avg"] = number(static_cast<double>(report.time_ns) / 1e9 / static_cast<double>(report.iterations), 6);
    request_.say("json_stats: " + trained.dump());
    if (!validating_) return;
    nlohmann::json tested = line("test_epoch", report.validation);
    tested["min_top1_err"] = number(100 * (1 - report.best_accuracy), 4);
    request_.say("json_stats: " + tested.dump());
  }

  void write(const Progress& progress) {
    Graph graph = trainer_->model(progress.best);
    if (cached_) graph = train::join(backbone_, graph, softmax_);
    std::vector<std::string> names;
    for (int64_t i = 0; i < images_->classes().size(); ++i) names.push_back(images_->classes().label(i));
    const auto set = [&](const std::string& key, const std::string& text) {
      auto& all = graph.metadata;
      all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == key; }),
                all.end());
      all.emplace_back(key, text);
    };
    set("labels", dnn::join(names, "\n"));
    set("preprocess", to_json(preprocess_));
    ConvertOptions convert;
    convert.warn = request_.warn;
    convert_model(std::move(graph), request_.output, convert);
  }

  const TrainRequest& request_;
  ThreadPool pool_;
  std::string checkpoint_;
  Augmentation augmentation_;
  std::vector<int64_t> hidden_;
  double share_ = 0;
  Graph model_, backbone_;
  Package package_;
  BatchPlan plan_;
  Preprocess preprocess_;
  std::unique_ptr<Images> images_, held_;
  Split split_;
  bool validating_ = false, softmax_ = false, cached_ = false;
  Frozen frozen_;
  std::unique_ptr<Trainer> trainer_;
};

}  // namespace

void train_model(const TrainRequest& request) {
  Run run(request);
  run();
}

}  // namespace dnn::train
