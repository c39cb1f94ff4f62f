// Compiled packages against the interpreter: the same bits at -O0.
#include "compile/compile.h"
#include "cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>

#include "base/file.h"
#include "devices/device.h"
#include "graph/text.h"
#include "package/file.h"
#include "target/isa.h"

namespace dnn {
namespace {

Tensor random_tensor(Shape shape, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor tensor(DType::Float32, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<float>()[i] = uniform(engine);
  return tensor;
}

CompileOptions cached_options(int opt) {
  CompileOptions options;
  options.opt = opt;
  options.build.cache_folder = test_cache();
  return options;
}

struct ConvCase {
  int64_t n, c, m, size, kernel, stride, pad, group;
};

Graph conv_graph(const ConvCase& k) {
  Graph graph;
  const ValueId x = graph.add_value("x", Type(DType::Float32, {k.n, k.c, k.size, k.size + 1}));
  const ValueId w = graph.add_constant("w", random_tensor({k.m, k.c / k.group, k.kernel, k.kernel}, 1));
  const ValueId b = graph.add_constant("b", random_tensor({k.m}, 2));
  const ValueId c = graph.add_value("c"), r = graph.add_value("r"), y = graph.add_value("y");
  graph.inputs = {x};
  graph.outputs = {y};
  Node conv;
  conv.name = "conv";
  conv.op = "Conv";
  conv.inputs = {x, w, b};
  conv.outputs = {c};
  conv.attributes["pads"] = std::vector<int64_t>(4, k.pad);
  conv.attributes["strides"] = std::vector<int64_t>(2, k.stride);
  conv.attributes["group"] = k.group;
  graph.add_node(conv);
  Node relu;
  relu.op = "Relu";
  relu.inputs = {c};
  relu.outputs = {r};
  graph.add_node(relu);
  Node add;
  add.op = "Add";
  add.inputs = {r, c};
  add.outputs = {y};
  graph.add_node(add);
  return graph;
}

TEST(Compile, O0EqualsTheInterpreterToTheBit) {
  for (const ConvCase& k :
       {ConvCase{1, 3, 16, 9, 3, 1, 1, 1}, ConvCase{2, 8, 42, 7, 3, 2, 1, 1}, ConvCase{1, 16, 33, 6, 1, 1, 0, 1},
        ConvCase{1, 12, 24, 8, 5, 2, 2, 4}, ConvCase{1, 20, 20, 11, 3, 1, 1, 20}}) {
    const Graph graph = conv_graph(k);
    const CompileOptions options = cached_options(0);
    const Tensor x = random_tensor({k.n, k.c, k.size, k.size + 1}, 7);
    const Tensor expected = interpret(graph, {x})[0];
    auto package = std::make_shared<Package>(compile(graph, options));
    for (const std::string& isa : default_isas()) {
      for (int threads : {1, 3}) {
        const Tensor actual = open_session("cpu", package, {threads, isa})->run({x})[0];
        EXPECT_TRUE(actual.identical(expected)) << isa << " m=" << k.m << " group=" << k.group;
      }
    }
  }
}

// Largest difference relative to the largest expected value.
double relative_error(const Tensor& actual, const Tensor& expected) {
  const std::vector<double> a = to_doubles(actual), b = to_doubles(expected);
  double worst = 0, largest = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return worst / largest;
}

TEST(Package, ReadsBackWhatWasWritten) {
  const Graph graph = conv_graph({1, 8, 16, 6, 3, 1, 1, 1});
  const Package package = compile(graph, cached_options(3));
  TemporaryFolder folder(::testing::TempDir());
  const PackageKey key = load_or_make_key(folder.path() + "/key");
  const std::string path = folder.path() + "/a.dnnpkg";
  write_package(package, path, key);
  write_package(package, folder.path() + "/b.dnnpkg", key);
  EXPECT_EQ(read_file(path), read_file(folder.path() + "/b.dnnpkg"));
  const OpenedPackage opened = read_package(path, key);
  EXPECT_TRUE(opened.trusted);
  EXPECT_FALSE(read_package(path, PackageKey{std::string(32, 'x')}).trusted);
  const Tensor x = random_tensor({1, 8, 6, 7}, 3);
  const Tensor before = open_session("cpu", std::make_shared<Package>(package))->run({x})[0];
  EXPECT_TRUE(open_session("cpu", opened.package)->run({x})[0].identical(before));
  EXPECT_EQ(to_text(opened.package->source.graph(), {.inline_all = true}),
            to_text(package.source.graph(), {.inline_all = true}));
}

TEST(Package, ReadsBackStepsThatSamplesTakeOnTheirOwn) {
  const Package package = compile(conv_graph({3, 16, 16, 40, 3, 1, 1, 1}), cached_options(3));
  ASSERT_EQ(package.variants[0].samples(), 3);
  TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/a.dnnpkg";
  const PackageKey key{std::string(32, 'k')};
  write_package(package, path, key);
  const OpenedPackage opened = read_package(path, key);
  EXPECT_EQ(opened.package->variants[0].samples(), 3);
  EXPECT_EQ(opened.package->variants[0].sample_arena_bytes, package.variants[0].sample_arena_bytes);
  const Tensor x = random_tensor({3, 16, 40, 41}, 3);
  const Tensor before = open_session("cpu", std::make_shared<Package>(package))->run({x})[0];
  for (int threads : {1, 2})
    EXPECT_TRUE(open_session("cpu", opened.package, {threads, ""})->run({x})[0].identical(before)) << threads;
}

// `read` says once where the damage is.
void expect_damage(const std::string& path, const char* what, const std::function<void()>& read) {
  try {
    read();
    ADD_FAILURE() << what << ": damage was not seen";
  } catch (const Error& e) {
    const std::string said = e.what();
    EXPECT_EQ(e.kind(), ErrorKind::Malformed) << what;
    EXPECT_EQ(said.find(path), 0u) << what << ": " << said;
    EXPECT_EQ(said.find(path, 1), std::string::npos) << what << ": " << said;
    EXPECT_NE(said.find("damaged"), std::string::npos) << what << ": " << said;
  }
}

// A run reads the weights as kernels have them, not those of the source, which are as many bytes.
TEST(Package, LargeConstantsOfTheSourceAreReadWhenTheyAreAskedFor) {
  const Graph graph = conv_graph({1, 64, 64, 5, 3, 1, 1, 1});
  const Package package = compile(graph, cached_options(3));
  TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/a.dnnpkg";
  const PackageKey key{std::string(32, 'k')};
  write_package(package, path, key);
  std::string whole = read_file(path);
  size_t at = std::string::npos;
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const Tensor* constant = graph.constant(id);
    if (constant != nullptr && constant->size_bytes() > 100000)
      at = whole.find(as_text(constant->bytes().subspan(0, 256)));
  }
  ASSERT_NE(at, std::string::npos);
  whole[at + 100] = static_cast<char>(whole[at + 100] ^ 1);
  write_file(path, whole);
  const OpenedPackage opened = read_package(path, key);
  EXPECT_TRUE(opened.trusted);
  const Tensor x = random_tensor({1, 64, 5, 6}, 3);
  EXPECT_TRUE(open_session("cpu", opened.package)
                  ->run({x})[0]
                  .identical(open_session("cpu", std::make_shared<Package>(package))->run({x})[0]));
  for (int again = 0; again < 2; ++again) expect_damage(path, "the source", [&] { opened.package->source.graph(); });
  EXPECT_THROW(write_package(*opened.package, folder.path() + "/b.dnnpkg", key), Error);
}

// They are checked while the network runs: what is damaged stops it before it is used.
TEST(Package, DamageInConstantsIsFoundBehindOpening) {
  const Package package = compile(conv_graph({1, 64, 64, 5, 3, 1, 1, 1}), cached_options(3));
  TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/a.dnnpkg";
  const PackageKey key{std::string(32, 'k')};
  write_package(package, path, key);
  const Tensor x = random_tensor({1, 64, 5, 6}, 3);
  const Tensor y = open_session("cpu", std::make_shared<Package>(package))->run({x})[0];
  {
    const OpenedPackage opened = read_package(path, key, OpenedFor::Running);
    const Package copy = *opened.package;  // shares the thread
    EXPECT_TRUE(open_session("cpu", opened.package)->run({x})[0].identical(y));
    ASSERT_EQ(copy.constants.size(), package.constants.size());
    for (size_t i = 0; i < copy.constants.size(); ++i) EXPECT_TRUE(copy.constants[i].identical(package.constants[i]));
  }
  size_t largest = 0;
  for (size_t i = 0; i < package.constants.size(); ++i) {
    if (package.constants[i].size_bytes() > package.constants[largest].size_bytes()) largest = i;
  }
  std::string whole = read_file(path);
  const size_t at = whole.find(as_text(package.constants[largest].bytes().subspan(0, 256)));
  ASSERT_NE(at, std::string::npos);
  whole[at + 100] = static_cast<char>(whole[at + 100] ^ 1);
  write_file(path, whole);
  expect_damage(path, "before", [&] { read_package(path, key); });
  const OpenedPackage opened = read_package(path, key, OpenedFor::Running);
  for (size_t i = 0; i < largest; ++i) EXPECT_TRUE(opened.package->constants[i].identical(package.constants[i]));
  for (int again = 0; again < 2; ++again) expect_damage(path, "one", [&] { (void)opened.package->constants[largest]; });
  expect_damage(path, "all", [&] { opened.package->constants.all(); });
  expect_damage(path, "a run", [&] { open_session("cpu", opened.package)->run({x}); });
  expect_damage(path, "a copy", [&] { write_package(*opened.package, folder.path() + "/b.dnnpkg", key); });
}

// What follows a constant whose check failed is checked by who asks for it, though that one is sound by then.
TEST(Package, ConstantsBehindAFailedCheckAreCheckedToo) {
  Constants constants;
  for (float x : {0.0f, 1.0f, 2.0f, 3.0f}) constants.push_back(Tensor::of<float>({1}, {x}));
  std::atomic<int> times{0};
  constants.check_behind([&](size_t i) {
    if (i == 1 && times++ == 0) fail_malformed("for once");
    if (i == 3) fail_malformed("always");
  });
  EXPECT_EQ(constants[0].data<float>()[0], 0);
  EXPECT_EQ(constants[2].data<float>()[0], 2);
  EXPECT_EQ(times, 2);
  EXPECT_THROW((void)constants[3], Error);
  EXPECT_THROW(constants.all(), Error);
  Constants().check_behind([](size_t) { FAIL() << "there is none"; });
}

TEST(Package, EveryTruncationIsMalformed) {
  const Package package = compile(conv_graph({1, 3, 4, 4, 3, 1, 1, 1}), cached_options(0));
  TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/a.dnnpkg", cut = folder.path() + "/cut.dnnpkg";
  write_package(package, path, {});
  const std::string whole = read_file(path);
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    write_file(cut, whole.substr(0, size));
    try {
      read_package(cut, {});
      ADD_FAILURE() << "cut at " << size << " of " << whole.size();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed) << e.what();
    }
  }
}

