// Processors: how much of them a run took, all its processes together; and how busy the GPUs were.
#include <cmath>

#include "metrics/metric.h"
#include "metrics/spent.h"

namespace dnn::metrics {
namespace {

constexpr double kMsPerNs = 1e-6;

class Processors : public RunMetric {
 public:
  void begin_span() override {
    cpu_.begin_span();
    wall_.begin_span();
    last_ns_.reset();
  }
  void add(const Outcome&) override {
    cpu_.add_sample();
    wall_.add_sample();
  }
  void add_usage(const stream::Usage& usage) override {
    std::optional<double> time_ns;
    if (usage.process.cpu_time_ns && (!usage.network || usage.network->cpu_time_ns)) {
      time_ns = static_cast<double>(*usage.process.cpu_time_ns);
      if (usage.network) *time_ns += static_cast<double>(*usage.network->cpu_time_ns);
    }
    const auto now_ns = static_cast<double>(usage.time_ns);
    cpu_.add(time_ns);
    if (time_ns) wall_.add(now_ns);
    // A record's percentage is of the time since the one before.
    if (usage.gpu_percent && std::isfinite(*usage.gpu_percent) && last_ns_ && now_ns > *last_ns_) {
      gpu_ns_ += *usage.gpu_percent * (now_ns - *last_ns_);
      gpu_wall_ns_ += now_ns - *last_ns_;
    }
    last_ns_ = now_ns;
  }
  void result(Values* values) const override {
    if (wall_.total() > 0 && cpu_.total() > 0) (*values)["cpu_percent"] = 100 * cpu_.total() / wall_.total();
    if (const std::optional<double> time_ns = cpu_.per_sample()) (*values)["cpu_time"] = *time_ns * kMsPerNs;
    if (gpu_wall_ns_ > 0) (*values)["gpu_percent"] = gpu_ns_ / gpu_wall_ns_;
  }

 private:
  Spent cpu_, wall_;
  std::optional<double> last_ns_;
  double gpu_ns_ = 0, gpu_wall_ns_ = 0;
};

}  // namespace

std::unique_ptr<RunMetric> make_processors() { return std::make_unique<Processors>(); }

}  // namespace dnn::metrics
