// dnn-convert: reads a model of any format and writes it in another format, version or shape.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/open.h"
#include "convert/convert.h"
#include "formats/format.h"
#include "formats/onnx/check/check.h"
#include "graph/bind.h"
#include "ops/op.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-convert",
    .summary =
        "Reads a model and writes it in another format, operator version or shape. What the model is, its content "
        "tells; what it becomes, the name of the output: .onnx, .tflite, or .txt for the text form with every "
        "constant.",
    .negative = "the outputs differ by more than --tolerance, or --check finds the written file invalid",
    .examples = {{"dnn-convert old.onnx -o new.onnx --opset 17", "upgraded to opset 17"},
                 {"dnn-convert model.onnx -o model.tflite", "for TFLite: channels last, batch norms folded"},
                 {"dnn-convert model.onnx -o fixed.onnx --shape x:1x3x224x224", "every extent fixed"},
                 {"dnn-convert model.onnx -o model.txt", "as text, to be read, edited and converted back"}}};

struct Options {
  std::string input, output;
  WriteOptions write;
  std::optional<int64_t> opset, ir_version;
  std::vector<std::string> shapes;
  bool check = false;
  ConvertOptions convert;
  bool no_certificate = false;
  std::string certificate;
  bool list_formats = false, list_ops = false;
};

void declare(cli::Args& args, Options& o) {
  args.optional_positional(&o.input, "MODEL", "the model; '-' is standard input");
  args.option(&o.output, "-o,--output", "FILE", "where the result goes; its name says the format");
  args.option(&o.opset, "--opset", "N", "ONNX opset to write, 7 to 28; left out, 17");
  args.option(&o.ir_version, "--ir-version", "N", "ONNX IR version to write; left out, 8 or what opset and types need");
  args.flag(&o.write.external_data, "--external-data", "ONNX weights in OUTPUT.data (always so above 2 GiB)");
  args.list(&o.shapes, "--shape", "NAME:1x3x224x224", "fix the extents of an input; '?' keeps one open");
  args.option(&o.convert.certificate.probes, "--probes", "N", "seeded inputs on which source and target are compared",
              1);
  args.seed(&o.convert.certificate.seed);
  args.option(
      &o.convert.tolerance, "--tolerance", "X",
      "largest difference of their outputs, relative to the source's largest; above, exit 1 and nothing is written", 0);
  args.flag(&o.convert.keep, "--keep", "write above the tolerance too");
  args.option(&o.certificate, "--certificate", "FILE", "what the comparison measured, as JSON");
  args.flag(&o.no_certificate, "--no-certificate", "compare nothing");
  args.flag(&o.check, "--check", "have libonnx's checker judge the ONNX file that was written");
  args.flag(&o.list_formats, "--list-formats", "list name, extensions, read and write, trust of the formats, and stop");
  args.flag(&o.list_ops, "--list-ops",
            "list the operators that run, with their domains where not ONNX's own, and stop");
}

int list_formats() {
  cli::Output output("-", cli::Output::Content::Text);
  for (const Format& format : formats()) {
    output.write(cat(format.name, "\t", format.extensions, "\t", format.read != nullptr ? "read" : "-", "\t",
                     format.to_files != nullptr ? "write" : "-", "\t", format.trust, "\n"));
  }
  output.commit();
  return 0;
}

int list_ops() {
  cli::Output output("-", cli::Output::Content::Text);
  for (const OpDef& op : all_ops()) {
    const std::string domain = op.domain;
    if (op.reference != nullptr && domain != kInternalDomain)
      output.write(cat(domain.empty() ? "" : domain + ".", op.name, "\n"));
  }
  output.commit();
  return 0;
}

int check(const std::string& path) {
  const Graph written = read_model(path);
  const onnx::CheckResult result = onnx::check_file(path, static_cast<int>(written.source_opsets.at("")));
  if (result.verdict == onnx::CheckResult::Verdict::CannotJudge)
    fail_unsupported(path, ": cannot be checked: ", result.reason);
  if (result.verdict == onnx::CheckResult::Verdict::Valid) return 0;
  throw Error(ErrorKind::Negative, path + ": libonnx: " + result.reason);
}

WriteOptions write_options(const Options& o) {
  WriteOptions write = o.write;
  const auto number = [](int64_t n) { return static_cast<int>(std::clamp<int64_t>(n, INT32_MIN, INT32_MAX)); };
  if (o.opset) write.opset = number(*o.opset);
  if (o.ir_version) write.ir_version = number(*o.ir_version);
  return write;
}

int work(const Options& o) {
  if (o.list_formats) return list_formats();
  if (o.list_ops) return list_ops();
  if (o.input.empty()) fail_usage("which model? give its file, or '-' for standard input");
  if (o.output.empty() || o.output == "-") fail_usage("where to? give a file with -o, whose name says the format");
  const Format* target = format_for_path(o.output);
  const bool onnx = target == nullptr || target->name == std::string("onnx");
  if (o.check && (target == nullptr || !onnx)) fail_usage("--check is for ONNX files");
  if (!onnx && (o.opset || o.ir_version || o.write.external_data))
    fail_usage("--opset, --ir-version and --external-data are for ONNX files");
  if (o.no_certificate && !o.certificate.empty())
    fail_usage("--no-certificate leaves nothing for --certificate to write");
  Graph graph = read_model(o.input);
  try {
    for (const std::string& shape : o.shapes) bind_shape(graph, shape);
    if (!o.shapes.empty()) infer_types(graph);
  } catch (Error& error) {
    throw error.within(o.input);
  }
  ConvertOptions convert = o.convert;
  convert.write = write_options(o);
  convert.certify = !o.no_certificate;
  convert.warn = [](const std::string& message) { cli::warn(message); };
  OpenOptions folders;
  use_folders(&folders, std::getenv("XDG_CACHE_HOME"), std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  convert.certificate.compile.build.cache_folder = folders.compile.build.cache_folder;
  const std::optional<Certificate> certificate = convert_model(graph, o.output, convert);
  if (certificate && !cli::console().quiet) cli::say(certificate->text());
  if (certificate && !o.certificate.empty()) write_file(o.certificate, certificate->json() + "\n");
  return o.check ? check(o.output) : 0;
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
