// Compiling; see compile.h.
#include "compile/compile.h"

#include "base/cpu.h"
#include "codegen/generate.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {

std::vector<std::string> default_isas() {
  std::vector<std::string> isas = {"x86-64"};
  if (const std::string best = supported_isas().back(); best != isas[0]) isas.push_back(best);
  return isas;
}

Package compile(const Graph& source, const CompileOptions& options) {
  Graph graph = options.float64 ? widen_to_float64(source) : source;
  infer_types(graph);
  verify(graph);
  PassOptions pass_options;
  pass_options.opt = options.opt;
  pass_options.float64 = options.float64;
  pass_options.changes = options.pass_changes;
  pass_options.stop_after = options.stop_after;
  const std::vector<PassLog> log = run_passes(graph, pass_options);
  Package package;
  if (options.device == "cpu") {
    codegen::GenerateOptions generate;
    generate.opt = options.opt;
    generate.isas = options.isas.empty() ? default_isas() : options.isas;
    package = codegen::generate(graph, generate);
    BuildOptions build = options.build;
    build.contract = options.opt >= 3;
    package.info.compiler = compiler_identity(build);
    for (Code& code : package.codes) build_code(code, build);
    package.info.target = "c";
  } else {
    package.graph = graph;
    for (ValueId id : graph.inputs) package.input_types.push_back(graph.value(id).type);
    for (ValueId id : graph.outputs) package.output_types.push_back(graph.value(id).type);
  }
  for (const PassLog& entry : log) package.info.passes.push_back(entry.name);
  package.info.opt = options.opt;
  package.info.dtype = options.float64 ? "float64" : "float32";
  return package;
}

}  // namespace dnn
