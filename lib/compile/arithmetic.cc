// Names of arithmetics; see arithmetic.h.
#include "compile/arithmetic.h"

#include <algorithm>

#include "base/text.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

struct Row {
  const char* name;
  Arithmetic arithmetic;
  const char* pass;
};

constexpr Row kRows[] = {
    {"onnx", Arithmetic::Onnx, ""},
    {"tflite", Arithmetic::Tflite, "tflite-arithmetic"},
    {"tflite-micro", Arithmetic::TfliteMicro, "tflite-micro-arithmetic"},
};

const char* pass_of(Arithmetic arithmetic) {
  return std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.arithmetic == arithmetic; })
      ->pass;
}

}  // namespace

std::vector<std::string> arithmetic_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

Arithmetic arithmetic_named(const std::string& name) {
  for (const Row& row : kRows) {
    if (name == row.name) return row.arithmetic;
  }
  fail_usage("--arithmetic ", name, ": choose from ", join(arithmetic_names()));
}

std::string with_arithmetic(const std::string& changes, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::Onnx) return changes;
  if (starts_with(changes, "only:")) return cat(changes, ",", pass_of(arithmetic));
  return cat(changes, changes.empty() ? "" : ",", "+", pass_of(arithmetic));
}

Graph in_arithmetic(const Graph& graph, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::Onnx) return graph;
  Graph result = graph;
  infer_types(result);
  PassOptions options;
  options.changes = cat("only:", pass_of(arithmetic));
  run_passes(result, options);
  return result;
}

Arithmetic arithmetic_of(const std::vector<std::string>& passes) {
  for (const Row& row : kRows) {
    if (std::find(passes.begin(), passes.end(), row.pass) != passes.end()) return row.arithmetic;
  }
  return Arithmetic::Onnx;
}

}  // namespace dnn
