// Compiling; see compile.h.
#include "compile/compile.h"

#include <algorithm>

#include "codegen/generate.h"
#include "compile/precision.h"
#include "compile/segments.h"
#include "graph/text.h"
#include "ops/op.h"
#include "package/join.h"
#include "passes/pass.h"
#include "passes/stated_sums.h"

namespace dnn {

std::vector<std::string> default_isas(DType element) {
  const std::vector<std::string> here = supported_isas(element);
  std::vector<std::string> isas = {here.front()};
  if (here.back() != isas[0]) isas.push_back(here.back());
  return isas;
}

std::string processor_of(const CompileOptions& options) {
  const Backend* backend = backend_of_device(options.device);
  if (backend != nullptr && isas_of(backend->language, false).empty()) return kGpu;
  if (!options.processor.empty()) return options.processor;
  return backend != nullptr && backend->builds_here && options.isas.empty() ? processor_kind() : kGeneric;
}

DType precision_named(std::string_view text) {
  if (text == "f32") return DType::Float32;
  if (text == "bf16") return DType::BFloat16;
  if (text == "f16") return DType::Float16;
  return dtype_from_name(text);
}

DType element_named(const std::string& text) {
  const DType dtype = precision_named(text);
  if (dtype == DType::Float32 || dtype == DType::BFloat16 || dtype == DType::Float16) return dtype;
  const char* integers = "; int8 wants calibration: dnn-compile --precision int8 --calibrate INPUT, or dnn-quantize";
  fail_usage("--precision ", text, ": choose from float32 (f32), bfloat16 (bf16), float16 (f16)",
             dtype == DType::Int8 ? integers : "");
}

namespace {

// The graph that variants share, without constants that their kernels read packed: these become captures, which the package holds.
std::shared_ptr<const Graph> without_packed_constants(Graph graph, const std::vector<Variant>& variants) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const Value& value = graph.value(id);
    const bool row_major = std::any_of(variants.begin(), variants.end(), [&](const Variant& v) {
      return v.values[id].where.kind == Argument::Kind::Constant;
    });
    if (!value.constant || row_major || value.constant->size_bytes() <= kSmallConstant || graph.is_output(id)) continue;
    drop_constant(graph, id);
  }
  return std::make_shared<const Graph>(std::move(graph));
}

const Isa& isa_named(Language language, const std::string& name) {
  const Isa* found = find_isa(language, name);
  if (found == nullptr) fail_usage("there is no instruction set ", name, "; choose from ", join(known_isas()));
  return *found;
}

}  // namespace

std::vector<Target> targets_of(const CompileOptions& options) {
  const Backend* backend = backend_of_device(options.device);
  const Language language = backend == nullptr ? Language::None : backend->language;
  const std::string processor = processor_of(options);
  const DType element = options.element == DType::Float32 ? level_of(options.opt).precision : options.element;
  std::vector<const Isa*> isas;
  if (backend != nullptr && backend->builds_here) {
    for (const std::string& name : options.isas.empty() ? default_isas(element) : options.isas) {
      const Isa& isa = isa_named(language, name);
      if (isa.computes(element)) isas.push_back(&isa);
    }
    if (isas.empty())
      fail_usage(join(options.isas), " is for networks in another precision; choose from ", join(known_isas(element)));
  } else {
    isas = isas_of(language, backend != nullptr && processor == kGpu);
  }
  std::vector<Target> targets;
  for (const Isa* isa : isas) targets.push_back(make_target(*isa, processor, options.opt, element));
  return targets;
}

namespace {

// What passes look at in a target, but for the speeds of its processor: for those alone they are not run again. It would double their
// time, and the fallback for older processors would have weights of its own where Winograd pays there and not here.
bool passes_tell_apart(const Target& a, const Target& b) {
  return a.backend() != b.backend() || a.isa->gpu != b.isa->gpu || a.level != b.level || a.element != b.element ||
         a.uses_dot() != b.uses_dot();
}

std::vector<std::vector<Target>> groups_of(const std::vector<Target>& targets) {
  std::vector<std::vector<Target>> groups;
  for (const Target& target : targets) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& members) { return !passes_tell_apart(members.front(), target); });
    if (group == groups.end()) {
      groups.push_back({target});
    } else {
      group->push_back(target);
    }
  }
  return groups;
}

// Of targets that passes cannot tell apart, those with the widest vectors decide.
PassOptions pass_options_for(const CompileOptions& options, const std::vector<Target>& group) {
  PassOptions result;
  result.target = *std::max_element(group.begin(), group.end(), [](const Target& a, const Target& b) {
    return a.isa->vector_bytes < b.isa->vector_bytes;
  });
  result.changes = options.pass_changes;
  result.stop_after = options.stop_after;
  result.allow = options.allow;
  result.rows = options.rows;
  return result;
}

// By number. Throws Usage where a pair cannot be one memory.
std::vector<StateAlias> state_of(const Graph& graph, const CompileOptions& options) {
  const auto find = [&](const std::vector<ValueId>& ids, const std::string& name, const char* what) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (graph.value(ids[i]).name == name) return static_cast<int32_t>(i);
    }
    fail_usage("state: the model has no ", what, " '", name, "'");
  };
  std::vector<StateAlias> state;
  for (const auto& [output, input] : options.state) {
    const StateAlias alias = {find(graph.outputs, output, "output"), find(graph.inputs, input, "input")};
    const Type& from = graph.value(graph.outputs[alias.output]).type;
    const Type& to = graph.value(graph.inputs[alias.input]).type;
    if (!from.fixed() || from.text() != to.text())
      fail_usage("state: output '", output, "' is ", from.text(), ", input '", input, "' is ", to.text());
    for (const StateAlias& other : state) {
      if (other.output == alias.output || other.input == alias.input)
        fail_usage("state: '", output, "' or '", input, "' is in another pair, too");
    }
    state.push_back(alias);
  }
  return state;
}

