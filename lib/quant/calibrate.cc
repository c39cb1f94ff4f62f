// Calibration; see calibrate.h.
#include "quant/calibrate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <string>

#include "base/deadline.h"
#include "base/error.h"
#include "base/lent.h"
#include "base/random.h"
#include "base/threads.h"
#include "devices/device.h"

namespace dnn::quant {
namespace {

constexpr size_t kChunk = 32;  // samples whose figures wait to be added in their order

constexpr double kCheckpointSeconds = 5;

// What one sample adds, but for the histograms: these are added where they are made.
struct Glimpse {
  std::map<ValueId, std::pair<double, double>> extremes;
  std::map<ValueId, ChannelMeans> means;
  std::map<ValueId, ChannelFigures> figures;
  std::vector<Tensor> inputs;  // where they are kept
  std::optional<int64_t> truth;
  bool flat = false;
};

// A session and what it has seen since it was last asked.
struct Worker {
  std::unique_ptr<Session> session;
  std::map<ValueId, Histogram> histograms;
};

void add_means(const Tensor& tensor, ChannelMeans* means) {
  const int axis = means->axis < 0 ? means->axis + tensor.rank() : means->axis;
  if (axis < 0 || axis >= tensor.rank() || tensor.size() == 0) return;
  const size_t channels = tensor.dim(axis);
  const size_t step = row_major_strides(tensor.shape())[axis];
  const std::span<const float> values = tensor.values<float>();
  if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) return;
  means->sums.resize(channels);
  for (size_t at = 0, c = 0; at < values.size(); at += step, c = (c + 1) % channels) {
    double sum = 0;
    for (size_t i = at; i < at + step; ++i) sum += static_cast<double>(values[i]);
    means->sums[c] += sum;
  }
  means->count += tensor.size() / static_cast<int64_t>(channels);
}

void add_figures(const Tensor& tensor, ChannelFigures* figures) {
  const int axis = figures->axis < 0 ? figures->axis + tensor.rank() : figures->axis;
  if (axis < 0 || axis >= tensor.rank() || tensor.size() == 0) return;
  const size_t channels = tensor.dim(axis);
  const size_t step = row_major_strides(tensor.shape())[axis];
  figures->peaks.resize(channels);
  figures->sums.resize(channels);
  figures->squares.resize(channels);
  const std::span<const float> values = tensor.values<float>();
  for (size_t at = 0, c = 0; at < values.size(); at += step, c = (c + 1) % channels) {
    float peak = figures->peaks[c];
    double sum = 0, squares = 0;
    for (size_t i = at; i < at + step; ++i) {
      if (!std::isfinite(values[i])) continue;
      const auto x = static_cast<double>(values[i]);
      peak = std::max(peak, std::abs(values[i]));
      sum += x;
      squares += x * x;
    }
    figures->peaks[c] = peak;
    figures->sums[c] += sum;
    figures->squares[c] += squares;
  }
  figures->count += tensor.size() / static_cast<int64_t>(channels);
}

// One number for each of up to four channels, as an image of one colour has, and an array of one number.
bool is_flat(std::span<const float> numbers) {
  constexpr size_t kMostChannels = 4;
  if (std::any_of(numbers.begin(), numbers.end(), [](float x) { return !std::isfinite(x); })) return false;
  for (size_t channels = 1; channels <= kMostChannels; ++channels) {
    const size_t of_each = numbers.size() / channels;
    if (of_each < 2 || numbers.size() % channels != 0) continue;  // of a single number nothing can be said
    bool planes = true, pixels = true;
    for (size_t i = 0; i < numbers.size() && (planes || pixels); ++i) {
      planes = planes && numbers[i] == numbers[i / of_each * of_each];
      pixels = pixels && numbers[i] == numbers[i % channels];
    }
    if (planes || pixels) return true;
  }
  return false;
}

bool is_flat(const std::vector<Tensor>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [](const Tensor& input) {
    return input.dtype() == DType::Float32 && is_flat(input.values<float>());
  });
}

