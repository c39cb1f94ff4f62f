// dnn-compile: compiles a model into a package for a device.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "compile/arithmetic.h"
#include "compile/emit_c.h"
#include "compile/explain.h"
#include "compile/open.h"
#include "devices/device.h"
#include "devices/library.h"
#include "devices/remote.h"
#include "infer/setup.h"
#include "passes/pass.h"
#include "place/place.h"
#include "quant/model.h"
#include "tune/tune.h"

namespace {

using namespace dnn;

// Names that --target takes.
std::vector<std::string> all_targets() {
  std::vector<std::string> names;
  for (const Architecture& row : architectures()) names.emplace_back(row.name);
  for (const Isa& row : isas()) {
    if (row.architecture != Arch::None && std::find(names.begin(), names.end(), row.name) == names.end())
      names.emplace_back(row.name);
  }
  return names;
}

const cli::Tool kTool = {
    .name = "dnn-compile",
    .summary =
        "Compiles a model into a package: the graph after the passes of an optimisation level, kernels for a device, "
        "and "
        "packed weights in one file that dnn-infer maps into memory. The same input gives the same bytes, from a cache "
        "where it was compiled before.",
    .negative = "",
    .examples = {{"dnn-compile -O3 --device cpu model.onnx -o model.dnnpkg", "the usual case"},
                 {"dnn-compile -O4 --pass=-fuse-ops --emit out/ model.onnx -o m.dnnpkg",
                  "one pass off, every stage written to out/"},
                 {"dnn-compile --tune=300 model.onnx -o m.dnnpkg", "with schedules searched for five minutes"},
                 {"dnn-compile --place auto --devices C=cpu@0,G=opencl:0 model.onnx -o m.dnnpkg",
                  "parts of the model on two devices, as measurements here say"},
                 {"dnn-compile --target aarch64 model.onnx -o board.dnnpkg", "for 64-bit ARM, by a cross compiler"},
                 {"dnn-compile --list-passes", "the passes, their levels and the names of published studies"}}};

struct Options {
  std::string model, output, device = "cpu", level = "3", precision = "float32", arithmetic = "onnx", isas, targets,
                             processor, passes, emit, emit_c, compiler;
  std::string place, devices, place_out, key, adb_host;
  std::vector<std::string> shapes, ignored, given;
  std::optional<double> tune;
  tune::TuneOptions tuning;
  quant::QuantizeRequest quantize;  // of --precision int8
  int64_t batch = 1, stop_after = -1;
  bool list_passes = false, explain = false, keep_source = false;
};

void declare(cli::Args& args, Options& o) {
  args.optional_positional(&o.model, "MODEL", "a model file of any format that dnn-convert --list-formats names");
  args.choice(&o.level, "-O,--opt", {"0", "1", "2", "3", "4"}, "optimisation level");
  args.option(
      &o.precision, "--precision", "TYPE",
      "compute float32 numbers in bf16 or f16 (docs/explanation/precision.md), or in int8 as dnn-quantize does");
  args.choice(&o.arithmetic, "--arithmetic", {"onnx", "tflite"},
              "how quantised layers compute: with float32 factors, or with the bits of TFLite's reference kernels");
  args.list(&o.quantize.calibrate, "--calibrate", "INPUT",
            "for --precision int8: inputs like those the network will see, as dnn-infer's INPUT");
  args.preprocess(&o.quantize.preprocess, &o.quantize.spelled_out, &o.quantize.apply_orientation);
  args.list(&o.shapes, "--shape", "NAME:DIMS", "extents of an input, as x:1x3x224x224");
  args.list(&o.ignored, "--ignore-attribute", "NAME", "read the model without this field; or OPERATOR.NAME");
  args.option(&o.batch, "--batch", "N", "what an open batch extent becomes", 1);
  args.option(&o.isas, "--isa", "LIST",
              "cpu's instruction sets to build, as avx512,x86-64; default: this processor's best and x86-64");
  args.option(
      &o.targets, "--target", "LIST",
      cat("processors of any architecture to build for: all instruction sets of an architecture, as aarch64, or "
          "one, as avx2; of ",
          join(all_targets()), "; default: this one"));
  args.option(&o.processor, "--processor", "KIND",
              cat("whose speeds decide where there is a choice, of ", join(known_processors()),
                  "; default: this one, generic with --isa; gpu: OpenCL code for GPUs"));
  args.option(&o.passes, "--pass", "CHANGES",
              "passes on or off, as +fuse-ops,-fold-constant; only:NAMES for these alone");
  args.option(&o.stop_after, "--stop-after", "N", "apply the first N rewrites only; -1 for all", -1);
  args.option(&o.emit, "--emit", "DIR", "write the graph after each pass, the loops and the kernels' sources");
  args.option(&o.emit_c, "--emit-c", "DIR",
              "write the network as C99 with its weights, a test and build files instead of a package");
  args.flag(
      &o.explain, "--explain",
      "print what each pass changed, and the steps of the package: kernel, source nodes, arithmetic, memory traffic");
  args.flag(&o.keep_source, "--keep-source",
            "write the model's weights into the package, too, so that other users can compile it anew");
  args.option(&o.compiler, "--compiler", "PROGRAM", "the C compiler to use");
  args.optional_value(&o.tune, "--tune", "SECONDS", "300", "search this processor's best schedules; bare: 300 s", 0);
  args.option(&o.tuning.log, "--tuning-log", "FILE",
              "schedules that were found; --tune goes on from it and adds to it (default there: OUTPUT.tuning.jsonl)");
  std::vector<std::string> names;
  for (const tune::Tuner& tuner : tune::tuners()) names.emplace_back(tuner.name);
  args.choice(&o.tuning.tuner, "--tuner", names, "how to search");
  args.option(&o.tuning.trials, "--trials", "N", "schedules of a kernel to try at most; 0: while there is time", 0);
  args.option(&o.tuning.early_stop, "--early-stop", "N", "let a kernel be after N trials without gain; 0: never", 0);
  args.threads(&o.tuning.threads);
  args.seed(&o.tuning.seed);
  args.option(
      &o.place, "--place", "FILE|auto",
      "run parts of the model on several devices: as the rules in FILE say, or as a search on these devices finds");
  args.option(&o.devices, "--devices", "LIST",
              "with --place: [LETTER=]KIND[:N][@CORES][:PRECISION], as C=cpu@0-1,G=opencl:0,ssh://board/cpu");
  args.option(&o.place_out, "--place-out", "FILE", "with --place auto: write what it found as rules");
  args.option(&o.key, "--key", "FILE", "the key of the dnn-serve at tcp://HOST:PORT/cpu");
  args.option(&o.adb_host, "--adb-host", "HOST", "HOST[:PORT] of the adb server, for --device adb://SERIAL/cpu");
  args.given(&o.given);
  args.flag(&o.list_passes, "--list-passes", "print the passes, tab-separated, and stop");
  args.device(&o.device, "cpu, opencl:0, ...; or another machine's, ssh://HOST/cpu, to compile and --tune for that");
  args.output(&o.output);
}

// The instruction sets of a list of targets for networks computed in `element`, and whether other processors than this machine's kind run
// some.
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

volatile std::sig_atomic_t interrupted = 0;

// The first interrupt ends the search, the second the tool.
void end_search_by_signal() {
  struct sigaction action = {};
  action.sa_handler = [](int) {
    interrupted = 1;
    cli::end_cleanly_by_signals();
  };
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

// Sets the schedules to compile with, from the log and from a search now.
void use_schedules(const Options& o, const DeviceSpec& device, OpenOptions* open) {
  tune::TuneOptions tuning = o.tuning;
  tuning.device = device;
  tuning.model = std::filesystem::path(o.model).filename().string();
  tuning.note = cli::note;
  tuning.warn = cli::warn;
  std::optional<cli::Progress> bar;
  if (o.tune) {
    tuning.seconds = *o.tune;
    if (tuning.log.empty() && !o.output.empty() && o.output != "-") tuning.log = o.output + ".tuning.jsonl";
    end_search_by_signal();
    tuning.stop = [] { return interrupted != 0; };
    bar.emplace("tuning", static_cast<int64_t>(tuning.seconds));
    tuning.progress = [&](double seconds) { bar->advance(std::lround(seconds)); };
  }
  std::optional<tune::Tuned> tuned;
  open->compile.schedules = tune::schedules_for(o.model, *open, tuning, o.tune.has_value(), &tuned);
  bar.reset();
  if (tuned && !cli::console().quiet) cli::show(tune::to_text(*tuned));
}

// The integer form of the model, which is compiled in its place: in `folder`, under the model's name.
std::string quantized_model(const Options& o, const OpenOptions& open, const std::string& folder) {
  quant::QuantizeRequest request = o.quantize;
  request.model = o.model;
  const std::filesystem::path path = o.model;
  request.output = folder + "/" + (path.has_stem() ? path.stem() : path.parent_path().stem()).string() + ".onnx";
  request.surgery.shapes = o.shapes;
  request.options.calibrate.compile = open.compile;
  request.options.calibrate.compile.element = DType::Float32;
  request.options.calibrate.warn = cli::note;
  request.say = cli::note;
  quant::quantize_model(request);
  return request.output;
}

// How machines that o names are reached.
DeviceOptions connection_of(const Options& o) {
  DeviceOptions connection;
  connection.key_file = o.key;
  connection.variable = remote::with_adb_host(cli::variable, o.adb_host);
  return connection;
}

// For the best instruction set and the processor that the machine of a device has.
void compile_for_machine(const DeviceSpec& device, CompileOptions* options) {
  NetworkOptions network;
  network.device = device;
  const CompileOptions there = open_options(network).compile;
  options->isas = there.isas;
  options->processor = there.processor;
}

// Whether its packages hold code that a compiler here made, for instruction sets.
bool builds_here(const DeviceSpec& device) {
  const Backend* backend = backend_of_device(device.kind());
  return backend != nullptr && backend->builds_here;
}

// Writes the network as C files: those of a package that is compiled here, as its runs say what the files must compute.
int write_c(const Options& o, OpenOptions open) {
  EmitCOptions options;
  const std::filesystem::path path = o.model;
  options.name = c_identifier((path.has_stem() ? path.stem() : path.parent_path().stem()).string());
  open.compile.on_c_text = [&](const codegen::CText& text) { options.texts.push_back(text); };
  // What has no kernel is interpreted in packages, and refused here: constants that are folded, to the same bits, are none of it.
  if (o.passes.empty()) open.compile.pass_changes = "+fold-constant";
  const Graph graph = read_bound(o.model, open);
  std::shared_ptr<Package> package;
  try {
    package = std::make_shared<Package>(compile(graph, open.compile));
  } catch (Error& e) {
    throw e.within(o.model);
  }
  const std::vector<Tensor> inputs = emit_c_inputs(*package);
  const std::vector<std::string> here = supported_isas(open.compile.element);
  for (const Variant& variant : package->variants) {
    options.expected.emplace_back();
    if (std::find(here.begin(), here.end(), variant.target.isa) == here.end()) continue;
    DeviceOptions device;
    device.threads = 1;
    device.isa = variant.target.isa;
    options.expected.back() = open_session(DeviceSpec("cpu"), package, device)->run(inputs);
  }
  const EmittedC emitted = emit_c(*package, options);
  make_folders(o.emit_c);
  for (const auto& [name, text] : emitted.files) write_file(o.emit_c + "/" + name, text);
  cli::note(cat(o.emit_c, "/", options.name, ".c: arena of ", emitted.arena_bytes, " bytes, weights of ",
                emitted.weight_bytes, " bytes"));
  return 0;
}

bool is_given(const Options& o, const char* name) {
  return std::find(o.given.begin(), o.given.end(), name) != o.given.end();
}

void check_placing(const Options& o) {
  if (o.place.empty()) {
    for (const char* name : {"--devices", "--place-out"}) {
      if (is_given(o, name)) fail_usage(name, " is for parts on several devices: with --place");
    }
    return;
  }
  if (o.devices.empty()) fail_usage("--place: pass --devices, e.g. C=cpu@0,G=opencl:0");
  if (o.output.empty()) fail_usage("say where the package goes: -o FILE");
  for (const char* name : {"--device", "--isa", "--processor", "--stop-after", "--emit", "--emit-c", "--explain",
                           "--tune", "--tuning-log", "--precision", "--calibrate"}) {
    if (is_given(o, name)) fail_usage(name, " is for a package of one device: leave it out with --place");
  }
  if (!o.place_out.empty() && o.place != place::kAuto)
    fail_usage("--place-out writes what --place auto finds; ", o.place, " has the rules already");
}

// Parts for several devices in place of a package for one.
int place_parts(const Options& o, const OpenOptions& open) {
  place::PlaceRequest request;
  request.parts = place::parse_parts(o.devices);
  request.file = o.place;
  if (o.place != place::kAuto) request.rules = read_file(o.place);
  request.rules_out = o.place_out;
  request.connection = connection_of(o);
  request.compile = open.compile;
  request.keep_source = o.keep_source;
  request.say = cli::say_unless_quiet;
  cli::Output output(o.output, cli::Output::Content::Binary);
  const auto package =
      compile_file_by(o.model, open, &output, [&](const Graph& graph) { return place::place_model(graph, request); });
  output.commit();
  const place::Plan plan = place::plan_of(*package);
  cli::note(cat(o.output, ": ", plan.segments.size(), " segments on ", join(package->placed->parts), ", ", plan.copies,
                " copies of ", plan.copied_bytes, " bytes in all"));
  return 0;
}

int work(const Options& o) {
  if (o.list_passes) {
    for (const Pass& pass : passes())
      std::cout << (pass.level == kConversionLevel ? "-" : cat("O", pass.level)) << '\t' << pass.name << '\t'
                << pass.alias << '\t' << pass.help << '\n';
    return 0;
  }
  if (o.model.empty()) fail_usage("no MODEL given");
  check_placing(o);
  if (o.output.empty() && !o.explain && o.emit.empty() && o.emit_c.empty())
    fail_usage("say where the package goes: -o FILE");
  if (!o.emit_c.empty() && (!o.output.empty() || o.explain || !builds_here(o.device)))
    fail_usage("--emit-c writes C for processors in place of a package: leave out -o, --explain and other devices");
  if (o.output == "-" && o.explain) fail_usage("--explain and the package cannot both go to standard output");
  constexpr double kMostSeconds = 1e7;
  if (o.tune && *o.tune > kMostSeconds) fail_usage("--tune: more than ", kMostSeconds, " seconds");
  for (const std::string* path : {&o.model, &o.output}) {
    std::error_code ignored;
    if (!o.tuning.log.empty() && (o.tuning.log == *path || std::filesystem::equivalent(o.tuning.log, *path, ignored)))
      fail_usage("--tuning-log ", o.tuning.log, " is the model or the package");
  }
  if (o.tuning.log == "-") fail_usage("--tuning-log wants a file");
  for (const char* name : {"--tuner", "--trials", "--early-stop", "--threads", "--seed"}) {
    if (!o.tune && is_given(o, name)) fail_usage(name, " is for a search: with --tune");
  }
  if ((o.tune || !o.tuning.log.empty()) && !builds_here(o.device))
    fail_usage("schedules are searched for --device cpu alone");
  DeviceSpec device = o.device;
  if (device.is_remote() && (!o.isas.empty() || !o.targets.empty() || !o.processor.empty() || !o.emit_c.empty()))
    fail_usage("--device ", o.device, ": that machine says what to compile for, so leave out --isa, --target, ",
               "--processor and --emit-c");
  if (device.framework() != nullptr) fail_usage("--device ", o.device, ": a framework runs models, not packages");
  if (o.place.empty()) device.connect(connection_of(o));
  OpenOptions open;
  open.compile.device = device.kind();
  const bool integers = o.precision == "int8";
  if (integers && o.quantize.calibrate.empty())
    fail_usage("--precision int8 wants inputs like those that the network will see: --calibrate INPUT");
  if (integers && (o.tune || !o.tuning.log.empty() || !o.emit_c.empty()))
    fail_usage("--precision int8 is for packages without --tune: give these the file that dnn-quantize makes");
  if (!integers && (!o.quantize.calibrate.empty() || !o.quantize.preprocess.empty() || o.quantize.spelled_out.any()))
    fail_usage("--calibrate and its preprocessing are for --precision int8");
  open.compile.element = integers ? DType::Int8 : element_named(o.precision);
  if (device.float64()) {
    if (open.compile.element != DType::Float32)
      fail_usage("--precision ", o.precision, ": ", o.device, " computes in float64");
    if (o.arithmetic == "tflite") fail_usage("--arithmetic tflite: ", o.device, " computes in float64");
    open.compile.element = DType::Float64;
  }
  open.compile.opt = o.level[0] - '0';
  open.compile.pass_changes = with_arithmetic(o.passes, arithmetic_named(o.arithmetic));
  open.compile.stop_after = o.stop_after;
  open.compile.build.compiler = o.compiler;
  open.shapes = o.shapes;
  open.ignored = o.ignored;
  open.batch = o.batch;
  if (!o.isas.empty()) {
    if (!builds_here(open.compile.device)) fail_usage("--isa ", o.isas, " is for --device cpu, not ", o.device);
    for (const std::string& isa : split(o.isas, ',')) {
      const std::vector<std::string> known = known_isas(open.compile.element);
      if (std::find(known.begin(), known.end(), isa) == known.end())
        fail_usage("--isa ", isa, ": choose from ", join(known));
      open.compile.isas.push_back(isa);
    }
  }
  if (!o.targets.empty()) {
    if (!builds_here(open.compile.device)) fail_usage("--target ", o.targets, " is for --device cpu, not ", o.device);
    if (!o.isas.empty()) fail_usage("give --target or --isa, not both");
    bool for_others = false;
    open.compile.isas = isas_of_targets(o.targets, open.compile.element, &for_others);
    if (for_others && (o.tune || !o.tuning.log.empty()))
      fail_usage("--target ", o.targets,
                 ": schedules are searched on the processor that they are for; leave out --tune");
    if (!o.emit_c.empty() && std::any_of(open.compile.isas.begin(), open.compile.isas.end(), [&](const auto& isa) {
          return find_isa(Language::C, isa)->architecture !=
                 find_isa(Language::C, open.compile.isas.front())->architecture;
        }))
      fail_usage("--target ", o.targets, ": C files are for one architecture and compile on all; name one");
    if (for_others && !o.processor.empty())
      fail_usage("--processor ", o.processor, " is a kind of this machine's architecture; leave it out with --target ",
                 o.targets);
  }
  const Backend* backend = backend_of_device(open.compile.device);
  const auto has_code = [&](bool gpu) { return backend != nullptr && !isas_of(backend->language, gpu).empty(); };
  if (!o.processor.empty() && has_code(true) && !has_code(false))
    fail_usage("--processor ", o.processor, ": all code for ", backend->device, " is for GPUs");
  std::vector<std::string> kinds = known_processors();
  if (has_code(true)) kinds.emplace_back(kGpu);
  if (!o.processor.empty() && std::find(kinds.begin(), kinds.end(), o.processor) == kinds.end())
    fail_usage("--processor ", o.processor, ": choose from ", join(kinds));
  open.compile.processor = o.processor;
  if (device.is_remote()) compile_for_machine(device, &open.compile);
  use_folders(&open, cli::variable);
  if (!o.emit.empty()) {
    make_folders(o.emit);
    open.compile.emit = [&](const std::string& file, const std::string& text) {
      write_file(o.emit + "/" + file, text);
    };
  }
  open.keep_source = o.keep_source;
  open.note = cli::note;
  open.warn = cli::warn;
  if (!o.place.empty()) return place_parts(o, open);
  if (o.tune || !o.tuning.log.empty()) use_schedules(o, device, &open);
  if (!o.emit_c.empty()) return write_c(o, open);
  std::optional<cli::Output> output;
  if (!o.output.empty()) output.emplace(o.output, cli::Output::Content::Binary);
  std::string changes;
  if (o.explain) open.compile.on_passes = [&](const std::vector<PassLog>& log) { changes = explain_passes(log); };
  std::string model = o.model;
  std::optional<TemporaryFolder> folder;
  if (integers) {
    folder.emplace(std::filesystem::temp_directory_path().string());
    model = quantized_model(o, open, folder->path());
    open.keep_source = true;  // there is no file that others could compile anew
  }
  const std::shared_ptr<const Package> package = compile_file(model, open, output ? &*output : nullptr);
  if (o.explain) std::cout << changes << "\n" << explain(*package);
  if (output) {
    output->commit();
    const Variant& plan = package->variants.front();
    std::string arenas = cat("arena of ", plan.arena_bytes / 1024, " KiB");
    if (plan.sample_arena_bytes > 0)
      arenas += cat(", ", plan.sample_arena_bytes / 1024, " KiB for each sample on its way");
    cli::note(cat(o.output, ": ", plan.kernels.size(), " kernels, ", plan.steps.size(), " steps, ", arenas));
  }
  return 0;
}

}  // namespace

cli::Program dnn_compile() { return cli::program(kTool, declare, work); }