// Takes out variants whose text asks for none of what their instruction set has beyond a plainer one's that stays.
void drop_needless(std::vector<Variant>& variants) {
  const auto asks = [](const Variant& variant, const Isa& isa) {
    return isa.macros.empty() || variant.code.source.find(isa.macros.back()) != std::string::npos;
  };
  const auto row = [](const Variant& variant) { return find_isa(Language::C, variant.target.isa); };
  std::vector<std::string> needless;
  for (const Variant& variant : variants) {
    const Isa* own = row(variant);
    const bool plainer = std::any_of(variants.begin(), variants.end(), [&](const Variant& v) {
      return row(v)->architecture == own->architecture && row(v)->vector_bytes == own->vector_bytes && row(v) < own;
    });
    if (plainer && !asks(variant, *own)) needless.push_back(own->name);
  }
  std::erase_if(variants, [&](const Variant& variant) {
    return std::find(needless.begin(), needless.end(), variant.target.isa) != needless.end();
  });
}

using FindSegments = std::function<codegen::Segments(const Graph& graph)>;

// Variants for a group of targets, not built yet. `source` has its types.
Package compile_group(const Graph& source, const CompileOptions& options, const std::vector<Target>& group,
                      const FindSegments& segments) {
  const Backend* backend = group[0].backend();
  Graph graph = source;
  PassOptions rewriting = pass_options_for(options, group);
  if (options.emit) {
    options.emit("00-source.txt", to_text(graph));
    rewriting.after_pass = [&, n = 0](const std::string& pass, const Graph& after) mutable {
      options.emit(cat(++n < 10 ? "0" : "", n, "-", pass, ".txt"), to_text(after));
    };
  }
  const std::vector<PassLog> log = run_passes(graph, rewriting);
  if (options.on_passes) options.on_passes(log);
  if (options.recompute && backend != nullptr) {
    const codegen::Recomputation done = codegen::recompute(graph, group[0]);
    if (options.on_recompute) options.on_recompute(done);
    if (options.emit) options.emit("recompute.txt", to_text(graph));
  }
  Package package;
  if (backend == nullptr) {
    package = interpreted_package(std::move(graph));
  } else {
    codegen::GenerateOptions generate;
    generate.targets = group;
    generate.fast_math = std::any_of(log.begin(), log.end(), [](const PassLog& p) { return p.name == "fast-math"; });
    generate.share_bits = has_integer_activations(source) && std::any_of(log.begin(), log.end(), [](const PassLog& p) {
                            return p.name == "integer-functions";
                          });
    generate.schedules = options.schedules;
    generate.on_workload = options.on_workload;
    generate.on_c_text = options.on_c_text;
    package = codegen::generate(graph, generate, segments ? segments(graph) : codegen::Segments());
    generate.on_workload = nullptr;
    if (backend->builds_here && !options.on_c_text) drop_needless(package.variants);
    if (options.emit) {
      const auto name_of = [&](const std::string& isa) { return isa.empty() ? backend->name : isa; };
      for (const Target& target : group)
        options.emit(cat("loops-", name_of(target.isa->name), ".txt"), codegen::emit_loops(graph, generate, target));
      for (const Variant& variant : package.variants)
        options.emit(cat("kernels-", name_of(variant.target.isa), backend->extension), variant.code.source);
    }
    const std::shared_ptr<const Graph> shared = without_packed_constants(std::move(graph), package.variants);
    for (Variant& variant : package.variants) variant.graph = shared;
  }
  for (const PassLog& entry : log) package.info.passes.push_back(entry.name);
  return package;
}

}  // namespace

std::string compilers_of(const std::vector<Target>& targets, const BuildOptions& options) {
  std::vector<std::string> found;
  for (const Target& target : targets) {
    const std::string compiler = compiler_identity(options, architecture_of(target.isa->architecture));
    if (std::find(found.begin(), found.end(), compiler) == found.end()) found.push_back(compiler);
  }
  return join(found, "; ");
}

PassOptions pass_options(const CompileOptions& options) { return pass_options_for(options, targets_of(options)); }

Package compile(const Graph& source, const CompileOptions& options) { return compile_segments(source, options, {}); }

Package compile_segments(const Graph& source, const CompileOptions& options, const FindSegments& segments) {
  const std::vector<Target> targets = targets_of(options);
  Graph typed = at_element(source, targets[0].element, options.build.warn);
  infer_types(typed);
  verify(typed);
  Package package;
  for (const std::vector<Target>& group : groups_of(targets)) {
    Package part = compile_group(typed, options, group, segments);
    if (package.variants.empty()) {
      package = std::move(part);
    } else {
      add_variants(&package, part);
    }
  }
  if (targets[0].backend() != nullptr && targets[0].backend()->builds_here) {
    BuildOptions build = options.build;
    build.contract = targets[0].level->contract;
    package.info.compiler = compilers_of(targets, build);
    for (Variant& variant : package.variants) build_code(variant, build);
  }
  for (Variant& variant : package.variants) variant.state = state_of(typed, options);
  package.source = source;
  package.info.opt = options.opt;
  package.info.dtype = dtype_name(targets[0].element);
  return package;
}

}  // namespace dnn
