// Softmax, means and LayerNormalization in their stated forms: the reference's bits are those of its loops, and both are near the exact functions.
#include <cmath>
#include <numeric>

#include "unit/ops/lowering_check.h"
#include "unit/ops/reference_check.h"

namespace dnn {
namespace {

Node stated(const char* op, const std::vector<const Tensor*>& inputs, const Attributes& attributes = {}) {
  Node node = test_node(op, inputs, attributes);
  node.domain = kInternalDomain;
  return node;
}

// How far rows of results are from what `exact` gives for the rows of x.
template <class Exact>
double furthest(const Tensor& x, const Tensor& y, const Exact& exact) {
  const int64_t size = x.shape().back(), step = y.shape().back();
  double result = 0;
  for (int64_t r = 0; r < x.size() / size; ++r) {
    const std::vector<double> row(x.data<float>() + r * size, x.data<float>() + (r + 1) * size), right = exact(row);
    for (int64_t i = 0; i < step; ++i)
      result = std::max(result, std::abs(right[i] - static_cast<double>(y.data<float>()[r * step + i])));
  }
  return result;
}

double mean_of(const std::vector<double>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
}

TEST(StatedRows, SoftmaxIsNearTheExactOne) {
  for (const int64_t size : {1, 7, 16, 197, 3000, 9001}) {
    Tensor x = random_tensor(DType::Float32, {2, 3, size});
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] *= i % 5 == 0 ? 50 : 3;
    for (const float scale : {1.0F, 0.125F}) {
      const Tensor y = check_lowering(stated("StatedSoftmax", {&x}, {{"scale", scale}}), {&x})[0];
      const double off = furthest(x, y, [&](std::vector<double> row) {
        const double best = *std::max_element(row.begin(), row.end());
        for (double& v : row) v = std::exp((v - best) * scale);
        const double sum = std::accumulate(row.begin(), row.end(), 0.0);
        for (double& v : row) v /= sum;
        return row;
      });
      EXPECT_LT(off, 4e-6) << size;
    }
  }
}

// Each probability is right relative to itself, and one that is masked is 0.
TEST(StatedRows, SoftmaxMayBeRightRelativeToItself) {
  for (const int64_t size : {1, 7, 16, 197, 3000, 9001}) {
    Tensor x = random_tensor(DType::Float32, {6, size});
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] *= 15;
    if (size > 1) x.mutable_data<float>()[1] = -std::numeric_limits<float>::infinity();
    Node node = stated("StatedSoftmax", {&x}, {{"scale", 0.75F}});
    node.attributes["relative"] = int64_t{1};
    const Tensor y = check_lowering(node, {&x})[0];
    for (int64_t r = 0; r < 6; ++r) {
      double sum = 0, furthest = 0;
      const float *row = x.data<float>() + r * size, *result = y.data<float>() + r * size;
      const double best = *std::max_element(row, row + size);
      for (int64_t i = 0; i < size; ++i) sum += std::exp((static_cast<double>(row[i]) - best) * 0.75);
      for (int64_t i = 0; i < size; ++i) {
        const double exact = std::exp((static_cast<double>(row[i]) - best) * 0.75) / sum;
        furthest = std::max(furthest, std::abs(static_cast<double>(result[i]) - exact) / std::max(exact, 1e-30));
      }
      EXPECT_LT(furthest, 3e-6) << size;
      EXPECT_TRUE(size == 1 || r > 0 || result[1] == 0) << result[1];
    }
  }
}

TEST(StatedRows, MeansAndNormsAreNearTheExactOnes) {
  for (const int64_t size : {1, 5, 16, 33, 192, 1000, 9001}) {
    const Tensor x = random_tensor(DType::Float32, {3, 5, size}), scale = random_tensor(DType::Float32, {size}, 2),
                 bias = random_tensor(DType::Float32, {size}, 3);
    const Tensor mean = check_lowering(stated("StatedMean", {&x}), {&x})[0];
    EXPECT_EQ(mean.shape(), (Shape{3, 5, 1}));
    EXPECT_LT(furthest(x, mean, [](const std::vector<double>& row) { return std::vector<double>{mean_of(row)}; }), 1e-7)
        << size;
    const Tensor sum = check_lowering(stated("StatedSum", {&x}), {&x})[0];
    EXPECT_EQ(sum.shape(), (Shape{3, 5, 1}));
    const auto sum_of = [](const std::vector<double>& row) {
      return std::vector<double>{mean_of(row) * static_cast<double>(row.size())};
    };
    EXPECT_LT(furthest(x, sum, sum_of), 1e-7 * static_cast<double>(size)) << size;
    for (const Tensor* b : {&bias, static_cast<const Tensor*>(nullptr)}) {
      const Tensor y = check_lowering(stated("StatedLayerNormalization", {&x, &scale, b}), {&x, &scale, b})[0];
      const double off = furthest(x, y, [&](std::vector<double> row) {
        const double middle = mean_of(row);
        double squares = 0;
        for (const double v : row) squares += (v - middle) * (v - middle);
        const double inverse = 1 / std::sqrt(squares / static_cast<double>(row.size()) + static_cast<double>(1e-5F));
        for (size_t i = 0; i < row.size(); ++i)
          row[i] = (row[i] - middle) * inverse * static_cast<double>(scale.data<float>()[i]) +
                   (b == nullptr ? 0.0 : static_cast<double>(b->data<float>()[i]));
        return row;
      });
      EXPECT_LT(off, 2e-6) << size;
    }
  }
}

// A row of no variance is its own mean, so that nothing is left of it but the bias.
TEST(StatedRows, RowsOfOneNumber) {
  const Tensor x = Tensor::of<float>({1, 4}, {3, 3, 3, 3}), scale = Tensor::of<float>({4}, {1, 2, 3, 4});
  const Tensor y = check_lowering(stated("StatedLayerNormalization", {&x, &scale}), {&x, &scale})[0];
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(y.data<float>()[i], 0);
  const Tensor none(DType::Float32, {0, 4});
  EXPECT_EQ(check_lowering(stated("StatedSoftmax", {&none}), {&none})[0].shape(), (Shape{0, 4}));
}

}  // namespace
}  // namespace dnn
