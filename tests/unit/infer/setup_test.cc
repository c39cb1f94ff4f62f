// What is said of a run's figures.
#include "infer/setup.h"

#include <gtest/gtest.h>

#include "cache.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "graph/text.h"
#include "ops/op.h"

namespace dnn {
namespace {

// As the stream's header has it, on a device that interprets and on one that compiles.
std::string precision_of(const std::string& body, const std::string& device) {
  Graph graph = parse_graph("graph \"net\" {\n  opset 21\n" + body + "}\n");
  infer_types(graph);
  CompileOptions options;
  options.device = device;
  options.build.cache_folder = test_cache();
  const auto package = std::make_shared<const Package>(compile(graph, options));
  return make_header(*open_session(device, package, {.threads = 1, .isa = {}}), {}, device, {}, {}, {}).dtype;
}

TEST(Header, SaysWhatPrecisionRan) {
  const char* const qlinear = R"(
  input x: uint8[1,4,6,6]
  const s: float32[] = {0.5}
  const z: uint8[] = {128}
  const w: int8[4,4,3,3] = random(1)
  const t: float32[] = {0.25}
  const o: int8[] = {0}
  y = QLinearConv(x, s, z, w, t, o, s, z)
  output y
)";
  const char* const integers = R"(
  input x: int32[1,8]
  const k: int32[8] = {1, 2, 3, 4, 5, 6, 7, 8}
  a = Add(x, k)
  y = Mul(a, k)
  output y
)";
  const char* const moved = "  input x: int64[1,3,8]\n  y = Transpose(x) {perm = [0, 2, 1]}\n  output y\n";
  const char* const random =
      "  input x: float32[1,8]\n  r = RandomUniform() {shape = [1, 8], seed = 1.0}\n"
      "  y = Add(x, r)\n  output y\n";
  const char* const halves = "  input x: float16[1,8]\n  y = Mul(x, x)\n  output y\n";
  for (const char* device : {"reference", "cpu"}) {
    EXPECT_EQ(precision_of(qlinear, device), "int8") << device;
    EXPECT_EQ(precision_of(integers, device), "int32") << device;
    EXPECT_EQ(precision_of(moved, device), "int64") << device;
    EXPECT_EQ(precision_of(random, device), "float32") << device;
    EXPECT_EQ(precision_of(halves, device), "float16") << device;
  }
}

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
