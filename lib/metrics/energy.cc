// Energy per sample, in millijoules: the processors' (with their memory, where it is counted apart) and the GPUs'.
#include "metrics/metric.h"
#include "metrics/spent.h"

namespace dnn::metrics {
namespace {

class Energy : public RunMetric {
 public:
  void begin_span() override {
    processors_.begin_span();
    gpus_.begin_span();
  }
  void add(const Outcome&) override {
    processors_.add_sample();
    gpus_.add_sample();
  }
  void add_usage(const stream::Usage& usage) override {
    processors_.add(usage.energy_mj);
    gpus_.add(usage.gpu_energy_mj);
  }
  void result(Values* values) const override {
    if (const std::optional<double> mj = processors_.per_sample()) (*values)["energy"] = *mj;
    if (const std::optional<double> mj = gpus_.per_sample()) (*values)["gpu_energy"] = *mj;
  }

 private:
  Spent processors_, gpus_;
};

}  // namespace

std::unique_ptr<RunMetric> make_energy() { return std::make_unique<Energy>(); }

}  // namespace dnn::metrics
