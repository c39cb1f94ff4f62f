// A bound on what tensors take together: in one thread, at once, while it lives.
#include "tensor/budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace dnn {
namespace {

constexpr int64_t kMiB = 1 << 20;

Tensor of_bytes(int64_t n) { return {DType::UInt8, {n}}; }

std::string over_budget(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::Unsupported ? error.what() : "another kind";
  }
  return "none";
}

TEST(TensorBudget, RefusesWhatIsTooMuchAtOnce) {
  const TensorBudget budget(4 * kMiB);
  const Tensor first = of_bytes(3 * kMiB);
  EXPECT_EQ(over_budget([] { of_bytes(2 * kMiB); }),
            "running it takes more than 5 MB of memory; --max-memory BYTES allows more");
  EXPECT_EQ(over_budget([] { of_bytes(kMiB / 2); }), "none") << "what is refused does not count";
}

TEST(TensorBudget, CountsDownWhatEnds) {
  const TensorBudget budget(4 * kMiB);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(over_budget([] { of_bytes(3 * kMiB); }), "none");
    EXPECT_EQ(over_budget([] { of_bytes(1000); }), "none");
  }
}

TEST(TensorBudget, CountsSmallOnes) {
  const TensorBudget budget(100000);
  std::vector<Tensor> held;
  EXPECT_NE(over_budget([&] {
              for (int i = 0; i < 200; ++i) held.push_back(of_bytes(1000));
            }),
            "none");
  EXPECT_EQ(held.size(), 100u);
}

TEST(TensorBudget, IsOfItsThreadAndItsTime) {
  const Tensor before = of_bytes(3 * kMiB);
  Tensor within;
  {
    const TensorBudget budget(4 * kMiB);
    within = of_bytes(3 * kMiB);
    std::thread([] { EXPECT_EQ(over_budget([] { of_bytes(8 * kMiB); }), "none"); }).join();
    {
      const TensorBudget inner(16 * kMiB);
      EXPECT_EQ(over_budget([] { of_bytes(8 * kMiB); }), "none");
    }
    EXPECT_NE(over_budget([] { of_bytes(8 * kMiB); }), "none");
  }
  EXPECT_EQ(over_budget([] { of_bytes(8 * kMiB); }), "none");
  EXPECT_EQ(within.size(), 3 * kMiB) << "what outlives its budget is as any other";
}

}  // namespace
}  // namespace dnn
