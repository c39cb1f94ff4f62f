// dnn-quantize: makes an integer network of a float32 one, with ranges from sample inputs.
#include "base/file.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/open.h"
#include "quant/quantize_args.h"
#include "quant/report.h"

namespace dnn::tools::dnn_quantize {

const cli::Tool kTool = {
    .name = "dnn-quantize",
    .summary =
        "Quantises a float32 network: weights and activations become integers, whose ranges come from calibration "
        "inputs. The result is an ONNX file with QuantizeLinear and DequantizeLinear, a quantised TFLite file, or "
        "TorchScript or a .pt2, which round to the same integers as real numbers.",
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

int work(const quant::QuantizeArgs& o) {
  quant::QuantizeRequest request = o.whole_request();
  OpenOptions folders;
  use_folders(&folders, cli::variable);
  request.options.calibrate.compile = folders.compile;
  request.options.calibrate.warn = cli::warn;
  request.say = cli::say_unless_quiet;
  request.show = cli::show_unless_quiet;
  const quant::QuantizedModel result = quant::quantize_model(request);
  cli::say_wrote(request.output);
  if (!o.report.empty()) write_file(o.report, quant::report_json(result.reports) + "\n");
  if (request.sensitivity) cli::write_text("-", quant::sensitivity_text(*result.reports.sensitivity));
  if (!o.exclusions.empty()) cli::write_text("-", quant::exclusion_tool(o.exclusions).text(result.reports.excluded));
  if (result.holds) return 0;
  cli::say_error(cat(request.output, ": the best found loses ",
                     number_text(result.reports.validation->worst_drop(), "%.2f"), " points, and --max-drop allows ",
                     exact_text(*request.max_drop), " with at most ", exact_text(o.max_float),
                     " % of the multiply-adds in float32 (--max-float)"));
  return 1;
}

cli::Program program() { return cli::program(kTool, quant::declare_quantize, work); }

}  // namespace dnn::tools::dnn_quantize
