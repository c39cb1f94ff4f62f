// dnn-quantize: makes an integer network of a float32 one, with ranges from sample inputs.
#include "base/file.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/open.h"
#include "quant/model.h"
#include "quant/report.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-quantize",
    .summary =
        "Quantises a float32 network: weights and activations become integers, whose ranges come from calibration "
        "inputs. The result is an ONNX file with QuantizeLinear and DequantizeLinear, or a quantised TFLite file.",
    .negative = "the best network found loses more than --max-drop, or no calibration input can be read",
    .examples = {{"dnn-quantize model.onnx -o int8.onnx --calibrate photos/ --preprocess imagenet-torch", "int8"},
                 {"dnn-quantize model.onnx -o int8.tflite --calibrate photos/ --preprocess imagenet-tf", "for TFLite"},
                 {"dnn-quantize net.onnx -o int8.tflite --calibrate a/ --inference-input-type uint8 "
                  "--inference-output-type uint8",
                  "integers outside"},
                 {"dnn-quantize model.onnx -o int8.onnx --calibrate a/ --validate b/ --max-drop 0.5",
                  "with layers in float32 for it"},
                 {"dnn-quantize model.onnx --calibrate photos/ --state a.json --shard 0/2", "one of two halves"},
                 {"dnn-quantize model.onnx -o int8.onnx --state a.json --state b.json", "of both"},
                 {"dnn-quantize model.onnx --calibrate photos/ --sensitivity", "which layers int8 costs most"}}};

struct Options {
  quant::QuantizeRequest request;
  std::string scheme = "int8", method = "mse", form = "qdq", report, exclusions;
  std::string input_type = "float32", output_type = "float32";
  std::string shard = "0/1";
  std::vector<std::string> keep_float;
  std::optional<int64_t> opset;
  bool no_bias_correction = false;
  double max_float = 50;
};

void declare(cli::Args& args, Options& o) {
  std::vector<std::string> schemes, methods, tools;
  for (const quant::Scheme& scheme : quant::schemes()) schemes.emplace_back(scheme.name);
  for (const quant::Method& method : quant::methods()) methods.emplace_back(method.name);
  for (const quant::ExclusionTool& tool : quant::exclusion_tools()) tools.emplace_back(tool.name);
  quant::QuantizeRequest& r = o.request;
  args.positional(&r.model, "MODEL", "a float32 model of any format");
  args.option(&r.output, "-o,--output", "FILE", "where the result goes: .onnx or .tflite");
  args.list(&r.calibrate, "--calibrate", "INPUT",
            "inputs like those the network will see, as dnn-infer's INPUT; 100 images suffice");
  args.list(&r.states, "--state", "FILE",
            "keep what calibration saw in a file and go on from it; without --calibrate, add up several");
  args.option(&o.shard, "--shard", "I/N", "calibrate on every N-th input, from the I-th on");
  args.preprocess(&r.preprocess, &r.spelled_out, &r.apply_orientation);
  args.choice(&o.scheme, "--scheme", schemes, "which numbers become integers");
  args.choice(&o.method, "--method", methods, "how the ranges of activations are chosen");
  args.list(&o.keep_float, "--keep-float", "NAME", "leave a node, or what makes a value, in float32");
  args.flag(&o.no_bias_correction, "--no-bias-correction", "leave biases as they are");
  args.flag(
      &r.equalise, "--equalise",
      "scale channels between layers first, so that a value's channels have ranges alike (two runs of the inputs)");
  args.choice(&o.form, "--form", {"qdq", "qoperator"},
              "of ONNX: QuantizeLinear and DequantizeLinear around operators, or operators on integers");
  args.choice(&o.input_type, "--inference-input-type", {"float32", "int8", "uint8"}, "of the result's inputs");
  args.choice(&o.output_type, "--inference-output-type", {"float32", "int8", "uint8"}, "of its outputs");
  args.list(&r.validate, "--validate", "INPUT", "compare labels, and top-1 where classes are known, on these inputs");
  args.option(&r.labels, "--labels", "FILE", "the classes of --validate, one a line, a synset id first where known");
  args.option(
      &r.max_drop, "--max-drop", "X",
      "leave layers in float32 until --validate loses at most X points of top-1 (without classes: percent of labels "
      "changed); exit 1 where none is found",
      0);
  args.option(&o.max_float, "--max-float", "P", "of that at most P percent of the multiply-adds", 0);
  args.seed(&r.seed);
  args.flag(&r.sensitivity, "--sensitivity",
            "print what rounding each layer alone does to the outputs; -o may be left out");
  args.choice(&o.exclusions, "--exclusions", tools, "print the layers left in float32 as that tool takes them");
  args.list(&r.surgery.shapes, "--shape", "NAME:DIMS", "set an input shape, e.g. x:1x3x224x224");
  args.option(&r.surgery.batch, "--batch", "N|NAME",
              "set the first extent of every input, or leave it open under a name");
  args.option(&o.opset, "--opset", "N", "ONNX opset to write (default 17; 21 for int16)", 13);
  args.option(&o.report, "--report", "FILE", "write ranges, scales and losses of every layer as JSON");
  args.threads(&r.options.calibrate.threads);
}

int work(const Options& o) {
  quant::QuantizeRequest request = o.request;
  request.options.scheme = quant::scheme_named(o.scheme);
  request.options.method = quant::method_named(o.method);
  request.options.keep_float = {o.keep_float.begin(), o.keep_float.end()};
  request.options.correct_biases = !o.no_bias_correction;
  request.qoperator = o.form == "qoperator";
  request.input_type = dtype_from_name(o.input_type);
  request.output_type = dtype_from_name(o.output_type);
  if (o.opset) request.opset = static_cast<int>(*o.opset);
  OpenOptions folders;
  use_folders(&folders, cli::variable);
  request.options.calibrate.compile = folders.compile;
  request.options.calibrate.warn = cli::warn;
  request.shard = Shard::parse(o.shard);
  request.most_float = o.max_float / 100;
  request.say = cli::say_unless_quiet;
  request.show = cli::show_unless_quiet;
  const quant::QuantizedModel result = quant::quantize_model(request);
  cli::say_wrote(request.output);
  if (!o.report.empty()) write_file(o.report, quant::report_json(result.reports) + "\n");
  if (request.sensitivity) cli::write_text("-", quant::sensitivity_text(*result.reports.sensitivity));
  if (!o.exclusions.empty()) cli::write_text("-", quant::exclusion_tool(o.exclusions).text(result.reports.excluded));
  if (result.holds) return 0;
  cli::say_error(cat(request.output, ": the best found loses ", number_text(result.reports.validation->drop(), "%.2f"),
                     " points, and --max-drop allows ", exact_text(*request.max_drop), " with at most ",
                     exact_text(o.max_float), " % of the multiply-adds in float32 (--max-float)"));
  return 1;
}

}  // namespace

cli::Program dnn_quantize() { return cli::program(kTool, declare, work); }
