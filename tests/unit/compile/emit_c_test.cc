// Networks as C files: compiled without a warning by every compiler that is here, for vectors and for scalars, they give the bits of the
// package of that level; what has no kernel is refused by name.
#include "compile/emit_c.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/process.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "graph/text.h"
#include "target/isa.h"

namespace dnn {
namespace {

struct Net {
  const char* name;
  const char* text;
};

// Extents are no multiples of a vector's, so that every kernel has a tail.
const Net kNets[] = {
    {"convolutions", R"(graph "convolutions" {
       opset 28
       input x: float32[1,5,7,9]
       const w1: float32[19,5,3,3] = random(1)
       const b1: float32[19] = random(2)
       const w2: float32[19,1,3,3] = random(3)
       const w3: float32[7,19,1,1] = random(4)
       const low: float32[] = {0}
       const high: float32[] = {6}
       c = Conv(x, w1, b1) @c {pads = [1, 1, 1, 1]}
       r = Clip(c, low, high) @r
       d = Conv(r, w2) @d {pads = [1, 1, 1, 1], strides = [2, 2], group = 19}
       a = Add(d, d) @a
       p = MaxPool(a) @p {kernel_shape = [2, 2]}
       y = Conv(p, w3) @y
       output c
       output y
     })"},
    {"functions", R"(graph "functions" {
       opset 28
       input x: float32[3,37]
       const w: float32[37,13] = random(1)
       m = MatMul(x, w) @m
       s = Softmax(m) @s
       t = Tanh(m) @t
       e = Erf(m) @e
       g = Sigmoid(x) @g
       q = Mul(x, g) @q
       y = Concat(s, t, e) @y {axis = 1}
       output y
       output q
     })"},
    {"integers", R"(graph "integers" {
       opset 28
       input x: uint8[2,11]
       input z: int32[2,11]
       f = Cast(x) @f {to = 1}
       g = Cast(z) @g {to = 1}
       y = Add(f, g) @y
       b = Greater(f, g) @b
       t = Transpose(z) @t {perm = [1, 0]}
       output y
       output b
       output t
     })"},
    {"quantised", R"(graph "quantised" {
       opset 21
       input x: int8[1,16,9,7]
       const w: int8[24,16,3,3] = random(1)
       const xs: float32[] = {0.05}
       const ws: float32[] = {0.02}
       const ys: float32[] = {0.5}
       const xz: int8[] = {3}
       const wz: int8[] = {0}
       const yz: int8[] = {-5}
       a = DequantizeLinear(x, xs, xz) @a
       b = DequantizeLinear(w, ws, wz) @b
       c = Conv(a, b) @c {pads = [1, 1, 1, 1]}
       y = QuantizeLinear(c, ys, yz) @y
       output y
     })"},
    // A fused multiply-add would round some of so many sums to another integer.
    {"sums", R"(graph "sums" {
       opset 21
       input a: uint8[1,16,64,64]
       input b: uint8[1,16,64,64]
       const as: float32[] = {0.1}
       const bs: float32[] = {0.3}
       const ys: float32[] = {0.2}
       const az: uint8[] = {3}
       const bz: uint8[] = {120}
       const yz: uint8[] = {17}
       p = DequantizeLinear(a, as, az) @p
       q = DequantizeLinear(b, bs, bz) @q
       s = Add(p, q) @s
       y = QuantizeLinear(s, ys, yz) @y
       output y
     })"},
    {"samples", R"(graph "samples" {
       opset 28
       input x: float32[4,8,24,24]
       const w1: float32[32,8,3,3] = random(1)
       const w2: float32[32,32,3,3] = random(2)
       c = Conv(x, w1) @c {pads = [1, 1, 1, 1]}
       r = Relu(c) @r
       d = Conv(r, w2) @d {pads = [1, 1, 1, 1]}
       y = GlobalAveragePool(d) @y
       output y
     })"},
};

EmittedC emitted(const std::string& text, int level) {
  CompileOptions options;
  options.opt = level;
  EmitCOptions emit;
  options.on_c_text = [&](const codegen::CText& t) { emit.texts.push_back(t); };
  const Graph graph = parse_graph(text);
  const auto package = std::make_shared<const Package>(compile(graph, options));
  const std::vector<Tensor> inputs = emit_c_inputs(*package);
  for (const Variant& variant : package->variants) {
    DeviceOptions device;
    device.threads = 1;
    device.isa = variant.target.isa;
    emit.expected.push_back(open_session(DeviceSpec("cpu"), package, device)->run(inputs));
  }
  emit.name = "net";
  return emit_c(*package, emit);
}

struct Tried {
  std::string problem, said;
  int exit_code = -1;
};

// Made by the emitted Makefile with the compiler and options of `command`, and run, by an emulator where one is named.
Tried tried(const std::map<std::string, std::string>& files, std::vector<std::string> command,
            std::vector<std::string> emulator = {}) {
  TemporaryFolder folder(testing::TempDir());
  for (const auto& [name, text] : files) write_file(folder.path() + "/" + name, text);
  const std::string compiler = command[0];
  command[0] = "-Werror";
  Tried result;
  const ProcessResult compiled =
      run_process({"make", "-s", "-C", folder.path(), "CC=" + compiler, "ARCH=" + join(command, " ")}, "", 300);
  if (compiled.exit_code != 0) {
    result.problem = compiled.output;
    return result;
  }
  emulator.push_back(folder.path() + "/net_test");
  const ProcessResult ran = run_process(emulator, "", 60);
  result.said = ran.output;
  result.exit_code = ran.exit_code;
  return result;
}

