// Formats; see format.h.
#include "formats/format.h"

#include <algorithm>
#include <filesystem>

#include "base/box.h"
#include "base/inside.h"
#include "base/read_limit.h"
#include "formats/keras/keras.h"
#include "formats/onnx/onnx.h"
#include "formats/tensorflow/tensorflow.h"
#include "formats/text/text.h"
#include "formats/tflite/tflite.h"
#include "formats/torch/pt2.h"
#include "formats/torch/torchscript.h"
#include "formats/torch/weights.h"
#include "ops/op.h"

namespace dnn {

namespace {

bool holds_file(const ModelFiles& files, const std::string& suffix) {
  return std::any_of(files.begin(), files.end(), [&](const ModelFile& file) { return file.suffix == suffix; });
}

template <class Hold>
ModelSource held_model(const std::string& path, const ModelFiles& files, const Hold& hold) {
  HeldFiles held;
  for (const ModelFile& file : files) held[file.suffix] = hold(file.bytes);
  ModelSource source;
  source.path = path;
  source.folder = held.count("") == 0;
  if (!source.folder) {
    source.bytes = held[""].bytes;
    source.owner = held[""].owner;
  }
  source.files = std::make_shared<const HeldFiles>(std::move(held));
  return source;
}

// Whether a name inside a folder stays there.
bool stays_inside(const std::string& name) {
  const std::filesystem::path path(name);
  return !name.empty() && name.find('\0') == std::string::npos && !path.is_absolute() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

// "dir/" and "dir" are the same model.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

bool ModelSource::has(const std::string& name) const {
  if (!folder || !stays_inside(name)) return false;
  if (files != nullptr) return files->count("/" + name) != 0;
  std::error_code ignored;
  return std::filesystem::is_regular_file(std::filesystem::path(path) / name, ignored);
}

SharedBytes ModelSource::inside(const std::string& name) const {
  if (!has(name)) fail_malformed("there is no file ", quoted(name), " in the folder");
  if (files != nullptr) return files->at("/" + name);
  if (!lies_in(std::filesystem::path(path) / name, path))
    fail_malformed("the file ", quoted(name), " leaves the model's folder through a link");
  auto file = std::make_shared<const MappedFile>((std::filesystem::path(path) / name).string());
  const Bytes content = file->bytes();
  return {content, std::move(file)};
}

ModelSource model_in_memory(const std::string& path, const ModelFiles& files) {
  return held_model(path, files, [](const Content& content) { return content.whole(); });
}

ModelSource model_on_disk(const std::string& path, const ModelFiles& files) {
  const std::string folder = std::filesystem::path(without_slashes(path)).parent_path().string();
  return held_model(path, files, [&](const Content& content) { return write_nameless(folder, content); });
}

const std::vector<Format>& formats() {
  static const std::vector<Format> rows = {
#define DNN_FORMAT(name, extensions, space, trust, passes, holds, float16) \
  {#name, extensions, space::sniff, space::read, space::to_files, trust, passes, Holds::holds, Float16::float16},
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

ModelSource open_model(const std::string& path, std::vector<std::string> shapes, IgnoredFields fields) {
  ModelSource source;
  source.path = path;
  source.shapes = std::move(shapes);
  source.ignored = std::move(fields);
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

void check_names(const Graph& graph) {
  const auto check = [](const char* what, const std::string& text) {
    if (is_utf8(text)) return;
    std::string shown = text.substr(0, 80);
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return static_cast<uint8_t>(c) >= 0x80; }, '?');
    fail_malformed(what, " ", quoted(shown), " is not UTF-8");
  };
  check("the graph's name", graph.name);
  check("the producer", graph.producer);
  for (const auto& [key, text] : graph.metadata) {
    check("the metadata key", key);
    check("the metadata", text);
  }
  for (ValueId v = 0; v < graph.value_count(); ++v) check("the name", graph.value(v).name);
  for (NodeId id : graph.order()) {
    check("the node's name", graph.node(id).name);
    check("the operator", graph.node(id).op);
    for (const auto& [name, attribute] : graph.node(id).attributes) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body != nullptr) check_names(**body);
    }
  }
}

namespace {

// Attributes that their operators lack and a person says to ignore.
void drop_ignored(Graph& graph, const IgnoredFields& ignored) {
  if (ignored.empty()) return;
  for (NodeId id : graph.order()) {
    Node& node = graph.node(id);
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr) continue;
    for (auto& [name, attribute] : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      auto copy = std::make_shared<Graph>(**body);
      drop_ignored(*copy, ignored);
      attribute = std::shared_ptr<const Graph>(std::move(copy));
    }
    std::erase_if(node.attributes, [&](const auto& attribute) {
      return find_attribute(op->attributes, attribute.first) == nullptr &&
             is_ignored(ignored, node.op, attribute.first);
    });
  }
}

void check_ignored(const IgnoredFields& ignored) {
  if (const std::vector<std::string> names = ignored.not_met(); !names.empty())
    fail_usage("--ignore-attribute ", quoted(names[0]),
               ": no field of that name would be refused; leave the option out");
}

}  // namespace

namespace {

// The model and what lies beside it, of which a reader may open files that the model names.
BoxRules rules_for(const ModelSource& source) {
  if (source.path == "-" || source.files != nullptr) return {};
  if (source.folder) return {{source.path}};
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::canonical(source.path, unknown);
  const std::string folder = std::filesystem::path(source.path).parent_path().string();
  return {{folder.empty() ? "." : folder, real.parent_path().string()}};
}

// Of what is in memory or mapped already; files that are opened meanwhile count themselves.
uint64_t held_bytes(const ModelSource& source) {
  uint64_t bytes = source.bytes.size();
  if (source.files == nullptr) return bytes;
  for (const auto& [suffix, file] : *source.files) bytes += suffix.empty() ? 0 : file.bytes.size();
  return bytes;
}

}  // namespace

Graph read_model(const ModelSource& source) {
  try {
    Graph graph;
    in_box(rules_for(source), [&] {
      read_within_limits(held_bytes(source), source_name(source.path), [&] {
        graph = sniff_format(source).read(source);
        check_names(graph);
        drop_ignored(graph, source.ignored);
        check_schemas(graph);
        check_ignored(source.ignored);
      });
    });
    return graph;
  } catch (Error& error) {
    throw error.within(source_name(source.path));
  }
}

Graph read_model(const std::string& path) { return read_model(open_model(path)); }

namespace {

void write_folder(const Format& format, const std::string& path, const ModelFiles& files) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_empty(path, ignored) &&
      !format.sniff(open_model(path)))
    fail_usage(path, ": exists, and is no ", format.name, " that could be replaced");
  AtomicFolder folder(path);
  for (const ModelFile& file : files) folder.add(file.suffix.substr(1), file.bytes);
  folder.commit();
}

}  // namespace

void write_model(const Graph& graph, const std::string& path, const WriteOptions& options) {
  const Format* format = format_for_path(path);
  if (format == nullptr || format->to_files == nullptr) {
    std::vector<std::string> extensions;
    for (const Format& row : formats()) {
      if (row.to_files != nullptr) extensions.emplace_back(row.extensions);
    }
    fail_usage(path, ": the name does not say which format to write (", join(extensions), ")");
  }
  const std::string name = without_slashes(path);
  WriteOptions named = options;
  named.file_name = std::filesystem::path(name).filename().string();
  ModelFiles files;
  try {
    files = format->to_files(graph, named);
  } catch (Error& error) {
    throw error.within(path);
  }
  if (!holds_file(files, "")) return write_folder(*format, name, files);
  // The model's own file comes last: it names the others.
  std::stable_partition(files.begin(), files.end(), [](const ModelFile& file) { return !file.suffix.empty(); });
  std::vector<std::unique_ptr<AtomicFile>> written;
  for (const ModelFile& file : files) {
    written.push_back(std::make_unique<AtomicFile>(name + file.suffix));
    file.bytes.write(*written.back());
  }
  for (const std::unique_ptr<AtomicFile>& file : written) file->commit();
}

}  // namespace dnn
