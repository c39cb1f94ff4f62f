// dnn-convert: reads a model of any format and writes it in another format, version or shape.
#include <algorithm>
#include <cstdio>

#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "convert/convert.h"
#include "convert/framework_judge.h"
#include "convert/list.h"
#include "convert/probes.h"
#include "convert/source.h"
#include "faults/fault.h"
#include "formats/onnx/check.h"

namespace {

using namespace dnn;

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

struct Options {
  std::string input, output;
  WriteOptions write;
  std::optional<int64_t> opset, ir_version, probes;
  std::string architecture, weights;
  Surgery surgery;
  IgnoredFields ignored;
  bool onnx_reference = false;
  std::string dtype, io_dtype;
  bool check = false;
  ConvertOptions convert;
  ProbeOptions probe;
  bool no_certificate = false, trust_model = false;
  std::string certify;
  std::string certificate;
  std::vector<std::string> faults;
  std::string faults_report;
  bool list_formats = false, list_ops = false, list_attributes = false, list_architectures = false, list_faults = false;
};

void declare(cli::Args& args, Options& o) {
  args.optional_positional(&o.input, "MODEL", "the model; '-' is standard input");
  args.option(&o.output, "-o,--output", "FILE", "where the result goes; its name says the format");
  args.option(&o.opset, "--opset", "N", "ONNX opset to write, 7 to 28; left out, 17 or what the model needs");
  args.option(&o.ir_version, "--ir-version", "N", "ONNX IR version to write; left out, 8 or what opset and types need");
  args.flag(&o.write.external_data, "--external-data", "ONNX weights in OUTPUT.data (always so above 2 GiB)");
  args.option(&o.architecture, "--architecture", "NAME",
              "the network that weights without a graph belong to; left out, their names tell");
  args.option(&o.weights, "--weights", "FILE",
              "a state dict or safetensors whose tensors replace MODEL's of the same names");
  args.list(&o.surgery.outputs, "--outputs", "NAME[,NAME]", "cut: only what these values, or nodes, need");
  args.list(&o.surgery.inputs, "--inputs", "NAME[,NAME]", "cut: these values become the inputs");
  args.list(&o.surgery.shapes, "--shape", "NAME:1x3x224x224", "fix the extents of an input; '?' keeps one open");
  args.list(&o.ignored, "--ignore-attribute", "NAME", "read the model without this field; or OPERATOR.NAME");
  args.flag(&o.onnx_reference, "--onnx-reference",
            "ONNX: compute what its reference evaluator does, not the runtimes (docs/reference/onnx.md)");
  args.option(&o.surgery.batch, "--batch", "N|NAME",
              "the first extent of every input, or a name to leave it open under");
  args.list(&o.surgery.input_layouts, "--input-layout", "NAME:NHWC", "or NCHW: the order of axes of an input");
  args.list(&o.surgery.renames, "--rename", "OLD=NEW", "another name for an input, output, other value or node");
  args.choice(&o.dtype, "--dtype", {"float16", "float32"},
              "of constants and arithmetic (TFLite: of the weights alone)");
  args.choice(&o.io_dtype, "--io-dtype", {"float32", "float16"},
              "of inputs and outputs, with --dtype; left out, float32");
  args.flag(&o.convert.fold_batch_norms, "--fold-batch-norms", "into the convolutions before them, in every format");
  args.option(&o.probes, "--probes", "N", "seeded inputs on which source and target are compared (default 8)", 1);
  args.seed(&o.convert.certificate.seed);
  args.list(&o.probe.inputs, "--probe", "INPUT",
            "in their place: images, folders, .npy, .npz, streams, as dnn-infer's");
  args.preprocess(&o.probe.preprocess, &o.probe.spelled_out, &o.probe.apply_orientation);
  args.option(
      &o.convert.tolerance, "--tolerance", "X",
      "largest difference of their outputs, relative to the source's largest; above, exit 1 and nothing is written "
      "(default 1e-04; with float16, 5e-02)",
      0);
  args.flag(&o.convert.keep, "--keep", "write above the tolerance too");
  args.option(&o.certificate, "--certificate", "FILE", "what the comparison measured, as JSON");
  args.choice(&o.certify, "--certify", {"self", "framework", "both"},
              "what runs source and target: their readers here, the frameworks of their formats, one after the other; "
              "left out, self");
  args.flag(&o.trust_model, "--trust-model", "with --certify: MODEL's framework may run what code the file holds");
  args.flag(&o.no_certificate, "--no-certificate", "compare nothing");
  args.list(&o.faults, "--inject", "FAULT[@NODE]",
            "make a fault on purpose first, up to three, at a node that --seed chooses where none is named");
  args.option(&o.faults_report, "--inject-report", "FILE", "what was injected where, as JSON");
  args.flag(&o.check, "--check", "have libonnx's checker judge the ONNX file that was written");
  args.flag(&o.list_formats, "--list-formats", "list name, extensions, read and write, trust of the formats, and stop");
  args.flag(&o.list_ops, "--list-ops",
            "list operator, infer, reference, lower, and read and write by format, tab-separated, and stop");
  args.flag(&o.list_attributes, "--list-attributes",
            "list operator, attribute, type, default and text, tab-separated, and stop");
  args.flag(&o.list_architectures, "--list-architectures", "list the networks that state dicts are put onto, and stop");
  args.flag(&o.list_faults, "--list-faults",
            "list the faults that --inject makes, and the real bugs that they are like, and stop");
}

int print(const std::string& table) {
  cli::write_text("-", table);
  return 0;
}

int narrow(int64_t n) { return static_cast<int>(std::clamp<int64_t>(n, INT32_MIN, INT32_MAX)); }

WriteOptions write_options(const Options& o) {
  WriteOptions write = o.write;
  write.newer_opset = !o.opset;
  if (o.opset) write.opset = narrow(*o.opset);
  if (o.ir_version) write.ir_version = narrow(*o.ir_version);
  return write;
}

// Options that would change nothing here are mistakes.
void refuse_idle_options(const Options& o, const Format* target) {
  const bool onnx = target != nullptr && target->name == std::string("onnx");
  const bool given = !o.probe.inputs.empty(), probes = given || o.probes;
  if (!onnx && (o.check || o.opset || o.ir_version || o.write.external_data))
    fail_usage("--check, --opset, --ir-version and --external-data are for ONNX files");
  const bool frameworks = !o.certify.empty() && o.certify != "self";
  if (o.trust_model && !frameworks) fail_usage("--trust-model goes with --certify framework");
  const bool compares = !o.certificate.empty() || !o.certify.empty() || probes || o.convert.tolerance || o.convert.keep;
  const char* const options = "--certificate, --certify, --probe, --probes, --tolerance and --keep";
  if (o.no_certificate && compares) fail_usage("--no-certificate compares nothing; ", options, " are for a comparison");
  if (target != nullptr && target->holds == Holds::Weights && compares)
    fail_usage(options, " compare networks; ", target->name, " holds weights alone");
  if (given && o.probes) fail_usage("--probes counts seeded inputs, and --probe gives others");
  if (!given && (!o.probe.preprocess.empty() || o.probe.spelled_out.any() || o.probe.apply_orientation))
    fail_usage("a preprocessing is for the images of --probe");
  if (o.faults.empty() && !o.faults_report.empty()) fail_usage("--inject-report goes with --inject");
  if (o.faults.size() > 3) fail_usage("--inject makes up to three faults, not ", o.faults.size());
  if (o.dtype.empty() && !o.io_dtype.empty()) fail_usage("--io-dtype goes with --dtype");
}

// Faults that are asked for, and said: what follows converts the faulty network, and certifies that.
void inject_faults(const Options& o, Graph& graph) {
  std::vector<Injection> injections;
  for (const std::string& spec : o.faults)
    injections.push_back(inject(graph, spec, o.convert.certificate.seed + injections.size()));
  for (const Injection& injection : injections) cli::say(injection.text());
  if (!o.faults_report.empty()) write_file(o.faults_report, injections_json(injections) + "\n");
}

// Has the frameworks of both formats run the conversion. A graph that is not what the file says has no framework of its own.
std::function<Certificate(const Yardstick&, const std::string&)> framework_judge(const Options& o,
                                                                                 const Format& target) {
  FrameworkJudge judge;
  const bool as_it_is = o.input != "-" && !o.surgery.any() && o.faults.empty() && o.weights.empty() &&
                        o.architecture.empty() && o.ignored.empty() && !o.onnx_reference;
  if (as_it_is) {
    judge.source = o.input;
    judge.source_format = sniff_format(open_model(o.input)).name;
  }
  judge.target_format = target.name;
  judge.trust_model = o.trust_model;
  judge.variable = cli::variable;
  judge.folders = [](OpenOptions* open) {
    use_folders(open, cli::variable);
  };
  judge.warn = cli::warn;
  return [judge](const Yardstick& yardstick, const std::string& written) { return judge.judge(yardstick, written); };
}

int work(const Options& o) {
  if (o.list_formats) return print(list_formats());
  if (o.list_ops) return print(list_ops());
  if (o.list_attributes) return print(list_attributes());
  if (o.list_architectures) return print(list_architectures());
  if (o.list_faults) return print(list_faults());
  if (o.input.empty()) fail_usage("which model? give its file, or '-' for standard input");
  if (o.output.empty() || o.output == "-") fail_usage("where to? give a file with -o, whose name says the format");
  const Format* target = format_for_path(o.output);
  refuse_idle_options(o, target);
  ConvertOptions convert = o.convert;
  convert.write = write_options(o);
  if (o.check) onnx::require_checker(convert.write.opset);
  convert.warn = [](const std::string& message) { cli::warn(message); };
  Graph graph = read_to_convert(o.input, target,
                                {o.architecture, o.weights, o.surgery, o.ignored, o.onnx_reference, convert.warn});
  inject_faults(o, graph);
  if (!o.dtype.empty()) convert.dtype = o.dtype == "float16" ? DType::Float16 : DType::Float32;
  convert.io_dtype = o.io_dtype == "float16" ? DType::Float16 : DType::Float32;
  convert.certify = !o.no_certificate && o.certify != "framework";
  if (target != nullptr && (o.certify == "framework" || o.certify == "both"))
    convert.judge = framework_judge(o, *target);
  if (o.probes) convert.certificate.probes = narrow(*o.probes);
  if (!o.probe.inputs.empty()) convert.certificate.given = read_probes(graph, o.probe);
  const std::optional<Certificate> certificate = convert_model(std::move(graph), o.output, convert);
  if (certificate && !cli::console().quiet) cli::say(certificate->text());
  cli::say_wrote(o.output);
  if (certificate && !o.certificate.empty()) write_file(o.certificate, certificate->json() + "\n");
  if (o.check) onnx::require_valid(o.output);
  return 0;
}

}  // namespace

cli::Program dnn_convert() { return cli::program(kTool, declare, work); }
