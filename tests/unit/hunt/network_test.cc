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

namespace dnn::hunt {
namespace {

std::vector<Tensor> inputs_of(const Graph& graph, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (ValueId v : graph.inputs) {
    const Type& type = graph.value(v).type;
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

// Every recipe makes networks that verify, infer the types that they say, and run to finite numbers.
TEST(RandomNetwork, IsValidAndRuns) {
  std::set<std::string> ops;
  for (const KindRow& row : kinds()) {
    for (uint64_t seed = 0; seed < 150; ++seed) {
      SCOPED_TRACE(row.name + std::string(" ") + std::to_string(seed));
      Graph graph = random_network({.seed = seed, .kind = row.kind});
      ASSERT_NO_THROW(verify(graph));
      ASSERT_NO_THROW(infer_types(graph));
      for (NodeId id : graph.order()) ops.insert(graph.node(id).op);
      std::vector<Tensor> outputs;
      ASSERT_NO_THROW(outputs = interpret(graph, inputs_of(graph, seed)));
      ASSERT_EQ(outputs.size(), graph.outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_EQ(outputs[i].shape(), graph.value(graph.outputs[i]).type.fixed_shape());
        for (double x : to_doubles(outputs[i])) ASSERT_TRUE(std::isfinite(x)) << graph.value(graph.outputs[i]).name;
      }
    }
  }
  EXPECT_GT(ops.size(), 110U);  // none of the recipes has fallen asleep
}

}  // namespace
}  // namespace dnn::hunt
