// The CUDA device: what is the same on every device, on a stand-in for NVIDIA's libraries (fake_driver.cc), and on a GPU where there is one.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <thread>

#include "base/file.h"
#include "compile/compile.h"
#include "compile/precision.h"
#include "devices/device.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "package/file.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

using Variables = std::map<std::string, std::string>;

// Environment variables, as a device asks for them: of this process, or others in their place.
DeviceOptions options_of(const Variables& variables = {}) {
  DeviceOptions options;
  options.variable = [variables](const std::string& name) {
    const auto found = variables.find(name);
    const char* const text = getenv(name.c_str());
    return found != variables.end() ? found->second : text == nullptr ? "" : text;
  };
  return options;
}

// NVIDIA's libraries are the stand-ins, which a variable of this process may change, for as long as this lives.
class StandIn {
 public:
  explicit StandIn(std::string variable = "DNN_FAKE_CUDA_DEVICES", const std::string& value = "1")
      : folder_(std::filesystem::temp_directory_path().string()), variable_(std::move(variable)) {
    setenv("DNN_FAKE_CUDA_FOLDER", folder_.path().c_str(), 1);
    setenv(variable_.c_str(), value.c_str(), 1);
  }
  ~StandIn() { unsetenv(variable_.c_str()); }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  static DeviceOptions options() { return options_of({{"DNN_CUDA", DNN_FAKE_CUDA}, {"DNN_NVRTC", DNN_FAKE_NVRTC}}); }

 private:
  TemporaryFolder folder_;
  std::string variable_;
};

// Each has one input x. `exact`: computes with + - * / sqrt and comparisons alone.
struct Net {
  const char* name;
  bool exact;
  const char* text;
};

const Net kNets[] = {
    {"conv", true, R"(graph "conv" {
       opset 28
       input x: float32[2,5,13,9]
       const w1: float32[70,5,3,3] = random(1)
       const b1: float32[70] = random(2)
       const w2: float32[36,70,1,1] = random(3)
       const w3: float32[36,9,3,2] = random(4)
       c = Conv(x, w1, b1) @c {pads = [1, 1, 1, 1]}
       r = Relu(c) @r
       d = Conv(r, w2) @d {strides = [2, 1]}
       e = Conv(d, w3) @e {group = 4, pads = [0, 1, 2, 0], dilations = [2, 1]}
       y = Add(e, e) @y
       output y
     })"},
    {"depthwise", true, R"(graph "depthwise" {
       opset 28
       input x: float32[1,33,12,11]
       const w1: float32[33,1,3,3] = random(1)
       const w2: float32[20,33,1,1] = random(3)
       d = Conv(x, w1) @d {pads = [1, 1, 1, 1], strides = [2, 2], group = 33}
       r = Relu(d) @r
       p = MaxPool(r) @p {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
       y = Conv(p, w2) @y
       output y
     })"},
    {"dense", true, R"(graph "dense" {
       opset 28
       input x: float32[3,6,37]
       const w1: float32[37,69] = random(1)
       const w2: float32[130,414] = random(2)
       const b2: float32[130] = random(3)
       const row: int64[2] = {0, -1}
       h = MatMul(x, w1) @h
       t = Reshape(h, row) @t
       g = Gemm(t, w2, b2) @g {transB = 1, alpha = 0.5}
       y = Relu(g) @y
       output y
     })"},
    {"classifier", true, R"(graph "classifier" {
       opset 28
       input x: float32[1,40,5,5]
       const w1: float32[1000,21] = random(1)
       const w2: float32[21,1000] = random(2)
       const b2: float32[1000] = random(3)
       const w3: float32[130,1000] = random(4)
       const row: int64[2] = {0, -1}
       f = Reshape(x, row) @f
       g = Gemm(f, w1) @g
       h = Relu(g) @h
       e = Gemm(h, w2, b2) @e {beta = 0.5}
       y = Gemm(e, w3) @y {transB = 1, alpha = 0.1}
       output y
     })"},
    {"joined", true, R"(graph "joined" {
       opset 28
       input x: float32[1,9,7,7]
       const w1: float32[32,9,3,3] = random(1)
       const w2: float32[7,9,1,1] = random(2)
       const w3: float32[33,71,1,1] = random(3)
       a = Conv(x, w1) @a {pads = [1, 1, 1, 1]}
       b = Conv(x, w2) @b
       r = Relu(a) @r
       c = Concat(a, b, r) @c {axis = 1}
       y = Conv(c, w3) @y
       output y
     })"},
    {"inside", false, R"(graph "inside" {
       opset 28
       input x: float32[1,9,8,16]
       const w1: float32[32,9,3,3] = random(1)
       const w2: float32[5,9,1,1] = random(2)
       const ends: int64[2] = {36, 1}
       const flat: int64[3] = {1, 36, -1}
       a = Conv(x, w1) @a {pads = [1, 1, 1, 1]}
       b = Conv(x, w2) @b
       c = Concat(a, b) @c {axis = 1}
       s, t = Split(c, ends) @s {axis = 1}
       f = Reshape(s, flat) @f
       g = Relu(f) @g
       u = Sigmoid(t) @u
       output g
       output u
     })"},
    {"empty", true, R"(graph "empty" {
       opset 28
       input x: float32[1,9,8,16]
       const w: float32[32,9,3,3] = random(1)
       const ends: int64[2] = {32, 0}
       r = Conv(x, w) @r {pads = [1, 1, 1, 1]}
       s, t = Split(r, ends) @s {axis = 1}
       y = Relu(s) @y
       z = Relu(t) @z
       output y
       output z
     })"},
    {"attention", false, R"(graph "attention" {
       opset 28
       input x: float32[2,3,35,20]
       const scale: float32[35] = random(2)
       t = Transpose(x) @t {perm = [0, 1, 3, 2]}
       q = MatMul(x, t) @q
       s = Softmax(q) @s {axis = -1}
       v = MatMul(s, x) @v
       n = LayerNormalization(q, scale) @n
       output v
       output n
     })"},
};

