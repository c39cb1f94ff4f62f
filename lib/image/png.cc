// PNG through libpng: every colour type, bit depth and interlacing, to the samples that Pillow's convert("RGB") gives.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "image/codec.h"

namespace dnn::codec {
namespace {

struct PngDecoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes file;
  size_t position = 0;
  bool ended = false;            // the file ran out
  bool complete = false;         // it goes on behind the last row, and what follows is left
  size_t n_rows = 0, spare = 0;  // spare: bytes read behind the last row
  char message[256] = "";
  char warning[256] = "";
  ~PngDecoder() {
    if (png != nullptr) png_destroy_read_struct(&png, &info, nullptr);
  }
};

void copy_text(char (&to)[256], const char* from) {
  std::strncpy(to, from, sizeof to - 1);
  to[sizeof to - 1] = '\0';
}

[[noreturn]] void on_png_error(png_structp png, const char* message) {
  auto* d = static_cast<PngDecoder*>(png_get_error_ptr(png));
  copy_text(d->message, message);
  png_longjmp(png, 1);
}

void on_warning(png_structp png, const char* message) {
  auto* d = static_cast<PngDecoder*>(png_get_error_ptr(png));
  if (d->warning[0] == '\0') copy_text(d->warning, message);
}

// libpng inflates all that follows the last row, to see that the stream ends: of a file of 6 MB with a few pixels 6 GB.
constexpr size_t kMostSpare = 1 << 16;

bool all_rows_read(png_structp png, const PngDecoder& d) {
  constexpr int kPasses = 7;
  if (d.n_rows == 0) return false;
  if (png_get_interlace_type(png, d.info) != PNG_INTERLACE_NONE) return png_get_current_pass_number(png) >= kPasses;
  return png_get_current_row_number(png) >= d.n_rows;
}

void read_bytes(png_structp png, png_bytep to, size_t n) {
  auto* d = static_cast<PngDecoder*>(png_get_io_ptr(png));
  if (all_rows_read(png, *d)) {
    d->spare += n;
    if (d->spare > kMostSpare) {
      d->complete = true;
      png_longjmp(png, 1);
    }
  }
  if (n > d->file.size() - d->position) {
    d->ended = true;
    png_error(png, "the file ends before the image does");
  }
  std::memcpy(to, d->file.data() + d->position, n);
  d->position += n;
}

struct PngHeader {
  png_uint_32 width = 0, height = 0;
  int depth = 0, colour = 0;
};

// Ancillary chunks cannot change the pixels that we return, so none is parsed.
bool read_png_header(PngDecoder& d, PngHeader& h) {
  if (setjmp(png_jmpbuf(d.png)) != 0) return false;
  png_set_read_fn(d.png, &d, read_bytes);
  png_set_keep_unknown_chunks(d.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  static const png_byte kSkip[] =
      "tRNS\0bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0"
      "tEXt\0tIME\0zTXt";
  png_set_keep_unknown_chunks(d.png, PNG_HANDLE_CHUNK_NEVER, kSkip, static_cast<int>(sizeof kSkip / 5));
  png_set_user_limits(d.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // allocate() judges the size
  png_set_check_for_invalid_index(d.png, 0);                     // beyond the palette Pillow has black
  png_read_info(d.png, d.info);
  png_get_IHDR(d.png, d.info, &h.width, &h.height, &h.depth, &h.colour, nullptr, nullptr, nullptr);
  return true;
}

// Samples that are one number of 16 bits.
bool deep_grey(const PngHeader& h) { return h.depth == 16 && h.colour == PNG_COLOR_TYPE_GRAY; }

// Fills `rows` of `row_bytes` each; called only once the size has been judged, for libpng allocates by it.
bool read_rows(PngDecoder& d, const PngHeader& h, png_bytepp rows, size_t row_bytes) {
  if (setjmp(png_jmpbuf(d.png)) != 0) return d.complete;
  d.n_rows = h.height;
  if (h.depth == 16 && !deep_grey(h)) png_set_strip_16(d.png);
  if ((h.colour & PNG_COLOR_MASK_ALPHA) != 0) png_set_strip_alpha(d.png);
  if (h.colour == PNG_COLOR_TYPE_PALETTE) {
    png_set_packing(d.png);
  } else if ((h.colour & PNG_COLOR_MASK_COLOR) == 0) {
    if (h.depth < 8) png_set_expand_gray_1_2_4_to_8(d.png);
  }
  png_set_interlace_handling(d.png);
  png_read_update_info(d.png, d.info);
  if (png_get_rowbytes(d.png, d.info) != row_bytes) png_error(d.png, "rows of an unexpected size");
  png_read_image(d.png, rows);
  return true;
}

void check_read(const PngDecoder& d, bool ok) {
  if (!ok) fail_malformed(d.message);
}

}  // namespace

Image decode_png(Bytes file, const DecodeOptions& options) {
  PngDecoder d;
  d.file = file;
  d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_png_error, on_warning);
  if (d.png == nullptr) throw std::bad_alloc();
  d.info = png_create_info_struct(d.png);
  if (d.info == nullptr) throw std::bad_alloc();
  PngHeader h;
  check_read(d, read_png_header(d, h));
  // Deflate expands no more than 1032 times, so a short file cannot hold a large image.
  const uint64_t least_bytes = uint64_t{h.width} * h.height / 8 / 1032 * (png_get_channels(d.png, d.info) * h.depth);
  if (least_bytes > file.size()) {
    fail_malformed("the file ends before the image does: ", file.size(), " bytes for ", h.width, "x", h.height,
                   " pixels");
  }
  Image image = allocate(h.width, h.height, options);

  const size_t width = h.width, height = h.height;
  const bool colour = h.colour == PNG_COLOR_TYPE_RGB || h.colour == PNG_COLOR_TYPE_RGB_ALPHA;
  const size_t stride = width * (colour ? 3 : deep_grey(h) ? 2 : 1);
  std::vector<uint8_t> samples(colour ? 0 : stride * height);  // grey values or palette indices
  uint8_t* base = colour ? image.rgb.data() : samples.data();
  std::vector<png_bytep> rows(height);
  for (size_t y = 0; y < height; ++y) rows[y] = base + y * stride;
  check_read(d, read_rows(d, h, rows.data(), stride));

  if (deep_grey(h)) {
    for (size_t i = 0; i < width * height; ++i) {
      const uint8_t high = samples[2 * i], low = samples[2 * i + 1];
      const uint8_t clipped = high == 0 ? low : 255;
      std::memset(&image.rgb[3 * i], options.grey16 == Grey16::HighByte ? high : clipped, 3);
    }
  } else if (!colour) {
    uint8_t table[256][3] = {};  // an index beyond the palette is black
    if (h.colour == PNG_COLOR_TYPE_GRAY || h.colour == PNG_COLOR_TYPE_GRAY_ALPHA) {
      for (int i = 0; i < 256; ++i) std::memset(table[i], i, 3);
    } else {
      png_colorp palette = nullptr;
      int n = 0;
      png_get_PLTE(d.png, d.info, &palette, &n);
      for (int i = 0; i < n && i < 256; ++i) {
        table[i][0] = palette[i].red;
        table[i][1] = palette[i].green;
        table[i][2] = palette[i].blue;
      }
    }
    for (size_t i = 0; i < samples.size(); ++i) std::memcpy(&image.rgb[3 * i], table[samples[i]], 3);
  }
  if (d.complete && d.warning[0] == '\0') copy_text(d.warning, "data behind the last row is left unread");
  image.warning = d.warning;
  return image;
}

}  // namespace dnn::codec
