// Showing files; see show_file.h.
#include "compile/show_file.h"

#include <filesystem>

#include "base/file.h"
#include "compile/explain.h"
#include "formats/format.h"
#include "graph/text.h"
#include "ops/op.h"
#include "package/file.h"
#include "stream/stream.h"
#include "stream/text.h"

namespace dnn {
namespace {

void write(const std::string& text, ByteSink& to) { to.write(as_bytes(text)); }

void show_model(const ModelSource& source, const ShowOptions& o, ByteSink& to) {
  if (recognise(source) == nullptr)
    fail_malformed(source_name(source.path), ": neither a stream nor a model of a known format");
  Graph graph = read_model(source);
  if (o.types) infer_types(graph);
  write(to_text(graph, {.inline_elements = 32, .inline_all = o.weights}), to);
}

}  // namespace

std::optional<Error> show_file(const std::string& path, const ShowOptions& o, ByteSink& to) {
  if (path != "-" && std::filesystem::is_directory(path)) {
    show_model(open_model(path), o, to);
    return {};
  }
  PeekSource source(open_source(path));
  if (const Bytes first = source.peek(16); !first.empty() && !stream::looks_like_stream(first)) {
    if (looks_like_package(first)) {
      if (path == "-") fail_usage("a package is mapped into memory: give its file's name, not a pipe");
      const Package package = *read_package(path, {}).package;
      write(o.text ? package_to_text(package) : package_to_json(package), to);
      return {};
    }
    show_model(path == "-" ? read_source(source, path) : open_model(path), o, to);
    return {};
  }
  stream::Reader reader(source, source_name(path));
  while (const std::optional<stream::Record> record = reader.next()) {
    write((o.text ? stream::record_to_text(*record) : stream::record_to_json(*record)) + "\n", to);
  }
  return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
}

}  // namespace dnn