Graph graph_of(const Net& net) {
  Graph graph = parse_graph(net.text);
  infer_types(graph);
  return graph;
}

Tensor random_input(const Graph& graph) {
  Tensor x(DType::Float32, graph.value(graph.inputs[0]).type.fixed_shape());
  std::mt19937 engine(7);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = normal(engine);
  return x;
}

std::shared_ptr<const Package> compiled(const Graph& graph, int opt, const std::string& device = "cuda",
                                        const std::string& processor = "") {
  CompileOptions options;
  options.opt = opt;
  options.device = device;
  options.processor = processor;
  return std::make_shared<Package>(compile(graph, options));
}

std::string message_of(const std::function<void()>& call, int exit_code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), exit_code);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

// Outputs, traces and resumed runs, against the interpreter; at -O0 to the bit.
void expect_agreement(const DeviceOptions& options) {
  for (const Net& net : kNets) {
    const Graph graph = graph_of(net);
    const Tensor x = random_input(graph);
    const std::vector<Tensor> expected = interpret(graph, {x});
    for (const int opt : {0, 1, 2, 3, 4}) {
      const std::unique_ptr<Session> session = open_session("cuda:0", compiled(graph, opt), options);
      const std::vector<Tensor> first = session->run({x});
      ASSERT_EQ(first.size(), expected.size());
      for (size_t i = 0; i < first.size(); ++i) {
        EXPECT_LT(compare(first[i], expected[i]).relative(), 2e-6) << net.name << " -O" << opt << " output " << i;
        EXPECT_TRUE(!net.exact || opt > 0 || first[i].identical(expected[i])) << net.name << " output " << i;
      }
      int n = 0;
      const std::vector<Tensor> traced = session->trace({x}, [&](const Graph&, ValueId, const Tensor&) { ++n; });
      const std::vector<Tensor> forked = session->fork({x}, [&](ValueId id, const Tensor& value, const auto& resume) {
        if (session->graph().is_input(id)) return;
        const std::vector<Tensor> again = resume({{id, value}});
        for (size_t i = 0; i < again.size(); ++i) EXPECT_TRUE(again[i].identical(first[i])) << net.name << " -O" << opt;
      });
      EXPECT_GT(n, 1);
      for (size_t i = 0; i < first.size(); ++i) {
        EXPECT_TRUE(traced[i].identical(first[i])) << net.name << " -O" << opt;
        EXPECT_TRUE(forked[i].identical(first[i])) << net.name << " -O" << opt;
      }
    }
  }
}

