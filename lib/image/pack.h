// Packs: the images of a data set in one file (.dnnd) that is mapped into memory: an index, and each image as an image file.
//
// The layout, little-endian:
//   header  96 bytes: magic "dnnd\r\n\x1a\n", u32 version, u32 96, u64 offset and u64 size of the index, u64 images, u64
//           classes, SHA-256 of the index, 16 bytes 0; the index's offset is 0 as long as the pack is being made
//   images  each: u64 size, u32 width, u32 height, SHA-256 of the bytes, the bytes, zeros up to a multiple of 8; of size 0:
//           an image that was left out
//   index   classes: u32 length and name of each; images, sorted by name: u64 offset, u64 size, u32 class (2^32 - 1: none),
//           u32 width, u32 height, u32 length of the name, SHA-256, name (the path below the folder)
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/sha256.h"
#include "image/dataset.h"
#include "image/image.h"

namespace dnn {

struct PackedImage {
  std::string name;              // "cat/1.jpg"
  std::optional<int64_t> label;  // of PackIndex::classes: the folder that it lay in
  uint64_t offset = 0, size = 0;
  ImageSize pixels;
  Sha256 digest = {};
};

struct PackIndex {
  std::vector<std::string> classes;  // each once
  std::vector<PackedImage> images;   // sorted by name, each once
};

bool looks_like_pack(Bytes head);  // by the first 8 bytes
bool is_pack(const std::string& path);

// The index of a pack of these bytes. Throws Malformed for damage and for a pack that is not finished, Unsupported for a later
// version.
PackIndex parse_pack(Bytes file);

// A pack, from any thread.
class ImagePack {
 public:
  explicit ImagePack(const std::string& path);  // also throws Environment; errors start with the path

  const PackIndex& index() const { return index_; }
  // "FILE/cat/1.jpg" of each image: the names of folders and files say the classes as they do in a folder.
  std::vector<Sample> samples() const;
  std::string path(size_t i) const { return cat(path_, "/", index_.images[i].name); }
  // Throws Malformed where the bytes are not those that were packed; errors start with path(i).
  Image read(size_t i, const DecodeOptions& options = {}) const;

 private:
  std::string path_;
  MappedFile file_;
  PackIndex index_;
};

// Parts that the writer shares.
namespace packing {

inline constexpr size_t kHeaderSize = 96, kRecordSize = 48;

struct Header {
  uint64_t index_offset = 0, index_size = 0, images = 0, classes = 0;
  Sha256 digest = {};  // of the index; of the plan while it is being made
};
std::string header_text(const Header& header);
Header parse_header(Bytes file);

struct Record {
  uint64_t size = 0;
  ImageSize pixels;
  Sha256 digest = {};
};
std::string record_text(const Record& record);
Record parse_record(ByteReader& reader);
inline size_t padding(uint64_t size) { return static_cast<size_t>((8 - size % 8) % 8); }

std::string index_text(const PackIndex& index);
Sha256 digest_of(Bytes bytes);

}  // namespace packing
}  // namespace dnn
