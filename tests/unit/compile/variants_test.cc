// Packages of several variants, of state, and with or without the weights of their model.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/cpu.h"
#include "base/file.h"
#include "cache.h"
#include "compile/explain.h"
#include "compile/open.h"
#include "devices/device.h"
#include "graph/text.h"
#include "interp/interpreter.h"
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

const char* const kCounter = R"(graph "counter" {
  opset 28
  input n: int64[1]
  input by: int64[1]
  next = Add(n, by)
  output next
})";

// What a run leaves is what the next one begins with; a tensor that is given begins anew.
TEST(State, CountsOverRuns) {
  for (const std::string device : {"cpu", "reference"}) {
    CompileOptions options = options_for(device == "cpu" ? "x86-64" : "");
    if (device != "cpu") options.isas.clear();
    options.device = device;
    options.state = {{"next", "n"}};
    const auto package = std::make_shared<const Package>(read_back(compile(parse_graph(kCounter), options)));
    EXPECT_EQ(package->variants[0].state, (std::vector<StateAlias>{{0, 0}}));
    const std::unique_ptr<Session> session = open_session(device, package);
    const auto run = [&](const Tensor& n, int64_t by) {
      return session->run({n, Tensor::of<int64_t>({1}, {by})})[0].data<int64_t>()[0];
    };
    EXPECT_THROW(run({}, 1), Error) << device;  // nothing is there yet
    EXPECT_EQ(run(Tensor::of<int64_t>({1}, {40}), 2), 42) << device;
    EXPECT_EQ(run({}, 1), 43) << device;
    EXPECT_EQ(run({}, -3), 40) << device;
    EXPECT_EQ(run(Tensor::of<int64_t>({1}, {7}), 1), 8) << device;
    EXPECT_EQ(run({}, 1), 9) << device;
    EXPECT_EQ(open_session(device, package)
                  ->run({Tensor::of<int64_t>({1}, {0}), Tensor::of<int64_t>({1}, {5})})[0]
                  .data<int64_t>()[0],
              5);  // another session has state of its own
  }
}

// Steps of gradient descent on (w x - y)^2: weights go from run to run in two memories, and what a caller holds stays as it was.
TEST(State, DescendsAGradientInTwoMemories) {
  const char* const text = R"(graph "descent" {
  opset 28
  input w: float32[64,8]
  input x: float32[8,4]
  input y: float32[64,4]
  const rate: float32[] = {0.05}
  p = MatMul(w, x)
  e = Sub(p, y)
  t = Transpose(x) {perm = [1, 0]}
  g = MatMul(e, t)
  d = Mul(g, rate)
  v = Sub(w, d)
  l = ReduceSumSquare(e) {keepdims = 0}
  output l
  output v
})";
  const Graph graph = parse_graph(text);
  CompileOptions options = options_for("x86-64");
  options.opt = 0;  // to the bit as the interpreter
  options.state = {{"v", "w"}};
  const std::unique_ptr<Session> session =
      open_session("cpu", std::make_shared<const Package>(read_back(compile(graph, options))));
  const Tensor x = numbers({8, 4}), y = numbers({64, 4});
  Tensor w = numbers({64, 8});
  std::vector<const std::byte*> memories;
  Tensor held;
  double before = 1e30;
  for (int step = 0; step < 6; ++step) {
    const std::vector<Tensor> expected = interpret(graph, {w, x, y});
    const std::vector<Tensor> got = session->run({step == 0 ? w : Tensor(), x, y});
    EXPECT_TRUE(got[0].identical(expected[0])) << step;
    EXPECT_TRUE(got[1].identical(expected[1])) << step;
    EXPECT_LT(to_doubles(got[0])[0], before) << step;
    before = to_doubles(got[0])[0];
    if (step == 0) held = got[1];
    w = expected[1];
    memories.push_back(got[1].bytes().data());
    if (step == 0) continue;
    EXPECT_NE(memories[static_cast<size_t>(step)], memories[static_cast<size_t>(step) - 1]) << step;
  }
  EXPECT_EQ(memories[3], memories[5]);  // while `held` keeps the first one from being written again
  EXPECT_TRUE(held.identical(interpret(graph, {numbers({64, 8}), x, y})[1]));
}