TEST(Package, EveryFlippedBitIsMalformedOrMeansNothing) {
  const Package package = compile(conv_graph({1, 3, 4, 4, 3, 1, 1, 1}), cached_options(0));
  TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/a.dnnpkg";
  const PackageKey key{std::string(32, 'k')};
  write_package(package, path, key);
  const std::string whole = read_file(path);
  int refused = 0, n = 0;
  for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 499, ++n) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    const auto owner = std::make_shared<const std::string>(flipped);
    try {
      const OpenedPackage opened = parse_package(as_bytes(*owner), owner, key);
      if (at >= 16 && at < 48) {
        EXPECT_FALSE(opened.trusted) << "bit flipped in the signature, at " << at;
      } else {  // the zeros between blobs
        EXPECT_EQ(to_text(opened.package->source.graph(), {.inline_all = true}),
                  to_text(package.source.graph(), {.inline_all = true}));
        EXPECT_EQ(whole[at], 0) << at;
      }
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, n * 9 / 10);
}

TEST(Package, AnInstructionSetThatIsNotHereIsTheEnvironments) {
  auto package = std::make_shared<Package>(compile(conv_graph({1, 3, 4, 4, 3, 1, 1, 1}), cached_options(0)));
  for (Variant& variant : package->variants) variant.target.isa = "x99-99";
  for (const char* forced : {"", "x99-99"}) {
    try {
      open_session("cpu", package, {1, forced});
      ADD_FAILURE() << "opened";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Environment);
      EXPECT_NE(std::string(e.what()).find("x99-99"), std::string::npos) << e.what();
    }
  }
}

