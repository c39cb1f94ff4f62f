// Networks as C files: compiled without a warning by every compiler that is here, for vectors and for scalars, they give the bits of the
// package of that level; what has no kernel is refused by name.
#include "compile/emit_c.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/process.h"
#include "compile/compile.h"
#include "compile/emit_c_model.h"
#include "devices/device.h"
#include "graph/text.h"
#include "target/isa.h"
#include "unit/compile/small_nets.h"

namespace dnn {
namespace {

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

// Interpreted nodes refuse some of the values that a network is tried with: the kind of the error was theirs.
TEST(EmitC, RefusesBeforeItRuns) {
  const TemporaryFolder folder(testing::TempDir());
  for (const char* node : {"Div(a, b)", "Mod(a, b)", "Gather(a, b)"}) {
    const std::string path = folder.path() + "/net.txt";
    write_file(path, cat("graph \"g\" {\n  opset 28\n  input a: int32[1]\n  input b: int32[40]\n  y = ", node,
                         " @n\n  output y\n}\n"));
    try {
      emit_c_of_model(path, {},
                      [](const auto&, const auto&, const auto&) -> std::vector<Tensor> { fail_malformed("it ran"); });
      ADD_FAILURE() << node << " is not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << error.what();
      EXPECT_NE(std::string(error.what()).find("no C code for node 'n' ("), std::string::npos) << error.what();
    }
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
