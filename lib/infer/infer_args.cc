// Options of a run; see infer_args.h.
#include "infer/infer_args.h"

#include <algorithm>

#include "devices/library.h"
#include "package/placed.h"
#include "stream/dialogue.h"

namespace dnn {

bool InferArgs::gives(const char* name) const { return std::find(given.begin(), given.end(), name) != given.end(); }

std::vector<std::string> InferArgs::traced_layers() const {
  std::vector<std::string> layers = select;
  for (const std::string& layer : split(trace.value_or(""), ',')) {
    if (!layer.empty()) layers.push_back(layer);
  }
  return layers;
}

// Who looks at single runs wants them one at a time.
size_t InferArgs::runs_in_flight() const {
  const bool looks = run.profile || !timeline.empty() || traces();
  return static_cast<size_t>(in_flight.value_or(looks ? 1 : 0));
}

int InferArgs::usage_ms() const { return usage ? usage_interval_ms(*usage) : 0; }

void declare_infer(cli::Args& args, InferArgs& o) {
  o.command = args.command();
  args.optional_positional(&o.model, "MODEL", "a model of any format, or a package of dnn-compile");
  args.positionals(&o.source.inputs, "INPUT", "images, folders, lists .txt, [NAME=]FILE.npy, FILE.npz, a stream, -", 0);
  args.option(&o.network.level, "-O,--opt", "0..4", "optimisation level of a model (default 3; reference 0)");
  args.option(&o.network.passes, "--pass", "CHANGES", "passes on or off, as +fuse-ops,-fold-constant");
  args.option(&o.network.precision, "--precision", "TYPE",
              "run a float32 model in bf16 or f16: docs/explanation/precision.md");
  args.option(&o.network.arithmetic, "--arithmetic", "NAME",
              "of quantised layers: onnx (default), float, tflite or tflite-micro");
  args.list(&o.network.shapes, "--shape", "NAME:DIMS", "extents that the model leaves open, as x:1x3x224x224");
  args.option(&o.network.batch, "--batch", "N", "samples in one run, where the model leaves that open (default 1)");
  args.option(&o.network.isa, "--isa", "NAME", cat("force cpu's instruction set: ", join(known_isas(), ", ")));
  args.preprocess(&o.preprocess, &o.spelled_out, &o.exif);
  args.option(&o.postprocess, "--postprocess", "CMD",
              "exec:COMMAND that works on predictions (docs/howto/programs.md)");
  args.option(&o.labels, "--labels", "FILE", "the classes, one a line, a synset id first where known");
  args.option(&o.source.fill, "--fill", "WHAT", "in place of INPUTs: zeros, ones, random (--seed), or exec:COMMAND");
  args.option(&o.shard, "--shard", "I/N", "every N-th sample, from the I-th on");
  args.option(&o.run.top_k, "--top-k", "K", "classes of each prediction, by the outputs as they are", 0);
  args.list(&o.run.outputs, "--output", "NAME", "only this output of the model; the first named is ranked");
  args.flag(&o.run.full_outputs, "--outputs", "predictions hold the outputs in full");
  args.flag(&o.run.sample_tensors, "--sample-tensors", "samples hold the input tensors, for a next dnn-infer");
  args.optional_value(&o.trace, "--trace", "LAYERS", "", "every value of the source model, or of LAYERS alone, as A,B");
  args.list(&o.select, "--select", "LAYER", "");  // one of --trace's, whose name may hold a comma
  args.option(&o.run.warmup, "--warmup", "N", "untimed runs before the first", 0);
  args.option(&o.run.iterations, "-n,--iterations", "N", "timed runs of each batch", 1);
  args.option(&o.run.duration_s, "-t,--duration", "S", "repeat each batch until S seconds in all are over", 0);
  args.option(&o.decode_threads, "--decode-threads", "N",
              "threads that decode ahead, 0: none (default: 1 if one is free)");
  args.option(&o.affinity, "--affinity", "LIST", "processors, a thread on each in turn: 0,2-5; or cores: big, little");
  args.option(&o.in_flight, "--in-flight", "N", "of a placed package: runs on their way at once", 1);
  args.flag(&o.run.profile, "--profile", "a table of its steps or segments; --timeline FILE: a trace of these");
  args.option(&o.timeline, "--timeline", "FILE", "");  // of a placed package: one run as a Chrome trace
  args.optional_value(&o.usage, "--usage", "MS", "100",
                      "record what the run takes, every MS (100): memory, energy, ...");
  args.option(&o.source.most_expanded, "--max-expanded", "BYTES", "", 0);  // --max-memory, of an .npz alone
  args.flag(&o.network.trust, "--trust", "run the code of a package that another user made");
  args.flag(&o.network.trust_model, "--trust-model", "give lib:NAME the model's own file, whose code it may run");
  args.flag(&o.list_devices, "--list-devices", "print the devices of this machine, tab-separated, and stop");
  args.device(&o.device, "where to run: cpu, opencl:0, lib:NAME, ssh://HOST/cpu");
  args.option(&o.key, "--key", "FILE", "the key of the dnn-serve at --device tcp://HOST:PORT/cpu");
  args.option(&o.adb_host, "--adb-host", "HOST", "");  // as DNN_ADB_HOST: docs/howto/use-other-machines.md
  args.threads(&o.threads);
  args.given(&o.given);
  args.seed(&o.source.seed);
  args.option(&o.output, "-o", "FILE", "where the stream goes; '-' is standard output");
}

void check_infer(const InferArgs& o, const DeviceSpec& device) {
  if (o.model.empty()) fail_usage("no MODEL given");
  if (!stream::is_command(o.source.fill)) check_fill(o.source.fill);
  static_cast<void>(o.usage_ms());
  if (device.is_remote() && o.affinity) fail_usage("--affinity is for devices of this machine, not ", device);
  const bool is_framework = device.framework() != nullptr, is_program = device.is_program();
  if (is_framework && ((o.traces() && is_program) || o.run.profile || o.network.trust))
    fail_usage(o.run.profile     ? "--profile"
               : o.network.trust ? "--trust"
                                 : "--trace",
               " is for what is compiled here; ", device, is_program ? " is a program" : " is a framework");
  if (o.network.trust_model && (!is_framework || is_program))
    fail_usage("--trust-model is for frameworks, which get a conversion otherwise; ", device, " is none");
}

void check_placement(const InferArgs& o, const DeviceSpec& device, const Package& package) {
  if (package.placed == nullptr || device.framework() != nullptr) {
    for (const char* name : {"--timeline", "--in-flight"}) {
      if (o.gives(name)) fail_usage(name, " is for a package that is placed on several devices (dnn-compile --place)");
    }
    return;
  }
  for (const char* name : {"--profile", "--timeline", "--trace", "--select"}) {
    if (o.gives(name) && o.in_flight.value_or(1) > 1)
      fail_usage(name, " shows one run at a time, and --in-flight ", *o.in_flight, " has several on their way");
  }
  for (const char* name : {"--device", "--threads", "--affinity", "--isa"}) {
    if (o.gives(name))
      fail_usage(name, ": ", o.model, " is placed on ", join(package.placed->parts),
                 "; leave it out, or place the model anew (dnn-compile --place)");
  }
}

}  // namespace dnn