// The samples of a source with their ids, in the seed's order where their count is known.
class Numbered {
 public:
  Numbered(SampleSource& source, const CalibrateOptions& options, const Ranges& done)
      : source_(source), shard_(options.shard), done_(done) {
    if (!source.count()) return;
    listed_ = true;
    while (std::optional<SampleSource::Load> load = source.next()) loads_.push_back(std::move(*load));
    order_.resize(loads_.size());
    std::iota(order_.begin(), order_.end(), int64_t{0});
    // Fisher and Yates; a library's shuffle may be another one elsewhere.
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_number(options.seed, i) % i]);
    order_.erase(
        std::remove_if(order_.begin(), order_.end(), [&](int64_t place) { return holds_position(done_, id(place)); }),
        order_.end());
    if (options.most) order_.resize(std::min(order_.size(), *options.most));
  }

  bool listed() const { return listed_; }
  std::optional<int64_t> count() const {
    return listed_ ? std::optional(static_cast<int64_t>(order_.size())) : std::nullopt;
  }

  std::optional<std::pair<int64_t, SampleSource::Load>> next() {
    if (listed_) {
      if (at_ == order_.size()) return std::nullopt;
      const int64_t place = order_[at_++];
      return std::pair(id(place), std::move(loads_[place]));
    }
    while (std::optional<SampleSource::Load> load = source_.next()) {
      const int64_t next = id(static_cast<int64_t>(at_++));
      if (!holds_position(done_, next)) return std::pair(next, std::move(*load));
    }
    return std::nullopt;
  }

 private:
  int64_t id(int64_t place) const { return place * shard_.count + shard_.index; }

  SampleSource& source_;
  const Shard shard_;
  const Ranges done_;
  bool listed_ = false;
  std::vector<SampleSource::Load> loads_;
  std::vector<int64_t> order_;
  size_t at_ = 0;
};

// Whether samples come class by class.
class ClassOrder {
 public:
  void add(const std::optional<int64_t>& truth) {
    if (!truth) return;
    if (last_) ++(*truth == *last_ ? same_ : other_);
    classes_.insert(*truth);
    last_ = truth;
  }
  bool sorted() const { return classes_.size() > 1 && same_ > 9 * other_; }

 private:
  std::optional<int64_t> last_;
  std::set<int64_t> classes_;
  int64_t same_ = 0, other_ = 0;
};

class Calibrator {
 public:
  Calibrator(const Graph& graph, const CalibrateOptions& options, Calibration* calibration)
      : options_(options), calibration_(*calibration), pool_(options.threads) {
    for (ValueId v = 0; v < graph.value_count(); ++v) {
      if (calibration_.seen.count(v) + calibration_.means.count(v) + calibration_.figures.count(v) != 0)
        by_name_[graph.value(v).name] = v;
    }
    CompileOptions compile = options.compile;
    compile.device = "cpu";
    compile.opt = 2;  // sums in the network's order, so that the figures are the same on any processor
    compile.pass_changes = "only:alter-op-layout";  // no value is fused away
    package_ = std::make_shared<const Package>(dnn::compile(graph, compile));
    for (int i = 0; i < pool_.size(); ++i) {
      auto worker = std::make_unique<Worker>();
      worker->session = open_session("cpu", package_, {.threads = 1, .isa = {}});
      workers_.add(std::move(worker));
    }
  }

  void run(SampleSource& source) {
    Numbered samples(source, options_, calibration_.done);
    const int64_t before = calibration_.samples;
    double saved = Deadline::steady_seconds();
    while (true) {
      const int64_t seen = calibration_.samples - before;
      if (options_.most && seen >= static_cast<int64_t>(*options_.most)) break;
      std::vector<std::pair<int64_t, SampleSource::Load>> loads;
      while (loads.size() < kChunk) {
        std::optional<std::pair<int64_t, SampleSource::Load>> load = samples.next();
        if (!load) break;
        loads.push_back(std::move(*load));
      }
      if (loads.empty()) break;
      look_at(loads);
      if (options_.done) options_.done(calibration_.samples);
      const bool most = samples.count() && calibration_.samples - before >= *samples.count() * 3 / 4;
      if (most && calibration_.early.empty()) calibration_.early = calibration_.seen;
      if (options_.checkpoint && Deadline::steady_seconds() > saved + kCheckpointSeconds) {
        options_.checkpoint(calibration_);
        saved = Deadline::steady_seconds();
      }
    }
    if (options_.checkpoint) options_.checkpoint(calibration_);
    if (options_.warn) warn_of_inputs(calibration_.samples - before, samples.listed());
  }

 private:
  void warn_of_inputs(int64_t n, bool in_random_order) const {
    if (n > 0 && flat_ == n)
      options_.warn("each calibration input is constant, so that ranges say nothing; give inputs like the real ones");
    if (!in_random_order && classes_.sorted())
      options_.warn("the calibration inputs come class by class; give them in random order, or as files");
    int64_t values = 0;
    std::string first;
    for (const auto& [name, v] : by_name_) {
      const auto seen = calibration_.seen.find(v);
      if (seen == calibration_.seen.end() || seen->second.histogram.not_finite() == 0) continue;
      if (values++ == 0) first = name;
    }
    if (values > 0)
      options_.warn(cat("on some calibration inputs ", values, " values are NaN or infinite, '", first,
                        "' for one; such numbers are left out"));
  }

