// Packages for another architecture: its compiler makes their code, which an emulator of its plainest processor runs, to the bits of this
// machine's where the level promises them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/process.h"
#include "cache.h"
#include "compile/compile.h"
#include "compile/emit_c.h"
#include "compile/open.h"
#include "devices/device.h"
#include "graph/text.h"
#include "target/isa.h"
#include "unit/compile/small_nets.h"

namespace dnn {
namespace {

constexpr const char *kCompiler = "aarch64-linux-gnu-gcc", *kEmulator = "qemu-aarch64-static";
constexpr size_t kAlign = 64;

bool can_run() { return is_here(kCompiler) && is_here(kEmulator); }
constexpr const char* kSkipped = "no aarch64-linux-gnu-gcc or qemu-aarch64-static; scripts/setup --cross installs them";

// Bytes behind one another, each part aligned; where each begins.
std::vector<size_t> write_aligned(const std::string& path, const std::vector<Bytes>& parts) {
  std::string all;
  std::vector<size_t> at;
  for (const Bytes part : parts) {
    all.resize((all.size() + kAlign - 1) / kAlign * kAlign);
    at.push_back(all.size());
    all += as_text(part);
  }
  write_file(path, all + '\0');
  return at;
}

// A program that takes the steps of a variant one by one, as a device does: it reads constants and inputs from the files of these names,
// and writes the outputs.
std::string program_of(const Variant& variant, const std::vector<size_t>& constants, const std::vector<size_t>& inputs,
                       const std::vector<size_t>& outputs, size_t output_bytes) {
  std::string text =
      "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
      "static char* load(const char* path) {\n  FILE* f = fopen(path, \"rb\");\n  fseek(f, 0, SEEK_END);\n"
      "  size_t n = (size_t)ftell(f);\n  rewind(f);\n  char* to = aligned_alloc(64, (n + 63) / 64 * 64);\n"
      "  if (fread(to, 1, n, f) != n) exit(3);\n  fclose(f);\n  return to;\n}\n";
  for (const KernelInfo& kernel : variant.kernels)
    text += cat("void ", kernel.name, "(void* const*, int64_t, int64_t);\n");
  text += cat("static char arena[", variant.arena_bytes + variant.samples() * variant.sample_arena_bytes + 1,
              "] __attribute__((aligned(64))), out[", output_bytes + 1,
              "] __attribute__((aligned(64)));\nint main(void) {\n  char *w = load(\"constants\"), *in = "
              "load(\"inputs\");\n");
  for (const Step& step : variant.steps) {
    if (step.kernel < 0) fail_unsupported("a node without a kernel: ", variant.graph->node(step.node).label());
    std::vector<std::string> arguments;
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const Argument& a = step.arguments[i];
      const auto at = static_cast<size_t>(a.at);
      std::string where;
      switch (a.kind) {
        case Argument::Kind::Arena: where = cat("arena + ", at); break;
        case Argument::Kind::Sample: where = cat("arena + ", static_cast<size_t>(variant.arena_bytes) + at); break;
        case Argument::Kind::Constant: where = cat("w + ", constants[at]); break;
        case Argument::Kind::Input: where = cat("in + ", inputs[at]); break;
        case Argument::Kind::Output: where = cat("out + ", outputs[at]); break;
        default: fail_unsupported("an argument without an address");
      }
      if (step.samples > 1)
        where += cat(" + s * ", a.kind == Argument::Kind::Sample ? variant.sample_arena_bytes : step.strides[i]);
      arguments.push_back(where);
    }
    const auto kernel = static_cast<size_t>(step.kernel);
    text += cat("  for (int64_t s = 0; s < ", step.samples, "; ++s) {\n    void* const args[] = {", join(arguments),
                "};\n    ", variant.kernels[kernel].name, "(args, 0, ", variant.code.tasks[kernel], ");\n  }\n");
  }
  for (ValueId id : variant.graph->outputs) {
    if (variant.values[static_cast<size_t>(id)].where.kind != Argument::Kind::Output)
      fail_unsupported("an output that no kernel writes");
  }
  return text + cat("  FILE* f = fopen(\"outputs\", \"wb\");\n  return fwrite(out, 1, ", output_bytes,
                    ", f) != ", output_bytes, " || fclose(f) != 0;\n}\n");
}

// The outputs that an emulated processor computes.
std::vector<Tensor> emulated(const Package& package, const Variant& variant, const std::vector<Tensor>& inputs,
                             const std::string& processor) {
  TemporaryFolder folder(testing::TempDir());
  const auto path = [&](const char* name) { return folder.path() + "/" + name; };
  std::vector<Bytes> constants, given;
  for (size_t i = 0; i < package.constants.size(); ++i) constants.push_back(package.constants[i].bytes());
  for (const Tensor& input : inputs) given.push_back(input.bytes());
  std::vector<size_t> outputs;
  size_t output_bytes = 0;
  for (const Type& type : package.output_types) {
    outputs.push_back(output_bytes);
    const size_t bytes = static_cast<size_t>(element_count(type.fixed_shape())) * dtype_size(type.dtype);
    output_bytes += (bytes + kAlign - 1) / kAlign * kAlign;
  }
  write_file(path("main.c"), program_of(variant, write_aligned(path("constants"), constants),
                                        write_aligned(path("inputs"), given), outputs, output_bytes));
  write_file(path("libkernels.so"), variant.code.binary);
  const ProcessResult built =
      run_process({kCompiler, "main.c", "libkernels.so", "-o", "main", "-Wl,-rpath,.", "-lm"}, folder.path(), 300);
  EXPECT_EQ(built.exit_code, 0) << built.output;
  const ProcessResult ran =
      run_process({kEmulator, "-cpu", processor, "-L", "/usr/aarch64-linux-gnu", "main"}, folder.path(), 300);
  EXPECT_EQ(ran.exit_code, 0) << processor << ": " << ran.output;
  if (ran.exit_code != 0) return {};
  const std::string bytes = read_file(path("outputs"));
  std::vector<Tensor> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor result(package.output_types[i].dtype, package.output_types[i].fixed_shape());
    std::memcpy(result.mutable_bytes(), bytes.data() + outputs[i], result.size_bytes());
    results.push_back(std::move(result));
  }
  return results;
}