TEST(Cuda, AgreesOnTheStandIn) {
  const StandIn stand_in;
  expect_agreement(StandIn::options());
}

TEST(Cuda, AgreesWithoutMatrixInstructions) {
  const StandIn stand_in("DNN_FAKE_CUDA_CAPABILITY", "70");
  expect_agreement(StandIn::options());
}

Graph product_graph(int64_t rows, int64_t depth, int64_t columns) {
  return graph_of(
      {"product", true,
       cat("graph \"product\" {\n  opset 28\n  input x: float32[", rows, ",", depth, "]\n  const w: float32[", depth,
           ",", columns, "] = random(1)\n  y = MatMul(x, w) @y\n  output y\n}")
           .c_str()});
}

// Were one of -O4's three products left out, its sums would be much further from the exact ones; of short sums -O3's are the nearest.
TEST(Cuda, MatrixInstructionsKeepFloat32sAccuracy) {
  for (const auto& [depth, most] : {std::pair(900, 1.0), {8, 2.5}}) {
    const Graph graph = product_graph(70, depth, 50);
    const Tensor x = random_input(graph);
    Tensor wide(DType::Float64, x.shape());
    std::copy_n(x.data<float>(), x.size(), wide.mutable_data<double>());
    const Tensor expected = interpret(widen_to_float64(graph), {wide})[0];
    const auto error = [&](int opt, const char* capability) {
      const StandIn stand_in("DNN_FAKE_CUDA_CAPABILITY", capability);
      return compare(expected, open_session("cuda:0", compiled(graph, opt), StandIn::options())->run({x})[0]).l2();
    };
    const double plain = error(3, "90"), tensor = error(4, "90");
    EXPECT_EQ(plain, error(4, "70")) << depth;  // the same sums where there are none
    EXPECT_NE(plain, tensor) << depth;
    EXPECT_LT(tensor, most * plain) << depth;
  }
}

TEST(Cuda, MatrixInstructionsKeepWhatIsNoNumber) {
  const Graph graph = product_graph(70, 900, 50);
  const Tensor x = random_input(graph);
  // It stays none and goes nowhere else; large numbers, which TF32 has, too, stay numbers.
  const StandIn stand_in;
  const std::unique_ptr<Session> session = open_session("cuda:0", compiled(graph, 4), StandIn::options());
  Tensor odd = x;
  odd.mutable_data<float>()[3 * 900 + 17] = NAN;
  odd.mutable_data<float>()[4 * 900 + 899] = INFINITY;
  odd.mutable_data<float>()[5 * 900] = 1e37f;
  const Tensor y = session->run({odd})[0], before = session->run({x})[0];
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t row = i / 50;
    const float value = y.data<float>()[i];
    EXPECT_TRUE(row == 3   ? std::isnan(value)
                : row == 4 ? !std::isfinite(value)
                : row == 5 ? std::isfinite(value)
                           : value == before.data<float>()[i])
        << "row " << row << ": " << value;
  }
}

// How often a package's code has matrix instructions for factors that they take as they are.
bool multiplies_exactly(const Package& package) {
  return package.variants.at(0).code.source.find("add_exact_products_16x8x8(sums") != std::string::npos;
}