bool is_here(const char* command) {
  try {
    return run_process({command, "--version"}, "", 20).exit_code == 0;
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> compilers() {
  std::vector<std::string> found;
  for (const char* name : {"gcc", "clang", "clang-14"}) {
    if (found.size() < 2 && is_here(name)) found.emplace_back(name);
  }
  return found;
}

TEST(EmitC, GivesThePackagesBits) {
  const std::vector<std::string> here = compilers();
  ASSERT_FALSE(here.empty());
  const Isa& best = *find_isa(Language::C, supported_isas().back());
  for (const Net& net : kNets) {
    for (const int level : {0, 3}) {
      const EmittedC c = emitted(net.text, level);
      for (const std::string& compiler : here) {
        std::vector<std::string> vectors = {compiler};
        vectors.insert(vectors.end(), best.flags.begin(), best.flags.end());
        for (const std::vector<std::string>& command :
             {std::vector<std::string>{compiler}, vectors, {compiler, "-DDNN_SCALAR"}}) {
          const Tried result = tried(c.files, command);
          EXPECT_EQ(result.problem, "") << net.name << " -O" << level << " " << join(command, " ");
          EXPECT_EQ(result.said, "net: same bits\n") << net.name << " -O" << level << " " << join(command, " ");
          EXPECT_EQ(result.exit_code, 0);
        }
      }
    }
  }
}

// Without extensions of the ARMv8.0 instruction set, which an emulator refuses. At -O3 multiply-adds are fused there, and not in x86-64.
TEST(EmitC, GivesTheSameBitsOnAarch64) {
  if (!is_here("aarch64-linux-gnu-gcc") || !is_here("qemu-aarch64-static"))
    GTEST_SKIP() << "no aarch64-linux-gnu-gcc or qemu-aarch64-static; scripts/setup --cross installs them";
  const std::vector<std::string> emulator = {"qemu-aarch64-static", "-cpu", "cortex-a53"};
  for (const Net& net : kNets) {
    const bool exact = std::string(net.name) != "functions";  // libm is another one
    for (const int level : {0, 3}) {
      const EmittedC c = emitted(net.text, level);
      for (const char* scalar : {"-UDNN_SCALAR", "-DDNN_SCALAR"}) {
        const Tried result = tried(c.files, {"aarch64-linux-gnu-gcc", "-static", scalar}, emulator);
        EXPECT_EQ(result.problem, "") << net.name << " -O" << level << " " << scalar;
        EXPECT_EQ(result.exit_code, 0) << net.name << " -O" << level << " " << scalar << ": " << result.said;
        if (level == 0 && exact) {
          EXPECT_EQ(result.said, "net: same bits\n") << net.name << " " << scalar;
        }
      }
    }
  }
}

TEST(EmitC, CompilesForMicrocontrollers) {
  if (!is_here("arm-none-eabi-gcc")) GTEST_SKIP() << "no arm-none-eabi-gcc; scripts/setup --cross installs it";
  for (const Net& net : kNets) {
    TemporaryFolder folder(testing::TempDir());
    for (const auto& [name, text] : emitted(net.text, 3).files) write_file(folder.path() + "/" + name, text);
    const ProcessResult compiled =
        run_process({"arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-std=c99", "-Wall", "-Wextra", "-Werror",
                     "-O2", "-c", folder.path() + "/net.c", "-o", folder.path() + "/net.o"},
                    "", 300);
    EXPECT_EQ(compiled.output, "") << net.name;
    EXPECT_EQ(compiled.exit_code, 0) << net.name;
  }
}

// The test that is emitted can fail.
TEST(EmitC, TheTestSeesAWrongWeight) {
  EmittedC c = emitted(kNets[1].text, 0);
  std::string& text = c.files.at("net.c");
  const size_t weights = text.find(" w0[");
  ASSERT_NE(weights, std::string::npos);
  const size_t first = text.find("0x", weights);
  text.insert(first, "8 + ");
  const Tried result = tried(c.files, {"gcc"});
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.exit_code, 1) << result.said;
  EXPECT_NE(result.said.find("differs by at most"), std::string::npos) << result.said;
}

TEST(EmitC, SaysWhatItTakes) {
  const EmittedC c = emitted(kNets[0].text, 0);
  EXPECT_GT(c.arena_bytes, 0);
  EXPECT_GT(c.weight_bytes, 19 * 5 * 9 * 4);
  const std::string& header = c.files.at("net.h");
  EXPECT_NE(header.find("#define NET_ARENA_BYTES "), std::string::npos);
  EXPECT_NE(header.find("#define NET_IN_X_ELEMENTS 315 /* float32[1,5,7,9] */\n"), std::string::npos) << header;
  EXPECT_NE(header.find("void net_run(const float* in_x, float* out_c, float* out_y);\n"), std::string::npos) << header;
}

TEST(EmitC, RefusesWhatTheInterpreterRuns) {
  const char* text = R"(graph "shapes" {
       opset 28
       input x: float32[2,3]
       n = NonZero(x) @n
       output n
     })";
  try {
    emitted(text, 0);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("NonZero"), std::string::npos) << error.what();
  }
}

TEST(EmitC, NamesAreIdentifiers) {
  EXPECT_EQ(c_identifier("MobileNet-v1_0.25"), "mobilenet_v1_0_25");
  EXPECT_EQ(c_identifier("8bit"), "net_8bit");
  EXPECT_EQ(c_identifier("--"), "net");
  EXPECT_EQ(c_identifier("data:0"), "data_0");
}

}  // namespace
}  // namespace dnn
