// Calibration; see calibrate.h.
#include "quant/calibrate.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/threads.h"
#include "devices/device.h"

namespace dnn::quant {
namespace {

constexpr size_t kChunk = 32;  // samples whose figures wait to be added in their order

// What one sample adds.
struct Glimpse {
  std::map<ValueId, Seen> seen;
  std::map<ValueId, ChannelMeans> means;
};

void add_extremes(const Tensor& tensor, Seen* seen) {
  seen->histogram.add(tensor.values<float>());
  seen->low_sum = seen->histogram.lowest();
  seen->high_sum = seen->histogram.highest();
  seen->samples = 1;
}

void add_means(const Tensor& tensor, ChannelMeans* means) {
  const int axis = means->axis < 0 ? means->axis + tensor.rank() : means->axis;
  if (axis < 0 || axis >= tensor.rank() || tensor.size() == 0) return;
  const auto channels = static_cast<size_t>(tensor.dim(axis));
  const auto step = static_cast<size_t>(row_major_strides(tensor.shape())[static_cast<size_t>(axis)]);
  means->sums.resize(channels, 0);
  const std::span<const float> values = tensor.values<float>();
  for (size_t at = 0, c = 0; at < values.size(); at += step, c = (c + 1) % channels) {
    double sum = 0;
    for (size_t i = at; i < at + step; ++i) sum += static_cast<double>(values[i]);
    means->sums[c] += sum;
  }
  means->count += tensor.size() / static_cast<int64_t>(channels);
}

// A second sample of the same value.
void append(const Seen& sample, Seen* all) {
  all->histogram.add(sample.histogram);
  all->low_sum += sample.low_sum;
  all->high_sum += sample.high_sum;
  all->samples += sample.samples;
}

void append(const ChannelMeans& sample, ChannelMeans* all) {
  all->sums.resize(std::max(all->sums.size(), sample.sums.size()), 0);
  for (size_t c = 0; c < sample.sums.size(); ++c) all->sums[c] += sample.sums[c];
  all->count += sample.count;
}

class Calibrator {
 public:
  Calibrator(const Graph& graph, const CalibrateOptions& options, Calibration* calibration)
      : options_(options), calibration_(*calibration), pool_(options.threads) {
    for (ValueId v = 0; v < graph.value_count(); ++v) {
      if (calibration_.seen.count(v) != 0 || calibration_.means.count(v) != 0) by_name_[graph.value(v).name] = v;
    }
    CompileOptions compile = options.compile;
    compile.device = "cpu";
    compile.opt = 2;  // sums in the network's order, so that the figures are the same on any processor
    compile.pass_changes = "only:alter-op-layout";  // no value is fused away
    package_ = std::make_shared<const Package>(dnn::compile(graph, compile));
    for (int i = 0; i < pool_.size(); ++i) free_.push_back(open_session("cpu", package_, {.threads = 1, .isa = {}}));
  }

  void run(SampleSource& source) {
    while (true) {
      std::vector<SampleSource::Load> loads;
      while (loads.size() < kChunk) {
        std::optional<SampleSource::Load> load = source.next();
        if (!load) break;
        loads.push_back(std::move(*load));
      }
      if (loads.empty()) break;
      std::vector<Glimpse> glimpses(loads.size());
      std::vector<std::string> failures(loads.size());
      share_out(pool_, static_cast<int64_t>(loads.size()), [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        LoadedSample sample = loads[at]();
        if (sample.error) {
          failures[at] = sample.error->what();
          return;
        }
        glimpses[at] = look(sample.inputs);
      });
      for (size_t i = 0; i < loads.size(); ++i) add(glimpses[i], failures[i]);
      if (options_.done) options_.done(calibration_.samples);
    }
  }

 private:
  Glimpse look(const std::vector<Tensor>& inputs) {
    std::unique_ptr<Session> session;
    {
      const std::lock_guard lock(mutex_);
      session = std::move(free_.back());
      free_.pop_back();
    }
    Glimpse glimpse;
    const Graph& shown = session->graph();
    session->trace(inputs, [&](const Graph& of, ValueId id, const Tensor& tensor) {
      if (&of != &shown || tensor.dtype() != DType::Float32) return;
      const auto found = by_name_.find(shown.value(id).name);
      if (found == by_name_.end()) return;
      const ValueId v = found->second;
      if (calibration_.seen.count(v) != 0) add_extremes(tensor, &glimpse.seen[v]);
      if (const auto means = calibration_.means.find(v); means != calibration_.means.end()) {
        glimpse.means[v].axis = means->second.axis;
        add_means(tensor, &glimpse.means[v]);
      }
    });
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(session));
    return glimpse;
  }

  void add(const Glimpse& glimpse, const std::string& failure) {
    if (!failure.empty()) {
      if (options_.warn) options_.warn(cat(failure, "; skipped"));
      return;
    }
    for (const auto& [v, seen] : glimpse.seen) append(seen, &calibration_.seen[v]);
    for (const auto& [v, means] : glimpse.means) append(means, &calibration_.means[v]);
    ++calibration_.samples;
  }

  const CalibrateOptions& options_;
  Calibration& calibration_;
  ThreadPool pool_;
  std::shared_ptr<const Package> package_;
  std::map<std::string, ValueId> by_name_;
  std::mutex mutex_;  // of free_
  std::vector<std::unique_ptr<Session>> free_;
};

}  // namespace

void calibrate(const Graph& graph, SampleSource& samples, const CalibrateOptions& options, Calibration* calibration) {
  Calibrator(graph, options, calibration).run(samples);
  if (calibration->samples == 0) throw Error(ErrorKind::Negative, "no calibration sample could be read");
  for (const auto& [v, seen] : calibration->seen) {
    if (seen.histogram.empty())
      throw Error(ErrorKind::Negative,
                  cat("value '", graph.value(v).name, "' has no finite number on any calibration sample"));
  }
}

}  // namespace dnn::quant
