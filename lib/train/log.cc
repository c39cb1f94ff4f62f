// Logs; see log.h.
#include "train/log.h"

#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_text.h"
#include "base/text.h"

namespace dnn::train {
namespace {

constexpr int64_t kIterationsOfALine = 10;

double rounded(double value, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(value * scale) / scale;
}

double seconds(int64_t time_ns) { return static_cast<double>(time_ns) * 1e-9; }

// "1 day, 02:03:04" is pycls' way: hours may have more than two digits here.
std::string clock_text(double time_s) {
  const auto whole = static_cast<int64_t>(std::llround(time_s));
  char text[32];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld", static_cast<long long>(whole / 3600),
                static_cast<long long>(whole / 60 % 60), static_cast<long long>(whole % 60));
  return text;
}

int64_t peak_memory_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

nlohmann::json line_of(const char* type, int64_t epoch, int64_t epochs, const Score& score) {
  return {{"_type", type},
          {"epoch", cat(epoch, "/", epochs)},
          {"loss", rounded(score.mean_loss(), 4)},
          {"mem", peak_memory_mib()},
          {"top1_err", rounded(100 * (1 - score.accuracy()), 4)},
          {"top5_err", rounded(100 * (1 - score.accuracy5()), 4)}};
}

}  // namespace

TrainLog::TrainLog(const LogOptions& options, int64_t after_epoch, int64_t after_step) : options_(options) {
  if (options_.folder.empty()) return;
  const auto events = [&](const char* name, int64_t after) {
    const std::string folder = cat(options_.folder, "/", name);
    make_folders(folder);
    auto file = std::make_unique<EventFile>(folder);
    if (after > 0) file->start_after(after);
    return file;
  };
  training_ = events("train", after_epoch);
  validation_ = events("validation", after_epoch);
  steps_ = events("steps", after_step);
  text_ = std::make_unique<GrowingFile>(options_.folder + "/train.log");
}

void TrainLog::line(const std::string& text, bool shown) {
  if (text_ != nullptr) text_->write(text + "\n");
  if (shown && options_.say) options_.say(text);
}

void TrainLog::step(const StepReport& report) {
  time_diff_ = seconds(report.time_ns);
  time_sum_ += time_diff_;
  ++iterations_;
  if (steps_ == nullptr) return;
  steps_->scalar("batch_loss", report.score.mean_loss(), report.step);
  steps_->scalar("batch_accuracy", report.score.accuracy(), report.step);
  steps_->scalar("batch_learning_rate", report.rate, report.step);
  if (report.iteration % kIterationsOfALine != 0) return;
  const double average = time_sum_ / static_cast<double>(iterations_);
  nlohmann::json json = line_of("train_iter", report.epoch, options_.epochs, report.score);
  const int64_t left = (options_.epochs - report.epoch) * report.iterations + report.iterations - report.iteration;
  json["iter"] = cat(report.iteration, "/", report.iterations);
  json["eta"] = clock_text(average * static_cast<double>(left));
  json["lr"] = rounded(report.rate, 8);
  json["time_avg"] = rounded(average, 6);
  json["time_diff"] = rounded(time_diff_, 6);
  line("json_stats: " + json_text(json), false);
}

void TrainLog::epoch(const EpochReport& report, const Trainer& trainer) {
  nlohmann::json trained = line_of("train_epoch", report.epoch, options_.epochs, report.training);
  trained["eta"] = clock_text(seconds(report.time_ns) * static_cast<double>(options_.epochs - report.epoch));
  trained["lr"] = rounded(report.rate, 8);
  trained["params"] = options_.parameters;
  trained["time_avg"] = rounded(seconds(report.train_ns) / static_cast<double>(report.iterations), 6);
  trained["time_load"] = rounded(seconds(report.load_ns) / static_cast<double>(report.iterations), 6);
  trained["time_epoch"] = rounded(seconds(report.time_ns), 4);
  line("json_stats: " + json_text(trained), true);
  const bool validates = report.validation.samples > 0;
  if (validates) {
    nlohmann::json tested = line_of("test_epoch", report.epoch, options_.epochs, report.validation);
    tested["min_top1_err"] = rounded(100 * (1 - report.best_accuracy), 4);
    line("json_stats: " + json_text(tested), true);
  }
  if (training_ == nullptr) return;
  const auto scalars = [&](EventFile& file, const Score& score) {
    file.scalar("epoch_loss", score.mean_loss(), report.epoch);
    file.scalar("epoch_accuracy", score.accuracy(), report.epoch);
  };
  scalars(*training_, report.training);
  training_->scalar("epoch_learning_rate", report.rate, report.epoch);
  if (validates) scalars(*validation_, report.validation);
  if (!options_.histograms) return;
  for (size_t i = 0; i < trainer.variables().size(); ++i) {
    if (!trainer.variables()[i].in_model || !is_float(trainer.state()[i].dtype())) continue;
    const Tensor tensor = convert(trainer.state()[i], DType::Float32);
    training_->histogram(trainer.variables()[i].name, {tensor.data<float>(), static_cast<size_t>(tensor.size())},
                         report.epoch);
  }
}

}  // namespace dnn::train