// Their factors of 8 bits and sums of 32 lose nothing.
TEST(Cuda, MatrixInstructionsGiveTheBitsOfIntegers) {
  const Graph graph = graph_of({"integers", true, R"(graph "integers" {
    opset 21
    input x: float32[1,24,9,11]
    const s: float32[] = {0.03}
    const z: uint8[] = {130}
    const ws: float32[] = {0.01}
    const t: float32[] = {0.5}
    const w1: int8[40,24,3,3] = random(1)
    const w2: int8[33,40,1,1] = random(2)
    q = QuantizeLinear(x, s, z) @q
    r = DequantizeLinear(q, s, z) @r
    w1.real = DequantizeLinear(w1, ws) @w1_real
    c = Conv(r, w1.real) @c {pads = [1, 1, 1, 1]}
    cq = QuantizeLinear(c, t, z) @cq
    cr = DequantizeLinear(cq, t, z) @cr
    w2.real = DequantizeLinear(w2, ws) @w2_real
    d = Conv(cr, w2.real) @d
    e = Sigmoid(d) @e
    f = Mul(d, e) @f
    y = QuantizeLinear(f, t, z) @y
    output y
  })"});
  Graph extreme = graph;
  for (const char* name : {"w1", "w2"}) {
    Tensor& w = *extreme.value(extreme.find_value(name)).constant;
    for (int64_t i = 0; i < w.size(); ++i) w.mutable_data<int8_t>()[i] = i % 7 < 3 ? 127 : -128;
  }
  for (const Graph& each : {graph, extreme}) {
    const Tensor x = random_input(each);
    for (const char* capability : {"90", "70"}) {
      const StandIn stand_in("DNN_FAKE_CUDA_CAPABILITY", capability);
      for (const int opt : {0, 3, 4}) {
        const auto package = compiled(each, opt);
        EXPECT_EQ(multiplies_exactly(*package), opt > 0);
        const Tensor y = open_session("cuda:0", package, StandIn::options())->run({x})[0];
        EXPECT_TRUE(y.identical(open_session("cpu", compiled(each, opt, "cpu"))->run({x})[0]))
            << capability << " -O" << opt;
      }
    }
  }
}

// Factors of 16 bits are TF32 numbers (the first layer's input is of 32): one product each, as accurate as the plain loop's but for the order of the sums.
TEST(Cuda, MatrixInstructionsTakeHalvesAsTheyAre) {
  const Graph graph = graph_of(kNets[0]);
  const Tensor x = random_input(graph);
  for (const DType element : {DType::BFloat16, DType::Float16}) {
    const Tensor expected = interpret(at_element(graph, element), {x})[0];
    for (const int opt : {0, 2, 3, 4}) {
      CompileOptions options;
      options.opt = opt;
      options.device = "cuda";
      options.element = element;
      const auto package = std::make_shared<Package>(compile(graph, options));
      EXPECT_EQ(multiplies_exactly(*package), opt >= 3);
      for (const char* capability : {"90", "70"}) {
        const StandIn stand_in("DNN_FAKE_CUDA_CAPABILITY", capability);
        const Tensor y = open_session("cuda:0", package, StandIn::options())->run({x})[0];
        EXPECT_LE(compare(expected, y).relative(), element == DType::BFloat16 ? 4e-3 : 5e-4)
            << capability << " -O" << opt;
        EXPECT_TRUE(opt > 2 || y.identical(expected)) << capability << " -O" << opt;
      }
    }
  }
}

TEST(Cuda, AgreesOnAGpu) {
  if (DeviceSpec("cuda").device().list(options_of()).empty()) GTEST_SKIP() << "no CUDA device";
  expect_agreement(options_of());
}

// The same tiles as OpenCL C, whose groups PoCL runs on this processor.
TEST(Gpu, TilesAgreeOnOpenCl) {
  if (DeviceSpec("opencl").device().list({}).empty()) GTEST_SKIP() << "no OpenCL device (pocl-opencl-icd brings one)";
  for (const Net& net : kNets) {
    const Graph graph = graph_of(net);
    const Tensor x = random_input(graph);
    const std::vector<Tensor> expected = interpret(graph, {x});
    for (const int opt : {0, 3}) {
      const auto package = compiled(graph, opt, "opencl", kGpu);
      ASSERT_EQ(package->variants.size(), 1u);
      EXPECT_EQ(package->variants[0].target.isa, "gpu");
      EXPECT_TRUE(opt < 3 || package->variants[0].code.source.find("__local float") != std::string::npos) << net.name;
      for (const Step& step : package->variants[0].steps) {
        const std::string& op = package->graph().node(step.node).op;
        EXPECT_FALSE(net.name == std::string("inside") && opt == 3 &&
                     (op == "Concat" || op == "Split" || op == "Reshape"))
            << op;
      }
      const std::vector<Tensor> actual = open_session("opencl:0", package)->run({x});
      for (size_t i = 0; i < actual.size(); ++i) {
        EXPECT_LT(compare(actual[i], expected[i]).relative(), 2e-6) << net.name << " -O" << opt << " output " << i;
        EXPECT_TRUE(!net.exact || opt > 0 || actual[i].identical(expected[i])) << net.name << " output " << i;
      }
    }
  }
}

