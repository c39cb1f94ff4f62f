// Things that the tests of lib/quant share: small networks, samples, options.
#pragma once
#include <string>
#include <vector>

#include "cache.h"
#include "graph/text.h"
#include "ops/op.h"
#include "quant/quantize.h"

namespace dnn::quant {

inline Graph parsed(const std::string& body) {
  Graph graph = parse_graph("graph \"net\" {\n  opset 28\n" + body + "}\n");
  infer_types(graph);
  return graph;
}

// The samples that a vector holds; their classes where they are given.
class Given : public SampleSource {
 public:
  explicit Given(std::vector<Tensor> samples, std::vector<int64_t> truths = {}, bool counted = true)
      : samples_(std::move(samples)), truths_(std::move(truths)), counted_(counted) {}
  std::optional<int64_t> count() const override {
    return counted_ ? std::optional(static_cast<int64_t>(samples_.size())) : std::nullopt;
  }
  std::optional<Load> next() override {
    if (at_ == samples_.size()) return std::nullopt;
    LoadedSample sample;
    sample.id = static_cast<int64_t>(at_);
    if (!truths_.empty()) sample.truth = truths_[at_];
    sample.inputs = {samples_[at_++]};
    return [sample] { return sample; };
  }

 private:
  std::vector<Tensor> samples_;
  std::vector<int64_t> truths_;
  bool counted_;
  size_t at_ = 0;
};

inline std::vector<Tensor> random_samples(const Shape& shape, int n, double shift = 0, uint32_t seed = 1) {
  std::vector<Tensor> samples;
  uint32_t state = seed;
  for (int i = 0; i < n; ++i) {
    Tensor sample(DType::Float32, shape);
    float* out = sample.mutable_data<float>();
    for (int64_t k = 0; k < sample.size(); ++k) {
      state = state * 1664525 + 1013904223;
      out[k] = static_cast<float>(static_cast<double>(state >> 8) / (1 << 23) - 1 + shift);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

inline QuantizeOptions options(int threads = 1) {
  QuantizeOptions o;
  o.calibrate.threads = threads;
  o.calibrate.compile.build.cache_folder = test_cache();
  return o;
}

inline constexpr const char* kResidual = R"(
  input x: float32[batch,3,8,8]
  const w: float32[8,3,3,3] = random(1)
  const b: float32[8] = random(2)
  const v: float32[8,8,1,1] = random(3)
  const g: float32[4,8] = random(4)
  c = Conv(x, w, b) @conv {pads = [1, 1, 1, 1]}
  r = Relu(c) @relu
  d = Conv(r, v) @pointwise
  a = Add(d, r) @add
  s = Swish(a) @swish
  p = GlobalAveragePool(s) @pool
  f = Flatten(p) @flatten
  y = Gemm(f, g) @head {transB = 1}
  output y
)";

// The second channel of the middle layer's weights shares a scale with one 1,000 times as large: it is lost.
inline constexpr const char* kCoarse = R"(
  input x: float32[1,4,6,6]
  const w: float32[4,4,1,1] = random(1)
  const v: float32[4,4,1,1] = {1000, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
  const t: float32[4,4,1,1] = {0.001, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
  const g: float32[6,4] = random(5)
  a = Conv(x, w) @first
  b = Conv(a, v) @spread
  c = Conv(b, t) @gather
  p = GlobalAveragePool(c) @pool
  f = Flatten(p) @flatten
  y = Gemm(f, g) @head {transB = 1}
  output y
)";

}  // namespace dnn::quant