TEST(Compile, HigherLevelsStayWithinRounding) {
  for (const ConvCase& k :
       {ConvCase{1, 3, 16, 9, 3, 1, 1, 1}, ConvCase{2, 16, 48, 17, 3, 2, 1, 1}, ConvCase{1, 40, 24, 6, 1, 1, 0, 1},
        ConvCase{1, 12, 24, 8, 5, 2, 2, 4}, ConvCase{1, 20, 20, 19, 3, 1, 1, 20}}) {
    const Graph graph = conv_graph(k);
    const Tensor x = random_tensor({k.n, k.c, k.size, k.size + 1}, 7);
    const Tensor expected = interpret(graph, {x})[0];
    for (int opt = 1; opt <= 4; ++opt) {
      const CompileOptions options = cached_options(opt);
      auto package = std::make_shared<Package>(compile(graph, options));
      for (const std::string& isa : default_isas()) {
        const Tensor one = open_session("cpu", package, {1, isa})->run({x})[0];
        EXPECT_LT(relative_error(one, expected), 2e-6)
            << "O" << opt << " " << isa << " m=" << k.m << " group=" << k.group;
        EXPECT_TRUE(one.identical(open_session("cpu", package, {3, isa})->run({x})[0]))
            << "threads change bits at O" << opt;
      }
    }
  }
}

