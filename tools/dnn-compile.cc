// dnn-compile: compiles a model into a package for a device.
#include <iostream>
#include <optional>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/compile_args.h"
#include "compile/emit_c_model.h"
#include "compile/explain.h"
#include "infer/device_args.h"
#include "infer/setup.h"
#include "place/place_args.h"
#include "quant/integer_form.h"
#include "tune/tune_args.h"

namespace dnn::tools::dnn_compile {

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

struct Options : CompileArgs {
  std::string model, output, key, adb_host;
  quant::QuantizeRequest quantize;  // of --precision int8
  tune::TuneArgs tune;
  place::PlaceArgs place;
  std::vector<std::string> given;
  bool list_passes = false;
};

void declare(cli::Args& args, Options& o) {
  args.optional_positional(&o.model, "MODEL", "a model file of any format that dnn-convert --list-formats names");
  declare_numbers(args, &o);
  quant::declare_calibration(args, &o.quantize);
  declare_package(args, &o);
  tune::declare_tune(args, &o.tune);
  place::declare_place(args, &o.place);
  args.option(&o.key, "--key", "FILE", "the key of the dnn-serve at tcp://HOST:PORT/cpu");
  args.option(&o.adb_host, "--adb-host", "HOST", "HOST[:PORT] of the adb server, for --device adb://SERIAL/cpu");
  args.given(&o.given);
  args.flag(&o.list_passes, "--list-passes", "print the passes, tab-separated, and stop");
  args.device(&o.device, "cpu, opencl:0, ...; or another machine's, ssh://HOST/cpu, to compile and --tune for that");
  args.output(&o.output);
}

void write_c(const Options& o, const OpenOptions& open) {
  const EmittedC emitted = emit_c_of_model(o.model, open, [](const auto& package, const auto& isa, const auto& inputs) {
    return open_session("cpu", package, {.threads = 1, .isa = isa})->run(inputs);
  });
  write_c_files(emitted, o.emit_c);
  cli::note(cat(o.emit_c, "/", c_identifier(name_stem(o.model)), ".c: arena of ", emitted.arena_bytes,
                " bytes, weights of ", emitted.weight_bytes, " bytes"));
}

void write_package(const Options& o, OpenOptions open, const DeviceOptions& connection) {
  std::optional<cli::Output> output;
  if (!o.output.empty()) output.emplace(o.output, cli::Output::Content::Binary);
  ByteSink* const to = output ? &*output : nullptr;
  std::string changes;
  if (o.explain) open.compile.on_passes = [&](const std::vector<PassLog>& log) { changes = explain_passes(log); };
  std::optional<quant::IntegerForm> integers;
  if (o.in_integers()) {
    integers.emplace(o.quantize, o.model, open);
    open.keep_source = true;  // there is no file that others could compile anew
    if (o.model != "-") open.made_of = o.model;
    open.ignored.clear();  // the file in integers has none of these fields
  }
  const auto package = o.place.any() ? place::compile_placed(o.place, o.model, open, connection, to)
                                     : compile_file(integers ? integers->path() : o.model, open, to);
  if (o.explain) std::cout << changes << "\n" << explain(*package);
  if (!output) return;
  output->commit();
  cli::note(cat(o.output, ": ", o.place.any() ? place::placed_line(*package) : package_line(*package)));
}

int work(const Options& o) {
  if (o.list_passes) {
    std::cout << passes_list();
    return 0;
  }
  if (o.model.empty()) fail_usage("no MODEL given");
  place::check_place(o.place, o.given, o.output);
  DeviceSpec device = o.device;
  const CompileDevice facts = {device.kind(), device.is_remote(), device.float64(), o.tune.any()};
  check_compile(o, facts, o.output);
  tune::check_tune(o.tune, o.given, device, o.model, o.output);
  if (device.framework() != nullptr) fail_usage("--device ", o.device, ": a framework runs models, not packages");
  quant::check_calibration(o.quantize, o.in_integers(), o.tune.any() || !o.emit_c.empty());
  const DeviceArgs reached{o.device, o.key, o.adb_host};
  reached.check_connection(o.place.any() ? o.place.devices : o.device);
  const DeviceOptions connection = reached.connection();
  if (!o.place.any()) device.connect(connection);
  OpenOptions open = compile_request(o, facts);
  if (device.is_remote()) compile_for_machine_of(device, &open.compile);
  use_folders(&open, cli::variable);
  open.note = cli::note;
  open.warn = cli::warn;
  if (o.tune.any()) tune::use_schedules(o.tune, o.model, o.output, device, &open);
  o.emit_c.empty() ? write_package(o, open, connection) : write_c(o, open);
  return 0;
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_compile
