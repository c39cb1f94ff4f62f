// Images: decoding files to 8-bit RGB exactly as Pillow's Image.open(path).convert("RGB") does.
//
// The contract of lib/image: decode (this header), resize (resize.h), turn into a network's input tensor
// (preprocess.h), and know what the classes are called (labels.h) and which image shows which (dataset.h). Files are
// untrusted: sizes are checked before anything is allocated, damage is a Malformed error, and what is valid but not
// ours is Unsupported. Nothing here keeps state between calls, so all of it may run on many threads at once.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace dnn {

struct ImageSize {
  int width = 0;
  int height = 0;
  bool operator==(const ImageSize&) const = default;
};

struct ImageRegion {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

// What new elements of a vector hold is left to whoever fills them: zeroing an image first costs as much as resizing it does.
template <class T>
struct Unfilled : std::allocator<T> {
  // NOLINTBEGIN(readability-identifier-naming): the standard's names
  template <class U>
  struct rebind {
    using other = Unfilled<U>;
  };
  // NOLINTEND(readability-identifier-naming)
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t, Unfilled<uint8_t>> rgb;  // [height, width, 3], rows without padding
  std::string warning;  // what the decoder complained about and went on, as Pillow goes on; empty for most
};

enum class ImageFormat { Unknown, Jpeg, Png, Bmp, Pnm, Gif, Tiff, WebP, Heif, Jpeg2000, JpegXl };

// The format by the first bytes; a file name is never looked at.
ImageFormat sniff_image(Bytes file);
std::string_view image_format_name(ImageFormat format);  // "JPEG"; "unknown"

// Where Pillow itself refuses a file as a decompression bomb: twice its MAX_IMAGE_PIXELS.
inline constexpr int64_t kMaxImagePixels = 178956970;

// What becomes of grey samples of 16 bits (PNG; PNM of more than 255 levels).
enum class Grey16 {
  Clip,      // above 255 they are white, as Pillow's convert("RGB") has it
  HighByte,  // the image, in 256 levels
};

struct DecodeOptions {
  int64_t max_pixels = kMaxImagePixels;
  // Pixels times scans of a progressive JPEG, about 3 ns each, beyond what is always read.
  int64_t most_scanned_pixels = 1'000'000'000;
  Grey16 grey16 = Grey16::Clip;
  // Which pixels of an image of that size the caller will read; those outside may hold anything, as they do where a JPEG
  // is larger than what is wanted. Empty: all. Not for images that are turned.
  std::function<ImageRegion(ImageSize)> reads = {};
  bool apply_orientation = false;  // turn the image as its EXIF orientation says (Pillow: ImageOps.exif_transpose)
};

// JPEG (8-bit, every colour space and process of libjpeg-turbo), PNG (all of it), BMP (1 to 32 bits, uncompressed) and
// PNM (P1 to P6). Alpha, transparent colours, gamma and colour profiles are dropped, not applied, as Pillow does;
// samples of 16 bits keep their high byte, but for those that are grey alone (Grey16).
// Throws Malformed, or Unsupported for other formats and for more than max_pixels.
Image decode_image(Bytes file, const DecodeOptions& options = {});

// Reads and decodes `path`, a regular file: a list may name a pipe or a device, which do not end. Errors start with the path.
Image read_image(const std::string& path, const DecodeOptions& options = {});

// The image as the bytes of a PNG file, 8-bit RGB; the same image gives the same bytes. It must not be empty.
std::string encode_png(const Image& image);

// The EXIF orientation, 1 to 8; 1 when the file has none or the tag is damaged.
int exif_orientation(Bytes file);
// The image turned so that it is upright; orientation as EXIF numbers them.
Image apply_orientation(const Image& image, int orientation);

}  // namespace dnn
