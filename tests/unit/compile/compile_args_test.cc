// The options of dnn-compile decide a package's targets, precision and passes.
#include "compile/compile_args.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compile/arithmetic.h"
#include "target/architecture.h"
#include "target/isa.h"

namespace dnn {
namespace {

const CompileDevice kCpu = {"cpu"};

std::string refusal(const CompileArgs& args, const CompileDevice& device) {
  try {
    compile_request(args, device);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage) << e.what();
    return e.what();
  }
  return "";
}

// An architecture that this processor does not run.
std::string foreign() {
  for (const Architecture& row : architectures()) {
    if (row.id != host_architecture().id) return row.name;
  }
  return "";
}

TEST(CompileArgs, TargetsAreInstructionSetsEachOnce) {
  CompileArgs args;
  EXPECT_TRUE(compile_request(args, kCpu).compile.isas.empty());
  const std::string own = host_architecture().name, best = known_isas().back();
  args.targets = best + "," + own + "," + best;
  const std::vector<std::string> isas = compile_request(args, kCpu).compile.isas;
  EXPECT_EQ(isas.front(), best);
  EXPECT_EQ(std::count(isas.begin(), isas.end(), best), 1);
  std::vector<std::string> known = known_isas(), found = isas;
  std::sort(known.begin(), known.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, known);
}

TEST(CompileArgs, ForOtherProcessorsNothingIsSearchedHere) {
  CompileArgs args;
  args.targets = foreign();
  EXPECT_EQ(refusal(args, kCpu), "");
  EXPECT_NE(refusal(args, {.kind = "cpu", .searched = true}).find("leave out --tune"), std::string::npos);
  args.processor = known_processors().back();
  EXPECT_NE(refusal(args, kCpu).find("--processor " + args.processor), std::string::npos);
}

TEST(CompileArgs, CFilesAreForOneArchitecture) {
  CompileArgs args;
  args.targets = cat(host_architecture().name, ",", foreign());
  EXPECT_EQ(refusal(args, kCpu), "");
  args.emit_c = "folder";
  EXPECT_NE(refusal(args, kCpu).find("name one"), std::string::npos);
}

// The pass that C files need is added to what the user asks for, and takes nothing of it away.
TEST(CompileArgs, CFilesKeepTheArithmetic) {
  CompileArgs args;
  args.emit_c = "folder";
  EXPECT_EQ(compile_request(args, kCpu).compile.pass_changes, with_arithmetic("+fold-constant", Arithmetic::Onnx));
  args.arithmetic = "tflite";
  EXPECT_EQ(compile_request(args, kCpu).compile.pass_changes, "+tflite-arithmetic,+fold-constant");
  args.passes = "-fold-scale-axis";
  EXPECT_EQ(compile_request(args, kCpu).compile.pass_changes, "+tflite-arithmetic,-fold-scale-axis");
}

TEST(CompileArgs, ADeviceThatWidensTakesNoOtherPrecision) {
  CompileArgs args;
  const CompileDevice wide = {.kind = "reference", .float64 = true};
  EXPECT_EQ(compile_request(args, wide).compile.element, DType::Float64);
  args.precision = "bf16";
  EXPECT_NE(refusal(args, wide).find("computes in float64"), std::string::npos);
  EXPECT_EQ(compile_request(args, kCpu).compile.element, DType::BFloat16);
}

TEST(CompileArgs, SomethingMustBeWrittenAndOneThingTakesStandardOutput) {
  CompileArgs args;
  EXPECT_THROW(check_compile(args, kCpu, ""), Error);
  check_compile(args, kCpu, "-");
  args.explain = true;
  check_compile(args, kCpu, "");
  EXPECT_THROW(check_compile(args, kCpu, "-"), Error);
  args.emit_c = "folder";
  EXPECT_THROW(check_compile(args, kCpu, ""), Error);
  args.explain = false;
  check_compile(args, kCpu, "");
  EXPECT_THROW(check_compile(args, {.kind = "opencl"}, ""), Error);
  EXPECT_THROW(check_compile(args, {.kind = "cpu", .remote = true}, ""), Error);
}

}  // namespace
}  // namespace dnn
