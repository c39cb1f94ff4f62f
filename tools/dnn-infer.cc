// dnn-infer: runs a model or a package on images, arrays or a stream, and writes predictions as a stream.
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/cpu.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/open.h"
#include "infer/profile.h"
#include "infer/setup.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-infer",
    .summary =
        "Runs a network on samples and writes a stream. A model is compiled first, through a cache. Scores are the "
        "outputs as they come: no softmax is added.",
    .negative = "",
    .examples = {{"dnn-infer --preprocess imagenet-torch --labels synsets.txt model.onnx photos/ | dnn-eval",
                  "accuracy and latency"},
                 {"dnn-infer --trace -O0 model.onnx x=input.npy > trace.dnns", "every value, by its source name"}}};

struct Options {
  std::string model, output = "-", device = "cpu", isa, passes, preprocess, labels, fill, shard = "0/1";
  std::optional<std::string> level;
  std::vector<std::string> inputs, shapes;
  std::optional<int64_t> batch;
  PreprocessOptions spelled_out;
  RunOptions run;
  uint64_t seed = 0;
  int threads = 0;
  bool exif = false, trust = false, list_devices = false;
  std::vector<std::string> command;
};

void declare(cli::Args& args, Options& o) {
  o.command = args.command();
  args.optional_positional(&o.model, "MODEL", "a model of any format, or a package of dnn-compile");
  args.positionals(&o.inputs, "INPUT", "images, folders, lists .txt, [NAME=]FILE.npy, FILE.npz, a stream, -", 0);
  args.option(&o.level, "-O,--opt", "0..4", "optimisation level of a model (default 3; reference 0)");
  args.option(&o.passes, "--pass", "CHANGES", "passes on or off, as +fuse-ops,-fold-constant");
  args.list(&o.shapes, "--shape", "NAME:DIMS", "extents that the model leaves open, as x:1x3x224x224");
  args.option(&o.batch, "--batch", "N", "samples in one run, where the model leaves that open (default 1)");
  args.option(&o.isa, "--isa", "NAME", cat("force the instruction set: ", join(known_isas(), ", ")));
  args.option(&o.preprocess, "--preprocess", "NAME", join(preprocess_names(), ", "));
  args.option(&o.spelled_out.resize, "--resize", "HOW", "none, stretch, crop or crop:SHORTSIDE");
  args.option(&o.spelled_out.filter, "--filter", "NAME", "nearest, bilinear or bicubic");
  args.option(&o.spelled_out.pass_order, "--resize-compat", "P", "pillow13 or pillow12: the order of the two passes");
  args.option(&o.spelled_out.scale, "--scale", "A[/B]", "times A, divided by B");
  args.option(&o.spelled_out.mean, "--mean", "M[,M,M]", "then less M, by channel of the tensor");
  args.option(&o.spelled_out.std, "--std", "S[,S,S]", "then divided by S");
  args.option(&o.spelled_out.channels, "--channels", "ORDER", "rgb or bgr");
  args.option(&o.spelled_out.layout, "--layout", "LAYOUT", "nchw or nhwc; default: the model's");
  args.flag(&o.exif, "--exif", "turn images as their EXIF orientation says");
  args.option(&o.labels, "--labels", "FILE", "the classes, one a line, a synset id first where known");
  args.option(&o.fill, "--fill", "WHAT", "in place of INPUTs: zeros, ones or random (--seed)");
  args.option(&o.shard, "--shard", "I/N", "every N-th sample, from the I-th on");
  args.option(&o.run.top_k, "--top-k", "K", "classes of each prediction");
  args.list(&o.run.outputs, "--output", "NAME", "only this output of the model; the first named is ranked");
  args.flag(&o.run.full_outputs, "--outputs", "predictions hold the outputs in full");
  args.flag(&o.run.sample_tensors, "--sample-tensors", "samples hold the input tensors, for a next dnn-infer");
  args.flag(&o.run.trace, "--trace", "every value of the source model");
  args.option(&o.run.warmup, "--warmup", "N", "untimed runs before the first");
  args.option(&o.run.iterations, "-n,--iterations", "N", "timed runs of each batch");
  args.option(&o.run.duration_s, "-t,--duration", "S", "repeat each batch until S seconds in all are over");
  args.option(&o.run.decode_threads, "--decode-threads", "N", "threads that decode ahead; 0 decodes between the runs");
  args.flag(&o.run.profile, "--profile", "a table of the package's steps on standard error");
  args.flag(&o.trust, "--trust", "run the code of a package that another user made");
  args.flag(&o.list_devices, "--list-devices", "print the devices of this machine, tab-separated, and stop");
  args.device(&o.device);
  args.threads(&o.threads);
  args.seed(&o.seed);
  args.option(&o.output, "-o", "FILE", "where the stream goes; '-' is standard output");
}

