// looks_like; see file_kind.h.
#include "stream/file_kind.h"

#include <algorithm>

#include "base/text.h"

namespace dnn::stream {
namespace {

struct Magic {
  size_t at;
  std::string_view bytes;
  const char* kind;
  const char* way_out;
};

constexpr const char* kModel = "dnn-infer runs it and writes a stream";
constexpr const char* kInput = "dnn-infer MODEL runs a model on it and writes a stream";

constexpr Magic kMagics[] = {
    {0, "DNNPKG", "a package", kModel},
    {4, "TFL3", "a TFLite model", kModel},
    {0, "\x89HDF\r\n", "an HDF5 file, as Keras writes it", kModel},
    {0, "PK\x03\x04", "a zip archive, as .keras, .pt and .npz are", "dnn-infer runs models and reads .npz"},
    {0, "\x93NUMPY", "an array of NumPy", kInput},
    {0, "\x89PNG", "a PNG image", kInput},
    {0, "\xff\xd8\xff", "a JPEG image", kInput},
    {0, "BM", "a BMP image", kInput},
    {0, "\x1f\x8b", "a file compressed by gzip", "gzip -dc FILE | ... decompresses it"},
    {0, "\x28\xb5\x2f\xfd", "a file compressed by zstd", "zstd -dc FILE | ... decompresses it"},
    {0, "<!DOCTYPE", "a page of HTML", "give the streams that it was made of"},
};

// A protobuf message whose first field is ir_version of ONNX, 1 to 31, and whose next is one of a ModelProto.
bool begins_as_onnx(std::string_view text) {
  return text.size() > 2 && text[0] == 0x08 && text[1] > 0 && text[1] < 32 &&
         (text[2] == 0x12 || text[2] == 0x3a || text[2] == 0x42);
}

bool is_text(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= ' ' && c != 0x7f) || c == '\n' || c == '\t' || c == '\r';
  });
}

// A form that the bytes have; "" where none is known.
struct Found {
  const char* kind = "";
  const char* way_out = "";
};

Found find(Bytes first) {
  const std::string_view text = as_text(first);
  for (const Magic& row : kMagics) {
    if (text.size() >= row.at && starts_with(text.substr(row.at), row.bytes)) return {row.kind, row.way_out};
  }
  if (begins_as_onnx(text)) return {"an ONNX model", kModel};
  const std::string_view line = text.substr(0, 256);
  if (!is_text(line)) return {};
  if (line[0] == '{') return {"JSON", "dnn-cat --from-json makes a stream of JSON lines"};
  return {"text", "dnn-infer writes streams"};
}

}  // namespace

std::string looks_like(Bytes first) {
  const Found found = find(first);
  return *found.kind == 0 ? "" : cat("it looks like ", found.kind, ": ", found.way_out);
}

}  // namespace dnn::stream
