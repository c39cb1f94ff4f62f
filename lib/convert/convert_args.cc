// Options of a conversion; see convert_args.h.
#include "convert/convert_args.h"

#include <algorithm>

#include "cli/console.h"
#include "convert/framework_judge.h"

namespace dnn {
namespace {

int narrow(int64_t n) { return static_cast<int>(std::clamp<int64_t>(n, INT32_MIN, INT32_MAX)); }

// Has the frameworks of both formats run the conversion. A graph that is not what the file says has no framework of its own.
decltype(ConvertOptions::judge) framework_judge(const ConvertArgs& o, const Format& target) {
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
  judge.folders = [](OpenOptions* open) { use_folders(open, cli::variable); };
  judge.warn = cli::warn;
  return [judge](const Yardstick& yardstick, const std::string& written) { return judge.judge(yardstick, written); };
}

}  // namespace

ConvertSource ConvertArgs::source(const std::function<void(const std::string& message)>& warn) const {
  return {architecture, weights, surgery, ignored, onnx_reference, warn};
}

ConvertOptions ConvertArgs::options(const Format* target,
                                    const std::function<void(const std::string& message)>& warn) const {
  ConvertOptions options = convert;
  options.write = write;
  options.write.newer_opset = !opset;
  if (opset) options.write.opset = narrow(*opset);
  if (ir_version) options.write.ir_version = narrow(*ir_version);
  options.warn = warn;
  if (!dtype.empty()) options.dtype = dtype == "float16" ? DType::Float16 : DType::Float32;
  options.io_dtype = io_dtype == "float16" ? DType::Float16 : DType::Float32;
  options.certify = !no_certificate && certify != "framework";
  if (target != nullptr && (certify == "framework" || certify == "both"))
    options.judge = framework_judge(*this, *target);
  if (probes) options.certificate.probes = narrow(*probes);
  return options;
}

void declare_convert(cli::Args& args, ConvertArgs& o) {
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

void check_convert(const ConvertArgs& o, const Format* target) {
  if (o.input.empty()) fail_usage("which model? give its file, or '-' for standard input");
  if (o.output.empty() || o.output == "-") fail_usage("where to? give a file with -o, whose name says the format");
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

}  // namespace dnn