OpenOptions open_options(const Options& o) {
  OpenOptions open;
  open.compile.device = find_device(o.device).kind;
  open.compile.float64 = wants_float64(o.device);
  int64_t level = open.compile.device == std::string("reference") ? 0 : 3;
  if (o.level && (!parse_int(*o.level, &level) || level < 0 || level > 4))
    fail_usage("-O ", *o.level, ": choose from 0 to 4");
  open.compile.opt = static_cast<int>(level);
  open.compile.pass_changes = o.passes;
  if (!o.isa.empty()) {
    const std::vector<std::string>& known = known_isas();
    if (std::find(known.begin(), known.end(), o.isa) == known.end())
      fail_usage("--isa ", o.isa, ": choose from ", join(known));
    open.compile.isas = {o.isa};
  }
  open.shapes = o.shapes;
  open.batch = o.batch.value_or(1);
  if (open.batch < 1) fail_usage("--batch ", open.batch, " is less than 1");
  open.trust = o.trust;
  open.cache_folder = default_cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
  if (!open.cache_folder.empty()) open.compile.build.cache_folder = open.cache_folder + "/objects";
  open.key_path = default_key_path(std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  open.note = cli::note;
  open.warn = cli::warn;
  return open;
}

// What was asked for must be what a ready-made package is.
void check_package(const Options& o, const Package& package, const BatchPlan& plan) {
  if (o.level && *o.level != std::to_string(package.info.opt))
    fail_usage(o.model, ": compiled at -O", package.info.opt, ", -O", *o.level, " is asked for");
  if (wants_float64(o.device) && package.info.dtype != "float64")
    fail_usage(o.model, ": compiled for ", package.info.dtype, ", ", o.device, " is asked for");
  if (o.batch && *o.batch != plan.batch)
    fail_usage("--batch ", *o.batch, ": the model's batch is fixed at ", plan.batch);
}

SourceOptions source_options(const Options& o, const std::optional<Preprocess>& preprocess, const RunLabels& labels,
                             const BatchPlan& plan) {
  SourceOptions source;
  source.inputs = o.inputs;
  source.fill = o.fill;
  source.seed = o.seed;
  source.fill_count = plan.batch;
  source.shard = Shard::parse(o.shard);
  source.preprocess = preprocess;
  source.labels = labels.set;
  source.label_offset = labels.offset;
  return source;
}

// Header facts that only a program knows, and what the samples of a stream bring along.
void complete_header(const Options& o, const SampleSource& source, stream::Header* header) {
  header->tool = kTool.name;
  header->command = o.command;
  header->latency_contains = latency_contains(o.run);
  header->inputs = source.provenance();
  if (!header->inputs.empty()) {
    const stream::Header& origin = header->inputs.front();
    if (header->preprocess.empty()) header->preprocess = origin.preprocess;
    if (header->label_set.empty()) {
      header->label_set = origin.label_set;
      header->label_offset = origin.label_offset;
    }
  }
  utsname system{};
  if (::uname(&system) == 0) header->host["kernel"] = cat(system.sysname, " ", system.release, " ", system.machine);
  if (const char* node = std::getenv("SLURMD_NODENAME")) header->host["node"] = node;
}

// Warnings and figures; the exit code.
int report(const RunSummary& summary, const BatchPlan& plan) {
  if (!summary.outputs_vary) cli::warn("the predictions do not vary with the input: is the preprocessing the model's?");
  if (!summary.outputs_finite) cli::warn("some outputs are NaN or infinite");
  if (!cli::console().quiet) {
    for (const std::string& line : summary_lines(summary, plan)) cli::say(line);
  }
  if (summary.n_failed == 0) return 0;
  cli::say_error(cat(summary.n_failed, " of ", summary.n_failed + summary.n_samples, " inputs could not be read"));
  return static_cast<int>(*summary.first_failure);
}

int work(const Options& o) {
  if (o.list_devices) {
    for (const Device& device : devices()) {
      for (const std::string& line : device.list()) std::cout << line << '\n';
    }
    return 0;
  }
  if (o.model.empty()) fail_usage("no MODEL given");
  if (!o.fill.empty() && o.fill != "zeros" && o.fill != "ones" && o.fill != "random")
    fail_usage("--fill: '", o.fill, "' is none of zeros, ones, random");
  cli::Output output(o.output, cli::Output::Content::Binary);
  const std::shared_ptr<const Package> package = open_package(o.model, open_options(o));
  const BatchPlan plan = plan_batch(*package);
  check_package(o, *package, plan);
  const std::unique_ptr<Session> session = open_session(o.device, package, {.threads = o.threads, .isa = o.isa});

  std::optional<Preprocess> preprocess;
  if (o.fill.empty() && names_images(o.inputs))
    preprocess = choose_preprocess(*package, plan, o.preprocess, o.spelled_out, o.exif);
  const std::string ranked = o.run.outputs.empty() ? "" : o.run.outputs[0];
  const RunLabels labels = choose_labels(o.labels, o.inputs, class_count(*package, plan, ranked));
  const std::unique_ptr<SampleSource> source = open_samples(source_options(o, preprocess, labels, plan), plan);

  stream::Writer writer(output);
  RunOptions options = o.run;
  options.labels = labels.set;
  cli::Progress progress("inference", source->count().value_or(0));
  Runner runner(*session, plan, options, writer, cli::warn, [&](int64_t n) { progress.advance(n); });
  stream::Header header = make_header(*session, plan, o.device, labels, preprocess, Shard::parse(o.shard));
  complete_header(o, *source, &header);
  writer.write(header);
  const RunSummary summary = runner.run(*source);
  writer.end();
  output.commit();
  if (o.run.profile) std::cerr << profile_table(*package, session->profile());
  return report(summary, plan);
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
