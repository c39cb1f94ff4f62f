// Whether the times of two runs differ: Mann-Whitney over all samples of each, Wilcoxon over those that both timed.
#include "metrics/metric.h"
#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

class TimeTests : public PairMetric {
 public:
  void begin(const Times& base, const Times& other) override {
    if (const std::optional<RankTest> test = mann_whitney(base, other)) mann_whitney_ = *test;
    paired_ = !base.empty() && !other.empty();
  }

  void add(const Meeting& m) override {
    if (paired_ && m.base.latency_ns && m.other.latency_ns) {
      differences_.push_back(*m.other.latency_ns - *m.base.latency_ns);
    }
  }

  void result(Values* values) const override {
    if (mann_whitney_) state("mann_whitney", *mann_whitney_, values);
    if (const std::optional<RankTest> test = wilcoxon(differences_)) state("wilcoxon", *test, values);
  }

 private:
  static void state(const std::string& name, const RankTest& test, Values* values) {
    (*values)[name + "_p"] = test.p;
    if (test.effect) (*values)[name + "_effect"] = *test.effect;
  }

  bool paired_ = false;
  std::optional<RankTest> mann_whitney_;
  std::vector<int64_t> differences_;  // other less base, ns; neither is negative
};

}  // namespace

std::unique_ptr<PairMetric> make_time_tests() { return std::make_unique<TimeTests>(); }

}  // namespace dnn::metrics
