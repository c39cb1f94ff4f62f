// Formats: every model file format is one folder here and one row of formats.def; files are recognised by content,
// never by name. Everything a reader meets is hostile until parsed: sizes and offsets are checked before use.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/content.h"
#include "base/file.h"
#include "base/io.h"
#include "formats/leftovers.h"
#include "graph/graph.h"

namespace dnn {

// One file of a model that is written. Its path is the model's with `suffix` behind it: "" is the model's own file, ".data" one
// beside it, "/saved_model.pb" one in the folder that the model is.
struct ModelFile {
  std::string suffix;
  Content bytes;
};
using ModelFiles = std::vector<ModelFile>;

// Files of a model that are not looked up in the file system, by suffix.
using HeldFiles = std::map<std::string, SharedBytes>;

// What a reader is given: a file's bytes, or a folder (a SavedModel), where `bytes` is empty.
struct ModelSource {
  std::string path;  // as the user named it; "-" for standard input
  bool folder = false;
  Bytes bytes;
  std::shared_ptr<const void> owner;       // keeps `bytes` alive; readers may hold on to it
  std::shared_ptr<const HeldFiles> files;  // of a model that was just written: the file system is not looked at then
  // What a user says of inputs whose shapes the file lacks, and on which what its program computes depends: "NAME:1x3x224x224"
  // ('?' keeps an extent open). TorchScript's and .pt2's readers look at it; whoever binds shapes does so all the same.
  std::vector<std::string> shapes;
  // Of ONNX: what its reference evaluator computes, at the places where the runtimes compute something else (docs/reference/onnx.md).
  bool onnx_reference = false;
  // Fields that a user says to ignore where the reader does not know them: see formats/leftovers.h.
  IgnoredFields ignored = {};

  // Whether the folder holds a file of that name ("variables/variables.index").
  bool has(const std::string& name) const;
  // A file of the folder, mapped. Throws Malformed where it is missing or lies outside.
  SharedBytes inside(const std::string& name) const;
};

struct WriteOptions {
  int opset = 17;                // ai.onnx opset of an ONNX file: 7 to 28
  bool newer_opset = false;      // or the lowest above it that can say what the graph does
  int ir_version = 0;            // IR version of an ONNX file; 0: 8, or the lowest that its opset and types need
  bool external_data = false;    // weights in a second file beside the model (always done above 2 GiB)
  bool qoperator = false;        // of an ONNX file: quantised layers as operators on integers (QLinearConv, ...)
  bool float16_weights = false;  // of a TFLite file: float32 constants as float16, which an operator widens
  std::string file_name = "model.onnx";  // the model's own, which the second file's is made from
};

enum class Holds { Graph, Weights };
// What becomes float16: the arithmetic, or constants alone (WriteOptions::float16_weights), which are widened for it.
enum class Float16 { Arithmetic, WeightsOnly };

struct Format {
  const char* name;
  const char* extensions;  // space-separated, most common first: ".onnx"
  bool (*sniff)(const ModelSource& source);
  Graph (*read)(const ModelSource& source);  // null: cannot
  // The same bytes for the same graph and options. Null: cannot.
  ModelFiles (*to_files)(const Graph& graph, const WriteOptions& options);
  const char* trust;   // what reading a hostile file may do: "data" never more than fill memory up to its size
  const char* passes;  // names of passes, "a,b": what the format cannot hold, folded before it is written
  Holds holds;         // weights: a graph that is read has constants only, and of one that is written only they are
  Float16 float16;     // what a conversion to float16 makes
};

const std::vector<Format>& formats();
// The row of that name, or null.
const Format* find_format(std::string_view name);
// The row whose extension ends `path`, or null.
const Format* format_for_path(const std::string& path);

// A model's files to be read, without being there under their names: in memory, or on the disk in the folder where the model would
// be, which is gone with the source. `path` is the model's.
ModelSource model_in_memory(const std::string& path, const ModelFiles& files);
ModelSource model_on_disk(const std::string& path, const ModelFiles& files);
// The rest of a source as a model; `path` is how errors name it.
ModelSource read_source(ByteSource& source, const std::string& path);
// Opens a model file or folder ("-": standard input) for sniffing and reading; see ModelSource::shapes and ignored. Throws Environment.
ModelSource open_model(const std::string& path, std::vector<std::string> shapes = {}, IgnoredFields ignored = {});
// The row that recognises the content, or null.
const Format* recognise(const ModelSource& source);
// The same; throws Malformed or Unsupported when none does.
const Format& sniff_format(const ModelSource& source);

// Reads a model of any format into the IR, verified. Throws Malformed, Unsupported, Environment with the path in front.
Graph read_model(const std::string& path);
Graph read_model(const ModelSource& source);
// Throws Malformed where a name or text of the graph is not UTF-8: all that is written of it has to be.
void check_names(const Graph& graph);
// Writes in the format that the path names ("dir/": a folder). A file appears when it is complete; a folder too, and an older
// model there goes, but no folder that is something else. Throws Usage, Unsupported, Environment.
void write_model(const Graph& graph, const std::string& path, const WriteOptions& options = {});

}  // namespace dnn
