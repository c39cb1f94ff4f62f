// RNN, GRU, LSTM: directions, sequence lengths and layouts are told by one another; what is refused.
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

struct RecurrentLayer {
  const char* op;
  int64_t gates;
  int outputs;
};
constexpr RecurrentLayer kLayers[] = {{"RNN", 1, 2}, {"GRU", 3, 2}, {"LSTM", 4, 3}};

// Steps [first, last) of a [S, B, C] tensor, backward where asked, of one sequence of the batch.
Tensor steps(const Tensor& x, int64_t first, int64_t last, int64_t b, bool backward) {
  Tensor part(x.dtype(), {last - first, 1, x.shape().back()});
  const int64_t width = x.shape().back(), batch = x.size() / (x.dim(0) * width);
  for (int64_t t = first; t < last; ++t) {
    const int64_t to = backward ? last - 1 - t : t - first;
    std::copy_n(x.data<double>() + (t * batch + b) * width, width, part.mutable_data<double>() + to * width);
  }
  return part;
}

Tensor direction_of(const Tensor& weights, int64_t d) {
  Shape shape = weights.shape();
  shape[0] = 1;
  Tensor part(weights.dtype(), shape);
  std::copy_n(weights.data<double>() + d * part.size(), part.size(), part.mutable_data<double>());
  return part;
}

// A bidirectional run over sequences of different lengths is, per sequence and direction, a forward run of its own steps.
TEST(Recurrent, DirectionsAndLengthsAgreeWithSingleRuns) {
  constexpr int64_t kSteps = 4, kBatch = 3, kInputs = 2, kHidden = 3;
  const int64_t lengths[] = {4, 1, 3};
  const Tensor length = Tensor::of<int32_t>({3}, {4, 1, 3});
  for (const RecurrentLayer& layer : kLayers) {
    const int64_t width = layer.gates * kHidden;
    const Tensor x = random_tensor(DType::Float64, {kSteps, kBatch, kInputs}, 1),
                 w = random_tensor(DType::Float64, {2, width, kInputs}, 2),
                 r = random_tensor(DType::Float64, {2, width, kHidden}, 3),
                 b = random_tensor(DType::Float64, {2, 2 * width}, 4);
    const std::vector<const Tensor*> inputs = {&x, &w, &r, &b, &length};
    const auto both =
        run_reference(test_node(layer.op, inputs, {{"direction", "bidirectional"}}, layer.outputs), inputs);
    ASSERT_EQ(both[0].shape(), (Shape{kSteps, 2, kBatch, kHidden}));
    for (int64_t d = 0; d < 2; ++d) {
      const Tensor wd = direction_of(w, d), rd = direction_of(r, d), bd = direction_of(b, d);
      for (int64_t i = 0; i < kBatch; ++i) {
        const Tensor part = steps(x, 0, lengths[i], i, d == 1);
        const std::vector<const Tensor*> alone = {&part, &wd, &rd, &bd};
        const auto single = run_reference(test_node(layer.op, alone, {}, layer.outputs), alone);
        for (int64_t t = 0; t < kSteps; ++t) {
          for (int64_t k = 0; k < kHidden; ++k) {
            const int64_t at = d == 1 ? lengths[i] - 1 - t : t;
            const double want = t < lengths[i] ? single[0].data<double>()[at * kHidden + k] : 0;
            EXPECT_EQ(both[0].data<double>()[((t * 2 + d) * kBatch + i) * kHidden + k], want) << layer.op;
          }
        }
        for (int64_t k = 0; k < kHidden; ++k) {
          for (size_t o = 1; o < single.size(); ++o)
            EXPECT_EQ(both[o].data<double>()[(d * kBatch + i) * kHidden + k], single[o].data<double>()[k]) << layer.op;
        }
      }
    }
  }
}

// One step by hand: h = tanh(x * w + h0 * r + bw + br).
TEST(Recurrent, ComputesAStep) {
  const Tensor x = Tensor::of<double>({1, 1, 1}, {0.5}), w = Tensor::of<double>({1, 1, 1}, {2}),
               r = Tensor::of<double>({1, 1, 1}, {-1}), b = Tensor::of<double>({1, 2}, {0.25, 0.125}),
               h = Tensor::of<double>({1, 1, 1}, {0.75});
  const std::vector<const Tensor*> inputs = {&x, &w, &r, &b, nullptr, &h};
  EXPECT_EQ(run_reference(test_node("RNN", inputs), inputs)[0].data<double>()[0], std::tanh(1.0 - 0.75 + 0.25 + 0.125));
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  const Tensor x(DType::Float32, {4, 1, 2}), w(DType::Float32, {1, 12, 2}), r(DType::Float32, {1, 12, 3}),
      wrong(DType::Float32, {1, 12, 4}), too_long = Tensor::of<int32_t>({1}, {5});
  const auto kind = [](const Node& node, const std::vector<const Tensor*>& inputs) {
    try {
      run_reference(node, inputs);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::Internal;
  };
  EXPECT_EQ(kind(test_node("LSTM", {&x, &w, &wrong}), {&x, &w, &wrong}), ErrorKind::Malformed);
  EXPECT_EQ(kind(test_node("LSTM", {&x, &wrong, &r}), {&x, &wrong, &r}), ErrorKind::Malformed);
  EXPECT_EQ(kind(test_node("LSTM", {&x, &w, &r, nullptr, &too_long}), {&x, &w, &r, nullptr, &too_long}),
            ErrorKind::Malformed);
  EXPECT_EQ(kind(test_node("LSTM", {&x, &w, &r}, {{"clip", 1.0f}}), {&x, &w, &r}), ErrorKind::Unsupported);
  const std::vector<std::string> names = {"Sigmoid", "Tanh", "Sine"};
  EXPECT_EQ(kind(test_node("LSTM", {&x, &w, &r}, {{"activations", names}}), {&x, &w, &r}), ErrorKind::Unsupported);
}

}  // namespace
}  // namespace dnn
