// dnn-repair: makes a faulty conversion compute what its source does.
#include "base/file.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "localize/alignment_text.h"
#include "localize/repair_model.h"
#include "localize/search_args.h"

namespace dnn::tools::dnn_repair {

const cli::Tool kTool = {
    .name = "dnn-repair",
    .summary =
        "Repairs TARGET, a conversion of SOURCE. Finds its wrong layers, searches edits that make it compute what "
        "SOURCE "
        "does, and writes it in its own format with a certificate. Where nothing is wrong, nothing is written.",
    .negative = "not repaired, or an INPUT not judged",
    .examples = {{"dnn-repair --preprocess imagenet-torch right.onnx wrong.tflite photos/ -o fixed.tflite", ""},
                 {"dnn-repair right.onnx wrong.onnx photos/ -o fixed.onnx --edits edits.json", "with what was changed"},
                 {"dnn-repair right.onnx wrong.onnx photos/ -o fixed.onnx --apply edits.json",
                  "the same changes, without a search"}}};

struct Options : SearchArgs {
  std::string source, target, target_preprocess, output, edits, apply, alignment, fill;
  uint64_t seed = 0;
};

void declare(cli::Args& args, Options& o) {
  args.positional(&o.source, "SOURCE", "a model, of any format: what is right");
  args.positional(&o.target, "TARGET", "the model that is to be repaired");
  args.positionals(&o.inputs, "INPUT", "as for dnn-infer: images, folders, lists, .npy, .npz", 0);
  args.option(&o.output, "-o,--output", "FILE", "the repaired model, in TARGET's format");
  args.option(&o.edits, "--edits", "FILE", "write the edits, as JSON");
  args.option(&o.apply, "--apply", "FILE", "make these edits, and search none");
  args.option(&o.network.level, "-O,--opt", "0..4", "level at which both run (default 0)");
  args.option(&o.target_preprocess, "--target-preprocess", "SPEC",
              "TARGET's own, as \"none scale=1/255 channels=bgr\"");
  args.option(&o.alignment, "--alignment", "FILE", "which layers are one: lines of SOURCE<TAB>TARGET, - for none");
  args.option(&o.fill, "--fill", "WHAT", "in place of INPUTs: " + join(fill_names(), ", ") + " (--seed)");
  declare_search(args, &o, "where to run: reference, cpu, opencl:0, ... (default reference at -O0)");
  args.seed(&o.seed);
}

int work(const Options& o) {
  o.check_not_empty({{"--output", o.output}, {"--edits", o.edits}, {"--apply", o.apply}, {"--alignment", o.alignment}});
  if (o.output.empty() || o.output == "-") fail_usage("-o FILE says where the repaired model goes");
  check_fill(o.fill);
  if (!o.fill.empty() && !o.inputs.empty()) fail_usage("--fill generates the inputs, so ", o.inputs[0], " has no use");
  if (o.fill.empty() && o.inputs.empty()) fail_usage("there is no INPUT and no --fill, to search and to judge on");
  for (const std::string& path : {o.source, o.target}) {
    if (looks_like_trace(path)) fail_usage(path, " is a trace of dnn-infer; models are repaired");
  }
  auto request = pair_request<RepairRequest>(o, o.source, o.target, o.target_preprocess);
  request.fill = o.fill;
  request.seed = o.seed;
  request.output = o.output;
  request.apply = o.apply;
  if (!o.alignment.empty()) request.alignment = parse_alignment(read_file(o.alignment), o.alignment);
  std::optional<cli::Progress> progress;
  show_samples(&request, &progress);
  request.found = [&](const std::vector<Edit>& edits) {
    if (!o.edits.empty()) cli::write_text(o.edits, edits_json(edits));
  };
  const RepairReport report = repair_model(request);
  write_report(o, repair_json(report), repair_text(report));
  return report.verdict != RepairReport::Verdict::NotRepaired ? 0 : static_cast<int>(ErrorKind::Negative);
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_repair