TEST(State, IsOfOneTypeAndOnePair) {
  const auto refused = [](std::vector<std::pair<std::string, std::string>> state, const char* message) {
    CompileOptions options;
    options.device = "reference";
    options.state = std::move(state);
    try {
      compile(parse_graph(R"(graph "g" {
  opset 28
  input n: int64[1]
  input x: int64[2]
  a = Add(n, n)
  b = Add(x, n)
  output a
  output b
})"),
              options);
      ADD_FAILURE() << message;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Usage);
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
    }
  };
  refused({{"z", "n"}}, "no output 'z'");
  refused({{"a", "z"}}, "no input 'z'");
  refused({{"b", "n"}}, "output 'b' is int64[2], input 'n' is int64[1]");
  refused({{"a", "n"}, {"a", "n"}}, "in another pair");
  Package package = interpreted_package(parse_graph(kCounter));
  package.variants[0].state = {{0, 2}};
  EXPECT_THROW(read_back(package), Error);
}

// Folders of two users, a model and what the first one makes of it.
struct Users {
  TemporaryFolder folder{::testing::TempDir()};
  std::string model = folder.path() + "/net.txt", package = folder.path() + "/net.dnnpkg";

  Users() { write_file(model, to_text(two_layers(), {.inline_all = true})); }
  OpenOptions of(const std::string& user, bool cached) const {
    OpenOptions options;
    options.compile = options_for("x86-64");
    options.key_path = folder.path() + "/" + user + "/key";
    if (cached) options.cache_folder = folder.path() + "/" + user + "/cache";
    return options;
  }
  void make(OpenOptions options, bool keep_source) const {
    options.keep_source = keep_source;
    StringSink sink;
    compile_file(model, options, &sink);
    write_file(package, sink.take());
  }
};

std::string refused_package(const std::string& path, const OpenOptions& options) {
  try {
    open_package(path, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Environment) << e.what();
    return e.what();
  }
  return "";
}

// Weights are in a file once; who needs the model has it beside it, or is told how to get it.
TEST(Source, OfAnotherUsersPackageIsBesideItOrInIt) {
  const Users users;
  const Tensor x = numbers({1, 16, 9, 9});
  for (const bool cached : {false, true, true}) {  // compiled, put into the cache, found there
    users.make(users.of("a", cached), false);
    const size_t bytes = read_file(users.package).size();
    const auto own = open_package(users.package, users.of("a", cached));
    const Tensor expected = open_session("cpu", own)->run({x})[0];
    EXPECT_FALSE(own->source.kept());
    EXPECT_EQ(to_text(own->source.graph(), {.inline_all = true}), to_text(two_layers(), {.inline_all = true}));

    const OpenOptions other = users.of("b", false);
    EXPECT_TRUE(open_session("cpu", open_package(users.package, other))->run({x})[0].identical(expected));
    const std::string text = read_file(users.model);
    std::filesystem::remove(users.model);
    const std::string none = refused_package(users.package, other);
    EXPECT_NE(none.find("there is no net.txt beside it"), std::string::npos) << none;
    for (const char* way : {"--trust", "put net.txt (sha256 ", "--keep-source"})
      EXPECT_NE(none.find(way), std::string::npos) << none;
    write_file(users.model, text + "\n");
    const std::string differs = refused_package(users.package, other);
    EXPECT_NE(differs.find("another model"), std::string::npos) << differs;
    EXPECT_THROW(open_package(users.package, users.of("a", cached))->source.graph(), Error);
    OpenOptions trusting = other;
    trusting.trust = true;
    EXPECT_TRUE(open_session("cpu", open_package(users.package, trusting))->run({x})[0].identical(expected));

    write_file(users.model, text);
    users.make(users.of("a", cached), true);
    EXPECT_GT(read_file(users.package).size(), bytes + 70'000);  // w2 alone has 64,000 bytes, w1 18,432
    std::filesystem::remove(users.model);
    const auto anew = open_package(users.package, other);
    EXPECT_TRUE(open_session("cpu", anew)->run({x})[0].identical(expected));
    write_file(users.model, text);
  }
}

// A package may be another's: what it says begins no line of the text.
TEST(Variants, TextOfAPackageShowsWhatIsUnseen) {
  Package package = compile(two_layers(), options_for("x86-64"));
  const auto lines = [&] {
    const std::string text = package_to_text(package);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = lines();
  const std::string hostile = "\n::error::\x1b[2J";
  PackageInfo& info = package.info;
  for (std::string* text :
       {&info.model_path, &info.model_sha256, &info.model_format, &info.dtype, &info.compiler, &info.tool_version})
    *text += hostile;
  package.variants[0].target.isa += hostile;
  package.variants[0].target.backend += hostile;
  ASSERT_FALSE(package.variants[0].kernels.empty());
  package.variants[0].kernels[0].name += hostile;
  EXPECT_EQ(lines(), before);
  EXPECT_EQ(package_to_text(package).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace dnn
