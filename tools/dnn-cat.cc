// dnn-cat: shows streams as JSON lines or text and packs JSON lines into a stream again; shows and compares models.
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/explain.h"
#include "formats/format.h"
#include "graph/diff.h"
#include "graph/text.h"
#include "ops/op.h"
#include "package/file.h"
#include "stream/npz.h"
#include "stream/stream.h"
#include "stream/text.h"

namespace {

using namespace dnn;

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
  bool from_json = false;
  bool text = false;
  bool diff = false;
  bool check = false;
  bool weights = false;
  bool types = false;
  std::string npz;
  std::string output = "-";
};

void declare(cli::Args& args, Options& o) {
  args.positionals(&o.inputs, "FILE",
                   "streams, packages or models, or JSON lines with --from-json; '-' is standard input", 0);
  args.flag(&o.text, "--text", "readable text instead of JSON lines (models are always text)");
  args.flag(&o.from_json, "--from-json", "read JSON lines, write a stream");
  args.flag(&o.diff, "--diff", "compare two models; exit code 1 if they differ");
  args.flag(&o.check, "--check", "print nothing: read streams to their ends, exit code 3 if one is damaged or cut off");
  args.option(&o.npz, "--npz", "DIR",
              "write the tensors of each sample as DIR/ID_NAME.npz, for numpy.load; print file, sample, arrays");
  args.flag(&o.weights, "--weights", "print every constant of a model, so that the text is the whole model");
  args.flag(&o.types, "--types", "infer and print the types of a model's values");
  args.output(&o.output);
}

void show_model(const ModelSource& source, const Options& o, cli::Output& output) {
  if (recognise(source) == nullptr)
    fail_malformed(source_name(source.path), ": neither a stream nor a model of a known format");
  Graph graph = read_model(source);
  if (o.types) infer_types(graph);
  output.write(to_text(graph, {.inline_elements = 32, .inline_all = o.weights}));
}

// Shows one file; returns the error to end with when it was cut off, after everything that arrived was shown.
std::optional<Error> show(const std::string& path, const Options& o, cli::Output& output) {
  if (path != "-" && std::filesystem::is_directory(path)) {
    show_model(open_model(path), o, output);
    return {};
  }
  PeekSource source(open_source(path));
  if (o.check) {
    stream::Reader reader(source, source_name(path));
    while (reader.next()) {
    }
    return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
  }
  if (const Bytes first = source.peek(16); !first.empty() && !stream::looks_like_stream(first)) {
    if (looks_like_package(first)) {
      if (path == "-") fail_usage("a package is mapped into memory: give its file's name, not a pipe");
      const Package package = *read_package(path, {}).package;
      output.write(o.text ? package_to_text(package) : package_to_json(package));
      return {};
    }
    show_model(path == "-" ? read_source(source, path) : open_model(path), o, output);
    return {};
  }
  stream::Reader reader(source, source_name(path));
  while (const std::optional<stream::Record> record = reader.next()) {
    output.write((o.text ? stream::record_to_text(*record) : stream::record_to_json(*record)) + "\n");
  }
  return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
}

// Writes a stream's tensors; returns the error to end with, as show() does.
std::optional<Error> export_tensors(const std::string& path, stream::NpzFolder& folder) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  stream::Reader reader(*source, source_name(path));
  while (const std::optional<stream::Record> record = reader.next()) folder.add(*record);
  folder.flush();
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
  if (o.check && (o.output != "-" || o.weights || o.types))
    fail_usage("--check prints nothing: it goes with no other option");
  if (o.from_json + o.text + o.diff + o.check + !o.npz.empty() > 1)
    fail_usage("--from-json, --text, --diff, --check and --npz exclude each other: choose one");
  cli::Output output(o.output, o.from_json ? cli::Output::Content::Binary : cli::Output::Content::Text);
  if (o.diff) return diff(o, output);
  const std::vector<std::string> inputs = o.inputs.empty() ? std::vector<std::string>{"-"} : o.inputs;
  std::optional<Error> cut_off;
  size_t files = 0;
  stream::NpzFolder folder(o.npz, [&](const std::string& file, const std::string& sample, size_t arrays) {
    output.write(cat(clean(file), "\t", clean(sample), "\t", arrays, "\n"));
    ++files;
  });
  for (const std::string& path : inputs) {
    if (o.from_json) {
      pack(path, output);
    } else if (std::optional<Error> error = o.npz.empty() ? show(path, o, output) : export_tensors(path, folder)) {
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

}  // namespace

cli::Program dnn_cat() { return cli::program(kTool, declare, work); }