TEST(Cuda, SaysWhatIsHere) {
  const StandIn stand_in;
  EXPECT_EQ(DeviceSpec("cuda").device().list(StandIn::options()),
            std::vector<std::string>{"cuda:0\tstand-in, compute capability 9.0, CUDA 13.0"});
  const std::unique_ptr<Session> session = open_session("cuda", compiled(graph_of(kNets[1]), 3), StandIn::options());
  EXPECT_EQ(session->isa(), "stand-in");
  EXPECT_EQ(session->facts().at("cuda"), "13.0");
}

TEST(Cuda, ProfilesSteps) {
  const StandIn stand_in;
  const Graph graph = graph_of(kNets[1]);
  const std::unique_ptr<Session> session = open_session("cuda:0", compiled(graph, 3), StandIn::options());
  session->enable_profile(true);
  session->run({random_input(graph)});
  for (const StepProfile& step : session->profile()) EXPECT_TRUE(step.runs == 1 && step.time_ns > 0);
}

// A file keeps how many threads a task has; the code of other devices has none of its own.
TEST(Cuda, FilesKeepThreads) {
  const StandIn stand_in;
  const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  const PackageKey key = load_or_make_key(folder.path() + "/key");
  const Graph graph = graph_of(kNets[0]);
  const Tensor x = random_input(graph);
  const auto package = compiled(graph, 3);
  const std::vector<int64_t>& threads = package->variants[0].code.threads;
  EXPECT_GT(*std::max_element(threads.begin(), threads.end()), 0);
  write_package(*package, folder.path() + "/a.dnnpkg", key);
  const OpenedPackage opened = read_package(folder.path() + "/a.dnnpkg", key);
  EXPECT_EQ(opened.package->variants[0].code.threads, threads);
  EXPECT_TRUE(open_session("cuda:0", opened.package, StandIn::options())
                  ->run({x})[0]
                  .identical(open_session("cuda:0", package, StandIn::options())->run({x})[0]));
  auto none = std::make_shared<Package>(*package);
  none->variants[0].code.tasks[0] = 0;
  write_package(*none, folder.path() + "/b.dnnpkg", key);
  message_of([&] { read_package(folder.path() + "/b.dnnpkg", key); }, 3);
  for (const int64_t wrong : {int64_t{-1}, int64_t{1025}}) {
    auto damaged = std::make_shared<Package>(*package);
    damaged->variants[0].code.threads[0] = wrong;
    write_package(*damaged, folder.path() + "/b.dnnpkg", key);
    message_of([&] { read_package(folder.path() + "/b.dnnpkg", key); }, 3);
  }
}

// On threads that never were at the device, where two sessions share its memory.
TEST(Cuda, SessionsMayRunAndEndOnAnyThread) {
  const Graph graph = graph_of(kNets[0]);
  const Tensor x = random_input(graph);
  const auto package = compiled(graph, 0);
  const StandIn stand_in("DNN_FAKE_CUDA_MEMORY", std::to_string(4 * package->variants[0].arena_bytes));
  const std::unique_ptr<Session> kept = open_session("cuda:0", package, StandIn::options());
  const Tensor expected = kept->run({x})[0];
  for (int i = 0; i < 5; ++i) {  // more than fit, were what they hold not released
    std::unique_ptr<Session> session = open_session("cuda:0", package, StandIn::options());
    std::thread([&] {
      EXPECT_TRUE(session->run({x})[0].identical(expected));
      EXPECT_TRUE(kept->run({x})[0].identical(expected));
    }).join();
    std::thread([&] { session.reset(); }).join();
  }
}

