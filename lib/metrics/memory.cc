// Memory at its peak, in MiB: of the process that ran the network, and of the GPUs.
#include <algorithm>

#include "metrics/metric.h"

namespace dnn::metrics {
namespace {

class Memory : public RunMetric {
 public:
  void add(const Outcome&) override {}
  void add_usage(const stream::Usage& usage) override {
    const stream::ProcessUsage& process = usage.network ? *usage.network : usage.process;
    peak_ = std::max({peak_, process.memory_peak_bytes.value_or(0), process.memory_bytes.value_or(0)});
    gpu_peak_ = std::max(gpu_peak_, usage.gpu_memory_bytes.value_or(-1));
  }
  void result(Values* values) const override {
    constexpr double kMiB = 1 << 20;
    if (peak_ > 0) (*values)["memory_peak"] = static_cast<double>(peak_) / kMiB;
    if (gpu_peak_ >= 0) (*values)["gpu_memory_peak"] = static_cast<double>(gpu_peak_) / kMiB;
  }

 private:
  int64_t peak_ = 0, gpu_peak_ = -1;
};

}  // namespace

std::unique_ptr<RunMetric> make_memory() { return std::make_unique<Memory>(); }

}  // namespace dnn::metrics