// What selects between a value and 0 is no guard of a border, whatever border the value has.
TEST(Compile, BordersReplaceTheirOwnGuardsOnly) {
  for (const char* node : {"ThresholdedRelu(a) {alpha = 0.25}", "Trilu(a)", "Relu(a)", "Pad(a, pads)"}) {
    const Graph graph = parse_graph(cat(R"(graph "both read a value with a border" {
  opset 28
  input x: float32[1,3,6,7]
  const pads: int64[8] = {0, 0, 1, 0, 0, 0, 1, -1}
  const w1: float32[16,3,3,3] = random(1)
  const w2: float32[16,16,3,3] = random(2)
  a = Conv(x, w1) {pads = [1, 1, 1, 1]}
  b = Conv(a, w2) {pads = [1, 1, 1, 1]}
  y = )",
                                        node, "\n  output y\n  output b\n}\n"));
    const Tensor x = random_tensor({1, 3, 6, 7}, 5);
    const std::vector<Tensor> expected = interpret(graph, {x});
    const std::vector<Tensor> actual =
        open_session("cpu", std::make_shared<Package>(compile(graph, cached_options(3))))->run({x});
    for (size_t i = 0; i < 2; ++i) EXPECT_LT(relative_error(actual[i], expected[i]), 2e-6) << node << " " << i;
  }
}

// A product whose last vector would just fit into the border behind its rows.
TEST(Compile, VectorsDoNotSpillIntoBorders) {
  const Graph graph = parse_graph(R"(graph "rows of 15 and a border of 1" {
  opset 28
  input x: float32[1,3,6,15]
  const w1: float32[16,3,1,1] = random(1)
  const m: float32[15,15] = random(2)
  const w2: float32[16,16,3,3] = random(3)
  a = Conv(x, w1)
  b = MatMul(a, m)
  c = Sigmoid(b)
  y = Conv(c, w2) {pads = [1, 1, 1, 1]}
  output y
})");
  const Tensor x = random_tensor({1, 3, 6, 15}, 5);
  const Tensor actual = open_session("cpu", std::make_shared<Package>(compile(graph, cached_options(3))))->run({x})[0];
  EXPECT_LT(relative_error(actual, interpret(graph, {x})[0]), 2e-6);
}

