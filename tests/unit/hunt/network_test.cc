// Random networks: each is valid, follows from its seed, and its numbers stay where rounding is all that may differ.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "graph/tensor_text.h"
#include "graph/text.h"
#include "hunt/network.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "unit/quant/cases.h"

namespace dnn::hunt {
namespace {

std::vector<Tensor> inputs_of(const Graph& graph, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (ValueId v : graph.inputs) {
    Type type = graph.value(v).type;
    for (Dim& dim : *type.shape) dim = dim.fixed() ? dim : Dim(1);
    inputs.push_back(random_tensor(type.dtype, type.fixed_shape(), seed++));
  }
  return inputs;
}

TEST(RandomNetwork, IsWhatItsSeedSays) {
  const NetworkOptions options = {.seed = 5};
  const TextOptions all = {.inline_all = true};
  EXPECT_EQ(to_text(random_network(options), all), to_text(random_network(options), all));
  EXPECT_NE(to_text(random_network(options), all), to_text(random_network({.seed = 6}), all));
}

// The tensor has that type; any extent suits an open one.
bool agrees(const Type& type, const Tensor& tensor) {
  if (type.dtype != tensor.dtype() || type.shape->size() != static_cast<size_t>(tensor.rank())) return false;
  for (size_t i = 0; i < type.shape->size(); ++i) {
    if ((*type.shape)[i].fixed() && (*type.shape)[i].size != tensor.dim(static_cast<int64_t>(i))) return false;
  }
  return true;
}

// Every recipe makes networks that verify, infer the types that they say, and run to finite numbers.
TEST(RandomNetwork, IsValidAndRuns) {
  std::set<std::string> ops;
  for (const KindRow& row : kinds()) {
    for (uint64_t seed = 0; seed < 150; ++seed) {
      const DType real = seed % 10 == 3   ? DType::Float64
                         : seed % 10 == 6 ? DType::Float16
                         : seed % 10 == 9 ? DType::BFloat16
                                          : DType::Float32;
      SCOPED_TRACE(row.name + std::string(" ") + std::to_string(seed));
      Graph graph = random_network({.seed = seed, .kind = row.kind, .real = real, .open = seed % 7 == 2});
      ASSERT_NO_THROW(verify(graph));
      ASSERT_NO_THROW(infer_types(graph));
      for (NodeId id : graph.order()) ops.insert(graph.node(id).op);
      std::vector<Tensor> outputs;
      ASSERT_NO_THROW(outputs = interpret(graph, inputs_of(graph, seed)));
      ASSERT_EQ(outputs.size(), graph.outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_TRUE(agrees(graph.value(graph.outputs[i]).type, outputs[i]));
        for (double x : to_doubles(outputs[i])) ASSERT_TRUE(std::isfinite(x)) << graph.value(graph.outputs[i]).name;
      }
      // In float64, too, which tells what rounding does to it.
      std::vector<Tensor> inputs = inputs_of(graph, seed), exact;
      for (Tensor& input : inputs) input = is_widened(input.dtype()) ? convert(input, DType::Float64) : input;
      ASSERT_NO_THROW(exact = interpret(widen_to_float64(graph), inputs));
      for (size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(exact[i].shape(), outputs[i].shape());
    }
  }
  EXPECT_GT(ops.size(), 117U);  // none of the recipes has fallen asleep
}

// The passes of each level leave what a network computes, and under sanitizers read nothing that is not there.
TEST(RandomNetwork, IsTheSameBehindPasses) {
  for (const KindRow& row : kinds()) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const DType real = seed % 10 == 3 ? DType::Float64 : DType::Float32;
      const Graph graph =
          random_network({.seed = seed, .kind = row.kind, .steps = 15, .real = real, .open = seed % 7 == 2});
      const std::vector<Tensor> inputs = inputs_of(graph, seed), before = interpret(graph, inputs);
      for (int level = 1; level <= 4; ++level) {
        SCOPED_TRACE(cat(row.name, " ", seed, " -O", level));
        Graph after = graph;
        infer_types(after);
        PassOptions options;
        options.target = any_target(level);
        ASSERT_NO_THROW(run_passes(after, options));
        const std::vector<Tensor> now = interpret(after, inputs);
        for (size_t i = 0; i < before.size(); ++i) {
          const std::vector<double> a = to_doubles(before[i]), b = to_doubles(now[i]);
          ASSERT_EQ(a.size(), b.size());
          double largest = 1;
          for (double x : a) largest = std::max(largest, std::abs(x));
          for (size_t k = 0; k < a.size(); ++k)
            ASSERT_NEAR(a[k], b[k], 1e-4 * largest) << graph.value(graph.outputs[i]).name;
        }
      }
    }
  }
}

TEST(RandomNetwork, CanBeQuantised) {
  int quantised = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {  // each is compiled for its calibration
    SCOPED_TRACE(seed);
    const Graph graph = random_network({.seed = seed, .kind = kinds()[seed % kinds().size()].kind, .steps = 15});
    if (graph.inputs.size() != 1) continue;
    quant::Given samples({inputs_of(graph, 1)[0], inputs_of(graph, 2)[0]});
    quant::QuantizeReport report;
    try {
      const Graph after = quant::quantize(quant::prepare(graph), samples, quant::options(), &report);
      ASSERT_NO_THROW(verify(after));
      EXPECT_EQ(interpret(after, inputs_of(graph, 3)).size(), graph.outputs.size());
      ++quantised;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Unsupported) << e.what();  // no operator that can be quantised
    }
  }
  EXPECT_GE(quantised, 3);
}

}  // namespace
}  // namespace dnn::hunt