CompileOptions for_both(int level) {
  CompileOptions options;
  options.opt = level;
  options.build.cache_folder = test_cache();
  options.isas = {supported_isas().front()};
  for (const std::string& isa : isas_of_target("aarch64")) options.isas.push_back(isa);
  return options;
}

void expect_same_emulated(const Graph& graph, int level, const std::string& name, bool exact) {
  const auto package = std::make_shared<const Package>(compile(graph, for_both(level)));
  const std::vector<Tensor> inputs = emit_c_inputs(*package);
  DeviceOptions device;
  device.threads = 1;
  const std::vector<Tensor> here = open_session(DeviceSpec("cpu"), package, device)->run(inputs);
  for (size_t v = 1; v < package->variants.size(); ++v) {
    const Variant& variant = package->variants[v];
    // The plainest processor that has what the variant needs.
    const size_t needs = find_isa(Language::C, variant.target.isa)->needs.size();
    const char* processor = needs == 1 ? "cortex-a53" : needs == 2 ? "cortex-a76" : "max";
    const std::vector<Tensor> there = emulated(*package, variant, inputs, processor);
    ASSERT_EQ(there.size(), here.size()) << name << " -O" << level;
    for (size_t i = 0; i < here.size(); ++i) {
      if (exact || is_integer(here[i].dtype())) {
        EXPECT_EQ(as_text(there[i].bytes()), as_text(here[i].bytes())) << name << " -O" << level << " output " << i;
        continue;
      }
      if (here[i].dtype() != DType::Float32) continue;
      const auto* a = here[i].data<float>();
      const auto* b = there[i].data<float>();
      for (int64_t k = 0; k < here[i].size(); ++k)
        ASSERT_NEAR(a[k], b[k], 1e-3F * std::max(1.0F, std::abs(a[k]))) << name << " -O" << level << " output " << i;
    }
  }
}

