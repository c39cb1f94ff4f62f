// What a level promises: the same bits on any run, at any number of threads, at any place in a batch, traced or not; at
// -O0 the interpreter's bits on every instruction set; the same bytes of a package for the same inputs.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "cache.h"
#include "compile/open.h"
#include "devices/device.h"
#include "formats/format.h"
#include "graph/bind.h"
#include "graph/text.h"
#include "infer/trace.h"
#include "target/isa.h"

namespace dnn {
namespace {

// Each has one input x: [N, ...]; extents are no multiples of a vector's, so that every kernel has a tail.
struct Net {
  const char* name;
  bool exact;  // computes with + - * / sqrt and comparisons alone
  const char* text;
};

const Net kPromiseNets[] = {
    {"residual", true, R"(graph "residual" {
       opset 28
       input x: float32[N,5,7,9]
       const w1: float32[19,5,3,3] = random(1)
       const s: float32[19] = random(2)
       const b: float32[19] = random(3)
       const m: float32[19] = random(4)
       const v: float32[19] = {1, 2, 0.5, 0.75, 1.25, 1, 3, 0.9, 1.1, 2, 1, 0.6, 0.7, 0.8, 2.5, 1, 1, 4, 0.3}
       const w2: float32[19,19,1,1] = random(5)
       c = Conv(x, w1) @c {pads = [1, 1, 1, 1]}
       n = BatchNormalization(c, s, b, m, v) @n
       r = Relu(n) @r
       d = Conv(r, w2) @d
       y = Add(d, r) @y
       output y
     })"},
    {"depthwise", true, R"(graph "depthwise" {
       opset 28
       input x: float32[N,21,9,7]
       const w1: float32[21,1,3,3] = random(1)
       const b1: float32[21] = random(2)
       const w2: float32[12,7,3,3] = random(3)
       const low: float32[] = {0}
       const high: float32[] = {6}
       d = Conv(x, w1, b1) @d {pads = [1, 1, 1, 1], strides = [2, 2], group = 21}
       r = Clip(d, low, high) @r
       y = Conv(r, w2) @y {pads = [0, 1, 1, 0], group = 3}
       output y
     })"},
    {"pools", true, R"(graph "pools" {
       opset 28
       input x: float32[N,18,9,11]
       p = MaxPool(x) @p {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}
       a = AveragePool(p) @a {kernel_shape = [2, 3], pads = [1, 1, 0, 1]}
       g = GlobalAveragePool(a) @g
       m = GlobalMaxPool(a) @m
       y = Concat(g, m) @y {axis = 1}
       output y
     })"},
    {"dense", true, R"(graph "dense" {
       opset 28
       input x: float32[N,6,37]
       const w1: float32[37,21] = random(1)
       const w2: float32[13,126] = random(2)
       const b2: float32[13] = random(3)
       const row: int64[2] = {0, -1}
       const small: float32[] = {0.001}
       const columns: int64[1] = {1}
       h = MatMul(x, w1) @h
       t = Reshape(h, row) @t
       g = Gemm(t, w2, b2) @g {transB = 1, alpha = 0.5}
       m = ReduceMean(g, columns) @m {keepdims = 1}
       d = Sub(g, m) @d
       q = Mul(d, d) @q
       e = ReduceMean(q, columns) @e {keepdims = 1}
       f = Add(e, small) @f
       s = Sqrt(f) @s
       y = Div(d, s) @y
       output y
     })"},
    {"activations", false, R"(graph "activations" {
       opset 28
       input x: float32[N,5,7,3]
       const third: float32[] = {0.3}
       a = Sigmoid(x) @a
       b = Mul(x, a) @b
       c = Tanh(b) @c
       d = Erf(x) @d
       e = Add(c, d) @e
       f = Exp(e) @f
       g = Elu(x) @g
       h = Mul(f, g) @h
       i = Abs(h) @i
       j = Pow(i, third) @j
       y = HardSwish(j) @y
       output y
     })"},
    {"softmax", false, R"(graph "softmax" {
       opset 28
       input x: float32[N,3,7,21]
       const w: float32[21,11] = random(1)
       const scale: float32[11] = random(2)
       a = MatMul(x, w) @a
       n = LayerNormalization(a, scale) @n
       y = Softmax(n) @y {axis = -1}
       z = Softmax(n) @z {axis = 1}
       output y
       output z
     })"},
    // Large enough to go sample by sample, but for the layer at the end, of many weights.
    {"samples", true, R"(graph "samples" {
       opset 28
       input x: float32[N,9,38,41]
       const w1: float32[32,9,3,3] = random(1)
       const w2: float32[16,32,1,1] = random(2)
       const w3: float32[32,1,3,3] = random(3)
       const w4: float32[48,48,3,3] = random(4)
       const flat: int64[2] = {0, -1}
       const w5: float32[48,700] = random(5)
       a = Conv(x, w1) @a {pads = [1, 1, 1, 1]}
       b = Relu(a) @b
       c = Conv(b, w2) @c
       d = Conv(b, w3) @d {pads = [1, 1, 1, 1], group = 32}
       e = Concat(c, d) @e {axis = 1}
       f = Conv(e, w4) @f {pads = [1, 1, 1, 1]}
       g = Add(f, e) @g
       p = GlobalAveragePool(g) @p
       h = Reshape(p, flat) @h
       y = MatMul(h, w5) @y
       z = MaxPool(g) @z {kernel_shape = [3, 3], strides = [3, 3]}
       output y
       output z
     })"},
};

