// EXIF orientation: found in JPEG's APP1 segment or PNG's eXIf chunk, and applied as ImageOps.exif_transpose does.
#include "base/error.h"
#include "image/image.h"

namespace dnn {
namespace {

constexpr uint16_t kOrientationTag = 0x0112;

uint32_t number(Bytes data, size_t n, bool big_endian) {
  uint32_t value = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t shift = 8 * (big_endian ? n - 1 - i : i);
    value |= std::to_integer<uint32_t>(data[i]) << shift;
  }
  return value;
}

// The orientation entry of the first directory of a TIFF block. Throws Malformed where the block is damaged.
int orientation_of_tiff(Bytes tiff) {
  ByteReader in(tiff, "EXIF");
  const std::string_view order = as_text(in.take(2));
  if (order != "II" && order != "MM") return 1;
  const bool big_endian = order == "MM";
  in.take(2);
  in.seek(number(in.take(4), 4, big_endian));
  const uint32_t n_entries = number(in.take(2), 2, big_endian);
  for (uint32_t i = 0; i < n_entries; ++i) {
    const Bytes entry = in.take(12);
    if (number(entry, 2, big_endian) != kOrientationTag) continue;
    const uint32_t type = number(entry.subspan(2), 2, big_endian);
    const uint32_t value = number(entry.subspan(8), type == 3 ? 2 : 4, big_endian);
    return (type == 3 || type == 4) && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Bytes exif_of_jpeg(Bytes file) {
  ByteReader in(file, "JPEG");
  in.take(2);
  while (true) {
    unsigned marker = in.u8();
    if (marker != 0xff) return {};
    while (marker == 0xff) marker = in.u8();
    if (marker == 0xda || marker == 0xd9) return {};  // the scan begins: no more headers
    if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) continue;
    const uint32_t n = number(in.take(2), 2, true);
    if (n < 2) return {};
    const Bytes segment = in.take(n - 2);
    if (marker == 0xe1 && starts_with(as_text(segment), std::string_view("Exif\0\0", 6))) return segment.subspan(6);
  }
}

Bytes exif_of_png(Bytes file) {
  ByteReader in(file, "PNG");
  in.take(8);
  while (true) {
    const uint32_t n = number(in.take(4), 4, true);
    const std::string_view name = as_text(in.take(4));
    if (name == "IEND") return {};
    const Bytes chunk = in.take(n);
    if (name == "eXIf") return chunk;
    in.take(4);
  }
}

}  // namespace

int exif_orientation(Bytes file) {
  try {
    switch (sniff_image(file)) {
      case ImageFormat::Jpeg: return orientation_of_tiff(exif_of_jpeg(file));
      case ImageFormat::Png: return orientation_of_tiff(exif_of_png(file));
      default: return 1;
    }
  } catch (const Error&) {
    return 1;
  }
}

Image apply_orientation(const Image& image, int orientation) {
  if (orientation < 1 || orientation > 8) fail_usage("EXIF orientation ", orientation, "; they go from 1 to 8");
  const bool transposed = orientation >= 5;
  const bool flip_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool flip_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image out;
  out.warning = image.warning;
  out.width = transposed ? image.height : image.width;
  out.height = transposed ? image.width : image.height;
  out.rgb.resize(image.rgb.size());
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      int from_x = transposed ? y : x;
      int from_y = transposed ? x : y;
      if (flip_x) from_x = image.width - 1 - from_x;
      if (flip_y) from_y = image.height - 1 - from_y;
      const size_t from =
          (static_cast<size_t>(from_y) * static_cast<size_t>(image.width) + static_cast<size_t>(from_x)) * 3;
      const size_t to = (static_cast<size_t>(y) * static_cast<size_t>(out.width) + static_cast<size_t>(x)) * 3;
      std::memcpy(&out.rgb[to], &image.rgb[from], 3);
    }
  }
  return out;
}

}  // namespace dnn
