// What is said of a run's figures.
#include "infer/setup.h"

#include <gtest/gtest.h>

namespace dnn {
namespace {

TEST(ModesWarning, SaysBothAndWhatToDo) {
  const metrics::Values one = {{"latency_modes", 1}, {"latency_mean", 2}};
  EXPECT_EQ(modes_warning(one, false), "");
  const metrics::Values two = {
      {"latency_modes", 2}, {"latency_low_mode", 2.3}, {"latency_high_mode", 3.91}, {"latency_high_share", 39}};
  EXPECT_EQ(
      modes_warning(two, false),
      "latencies have two modes, 2.3 ms (61 %) and 3.91 ms (39 %): the system moves threads, something else runs, "
      "or the speed changes; try --affinity");
  EXPECT_EQ(modes_warning(two, true).find("--affinity"), std::string::npos);
}

}  // namespace
}  // namespace dnn