constexpr int kBatch = 3;

Graph graph_of(const Net& net, int64_t batch) {
  Graph graph = parse_graph(net.text);
  bind_symbol(graph, "N", batch);
  return graph;
}

Graph sample_graph(int64_t batch) {
  Graph graph = read_model("sample/shapes.onnx");
  for (ValueId id : graph.inputs) {
    if (graph.constant(id) != nullptr) continue;
    const Dim first = (*graph.value(id).type.shape)[0];
    if (!first.fixed()) bind_symbol(graph, first.symbol, batch);
  }
  return graph;
}

Tensor random_input(const Graph& graph, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  Tensor tensor(DType::Float32, graph.value(graph.inputs.at(0)).type.fixed_shape());
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<float>()[i] = uniform(engine);
  return tensor;
}

// Sample `i` of a batch, alone.
Tensor sample(const Tensor& batch, int64_t i) {
  Shape shape = batch.shape();
  shape[0] = 1;
  Tensor one(batch.dtype(), shape);
  std::memcpy(one.mutable_bytes(), batch.bytes().data() + static_cast<size_t>(i) * one.size_bytes(), one.size_bytes());
  return one;
}

// Sample i of the result is sample (i + by) of `batch`.
Tensor rotated(const Tensor& batch, int64_t by) {
  Tensor result(batch.dtype(), batch.shape());
  const int64_t n = batch.dim(0);
  const size_t bytes = batch.size_bytes() / static_cast<size_t>(n);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(result.mutable_bytes() + static_cast<size_t>(i) * bytes,
                batch.bytes().data() + static_cast<size_t>((i + by) % n) * bytes, bytes);
  }
  return result;
}

std::shared_ptr<const Package> compiled_for(const Graph& graph, int opt, std::vector<std::string> isas,
                                            const std::string& device = "cpu") {
  CompileOptions options;
  options.opt = opt;
  options.device = device;
  options.isas = std::move(isas);
  options.build.cache_folder = test_cache();
  return std::make_shared<Package>(compile(graph, options));
}

void expect_same_elements(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                          const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i].identical(expected[i])) continue;
    const std::vector<double> a = to_doubles(actual[i]), b = to_doubles(expected[i]);
    ASSERT_EQ(a.size(), b.size()) << what;
    size_t n = 0, first = a.size();
    for (size_t k = 0; k < a.size(); ++k) {
      if (a[k] == b[k]) continue;
      first = std::min(first, k);
      ++n;
    }
    ADD_FAILURE() << what << ": output " << i << " differs in " << n << " of " << a.size() << " elements, first in "
                  << first;
  }
}