TEST(Cuda, KernelsOfManyArguments) {
  const StandIn stand_in;
  std::string inputs, names;
  for (int i = 0; i < 20; ++i) {
    inputs += cat("  const c", i, ": float32[3] = random(", i, ")\n");
    names += cat(", c", i);
  }
  const Graph graph = graph_of({"sum", true,
                                cat("graph \"sum\" {\n  opset 28\n  input x: float32[2,3]\n", inputs, "  y = Sum(x",
                                    names, ") @y\n  output y\n}")
                                    .c_str()});
  const Tensor x = random_input(graph);
  EXPECT_TRUE(
      open_session("cuda:0", compiled(graph, 0), StandIn::options())->run({x})[0].identical(interpret(graph, {x})[0]));
}

// An architecture later than the compiler's gets the latest one's PTX.
TEST(Cuda, LaterGpusAreGivenPtx) {
  const StandIn stand_in("DNN_FAKE_CUDA_CAPABILITY", "100");
  const Graph graph = graph_of(kNets[0]);
  const Tensor x = random_input(graph);
  EXPECT_TRUE(
      open_session("cuda:0", compiled(graph, 0), StandIn::options())->run({x})[0].identical(interpret(graph, {x})[0]));
}

TEST(Cuda, SaysWhatIsMissing) {
  const auto package = compiled(graph_of(kNets[1]), 3);
  const auto open = [&] { open_session("cuda:0", package, StandIn::options()); };
  constexpr int kEnvironment = 5, kUsage = 2;
  const DeviceOptions none = options_of({{"DNN_CUDA", "/nowhere/libcuda.so"}});
  EXPECT_EQ(message_of([&] { open_session("cuda:0", package, none); }, kEnvironment),
            "no CUDA driver: /nowhere/libcuda.so not found; install NVIDIA's driver");
  EXPECT_TRUE(DeviceSpec("cuda").device().list(none).empty());
  {
    const StandIn stand_in("DNN_FAKE_CUDA_DEVICES", "0");
    EXPECT_EQ(message_of(open, kEnvironment), "the CUDA driver finds no device");
  }
  {
    const StandIn stand_in("DNN_FAKE_CUDA_DEVICES", "-1");
    EXPECT_EQ(message_of(open, kEnvironment), "the CUDA driver does not start: error 719");
  }
  {
    const StandIn stand_in("DNN_FAKE_CUDA_CAPABILITY", "35");
    EXPECT_EQ(message_of(open, kEnvironment),
              "NVRTC 0.1 does not compile the kernels: compute capability 3.5 is older than those that it knows; have "
              "DNN_NVRTC name an older one");
  }
  {
    const StandIn stand_in("DNN_FAKE_CUDA_MEMORY", "1000");
    EXPECT_EQ(message_of(open, kEnvironment), "CUDA: allocating memory failed with CUDA_ERROR_OUT_OF_MEMORY");
  }
  {
    const StandIn stand_in;
    const DeviceOptions no_compiler = options_of({{"DNN_CUDA", DNN_FAKE_CUDA}, {"DNN_NVRTC", "/nowhere/libnvrtc.so"}});
    EXPECT_EQ(message_of([&] { open_session("cuda:0", package, no_compiler); }, kEnvironment),
              "no NVRTC: /nowhere/libnvrtc.so not found; install CUDA's, or have DNN_NVRTC name it");
  }
  EXPECT_TRUE(DeviceSpec("cuda").device().list(options_of({{"DNN_CUDA", "libm.so.6"}})).empty());
  {
    const StandIn stand_in("DNN_FAKE_CUDA_DEVICES", "2");  // the second of which does not answer
    EXPECT_EQ(DeviceSpec("cuda").device().list(StandIn::options()).size(), 1u);
  }
  const StandIn stand_in;
  EXPECT_EQ(message_of([&] { open_session("cuda:1", package, StandIn::options()); }, kEnvironment),
            "device cuda:1: no such device, 1 found (see dnn-infer --list-devices)");
  message_of([&] { open_session("cuda:0", compiled(graph_of(kNets[1]), 3, "opencl"), StandIn::options()); }, kUsage);
  auto broken = std::make_shared<Package>(*package);
  broken->variants[0].code.source += "\nnonsense";
  EXPECT_NE(message_of([&] { open_session("cuda:0", broken, StandIn::options()); }, kEnvironment)
                .find("does not compile the kernels: error"),
            std::string::npos);
}

}  // namespace
}  // namespace dnn
