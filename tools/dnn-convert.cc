// dnn-convert: reads a model of any format and writes it in another format, version or shape.
#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "convert/convert_args.h"
#include "convert/list.h"
#include "faults/fault.h"
#include "formats/onnx/check.h"

namespace dnn::tools::dnn_convert {

const cli::Tool kTool = {
    .name = "dnn-convert",
    .summary =
        "Reads a model and writes it in another format, operator version or shape. What the model is, its content "
        "tells; what it becomes, the name of the output: .onnx, .tflite, .keras or .h5, .pb or FOLDER/ for "
        "TensorFlow, .pt for TorchScript, or .txt for the text form with every constant.",
    .negative = "the outputs differ by more than --tolerance, or --check finds the written file invalid",
    .examples = {{"dnn-convert old.onnx -o new.onnx --opset 17", "upgraded to opset 17"},
                 {"dnn-convert model.onnx -o model.tflite", "for TFLite: channels last, batch norms folded"},
                 {"dnn-convert model.onnx -o fixed.onnx --shape x:1x3x224x224", "every extent fixed"},
                 {"dnn-convert model.onnx -o half.onnx --dtype float16", "float16 inside, float32 outside"},
                 {"dnn-convert model.onnx -o open.onnx --batch n --rename x=input", "any batch, another input name"},
                 {"dnn-convert model.onnx -o model.txt", "as text, to be read, edited and converted back"}}};

int print(const std::string& table) {
  cli::write_text("-", table);
  return 0;
}

// Faults that are asked for, and said: what follows converts the faulty network, and certifies that.
void inject_faults(const ConvertArgs& o, Graph& graph) {
  std::vector<Injection> injections;
  for (const std::string& spec : o.faults)
    injections.push_back(inject(graph, spec, o.convert.certificate.seed + injections.size()));
  for (const Injection& injection : injections) cli::say(injection.text());
  if (!o.faults_report.empty()) write_file(o.faults_report, injections_json(injections) + "\n");
}

int work(const ConvertArgs& o) {
  if (o.list_formats) return print(list_formats());
  if (o.list_ops) return print(list_ops());
  if (o.list_attributes) return print(list_attributes());
  if (o.list_architectures) return print(list_architectures());
  if (o.list_faults) return print(list_faults());
  const Format* target = format_for_path(o.output);
  check_convert(o, target);
  ConvertOptions options = o.options(target, cli::warn);
  if (o.check) onnx::require_checker(options.write.opset);
  Graph graph = read_to_convert(o.input, target, o.source(cli::warn));
  inject_faults(o, graph);
  if (!o.probe.inputs.empty()) options.certificate.given = read_probes(graph, o.probe);
  const std::optional<Certificate> certificate = convert_model(std::move(graph), o.output, options);
  if (certificate) cli::say_unless_quiet(certificate->text());
  cli::say_wrote(o.output);
  if (certificate && !o.certificate.empty()) write_file(o.certificate, certificate->json() + "\n");
  if (o.check) onnx::require_valid(o.output);
  return 0;
}

cli::Program program() { return cli::program(kTool, declare_convert, work); }

}  // namespace dnn::tools::dnn_convert