// A trace shows what nothing reads, too: its memory is not taken before.
TEST(Compile, TracesShowOutputsThatNothingReads) {
  const Graph graph = parse_graph(R"(graph "unread" {
  opset 28
  input x: float32[1,96]
  const n: int64[3] = {32, 32, 32}
  e = Exp(x)
  s = Softmax(e)
  t = Softmax(s)
  a, b, c = Split(e, n) {axis = 1}
  u = Softmax(t)
  d = Relu(c)
  y = Softmax(u)
  output d
  output y
})");
  const Tensor x = random_tensor({1, 96}, 1);
  const auto traced = [&](Session& session) {
    std::map<std::string, Tensor> seen;
    session.trace(
        {x}, [&](const Graph& g, ValueId id, const Tensor& value) { seen[g.value(id).name] = value.arranged_copy(); });
    return seen;
  };
  CompileOptions judge;
  judge.device = "reference";
  const auto expected = traced(*open_session("reference", std::make_shared<Package>(compile(graph, judge))));
  for (int opt : {0, 2, 3}) {
    CompileOptions options = cached_options(opt);
    options.pass_changes = "-fuse-ops";
    const auto seen = traced(*open_session("cpu", std::make_shared<Package>(compile(graph, options))));
    for (const char* name : {"a", "b", "c"}) {
      ASSERT_EQ(seen.count(name) + expected.count(name), 2U) << name << " -O" << opt;
      EXPECT_LT(relative_error(seen.at(name), expected.at(name)), 1e-6) << name << " -O" << opt;
    }
  }
}

TEST(Compile, SessionsSideBySideRunTheirOwnCode) {
  const Tensor x = random_tensor({1, 3, 9, 10}, 7);
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Tensor> expected;
  for (const int64_t m : {4, 5, 6}) {
    const Graph graph = conv_graph({1, 3, m, 9, 3, 1, 1, 1});
    expected.push_back(interpret(graph, {x})[0]);
    sessions.push_back(open_session("cpu", std::make_shared<Package>(compile(graph, cached_options(0)))));
  }
  for (size_t i = 0; i < sessions.size(); ++i) EXPECT_TRUE(sessions[i]->run({x})[0].identical(expected[i])) << i;
}

TEST(Compile, OpenClAgrees) {
  if (DeviceSpec("opencl").device().list({}).empty()) GTEST_SKIP() << "no OpenCL device (pocl-opencl-icd brings one)";
  for (const ConvCase& k :
       {ConvCase{1, 3, 16, 9, 3, 1, 1, 1}, ConvCase{2, 16, 48, 17, 3, 2, 1, 1}, ConvCase{1, 20, 20, 19, 3, 1, 1, 20}}) {
    const Graph graph = conv_graph(k);
    const Tensor x = random_tensor({k.n, k.c, k.size, k.size + 1}, 7);
    const Tensor expected = interpret(graph, {x})[0];
    for (int opt : {0, 3}) {
      CompileOptions options = cached_options(opt);
      options.device = "opencl";
      const Package package = compile(graph, options);
      ASSERT_EQ(package.variants.size(), 2U);  // of which a device takes the one that fits its registers
      for (const Variant& variant : package.variants) {
        auto one = std::make_shared<Package>(package);
        one->variants = {variant};
        const Tensor actual = open_session("opencl:0", one)->run({x})[0];
        EXPECT_LT(relative_error(actual, expected), 2e-6)
            << variant.target.isa << " O" << opt << " m=" << k.m << " group=" << k.group;
        EXPECT_TRUE(opt != 0 || actual.identical(expected))
            << variant.target.isa << " m=" << k.m << " group=" << k.group;
      }
    }
  }
}

// What is compiled for this processor alone may go by its speeds; code for an instruction set goes by none in particular.
TEST(Compile, TheProcessorIsThisOneUnlessInstructionSetsAreNamed) {
  CompileOptions options;
  const auto kind = [&] { return std::string(pass_options(options).target.processor->name); };
  const int64_t bytes = find_isa(Language::C, supported_isas().back())->vector_bytes;
  EXPECT_EQ(kind(), processor_for(processor_kind(), bytes).name);
  options.isas = {"avx512"};
  EXPECT_EQ(kind(), kGeneric);
  options.processor = "zen5";
  EXPECT_EQ(kind(), "zen5");
  options = {};
  options.device = "opencl";
  EXPECT_EQ(kind(), kGeneric);
}

}  // namespace
}  // namespace dnn