// Runs, places in the batch and tracing. `first` is what the same package gave before, or empty to be filled.
void expect_steady(Session& session, std::vector<Tensor>* first, const std::string& what) {
  const Tensor x = random_input(session.graph(), 1);
  const std::vector<Tensor> outputs = session.run({x});
  if (first->empty()) *first = outputs;
  expect_same_elements(outputs, *first, what);
  expect_same_elements(session.run({x}), *first, what + ", again");
  expect_same_elements(session.trace({x}, [](const Graph&, ValueId, const Tensor&) {}), *first, what + ", traced");
  for (int64_t by = 1; by < x.dim(0); ++by) {
    std::vector<Tensor> expected;
    for (const Tensor& t : *first) expected.push_back(rotated(t, by));
    expect_same_elements(session.run({rotated(x, by)}), expected, cat(what, ", batch turned by ", by));
  }
}

// The same over numbers of threads, for each instruction set.
void expect_steady(const std::shared_ptr<const Package>& package, const std::string& what) {
  for (const std::string& isa : supported_isas()) {
    std::vector<Tensor> first;
    for (int threads : {1, 2, 4}) {
      const std::unique_ptr<Session> session = open_session("cpu", package, {threads, isa});
      EXPECT_EQ(session->isa(), isa);
      EXPECT_EQ(session->threads(), threads);
      expect_steady(*session, &first, cat(what, " ", isa, ", ", threads, " threads"));
    }
  }
}

TEST(Promises, SameBitsOnAnyRunThreadsPlaceAndTraced) {
  for (const Net& net : kPromiseNets) {
    for (int opt : {0, 1, 3, 4}) {
      expect_steady(compiled_for(graph_of(net, kBatch), opt, supported_isas()), cat(net.name, " -O", opt));
    }
  }
}

TEST(Promises, SameBitsOnOpenCl) {
  if (DeviceSpec("opencl").device().list({}).empty()) GTEST_SKIP() << "no OpenCL device (pocl-opencl-icd brings one)";
  for (const Net& net : kPromiseNets) {
    if (net.name != std::string("residual") && net.name != std::string("activations")) continue;
    std::vector<Tensor> first;
    const std::unique_ptr<Session> session =
        open_session("opencl:0", compiled_for(graph_of(net, kBatch), 3, {}, "opencl"));
    expect_steady(*session, &first, cat(net.name, " -O3 opencl"));
  }
}

// A value within another begins at any byte, whether steps go together or alone.
TEST(Promises, SameBitsOnOpenClOfPartsInPlace) {
  if (DeviceSpec("opencl").device().list({}).empty()) GTEST_SKIP() << "no OpenCL device (pocl-opencl-icd brings one)";
  const Graph graph = parse_graph(R"(graph "parts" {
  opset 28
  input x: float32[1,3,5,7]
  const w1: float32[16,3,3,3] = random(1)
  const w2: float32[32,3,1,1] = random(2)
  const w3: float32[16,48,1,1] = random(3)
  a = Conv(x, w1) @a {pads = [1, 1, 1, 1]}
  b = Conv(x, w2) @b
  c = Concat(a, b) @c {axis = 1}
  d = Conv(c, w3) @d
  r = Relu(d) @r
  p = GlobalAveragePool(r) @p
  output p
})");
  const auto package = compiled_for(graph, 3, {}, "opencl");
  for (const Step& step : package->variants[0].steps) EXPECT_NE(package->graph().node(step.node).op, "Concat");
  const Argument& b = package->variants[0].values[static_cast<size_t>(package->graph().find_value("b"))].where;
  ASSERT_EQ(b.kind, Argument::Kind::Arena);
  EXPECT_NE(b.at % 128, 0);  // what PoCL asks of a sub-buffer
  std::vector<Tensor> first;
  expect_steady(*open_session("opencl:0", package), &first, "parts");
  const std::vector<double> got = to_doubles(first[0]),
                            wanted = to_doubles(interpret(graph, {random_input(graph, 1)})[0]);
  for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], wanted[k], 1e-5 * (1 + std::abs(wanted[k])));
}

