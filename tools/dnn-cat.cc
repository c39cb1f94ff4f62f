// dnn-cat: shows streams as JSON lines or text, and packs JSON lines into a stream again.
#include "cli/cli.h"
#include "cli/output.h"
#include "stream/stream.h"
#include "stream/text.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-cat",
    .summary =
        "Shows a stream as JSON lines or as readable text, and packs JSON lines into a stream again. Several files "
        "are read one after another. A stream that was cut off is shown as far as it goes; exit code 3 says so.",
    .negative = "",
    .examples = {{"dnn-infer model.onnx images/ | dnn-cat", "one line of JSON for each record"},
                 {"dnn-cat run.dnns | jq 'select(.type != \"tensor\")' | dnn-cat --from-json > small.dnns",
                  "a stream without its tensors"},
                 {"dnn-cat --text trace.dnns", "aligned text, tensors as shape, range and mean"}}};

struct Options {
  std::vector<std::string> inputs;
  bool from_json = false;
  bool text = false;
  std::string output = "-";
};

void declare(cli::Args& args, Options& o) {
  args.positionals(&o.inputs, "FILE", "streams, or JSON lines with --from-json; '-' is standard input", 0);
  args.flag(&o.text, "--text", "readable text instead of JSON lines");
  args.flag(&o.from_json, "--from-json", "read JSON lines, write a stream");
  args.output(&o.output);
}

// Shows one file; returns the error to end with when it was cut off, after everything that arrived was shown.
std::optional<Error> show(const std::string& path, bool as_text, cli::Output& output) {
  PeekSource source(open_source(path));
  if (const Bytes first = source.peek(16); !first.empty() && !stream::looks_like_stream(first)) {
    fail_malformed(source_name(path), ": not a stream");
  }
  stream::Reader reader(source, source_name(path));
  while (const std::optional<stream::Record> record = reader.next()) {
    output.write((as_text ? stream::record_to_text(*record) : stream::record_to_json(*record)) + "\n");
  }
  return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
}

void pack(const std::string& path, cli::Output& output) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  stream::LineReader lines(*source, source_name(path));
  stream::Writer writer(output);
  while (const std::optional<stream::Record> record = lines.next()) writer.write(*record);
}

int work(const Options& o) {
  if (o.from_json && o.text) fail_usage("--from-json writes a stream, --text writes text: choose one");
  cli::Output output(o.output, o.from_json ? cli::Output::Content::Binary : cli::Output::Content::Text);
  const std::vector<std::string> inputs = o.inputs.empty() ? std::vector<std::string>{"-"} : o.inputs;
  std::optional<Error> cut_off;
  for (const std::string& path : inputs) {
    if (o.from_json) {
      pack(path, output);
    } else if (std::optional<Error> error = show(path, o.text, output)) {
      cut_off = std::move(error);
    }
  }
  output.commit();
  if (cut_off) throw *cut_off;
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
