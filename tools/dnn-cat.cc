// dnn-cat: shows streams as JSON lines or text and packs JSON lines into a stream again; shows and compares models.
#include <functional>

#include "base/file.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/show_file.h"
#include "formats/format.h"
#include "graph/diff.h"
#include "stream/npz.h"
#include "stream/stream.h"
#include "stream/text.h"

namespace dnn::tools::dnn_cat {

const cli::Tool kTool = {
    .name = "dnn-cat",
    .summary =
        "Shows a stream as JSON lines or as readable text, packs JSON lines into a stream again, and shows or compares "
        "models; shows packages either way. Several files are read one after another. A stream that was cut off is "
        "shown as far as it goes; exit "
        "code 3 says so.",
    .negative = "--diff finds a difference",
    .examples = {{"dnn-infer model.onnx images/ | dnn-cat", "one line of JSON for each record"},
                 {"dnn-cat run.dnns | jq 'select(.type != \"tensor\")' | dnn-cat --from-json > small.dnns",
                  "a stream without its tensors"},
                 {"dnn-cat --check run.dnns", "whether it is all there: exit code 0, or 3 and where it was cut off"},
                 {"dnn-cat --text trace.dnns", "aligned text, tensors as shape, range and mean"},
                 {"dnn-infer --trace model.onnx images/ | dnn-cat --npz activations",
                  "every value of the network, for NumPy: one file for each image"},
                 {"dnn-cat model.onnx", "the graph as text, large constants by their SHA-256"},
                 {"dnn-cat --diff a.onnx b.onnx", "what differs: structure, attributes, weights and by how much"}}};

struct Options {
  std::vector<std::string> inputs;
  bool from_json = false, diff = false, check = false;
  ShowOptions shown;
  std::string npz, output = "-";
};

void declare(cli::Args& args, Options& o) {
  args.positionals(&o.inputs, "FILE",
                   "streams, packages or models, or JSON lines with --from-json; '-' is standard input", 0);
  args.flag(&o.shown.text, "--text", "readable text instead of JSON lines (models are always text)");
  args.flag(&o.from_json, "--from-json", "read JSON lines, write a stream");
  args.flag(&o.diff, "--diff", "compare two models; exit code 1 if they differ");
  args.flag(&o.check, "--check", "print nothing: read streams to their ends, exit code 3 if one is damaged or cut off");
  args.option(&o.npz, "--npz", "DIR",
              "write the tensors of each sample as DIR/ID_NAME.npz, for numpy.load; print file, sample, arrays");
  args.flag(&o.shown.weights, "--weights", "print every constant of a model, so that the text is the whole model");
  args.flag(&o.shown.types, "--types", "infer and print the types of a model's values");
  args.output(&o.output);
}

// Hands on all records of a stream; returns the error to end with where it was cut off.
std::optional<Error> read(const std::string& path, const std::function<void(const stream::Record&)>& take) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  stream::Reader reader(*source, source_name(path));
  while (const std::optional<stream::Record> record = reader.next()) take(*record);
  return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
}

void pack(const std::string& path, cli::Output& output) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  stream::LineReader lines(*source, source_name(path));
  stream::Writer writer(output);
  while (const std::optional<stream::Record> record = lines.next()) writer.write(*record);
}

int diff(const Options& o, cli::Output& output) {
  if (o.inputs.size() != 2) fail_usage("--diff compares two models, not ", o.inputs.size());
  const std::vector<std::string> lines = graph_difference(read_model(o.inputs[0]), read_model(o.inputs[1]));
  for (const std::string& line : lines) output.write(line + "\n");
  output.commit();
  return lines.empty() ? 0 : 1;
}

int work(const Options& o) {
  if (o.check && (o.output != "-" || o.shown.weights || o.shown.types))
    fail_usage("--check prints nothing: it goes with no other option");
  if (o.from_json + o.shown.text + o.diff + o.check + !o.npz.empty() > 1)
    fail_usage("--from-json, --text, --diff, --check and --npz exclude each other: choose one");
  cli::Output output(o.output, o.from_json ? cli::Output::Content::Binary : cli::Output::Content::Text);
  if (o.diff) return diff(o, output);
  std::optional<Error> cut_off;
  size_t files = 0;
  stream::NpzFolder folder(o.npz, [&](const std::string& file, const std::string& sample, size_t arrays) {
    output.write(cat(clean(file), "\t", clean(sample), "\t", arrays, "\n"));
    ++files;
  });
  const auto take = [&](const stream::Record& record) {
    if (!o.check) folder.add(record);
  };
  for (const std::string& path : o.inputs.empty() ? std::vector<std::string>{"-"} : o.inputs) {
    if (o.from_json) {
      pack(path, output);
      continue;
    }
    std::optional<Error> error = o.check || !o.npz.empty() ? read(path, take) : show_file(path, o.shown, output);
    if (!o.npz.empty()) folder.flush();
    if (error) {
      if (cut_off) cli::say_error(cut_off->what());
      cut_off = std::move(error);
    }
  }
  output.commit();
  if (cut_off) throw *cut_off;
  if (!o.npz.empty() && files == 0)
    fail_usage("the stream has no tensors: make it with dnn-infer --trace, --outputs or --sample-tensors");
  return 0;
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_cat