  void look_at(const std::vector<std::pair<int64_t, SampleSource::Load>>& loads) {
    std::vector<Glimpse> glimpses(loads.size());
    std::vector<std::string> failures(loads.size());
    share_out(pool_, static_cast<int64_t>(loads.size()), [&](int64_t i) {
      const size_t at = i;
      LoadedSample sample = loads[at].second();
      if (sample.error) {
        failures[at] = sample.error->what();
        return;
      }
      try {
        look(sample.inputs, &glimpses[at]);
      } catch (Error& error) {
        throw error.within(sample.path);
      }
      glimpses[at].truth = sample.truth;
      glimpses[at].flat = is_flat(sample.inputs);
      if (calibration_.kept.size() + at < options_.keep) glimpses[at].inputs = std::move(sample.inputs);
    });
    for (size_t i = 0; i < loads.size(); ++i) {
      add(std::move(glimpses[i]), failures[i]);
      add_position(&calibration_.done, loads[i].first);
    }
    for (const std::unique_ptr<Worker>& worker : workers_.free()) {
      for (const auto& [v, histogram] : worker->histograms) calibration_.seen[v].histogram.add(histogram);
      worker->histograms.clear();
    }
  }

  void look(const std::vector<Tensor>& inputs, Glimpse* glimpse) {
    const Lent<Worker>::Loan worker = workers_.borrow();
    const Graph& shown = worker->session->graph();
    worker->session->trace(inputs, [&](const Graph& of, ValueId id, const Tensor& tensor) {
      if (&of != &shown || tensor.dtype() != DType::Float32) return;
      const auto found = by_name_.find(shown.value(id).name);
      if (found == by_name_.end()) return;
      const ValueId v = found->second;
      if (calibration_.seen.count(v) != 0) {
        const auto [low, high] = worker->histograms[v].add(tensor.values<float>());
        glimpse->extremes[v] = {low, high};
      }
      if (const auto means = calibration_.means.find(v); means != calibration_.means.end()) {
        glimpse->means[v].axis = means->second.axis;
        add_means(tensor, &glimpse->means[v]);
      }
      if (const auto figures = calibration_.figures.find(v); figures != calibration_.figures.end()) {
        glimpse->figures[v].axis = figures->second.axis;
        add_figures(tensor, &glimpse->figures[v]);
      }
    });
  }

  void add(Glimpse&& glimpse, const std::string& failure) {
    if (!failure.empty()) {
      if (options_.warn) options_.warn(cat(failure, "; skipped"));
      return;
    }
    for (const auto& [v, extremes] : glimpse.extremes) {
      Seen& seen = calibration_.seen[v];
      seen.low_sum += extremes.first;
      seen.high_sum += extremes.second;
      ++seen.samples;
    }
    for (const auto& [v, means] : glimpse.means) calibration_.means[v].append(means);
    for (const auto& [v, figures] : glimpse.figures) calibration_.figures[v].append(figures);
    if (!glimpse.inputs.empty()) calibration_.kept.push_back(std::move(glimpse.inputs));
    classes_.add(glimpse.truth);
    flat_ += glimpse.flat ? 1 : 0;
    ++calibration_.samples;
  }

  const CalibrateOptions& options_;
  Calibration& calibration_;
  ThreadPool pool_;
  std::shared_ptr<const Package> package_;
  std::map<std::string, ValueId> by_name_;
  Lent<Worker> workers_;
  ClassOrder classes_;
  int64_t flat_ = 0;
};

}  // namespace

void ChannelMeans::append(const ChannelMeans& other) {
  sums.resize(std::max(sums.size(), other.sums.size()));
  for (size_t c = 0; c < other.sums.size(); ++c) sums[c] += other.sums[c];
  count = added(count, other.count);
}

void ChannelFigures::append(const ChannelFigures& other) {
  peaks.resize(std::max(peaks.size(), other.peaks.size()));
  sums.resize(peaks.size());
  squares.resize(peaks.size());
  for (size_t c = 0; c < other.peaks.size(); ++c) {
    peaks[c] = std::max(peaks[c], other.peaks[c]);
    sums[c] += other.sums[c];
    squares[c] += other.squares[c];
  }
  count += other.count;
}

double ChannelFigures::mean(size_t channel) const {
  return count == 0 ? 0 : sums[channel].value() / static_cast<double>(count);
}

double ChannelFigures::variance(size_t channel) const {
  if (count == 0) return 0;
  return std::max(squares[channel].value() / static_cast<double>(count) - mean(channel) * mean(channel), 0.0);
}

void add_position(Ranges* ranges, int64_t position) {
  const auto after = std::upper_bound(ranges->begin(), ranges->end(), std::pair(position, INT64_MAX));
  const bool joins_before = after != ranges->begin() && std::prev(after)->second == position;
  const bool joins_after = after != ranges->end() && after->first == position + 1;
  if (joins_before && joins_after) {
    std::prev(after)->second = after->second;
    ranges->erase(after);
  } else if (joins_before) {
    ++std::prev(after)->second;
  } else if (joins_after) {
    --after->first;
  } else {
    ranges->insert(after, {position, position + 1});
  }
}

bool holds_position(const Ranges& ranges, int64_t position) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), std::pair(position, INT64_MAX));
  return after != ranges.begin() && position < std::prev(after)->second;
}

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
