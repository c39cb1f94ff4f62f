// Packages of several variants.
#include <gtest/gtest.h>

#include "base/cpu.h"
#include "base/io.h"
#include "cache.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "graph/text.h"
#include "package/file.h"
#include "package/join.h"
#include "target/isa.h"

namespace dnn {
namespace {

const PackageKey kKey{std::string(32, 'k')};

CompileOptions options_for(const std::string& isa, const std::string& changes = "") {
  CompileOptions options;
  options.isas = {isa};
  options.pass_changes = changes;
  options.build.cache_folder = test_cache();
  return options;
}

bool runs_here(const std::string& isa) {
  const std::vector<std::string> here = supported_isas();
  return std::find(here.begin(), here.end(), isa) != here.end();
}

Graph two_layers() {
  return parse_graph(R"(graph "two layers" {
  opset 28
  input x: float32[1,16,9,9]
  const w1: float32[32,16,3,3] = random(1)
  const b1: float32[32] = random(2)
  const w2: float32[500,32] = random(3)
  c = Conv(x, w1, b1) {pads = [1, 1, 1, 1]}
  r = Relu(c)
  p = GlobalAveragePool(r)
  f = Flatten(p)
  y = Gemm(f, w2) {transB = 1}
  output y
})");
}

Tensor numbers(const Shape& shape) {
  Tensor x(DType::Float32, shape);
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>((i * 37 + 11) % 23) / 23;
  return x;
}

Package read_back(const Package& package) {
  StringSink sink;
  write_package(package, sink, kKey);
  const auto bytes = std::make_shared<const std::string>(sink.take());
  const OpenedPackage opened = parse_package(as_bytes(*bytes), bytes, kKey);
  EXPECT_TRUE(opened.trusted);
  return *opened.package;
}

std::vector<std::string> layouts_of(const Variant& variant) {
  std::vector<std::string> layouts;
  for (const Placement& value : variant.values) layouts.push_back(value.layout);
  return layouts;
}

// As int8 wants other layouts than float32: a file may hold both, each runs by its name, and the best is taken.
TEST(Variants, OfOtherLayoutsAndStepsRunFromOneFile) {
  if (!runs_here("avx512")) GTEST_SKIP() << "no AVX-512 here";
  const Graph graph = two_layers();
  const Tensor x = numbers({1, 16, 9, 9});
  Package package = compile(graph, options_for("avx512"));
  const Package other = compile(graph, options_for("avx2", "-alter-op-layout,-fuse-ops"));
  const std::vector<Tensor> wide = open_session("cpu", std::make_shared<Package>(package))->run({x});
  const std::vector<Tensor> narrow = open_session("cpu", std::make_shared<Package>(other))->run({x});
  const size_t own = package.constants.size();
  add_variants(&package, other);
  EXPECT_LT(package.constants.size(), own + other.constants.size());  // the biases of both are the same
  const auto read = std::make_shared<const Package>(read_back(package));
  ASSERT_EQ(read->variants.size(), 2u);
  EXPECT_NE(layouts_of(read->variants[0]), layouts_of(read->variants[1]));
  EXPECT_NE(read->variants[0].steps.size(), read->variants[1].steps.size());
  EXPECT_EQ(read->constants.size(), package.constants.size());
  const auto run = [&](const std::string& isa) {
    const std::unique_ptr<Session> session = open_session("cpu", read, {.threads = 2, .isa = isa});
    EXPECT_EQ(&session->graph(), session->variant().graph.get());
    EXPECT_EQ(session->isa(), isa.empty() ? "avx512" : isa);
    return session->run({x})[0];
  };
  EXPECT_TRUE(run("avx512").identical(wide[0]));
  EXPECT_TRUE(run("").identical(wide[0]));
  EXPECT_TRUE(run("avx2").identical(narrow[0]));
}

TEST(Variants, OfAnotherModelAreNotJoined) {
  Package package = interpreted_package(parse_graph("graph \"a\" {\n opset 28\n input x: float32[1]\n output x\n}\n"));
  const Package other =
      interpreted_package(parse_graph("graph \"b\" {\n opset 28\n input x: float32[2]\n output x\n}\n"));
  EXPECT_THROW(add_variants(&package, other), Error);
  EXPECT_EQ(package.variants.size(), 1u);
}

// Targets of one level and element type share graph and constants, however many they are.
TEST(Variants, OfOneCompilationShareTheirConstants) {
  CompileOptions options = options_for("x86-64");
  const Package one = compile(two_layers(), options);
  options.isas = {"x86-64", "avx2"};
  const Package two = compile(two_layers(), options);
  ASSERT_EQ(two.variants.size(), 2u);
  EXPECT_EQ(two.variants[0].graph, two.variants[1].graph);
  EXPECT_EQ(two.constants.size(), one.constants.size());
}

}  // namespace
}  // namespace dnn
