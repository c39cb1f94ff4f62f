// Matrix products of the reference kernels: every instruction set sums as a plain loop does, to the bit.
#include "ops/multiply.h"

#include <gtest/gtest.h>

#include <array>

#include "base/threads.h"
#include "target/isa.h"

namespace dnn {
namespace {

template <class T>
std::vector<T> numbers(int64_t n, uint64_t seed) {
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values.push_back(std::is_integral_v<T> ? static_cast<T>(seed >> 7)
                                           : static_cast<T>(static_cast<double>(seed >> 11) * 0x1p-50 - 4));
  }
  return values;
}

template <class T>
void check_panels() {
  constexpr int64_t kColumns = kPanelColumns<T>;
  for (const int64_t depth : {0, 1, 2, 37}) {
    const std::vector<T> factors = numbers<T>(depth * kPanelRows, 1), panel = numbers<T>(depth * kColumns, 2);
    for (const std::string& isa : supported_isas()) {
      for (int64_t rows = 1; rows <= kPanelRows; ++rows) {
        std::vector<T> sums(kPanelRows * kColumns, T(7));
        panel_sums<T>(find_isa(Language::C, isa)->vector_bytes)(factors.data(), depth, panel.data(), rows, depth,
                                                                sums.data());
        for (int64_t i = 0; i < kPanelRows * kColumns; ++i) {
          T sum = i < rows * kColumns ? 0 : 7;  // rows beyond stay as they are
          for (int64_t k = 0; k < depth && i < rows * kColumns; ++k) {
            const T product = factors[static_cast<size_t>(i / kColumns * depth + k)] *
                              panel[static_cast<size_t>(k * kColumns + i % kColumns)];
            sum = sum + product;
          }
          ASSERT_EQ(sums[static_cast<size_t>(i)], sum) << isa << " depth " << depth << " rows " << rows << " at " << i;
        }
      }
    }
  }
}

TEST(Multiply, PanelsSumInOrderOnEveryInstructionSet) {
  check_panels<float>();
  check_panels<double>();
  check_panels<uint32_t>();
  check_panels<uint64_t>();
}

// More rows than are packed at once, more columns than a panel, and remainders of both; operands in any stride.
TEST(Multiply, AllOfAProduct) {
  using Extents = std::array<int64_t, 3>;  // m, n, depth
  for (const Extents& e : {Extents{11, 70, 5}, {3, 1, 9}, {1, 33, 1}, {10, 3, 400000}, {5, 2, 0}}) {
    const int64_t m = e[0], n = e[1], depth = e[2];
    const std::vector<double> a = numbers<double>(m * depth, 3), b = numbers<double>(depth * n, 4);
    const MatrixView<double> left = {a.data(), 1, m}, right = {b.data(), 1, depth};  // both lie by columns
    std::vector<double> made(static_cast<size_t>(m * n), -1);
    multiply<double>(nullptr, m, n, depth, left, right,
                     [&](int64_t i, int64_t j, double sum) { made[static_cast<size_t>(i * n + j)] = sum; });
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += a[static_cast<size_t>(k * m + i)] * b[static_cast<size_t>(j * depth + k)];
        ASSERT_EQ(made[static_cast<size_t>(i * n + j)], sum)
            << m << "x" << n << "x" << depth << " at " << i << ", " << j;
      }
    }
  }
}

// Shared out by panels and, where there are few, by rows.
TEST(Multiply, TheSameOnAnyNumberOfThreads) {
  for (const std::array<int64_t, 3>& e : {std::array<int64_t, 3>{20, 700, 50}, {300, 40, 50}}) {
    const int64_t m = e[0], n = e[1], depth = e[2];
    const std::vector<float> a = numbers<float>(m * depth, 3), b = numbers<float>(depth * n, 4);
    const MatrixView<float> left = {a.data(), depth, 1}, right = {b.data(), n, 1};
    std::vector<float> alone;
    for (int threads : {1, 2, 7}) {
      ThreadPool pool(threads);
      std::vector<float> made(static_cast<size_t>(m * n), -1);
      multiply<float>(&pool, m, n, depth, left, right,
                      [&](int64_t i, int64_t j, float sum) { made[static_cast<size_t>(i * n + j)] = sum; });
      if (threads == 1) alone = made;
      EXPECT_EQ(made, alone) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace dnn