// On processors steps go together, up to one that is interpreted; traced, and with code that cannot, each goes alone.
TEST(Promises, SameBitsOnOpenClStepByStep) {
  if (DeviceSpec("opencl").device().list({}).empty()) GTEST_SKIP() << "no OpenCL device (pocl-opencl-icd brings one)";
  const Graph graph = parse_graph(R"(graph "interrupted" {
  opset 28
  input x: float32[2,8,9,7]
  const w1: float32[16,8,3,3] = random(1)
  const w2: float32[5,16,1,1] = random(2)
  const lengths: int64[2] = {5, 5}
  c = Conv(x, w1) @c {pads = [1, 1, 1, 1]}
  r = Relu(c) @r
  s = ReverseSequence(r, lengths) @s {batch_axis = 0, time_axis = 1}
  d = Conv(s, w2) @d
  m = MaxPool(d) @m {kernel_shape = [2, 2]}
  p = GlobalAveragePool(d) @p
  output m
  output p
})");
  const auto package = compiled_for(graph, 3, {}, "opencl");
  const auto interpreted = [](const Step& step) { return step.kernel < 0; };
  ASSERT_EQ(std::count_if(package->variants[0].steps.begin(), package->variants[0].steps.end(), interpreted), 1);
  std::vector<Tensor> first;
  expect_steady(*open_session("opencl:0", package), &first, "together");
  auto alone = std::make_shared<Package>(*package);
  for (Variant& variant : alone->variants) {
    std::string& source = variant.code.source;
    for (size_t at = 0; (at = source.find("_task(", at)) != std::string::npos;) source.replace(at, 6, "_once(");
  }
  expect_steady(*open_session("opencl:0", alone), &first, "alone");
  const std::vector<Tensor> expected = interpret(graph, {random_input(graph, 1)});
  for (size_t i = 0; i < first.size(); ++i) {
    const std::vector<double> got = to_doubles(first[i]), wanted = to_doubles(expected[i]);
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], wanted[k], 1e-5 * (1 + std::abs(wanted[k])));
  }
}

TEST(Promises, SameBitsAloneAndInABatch) {
  for (const Net& net : kPromiseNets) {
    for (int opt : {0, 3}) {
      const auto one = compiled_for(graph_of(net, 1), opt, default_isas());
      const auto many = compiled_for(graph_of(net, kBatch), opt, default_isas());
      EXPECT_EQ(many->variants[0].samples(), net.name == std::string("samples") && opt >= 3 ? kBatch : 1);
      const Tensor x = random_input(many->graph(), 2);
      for (const std::string& isa : default_isas()) {
        const std::unique_ptr<Session> alone = open_session("cpu", one, {1, isa});
        const std::vector<Tensor> batch = open_session("cpu", many, {1, isa})->run({x});
        for (int64_t i = 0; i < kBatch; ++i) {
          std::vector<Tensor> expected;
          for (const Tensor& t : batch) expected.push_back(sample(t, i));
          expect_same_elements(alone->run({sample(x, i)}), expected,
                               cat(net.name, " -O", opt, " ", isa, ", sample ", i));
        }
      }
    }
  }
}

// What mixes samples stands between runs of nodes that do not, also where it would copy nothing.
TEST(Promises, SamplesWaitForThoseTheyAreMixedWith) {
  const Graph graph = parse_graph(R"(graph "mixed" {
  opset 28
  input x: float32[4,8,48,48]
  const two: int64[2] = {4, 4}
  a = MaxPool(x) @a {kernel_shape = [3, 3]}
  b = MaxPool(x) @b {kernel_shape = [2, 2], dilations = [2, 2]}
  c = Concat(a, b) @c {axis = 0}
  d = MaxPool(c) @d {kernel_shape = [2, 2]}
  e, f = Split(d, two) @e {axis = 0}
  g = MaxPool(f) @g {kernel_shape = [2, 2]}
  h = MaxPool(e) @h {kernel_shape = [2, 2]}
  y = Concat(g, h) @y {axis = 1}
  output y
})");
  const auto package = compiled_for(graph, 3, default_isas());
  EXPECT_EQ(package->variants[0].samples(), 4);
  const Tensor x = random_input(package->graph(), 6);
  for (int threads : {1, 2, 3})
    expect_same_elements(open_session("cpu", package, {threads, {}})->run({x}), interpret(package->source.graph(), {x}),
                         cat(threads, " threads"));
}

