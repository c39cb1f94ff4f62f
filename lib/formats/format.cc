// Formats; see format.h.
#include "formats/format.h"

#include "formats/onnx/onnx.h"
#include "formats/text/text.h"
#include "formats/tflite/tflite.h"

namespace dnn {

std::string ModelSource::base_folder() const {
  if (path == "-") return "";
  if (folder) return path;
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

const std::vector<Format>& formats() {
  static const std::vector<Format> rows = {
#define DNN_FORMAT(name, extensions, space, trust, passes) \
  {#name, extensions, space::sniff, space::read, space::write, space::to_bytes, trust, passes},
#include "formats/formats.def"
  };
  return rows;
}

const Format* find_format(std::string_view name) {
  for (const Format& format : formats()) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

const Format* format_for_path(const std::string& path) {
  for (const Format& format : formats()) {
    for (const std::string& extension : split(format.extensions, ' ')) {
      if (ends_with(path, extension)) return &format;
    }
  }
  return nullptr;
}

ModelSource open_model(const std::string& path) {
  ModelSource source;
  source.path = path;
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_directory(path, ignored)) {
    source.folder = true;
  } else if (path != "-" && std::filesystem::is_regular_file(path, ignored)) {
    auto file = std::make_shared<const MappedFile>(path);
    source.bytes = file->bytes();
    source.owner = std::move(file);
  } else {
    auto text = std::make_shared<const std::string>(read_file(path));
    source.bytes = as_bytes(*text);
    source.owner = std::move(text);
  }
  return source;
}

const Format* recognise(const ModelSource& source) {
  for (const Format& format : formats()) {
    if (format.sniff(source)) return &format;
  }
  return nullptr;
}

const Format& sniff_format(const ModelSource& source) {
  if (const Format* format = recognise(source)) return *format;
  if (!source.folder && source.bytes.empty()) fail_malformed("the file is empty");
  if (const Format* expected = format_for_path(source.path)) {
    fail_malformed("its name says ", expected->name, ", its content does not");
  }
  std::vector<std::string> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  fail_unsupported("not a model of a format known here (", join(names), ")");
}

ModelSource read_source(ByteSource& from, const std::string& path) {
  auto text = std::make_shared<std::string>();
  std::vector<std::byte> buffer(size_t{1} << 16);
  while (const size_t n = from.read(buffer.data(), buffer.size())) text->append(as_text({buffer.data(), n}));
  ModelSource source;
  source.path = path;
  source.bytes = as_bytes(*text);
  source.owner = std::move(text);
  return source;
}

Graph read_model(const ModelSource& source) {
  try {
    return sniff_format(source).read(source);
  } catch (Error& error) {
    throw error.within(source_name(source.path));
  }
}

Graph read_model(const std::string& path) { return read_model(open_model(path)); }

void write_model(const Graph& graph, const std::string& path, const WriteOptions& options) {
  const Format* format = format_for_path(path);
  if (format == nullptr || format->write == nullptr) {
    std::vector<std::string> extensions;
    for (const Format& row : formats()) {
      if (row.write != nullptr) extensions.emplace_back(row.extensions);
    }
    fail_usage(path, ": the name does not say which format to write (", join(extensions), ")");
  }
  try {
    format->write(graph, path, options);
  } catch (Error& error) {
    if (error.kind() != ErrorKind::Environment) error.within(path);  // those name the file that failed themselves
    throw;
  }
}

}  // namespace dnn
