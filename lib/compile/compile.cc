// Compiling; see compile.h.
#include "compile/compile.h"

#include <algorithm>

#include "base/cpu.h"
#include "codegen/generate.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {

std::vector<std::string> default_isas() {
  std::vector<std::string> isas = {"x86-64"};
  if (const std::string best = supported_isas().back(); best != isas[0]) isas.push_back(best);
  return isas;
}

std::string processor_of(const CompileOptions& options) {
  if (options.device == "cuda") return kGpu;
  if (!options.processor.empty()) return options.processor;
  return options.device == "cpu" && options.isas.empty() ? processor_kind() : "generic";
}

namespace {

// Constants that kernels read packed need no second copy in the graph: they become captures, which the package holds.
void drop_packed_constants(Package& package) {
  constexpr size_t kSmall_bytes = 1024;
  for (ValueId id = 0; id < package.graph.value_count(); ++id) {
    Value& value = package.graph.value(id);
    const bool row_major = package.values[static_cast<size_t>(id)].where.kind == Argument::Kind::Constant;
    if (!value.constant || row_major || value.constant->size_bytes() <= kSmall_bytes || package.graph.is_output(id))
      continue;
    value.constant.reset();
    package.graph.captures.push_back(id);
  }
}

// The code generator's target for a kind of device; "" for the devices that interpret.
std::string target_of(const std::string& device) {
  if (device == "cpu") return "c";
  return device == "opencl" || device == "cuda" ? device : "";
}

std::vector<std::string> isas_of(const std::string& target, const CompileOptions& options) {
  if (target == "opencl" && processor_of(options) == kGpu) return {codegen::kGpuIsa};
  if (target == "opencl") return {"float16", "float8"};
  if (target != "c") return {""};
  return options.isas.empty() ? default_isas() : options.isas;
}

// Of the best of them.
int64_t lanes_of(const std::vector<std::string>& isas) {
  int64_t most = 0;
  for (const std::string& isa : isas) most = std::max(most, codegen::vector_lanes(isa));
  return most;
}

}  // namespace

PassOptions pass_options(const CompileOptions& options) {
  PassOptions result;
  result.opt = options.opt;
  result.float64 = options.float64;
  result.vector_lanes = lanes_of(isas_of(target_of(options.device), options));
  result.processor = processor_of(options);
  result.samples_alone = target_of(options.device) == "c";
  result.changes = options.pass_changes;
  result.stop_after = options.stop_after;
  result.allow = options.allow;
  result.rows = options.rows;
  return result;
}

Package compile(const Graph& source, const CompileOptions& options) {
  const std::string target = target_of(options.device);
  const std::vector<std::string> isas = isas_of(target, options);
  Graph graph = options.float64 ? widen_to_float64(source) : source;
  infer_types(graph);
  verify(graph);
  PassOptions rewriting = pass_options(options);
  if (options.emit) {
    options.emit("00-source.txt", to_text(graph));
    rewriting.after_pass = [&, n = 0](const std::string& pass, const Graph& after) mutable {
      options.emit(cat(++n < 10 ? "0" : "", n, "-", pass, ".txt"), to_text(after));
    };
  }
  const std::vector<PassLog> log = run_passes(graph, rewriting);
  if (options.on_passes) options.on_passes(log);
  Package package;
  if (!target.empty()) {
    codegen::GenerateOptions generate;
    generate.opt = options.opt;
    generate.target = target;
    generate.fast_math = std::any_of(log.begin(), log.end(), [](const PassLog& p) { return p.name == "fast-math"; });
    generate.schedules = options.schedules;
    generate.on_workload = options.on_workload;
    generate.isas = isas;
    generate.processor = processor_of(options);
    package = codegen::generate(graph, generate);
    generate.on_workload = nullptr;
    if (options.emit) {
      for (const std::string& isa : generate.isas) {
        options.emit(cat("loops-", isa.empty() ? target : isa, ".txt"), codegen::emit_loops(graph, generate, isa));
      }
      const std::string extension = target == "c" ? ".c" : target == "opencl" ? ".cl" : ".cu";
      for (const Code& code : package.codes)
        options.emit(cat("kernels-", code.isa.empty() ? target : code.isa, extension), code.source);
    }
    if (target == "c") {
      BuildOptions build = options.build;
      build.contract = options.opt >= 3;
      package.info.compiler = compiler_identity(build);
      for (Code& code : package.codes) build_code(code, build);
    }
    package.info.target = target;
    drop_packed_constants(package);
  } else {
    package.graph = graph;
    for (ValueId id : graph.inputs) package.input_types.push_back(graph.value(id).type);
    for (ValueId id : graph.outputs) package.output_types.push_back(graph.value(id).type);
  }
  for (const PassLog& entry : log) package.info.passes.push_back(entry.name);
  package.source = source;
  package.info.opt = options.opt;
  package.info.dtype = options.float64 ? "float64" : "float32";
  return package;
}

}  // namespace dnn
