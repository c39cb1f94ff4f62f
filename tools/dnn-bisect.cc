// dnn-bisect: finds the pass, its rewrite or the kernel that makes one model compute something else.
#include "cli/cli.h"
#include "devices/library.h"
#include "localize/bisect_model.h"
#include "localize/optimizer_model.h"
#include "localize/partition_model.h"
#include "localize/search_args.h"

namespace dnn::tools::dnn_bisect {

const cli::Tool kTool = {
    .name = "dnn-bisect",
    .summary =
        "Finds what makes MODEL compute something else at one level or on one device than at another. It names the "
        "pass, the rewrite of it, or the kernel; of a framework, a provider or a delegate the nodes that it gets "
        "wrong.",
    .negative = "outputs differ by more than the tolerance, or a label changes; or an INPUT not judged",
    .examples = {
        {"dnn-bisect -O4 --preprocess imagenet-torch model.onnx photos/", "-O4 against -O0"},
        {"dnn-bisect -O3 --source-device lib:onnxruntime model.onnx photos/", "against ONNX Runtime"},
        {"dnn-bisect --device lib:onnxruntime:ep=XNNPACK model.onnx photos/", "nodes that a provider gets wrong"},
        {"dnn-bisect -O4 --rtol 1e-7 --reduce small model.onnx x.npy", "with the smallest part that differs"}}};

struct Options : SearchArgs {
  std::string model, reduce, optimizer;
  std::optional<std::string> source_level, source_device;
  OutputTolerance tolerance;
  bool partition = false;
};

void declare(cli::Args& args, Options& o) {
  args.positional(&o.model, "MODEL", "a network of any format");
  args.positionals(&o.inputs, "INPUT", "as for dnn-infer: images, folders, lists, .npy, .npz");
  args.option(&o.network.level, "-O,--opt", "0..4", "the level that is doubted (default 3)");
  args.option(&o.source_level, "--source-opt", "0..4", "the level that is right (default 0)");
  args.option(&o.source_device, "--source-device", "NAME", "where it is right (default: --device)");
  args.option(&o.network.passes, "--pass", "CHANGES", "passes on or off, as for dnn-infer");
  args.option(&o.network.arithmetic, "--arithmetic", "NAME",
              "of quantised layers: onnx, float, tflite or tflite-micro");
  args.option(&o.reduce, "--reduce", "DIR", "write what differs, made small, as models and a report");
  args.flag(
      &o.partition, "--partition",
      "find the nodes that --device gets wrong, given what the interpreter computes in front of them; always so for a "
      "framework");
  args.option(&o.optimizer, "--optimizer", "NAME",
              "find the pass of another optimiser that is wrong: onnxoptimizer, onnxsim, onnxruntime, or a command of "
              "yours (docs/howto/bisect-a-pass.md)");
  args.option(&o.tolerance.atol, "--atol", "X", "outputs differ beyond X + R times their largest", 0);
  args.option(&o.tolerance.rtol, "--rtol", "R", "see --atol", 0);
  args.flag(&o.network.trust_model, "--trust-model", "give --source-device lib:NAME the model's own file");
  declare_search(args, &o, "where to run: reference, cpu, opencl:0, ...");
}

int work(const Options& o) {
  o.check_not_empty({{"--reduce", o.reduce}, {"--optimizer", o.optimizer}});
  auto request = search_request<BisectRequest>(o);
  request.model = o.model;
  request.target = o.connected();
  request.source.device = o.source_device ? DeviceSpec(*o.source_device) : request.target.device;
  request.source.level = o.source_level;
  if (!o.source_level && request.source.device.framework() == nullptr) request.source.level = "0";
  request.source.variable = o.network.variable;
  request.source.as_written = true;
  request.source.trust_model = o.network.trust_model;
  request.reduce = o.reduce;
  request.options.note = cli::note;
  request.options.deadline = o.deadline();
  request.options.tolerance = o.tolerance;
  if (!o.optimizer.empty()) {
    if (o.partition || o.source_device || o.source_level || !o.reduce.empty())
      fail_usage(
          "--optimizer holds what an optimiser leaves against the interpreter: no --partition, --source-device, "
          "--source-opt or --reduce");
    const OptimizedModel optimized = optimizer_model(request, o.optimizer);
    write_report(o, optimizer_json(optimized), optimizer_text(optimized));
    return optimized.agrees() ? 0 : static_cast<int>(ErrorKind::Negative);
  }
  if (o.partition || request.target.device.framework() != nullptr) {
    if (o.source_device || o.source_level || !o.reduce.empty())
      fail_usage("--partition holds nodes against the interpreter: no --source-device, --source-opt or --reduce");
    const PartitionedModel partitioned = partition_model(request);
    write_report(o, partition_json(partitioned), partition_text(partitioned));
    return partitioned.agrees() ? 0 : static_cast<int>(ErrorKind::Negative);
  }
  const BisectedModel bisected = bisect_model(request);
  write_report(o, bisect_json(bisected), bisect_text(bisected));
  const bool agree = !bisected.report.differs() && bisected.report.ran_out != true && !bisected.not_judged.any();
  return agree ? 0 : static_cast<int>(ErrorKind::Negative);
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_bisect
