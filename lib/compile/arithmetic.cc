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
  std::vector<std::string> passes, instead;  // that run, and that do not
};

const std::vector<Row>& rows() {
  static const std::vector<Row> rows = {
      {"onnx", Arithmetic::Onnx, integer_passes(), {}},
      {"float", Arithmetic::Float, {}, {"integer-arithmetic", "integer-maps", "integer-products", "integer-functions"}},
      {"tflite", Arithmetic::Tflite, {"tflite-arithmetic"}, {}},
      {"tflite-micro", Arithmetic::TfliteMicro, {"tflite-micro-arithmetic"}, {}},
  };
  return rows;
}

const Row& row_of(Arithmetic arithmetic) {
  return *std::find_if(rows().begin(), rows().end(), [&](const Row& row) { return row.arithmetic == arithmetic; });
}

bool is_of_tflite(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::Tflite || arithmetic == Arithmetic::TfliteMicro;
}

}  // namespace

std::vector<std::string> arithmetic_names() {
  std::vector<std::string> names;
  for (const Row& row : rows()) names.emplace_back(row.name);
  return names;
}

Arithmetic arithmetic_named(const std::string& name) {
  for (const Row& row : rows()) {
    if (name == row.name) return row.arithmetic;
  }
  fail_usage("--arithmetic ", name, ": choose from ", join(arithmetic_names()));
}

std::string with_arithmetic(const std::string& changes, Arithmetic arithmetic) {
  const Row& row = row_of(arithmetic);
  if (starts_with(changes, "only:")) return is_of_tflite(arithmetic) ? cat(changes, ",", row.passes[0]) : changes;
  std::vector<std::string> all;
  for (const std::string& pass : row.passes) all.push_back("+" + pass);
  for (const std::string& pass : row.instead) all.push_back("-" + pass);
  if (!changes.empty()) all.push_back(changes);
  return join(all, ",");
}

Graph in_arithmetic(const Graph& graph, Arithmetic arithmetic) {
  if (!is_of_tflite(arithmetic)) return graph;
  Graph result = graph;
  infer_types(result);
  PassOptions options;
  options.changes = cat("only:", row_of(arithmetic).passes[0]);
  run_passes(result, options);
  return result;
}

Arithmetic arithmetic_of(const std::vector<std::string>& passes) {
  const auto ran = [&](const char* pass) { return std::find(passes.begin(), passes.end(), pass) != passes.end(); };
  for (const Row& row : rows()) {
    if (is_of_tflite(row.arithmetic) && ran(row.passes[0].c_str())) return row.arithmetic;
  }
  return ran("integer-arithmetic") ? Arithmetic::Onnx : Arithmetic::Float;
}

}  // namespace dnn
