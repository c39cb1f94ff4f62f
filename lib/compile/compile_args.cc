// Options of packages; see compile_args.h.
#include "compile/compile_args.h"

#include <algorithm>

#include "base/file.h"
#include "compile/arithmetic.h"
#include "target/isa.h"
#include "target/processor.h"

namespace dnn {
namespace {

// The instruction sets of a list of targets for networks computed in `element`, and whether other processors than this
// machine's kind run some.
std::vector<std::string> isas_of_targets(const std::string& list, DType element, bool* for_others) {
  std::vector<std::string> found;
  for (const std::string& target : split(list, ',')) {
    for (const std::string& isa : isas_of_target(target)) {
      const bool fresh = std::find(found.begin(), found.end(), isa) == found.end();
      if (fresh && find_isa(Language::C, isa)->computes(element)) found.push_back(isa);
    }
  }
  if (found.empty()) fail_usage("--target ", list, " is for networks in another --precision");
  const std::vector<std::string> own = known_isas(element);
  *for_others = std::any_of(found.begin(), found.end(), [&](const std::string& isa) {
    return std::find(own.begin(), own.end(), isa) == own.end();
  });
  return found;
}

void choose_isas(const CompileArgs& o, const std::string& kind, CompileOptions* options) {
  if (o.isas.empty()) return;
  if (!builds_here(kind)) fail_usage("--isa ", o.isas, " is for --device cpu, not ", o.device);
  const std::vector<std::string> known = known_isas(options->element);
  for (const std::string& isa : split(o.isas, ',')) {
    if (std::find(known.begin(), known.end(), isa) == known.end())
      fail_usage("--isa ", isa, ": choose from ", join(known));
    options->isas.push_back(isa);
  }
}

void choose_targets(const CompileArgs& o, const CompileDevice& device, CompileOptions* options) {
  if (o.targets.empty()) return;
  if (!builds_here(device.kind)) fail_usage("--target ", o.targets, " is for --device cpu, not ", o.device);
  if (!o.isas.empty()) fail_usage("give --target or --isa, not both");
  bool for_others = false;
  options->isas = isas_of_targets(o.targets, options->element, &for_others);
  if (for_others && device.searched)
    fail_usage("--target ", o.targets, ": schedules are searched on the processor that they are for; leave out --tune");
  const auto architecture = [](const std::string& isa) { return find_isa(Language::C, isa)->architecture; };
  const bool several = std::any_of(options->isas.begin(), options->isas.end(), [&](const std::string& isa) {
    return architecture(isa) != architecture(options->isas.front());
  });
  if (!o.emit_c.empty() && several)
    fail_usage("--target ", o.targets, ": C files are for one architecture and compile on all; name one");
  if (for_others && !o.processor.empty())
    fail_usage("--processor ", o.processor, " is a kind of this machine's architecture; leave it out with --target ",
               o.targets);
}

void choose_processor(const CompileArgs& o, const std::string& kind, CompileOptions* options) {
  options->processor = o.processor;
  if (o.processor.empty()) return;
  const Backend* backend = backend_of_device(kind);
  const auto has_code = [&](bool gpu) { return backend != nullptr && !isas_of(backend->language, gpu).empty(); };
  if (has_code(true) && !has_code(false))
    fail_usage("--processor ", o.processor, ": all code for ", backend->device, " is for GPUs");
  std::vector<std::string> kinds = known_processors();
  if (has_code(true)) kinds.emplace_back(kGpu);
  if (std::find(kinds.begin(), kinds.end(), o.processor) == kinds.end())
    fail_usage("--processor ", o.processor, ": choose from ", join(kinds));
}

DType element_of(const CompileArgs& o, const CompileDevice& device) {
  const DType element = o.in_integers() ? DType::Int8 : element_named(o.precision);
  if (!device.float64) return element;
  if (element != DType::Float32) fail_usage("--precision ", o.precision, ": ", o.device, " computes in float64");
  if (o.arithmetic != "onnx") fail_usage("--arithmetic ", o.arithmetic, ": ", o.device, " computes in float64");
  return DType::Float64;
}

}  // namespace

bool builds_here(const std::string& kind) {
  const Backend* backend = backend_of_device(kind);
  return backend != nullptr && backend->builds_here;
}

void declare_numbers(cli::Args& args, CompileArgs* o) {
  args.choice(&o->level, "-O,--opt", {"0", "1", "2", "3", "4"}, "optimisation level");
  args.option(
      &o->precision, "--precision", "TYPE",
      "compute float32 numbers in bf16 or f16 (docs/explanation/precision.md), or in int8 as dnn-quantize does");
  args.choice(
      &o->arithmetic, "--arithmetic", arithmetic_names(),
      "how quantised layers compute: on integers with float32 factors, in float32, or as TFLite's reference kernels");
}

void declare_package(cli::Args& args, CompileArgs* o) {
  args.list(&o->shapes, "--shape", "NAME:DIMS", "extents of an input, as x:1x3x224x224");
  args.list(&o->ignored, "--ignore-attribute", "NAME", "read the model without this field; or OPERATOR.NAME");
  args.option(&o->batch, "--batch", "N", "what an open batch extent becomes", 1);
  args.option(&o->isas, "--isa", "LIST",
              "cpu's instruction sets to build, as avx512,x86-64; default: this processor's best and x86-64");
  args.option(
      &o->targets, "--target", "LIST",
      cat("processors of any architecture to build for: all instruction sets of an architecture, as aarch64, or "
          "one, as avx2; of ",
          join(known_targets()), "; default: this one"));
  args.option(&o->processor, "--processor", "KIND",
              cat("whose speeds decide where there is a choice, of ", join(known_processors()),
                  "; default: this one, generic with --isa; gpu: OpenCL code for GPUs"));
  args.option(&o->passes, "--pass", "CHANGES",
              "passes on or off, as +fuse-ops,-fold-constant; only:NAMES for these alone");
  args.option(&o->stop_after, "--stop-after", "N", "apply the first N rewrites only; -1 for all", -1);
  args.option(&o->emit, "--emit", "DIR", "write the graph after each pass, the loops and the kernels' sources");
  args.option(&o->emit_c, "--emit-c", "DIR",
              "write the network as C99 with its weights, a test and build files instead of a package");
  args.flag(
      &o->explain, "--explain",
      "print what each pass changed, and the steps of the package: kernel, source nodes, arithmetic, memory traffic");
  args.flag(&o->keep_source, "--keep-source",
            "write the model's weights into the package, too, so that other users can compile it anew");
  args.option(&o->compiler, "--compiler", "PROGRAM", "the C compiler to use");
}

void check_compile(const CompileArgs& o, const CompileDevice& device, const std::string& output) {
  if (output.empty() && !o.explain && o.emit.empty() && o.emit_c.empty())
    fail_usage("say where the package goes: -o FILE");
  if (!o.emit_c.empty() && (!output.empty() || o.explain || !builds_here(device.kind)))
    fail_usage("--emit-c writes C for processors in place of a package: leave out -o, --explain and other devices");
  if (o.keep_source && output.empty()) fail_usage("--keep-source is about what the package holds: give -o FILE");
  if (output == "-" && o.explain) fail_usage("--explain and the package cannot both go to standard output");
  if (device.remote && (!o.isas.empty() || !o.targets.empty() || !o.processor.empty() || !o.emit_c.empty()))
    fail_usage("--device ", o.device, ": that machine says what to compile for, so leave out --isa, --target, ",
               "--processor and --emit-c");
}

OpenOptions compile_request(const CompileArgs& o, const CompileDevice& device) {
  OpenOptions open;
  open.compile.device = device.kind;
  open.compile.element = element_of(o, device);
  open.compile.opt = o.level[0] - '0';
  // Nodes without a kernel are interpreted in packages, and refused in C files: constants are folded, to the same bits.
  const std::string passes = o.passes.empty() && !o.emit_c.empty() ? "+fold-constant" : o.passes;
  open.compile.pass_changes = device.float64 ? passes : with_arithmetic(passes, arithmetic_named(o.arithmetic));
  open.compile.stop_after = o.stop_after;
  open.compile.build.compiler = o.compiler;
  open.shapes = o.shapes;
  open.ignored = o.ignored;
  open.batch = o.batch;
  open.keep_source = o.keep_source;
  choose_isas(o, device.kind, &open.compile);
  choose_targets(o, device, &open.compile);
  choose_processor(o, device.kind, &open.compile);
  if (!o.emit.empty()) {
    make_folders(o.emit);
    open.compile.emit = [folder = o.emit](const std::string& file, const std::string& text) {
      write_file(folder + "/" + file, text);
    };
  }
  return open;
}

}  // namespace dnn