TEST(Promises, O0IsTheInterpreterOnEveryInstructionSet) {
  for (const Net& net : kPromiseNets) {
    const Graph graph = graph_of(net, 2);
    const auto package = compiled_for(graph, 0, supported_isas());
    const Tensor x = random_input(package->graph(), 3);
    std::vector<Tensor> expected;
    if (net.exact) expected = interpret(graph, {x});
    for (const std::string& isa : supported_isas()) {
      const std::vector<Tensor> outputs = open_session("cpu", package, {2, isa})->run({x});
      if (expected.empty()) expected = outputs;
      expect_same_elements(outputs, expected, cat(net.name, " ", isa));
    }
  }
}

TEST(Promises, OfTheSample) {
  for (int opt : {0, 3, 4}) {
    const auto package = compiled_for(sample_graph(2), opt, supported_isas());
    expect_steady(package, cat("sample -O", opt));
    if (opt != 0) continue;
    const Tensor x = random_input(package->graph(), 1);
    const std::vector<Tensor> expected = interpret(package->source.graph(), {x});
    for (const std::string& isa : supported_isas())
      expect_same_elements(open_session("cpu", package, {2, isa})->run({x}), expected, "sample -O0 " + isa);
  }
}

TEST(Promises, ATraceOfTheSourceChangesNothing) {
  const auto package = compiled_for(sample_graph(1), 3, default_isas());
  const Tensor x = random_input(package->graph(), 4);
  const std::unique_ptr<Session> session = open_session("cpu", package);
  const std::vector<Tensor> before = session->run({x});
  const std::vector<stream::TensorRecord> records = trace_run(*session, {x});
  size_t n_recomputed = 0;
  for (const stream::TensorRecord& record : records) n_recomputed += record.recomputed ? 1 : 0;
  EXPECT_GT(n_recomputed, 0u);
  EXPECT_LT(n_recomputed, records.size());
  expect_same_elements(session->run({x}), before, "after a trace");
}

// From each value on the run goes on as it would, and with another one as the interpreter does; the run itself is the same.
void expect_forks(Session& session, Session* reference, const std::string& what) {
  const Graph& graph = session.graph();
  const Tensor x = random_input(graph, 5);
  const auto halved = [](const Tensor& tensor) {
    Tensor half = tensor;
    for (int64_t i = 0; i < half.size(); ++i) half.mutable_data<float>()[i] *= 0.5F;
    return half;
  };
  const std::vector<Tensor> expected = session.run({x});
  std::map<ValueId, std::vector<Tensor>> by_value;
  size_t n = 0;
  const Session::Fork fork = [&](ValueId id, const Tensor& value, const Session::Resume& resume) {
    if (graph.is_input(id) || value.dtype() != DType::Float32) return;
    ++n;
    expect_same_elements(resume({{id, value}}), expected, cat(what, ", on from ", graph.value(id).name));
    by_value[id] = resume({{id, halved(value)}});
    expect_same_elements(resume({{id, value}}), expected, cat(what, ", again from ", graph.value(id).name));
  };
  expect_same_elements(session.fork({x}, fork), expected, what + ", forked");
  EXPECT_GT(n, 0u) << what;
  if (reference == nullptr) return;
  reference->fork({x}, [&](ValueId id, const Tensor& value, const Session::Resume& resume) {
    const auto found = by_value.find(id);
    if (found == by_value.end()) return;
    expect_same_elements(found->second, resume({{id, halved(value)}}), cat(what, ", halved ", graph.value(id).name));
  });
}

