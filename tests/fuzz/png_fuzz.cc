// Fuzz target: the PNG reader; only Malformed and Unsupported may escape.
#include "base/error.h"
#include "image/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const dnn::Bytes file(reinterpret_cast<const std::byte*>(data), size);
  dnn::DecodeOptions options;
  options.max_pixels = 1 << 20;
  try {
    if (dnn::sniff_image(file) != dnn::ImageFormat::Png) return 0;
    dnn::codec::decode_png(file, options);
    dnn::exif_orientation(file);
  } catch (const dnn::Error& e) {
    if (e.kind() != dnn::ErrorKind::Malformed && e.kind() != dnn::ErrorKind::Unsupported) throw;
  }
  return 0;
}
