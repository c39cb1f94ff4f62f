// Peaks of the processor: measured in a moment, and plausible.
#include "devices/peaks.h"

#include <gtest/gtest.h>

#include <chrono>

#include "target/isa.h"

namespace dnn {
namespace {

TEST(Peaks, AreMeasuredInAMoment) {
  for (const std::string& isa : supported_isas()) {
    const auto start = std::chrono::steady_clock::now();
    const Peaks peaks = measure_peaks(isa, 2);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
    EXPECT_EQ(peaks.isa, isa);
    EXPECT_EQ(peaks.threads, 2);
    EXPECT_GT(peaks.gflops, 0.1) << isa;
    EXPECT_LT(peaks.gflops, 2000) << isa;
    EXPECT_GT(peaks.gbytes_per_s, 0.1) << isa;
    EXPECT_LT(peaks.gbytes_per_s, 2000) << isa;
  }
}

}  // namespace
}  // namespace dnn
