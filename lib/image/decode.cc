// Sniffing and dispatch to the format readers; see image.h.
#include <algorithm>

#include "base/box.h"
#include "base/error.h"
#include "base/file.h"
#include "base/read_limit.h"
#include "image/codec.h"

namespace dnn {
namespace {

bool has(Bytes file, size_t offset, std::string_view text) {
  return file.size() >= offset + text.size() && as_text(file.subspan(offset, text.size())) == text;
}

}  // namespace

ImageFormat sniff_image(Bytes file) {
  using namespace std::string_view_literals;
  if (has(file, 0, "\xff\xd8\xff")) return ImageFormat::Jpeg;
  if (has(file, 0, "\x89PNG\r\n\x1a\n")) return ImageFormat::Png;
  if (has(file, 0, "BM")) return ImageFormat::Bmp;
  if (file.size() >= 3 && has(file, 0, "P")) {
    const auto digit = static_cast<char>(file[1]);
    const auto next = static_cast<char>(file[2]);
    const bool space = next == ' ' || (next >= '\t' && next <= '\r');
    if (digit >= '1' && digit <= '6' && space) return ImageFormat::Pnm;
  }
  if (has(file, 0, "GIF8")) return ImageFormat::Gif;
  if (has(file, 0, "II*\0"sv) || has(file, 0, "MM\0*"sv)) return ImageFormat::Tiff;
  if (has(file, 0, "RIFF") && has(file, 8, "WEBP")) return ImageFormat::WebP;
  if (has(file, 4, "ftypavif") || has(file, 4, "ftypheic") || has(file, 4, "ftypmif1")) return ImageFormat::Heif;
  if (has(file, 0, "\0\0\0\x0cjP  \r\n"sv) || has(file, 0, "\xff\x4f\xff\x51")) return ImageFormat::Jpeg2000;
  if (has(file, 0, "\xff\x0a") || has(file, 0, "\0\0\0\x0cJXL "sv)) return ImageFormat::JpegXl;
  return ImageFormat::Unknown;
}

std::string_view image_format_name(ImageFormat format) {
  switch (format) {
    case ImageFormat::Unknown: return "unknown";
    case ImageFormat::Jpeg: return "JPEG";
    case ImageFormat::Png: return "PNG";
    case ImageFormat::Bmp: return "BMP";
    case ImageFormat::Pnm: return "PNM";
    case ImageFormat::Gif: return "GIF";
    case ImageFormat::Tiff: return "TIFF";
    case ImageFormat::WebP: return "WebP";
    case ImageFormat::Heif: return "HEIF";
    case ImageFormat::Jpeg2000: return "JPEG 2000";
    case ImageFormat::JpegXl: return "JPEG XL";
  }
  return "unknown";
}

Image codec::allocate(int64_t width, int64_t height, const DecodeOptions& options, bool fill) {
  if (width <= 0 || height <= 0) fail_malformed("an image of ", width, "x", height, " pixels");
  if (width > options.max_pixels / height) {
    fail_unsupported("an image of ", width, "x", height, " pixels; the limit is ", options.max_pixels, " pixels",
                     options.max_pixels < kMaxImagePixels ? " for a file of that size (--max-memory)" : "");
  }
  Image image;
  image.width = static_cast<int>(width);
  image.height = static_cast<int>(height);
  image.rgb.resize(width * height * 3);
  if (fill) std::fill(image.rgb.begin(), image.rgb.end(), uint8_t{0});
  return image;
}

uint64_t codec::memory_for(Bytes file) {
  const uint64_t given = read_memory_limit();
  return given != 0 ? given : 4 * uint64_t{file.size()} + (uint64_t{256} << 20);
}

Image decode_image(Bytes file, const DecodeOptions& given) {
  DecodeOptions options = given;
  options.max_pixels = std::min(given.max_pixels, static_cast<int64_t>(codec::memory_for(file) / 3));
  const ImageFormat format = sniff_image(file);
  Image image;
  try {
    switch (format) {
      case ImageFormat::Jpeg: image = codec::decode_jpeg(file, options); break;
      case ImageFormat::Png: image = codec::decode_png(file, options); break;
      case ImageFormat::Bmp: image = codec::decode_bmp(file, options); break;
      case ImageFormat::Pnm: image = codec::decode_pnm(file, options); break;
      case ImageFormat::Unknown:
        if (file.empty()) fail_malformed("the file is empty");
        fail_malformed("not an image: no signature of JPEG, PNG, BMP or PNM");
      default: fail_unsupported("a ", image_format_name(format), " image; convert it to PNG or JPEG");
    }
  } catch (Error& e) {
    if (format != ImageFormat::Unknown) e.within(image_format_name(format));
    throw;
  }
  if (options.apply_orientation) {
    const int orientation = exif_orientation(file);
    if (orientation != 1) image = dnn::apply_orientation(image, orientation);
  }
  return image;
}

Image read_image(const std::string& path, const DecodeOptions& options) {
  Image image;
  in_kept_box([&] {
    const std::string file = read_regular_file(path);
    try {
      image = decode_image(as_bytes(file), options);
    } catch (Error& e) {
      e.within(path);
      throw;
    }
  });
  return image;
}

}  // namespace dnn