TEST(Promises, AForkGoesOnFromAnyValue) {
  for (const Net& net : kPromiseNets) {
    for (int opt : {0, 3}) {
      const std::unique_ptr<Session> session = open_session("cpu", compiled_for(graph_of(net, 2), opt, default_isas()));
      const std::unique_ptr<Session> reference =
          open_session("reference", compiled_for(graph_of(net, 2), opt, {}, "reference"));
      expect_forks(*session, net.exact && opt == 0 ? reference.get() : nullptr, cat(net.name, " -O", opt));
      expect_forks(*reference, nullptr, cat(net.name, " -O", opt, " reference"));
    }
  }
}

TEST(Promises, AForkOnOpenCl) {
  if (DeviceSpec("opencl").device().list({}).empty()) GTEST_SKIP() << "no OpenCL device (pocl-opencl-icd brings one)";
  expect_forks(*open_session("opencl:0", compiled_for(graph_of(kPromiseNets[0], 2), 0, {}, "opencl")), nullptr,
               "opencl");
}

TEST(Promises, SameInputsGiveTheSameBytes) {
  TemporaryFolder folder(::testing::TempDir());
  std::string first;
  for (const char* name : {"a", "b/c"}) {
    const std::string here = folder.path() + "/" + name;
    std::filesystem::create_directories(here);
    std::filesystem::copy_file("sample/shapes.onnx", here + "/shapes.onnx");
    OpenOptions options;
    options.key_path = folder.path() + "/key";
    options.compile.opt = 3;
    options.compile.isas = {"x86-64"};
    options.compile.build.jobs = first.empty() ? 2 : 1;
    options.compile.build.cache_folder = first.empty() ? std::string() : here + "/cache";
    AtomicFile file(here + "/shapes.dnnpkg");
    compile_file(here + "/shapes.onnx", options, &file);
    file.commit();
    const std::string bytes = read_file(here + "/shapes.dnnpkg");
    if (first.empty()) first = bytes;
    EXPECT_TRUE(bytes == first) << "in " << name;
  }
}

// Compiled twice, the second time from the cache, and once more where the weights in what the cache holds were damaged.
TEST(Promises, TheCacheGivesTheSameBytes) {
  TemporaryFolder folder(::testing::TempDir());
  OpenOptions options;
  options.compile.opt = 3;
  options.compile.isas = {"x86-64"};
  options.compile.build.cache_folder = test_cache();
  options.cache_folder = folder.path() + "/cache";
  std::vector<std::string> notes;
  options.note = [&](const std::string& message) { notes.push_back(message.substr(0, message.find(' '))); };
  const std::string model = folder.path() + "/wide.onnx", out = folder.path() + "/wide.dnnpkg";
  const Net net = {"wide", true, R"(graph "wide" {
       opset 28
       input x: float32[N,64,3,3]
       const w: float32[64,64,3,3] = random(1)
       y = Conv(x, w) @y
       output y
     })"};
  write_model(graph_of(net, 1), model);
  options.key_path = folder.path() + "/key";
  const auto compiled_bytes = [&] {
    AtomicFile file(out);
    compile_file(model, options, &file);
    file.commit();
    return read_file(out);
  };
  const std::string first = compiled_bytes();
  EXPECT_TRUE(notes.empty());
  EXPECT_TRUE(compiled_bytes() == first);
  EXPECT_EQ(notes, (std::vector<std::string>{"from"}));
  for (const auto& entry : std::filesystem::directory_iterator(options.cache_folder)) {
    std::string bytes = read_file(entry.path().string());
    bytes.at(bytes.size() - 4096) ^= 1;  // of the weights, which come last
    write_file(entry.path().string(), bytes);
  }
  EXPECT_TRUE(compiled_bytes() == first);
  EXPECT_EQ(notes, (std::vector<std::string>{"from", "the"}));
}

}  // namespace
}  // namespace dnn
