// DFT and STFT: round trips and single frequencies, and what they refuse.
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

TEST(Dft, InverseUndoesForward) {
  for (int64_t n : {1, 2, 5, 8}) {
    const Tensor x = random_tensor(DType::Float64, {2, n, 3, 2}), axis = Tensor::scalar(int64_t{1});
    const std::vector<const Tensor*> inputs = {&x, nullptr, &axis};
    const Tensor spectrum = run_reference(test_node("DFT", inputs), inputs)[0];
    const std::vector<const Tensor*> back_inputs = {&spectrum, nullptr, &axis};
    const Tensor back = run_reference(test_node("DFT", back_inputs, {{"inverse", int64_t{1}}}), back_inputs)[0];
    for (int64_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back.data<double>()[i], x.data<double>()[i], 1e-14);

    const Tensor real = random_tensor(DType::Float64, {2, n, 1}), length = Tensor::scalar(n);
    const Attributes half = {{"onesided", int64_t{1}}}, half_back = {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}};
    const Tensor bins = run_reference(test_node("DFT", {&real}, half), {&real})[0];
    ASSERT_EQ(bins.shape(), (Shape{2, n / 2 + 1, 2}));
    const Tensor again = run_reference(test_node("DFT", {&bins, &length}, half_back), {&bins, &length})[0];
    ASSERT_EQ(again.shape(), real.shape());
    for (int64_t i = 0; i < real.size(); ++i) EXPECT_NEAR(again.data<double>()[i], real.data<double>()[i], 1e-14);
  }
}

TEST(Stft, FindsAFrequencyInEveryFrame) {
  Tensor signal(DType::Float64, {1, 20, 1});
  for (int64_t i = 0; i < 20; ++i)
    signal.mutable_data<double>()[i] = std::cos(2 * 3.14159265358979323846 * 2 * static_cast<double>(i) / 8);
  const Tensor step = Tensor::scalar(int64_t{4}), length = Tensor::scalar(int64_t{8}),
               none = Tensor::scalar(int64_t{0});
  const std::vector<const Tensor*> inputs = {&signal, &step, nullptr, &length};
  const Tensor y = run_reference(test_node("STFT", inputs), inputs)[0];
  ASSERT_EQ(y.shape(), (Shape{1, 4, 5, 2}));
  for (int64_t f = 0; f < 4; ++f) {
    for (int64_t k = 0; k < 5; ++k) EXPECT_NEAR(y.data<double>()[(f * 5 + k) * 2], k == 2 ? 4 : 0, 1e-13);
  }
  const std::vector<const Tensor*> still = {&signal, &none, nullptr, &length};
  EXPECT_THROW(run_reference(test_node("STFT", still), still), Error);
}

TEST(Dft, RefusesWhatHasNoSpectrum) {
  const Tensor x(DType::Float32, {2, 4, 3}), ok(DType::Float32, {2, 4, 1}), last = Tensor::scalar(int64_t{2}),
                                                                            negative = Tensor::scalar(int64_t{-4});
  EXPECT_THROW(run_reference(test_node("DFT", {&x}), {&x}), Error);
  EXPECT_THROW(run_reference(test_node("DFT", {&ok, nullptr, &last}), {&ok, nullptr, &last}), Error);
  EXPECT_THROW(run_reference(test_node("DFT", {&ok, &negative}), {&ok, &negative}), Error);
}

}  // namespace
}  // namespace dnn