TEST(Cross, GivesTheSameBitsOnAarch64) {
  if (!can_run()) GTEST_SKIP() << kSkipped;
  for (const Net& net : kNets) {
    for (const int level : {0, 3}) expect_same_emulated(parse_graph(net.text), level, net.name, level == 0);
  }
}

// Unsigned bytes have an instruction of their own, and are made signed where it is missing.
TEST(Cross, DotProductsOfUnsignedBytesAreTheSame) {
  if (!can_run()) GTEST_SKIP() << kSkipped;
  std::string text;
  for (const Net& net : kNets) {
    if (std::string(net.name) == "quantised") text = net.text;
  }
  for (const char* name : {"input x: ", "const xz: "}) {
    const size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos);
    text.insert(at + std::string(name).size(), "u");
  }
  EXPECT_EQ(compile(parse_graph(text), for_both(3)).variants.size(), 4U);
  expect_same_emulated(parse_graph(text), 3, "unsigned bytes", true);
}

// Products of two activations are made of bytes with a zero point each, one of them packed while the network runs.
TEST(Cross, ProductsOfActivationsAreTheSame) {
  if (!can_run()) GTEST_SKIP() << kSkipped;
  for (const Net& net : kNets) {
    if (std::string(net.name) == "attention") expect_same_emulated(parse_graph(net.text), 3, net.name, true);
  }
}

TEST(Cross, RealNetworksGiveTheSameBitsOnAarch64) {
  if (!can_run()) GTEST_SKIP() << kSkipped;
  const char* data = std::getenv("DNN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "DNN_TEST_DATA names no folder";
  for (const char* name : {"squeezenet1_1_torch1.13_opset13.onnx", "mobilenet_v1_0.25_224_tflconv.tflite"}) {
    const Graph graph = read_bound(std::string(data) + "/derived/" + name, OpenOptions());
    expect_same_emulated(graph, 0, name, true);
  }
}

// Code for another machine than is asked for is no package.
TEST(Cross, RefusesACompilerOfAnotherArchitecture) {
  CompileOptions options = for_both(0);
  options.isas.erase(options.isas.begin());
  options.build.compiler = "cc";
  try {
    compile(parse_graph(kNets[0].text), options);
    FAIL() << "took it";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_STREQ(error.what(), "compiler cc makes no code for aarch64; name one that does with --compiler");
  }
}

// Only a network with dot products has code for processors with instructions for them.
TEST(Cross, VariantsAreThoseThatDiffer) {
  if (!is_here(kCompiler)) GTEST_SKIP() << kSkipped;
  for (const Net& net : kNets) {
    const std::string name = net.name;
    // Attention multiplies uint8 by int8, for which there is one instruction more.
    const size_t variants = name == "quantised" ? 3 : name == "attention" ? 4 : 2;
    EXPECT_EQ(compile(parse_graph(net.text), for_both(3)).variants.size(), variants) << name;
  }
}

TEST(Cross, OneOfAPackagesVariantsRunsHere) {
  if (!is_here(kCompiler)) GTEST_SKIP() << kSkipped;
  const auto package = std::make_shared<const Package>(compile(parse_graph(kNets[0].text), for_both(0)));
  EXPECT_EQ(open_session(DeviceSpec("cpu"), package)->isa(), supported_isas().front());
  DeviceOptions options;
  options.isa = isas_of_target("aarch64").front();
  EXPECT_THROW(open_session(DeviceSpec("cpu"), package, options), Error);
}

}  // namespace
}  // namespace dnn
