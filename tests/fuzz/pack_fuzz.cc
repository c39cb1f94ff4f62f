// Fuzz target: the index of a pack of images, as it is and with a right checksum; only Malformed and Unsupported may escape.
#include "fuzz/fuzz.h"
#include "image/pack.h"

namespace {

using namespace dnn;

// Each image that an index names lies within the file.
void walk(Bytes file) {
  const PackIndex index = parse_pack(file);
  for (const PackedImage& image : index.images) {
    const Bytes bytes = file.subspan(static_cast<size_t>(image.offset), static_cast<size_t>(image.size));
    if (bytes.size() != image.size || image.name.empty()) __builtin_trap();
    if (image.label && static_cast<size_t>(*image.label) >= index.classes.size()) __builtin_trap();
  }
}

// The file with the checksum of the index that its header names.
std::string sealed_pack(Bytes file) {
  std::string text(as_text(file));
  packing::Header header = packing::parse_header(file);
  if (header.index_offset < packing::kHeaderSize || header.index_offset > file.size()) return text;
  header.index_size = file.size() - header.index_offset;
  header.digest = packing::digest_of(file.subspan(static_cast<size_t>(header.index_offset)));
  return text.replace(0, packing::kHeaderSize, packing::header_text(header));
}

}  // namespace

DNN_FUZZ(pack) {
  const Bytes file = fuzz::as_input(data, size);
  fuzz::refuse_or_accept([&] { walk(file); });
  return fuzz::refuse_or_accept([&] {
    const std::string text = sealed_pack(file);
    walk(as_bytes(text));
  });
}
