// Names of arithmetics; see arithmetic.h.
#include "compile/arithmetic.h"

#include <algorithm>

#include "base/text.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

constexpr const char* kPass = "tflite-arithmetic";

}  // namespace

Arithmetic arithmetic_named(const std::string& name) {
  if (name == "tflite") return Arithmetic::Tflite;
  if (name == "onnx") return Arithmetic::Onnx;
  fail_usage("--arithmetic ", name, ": choose from onnx, tflite");
}

std::string with_arithmetic(const std::string& changes, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::Onnx) return changes;
  if (starts_with(changes, "only:")) return cat(changes, ",", kPass);
  return cat(changes, changes.empty() ? "" : ",", "+", kPass);
}

Graph in_arithmetic(const Graph& graph, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::Onnx) return graph;
  Graph result = graph;
  infer_types(result);
  PassOptions options;
  options.changes = cat("only:", kPass);
  run_passes(result, options);
  return result;
}

Arithmetic arithmetic_of(const std::vector<std::string>& passes) {
  return std::find(passes.begin(), passes.end(), kPass) == passes.end() ? Arithmetic::Onnx : Arithmetic::Tflite;
}

}  // namespace dnn
