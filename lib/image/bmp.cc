// BMP: uncompressed Windows and OS/2 bitmaps of 1, 4, 8, 16, 24 and 32 bits, read as Pillow's BmpImagePlugin reads them.
#include <array>
#include <cstring>

#include "base/error.h"
#include "image/codec.h"

namespace dnn::codec {
namespace {

enum Compression : uint32_t { kRaw = 0, kRle8 = 1, kRle4 = 2, kBitfields = 3 };

struct BmpHeader {
  uint32_t pixel_offset = 0, header_size = 0, compression = kRaw, n_colours = 0;
  int64_t width = 0, height = 0;
  bool top_down = false;
  int bits = 0;
  size_t palette_entry_bytes = 4;
  size_t after = 0;                 // first byte behind the header and its masks
  std::array<uint32_t, 4> masks{};  // red, green, blue, alpha
};

BmpHeader read_bmp_header(ByteReader& in) {
  BmpHeader h;
  in.seek(10);
  h.pixel_offset = in.u32();
  h.header_size = in.u32();
  if (h.header_size == 12) {
    h.width = in.u16();
    h.height = in.u16();
    in.take(2);
    h.bits = in.u16();
    h.palette_entry_bytes = 3;
  } else if (h.header_size == 40 || h.header_size == 52 || h.header_size == 56 || h.header_size == 64 ||
             h.header_size == 108 || h.header_size == 124) {
    h.width = static_cast<int32_t>(in.u32());
    h.height = static_cast<int32_t>(in.u32());
    h.top_down = h.height < 0;
    if (h.top_down) h.height = -h.height;
    in.take(2);
    h.bits = in.u16();
    h.compression = in.u32();
    in.take(12);
    h.n_colours = in.u32();
  } else {
    fail_unsupported("a header of ", h.header_size, " bytes");
  }
  h.after = 14 + h.header_size;
  if (h.compression == kBitfields) {
    in.seek(54);  // in the header when it is long enough, else right behind it: the same place
    const size_t n_masks = h.header_size >= 56 && h.header_size != 64 ? 4 : 3;
    for (size_t i = 0; i < n_masks; ++i) h.masks[i] = in.u32();
    if (h.header_size == 40) h.after += 12;
  }
  return h;
}

// Where each channel lies in a pixel, as bytes of 8 bits.
struct Bytes8 {
  size_t red, green, blue;
};

Bytes8 byte_order_of(const BmpHeader& h) {
  if (h.compression == kRaw || h.masks == std::array<uint32_t, 4>{}) return {2, 1, 0};
  auto byte_of = [&](uint32_t mask) -> size_t {
    for (size_t i = 0; i < static_cast<size_t>(h.bits) / 8; ++i) {
      if (mask == uint32_t{0xff} << (8 * i)) return i;
    }
    fail_unsupported("channel mask ", mask, " in pixels of ", h.bits, " bits");
  };
  return {byte_of(h.masks[0]), byte_of(h.masks[1]), byte_of(h.masks[2])};
}

void read_palette_row(const uint8_t* row, int bits, const std::vector<std::array<uint8_t, 3>>& palette, uint8_t* out,
                      size_t width) {
  for (size_t x = 0; x < width; ++x) {
    const size_t bit = x * static_cast<size_t>(bits);
    const unsigned index = (row[bit / 8] >> (8 - static_cast<unsigned>(bits) - bit % 8)) & ((1u << bits) - 1);
    std::memcpy(out + 3 * x, palette[index].data(), 3);
  }
}

void read_row_16(const uint8_t* row, bool green_has_6_bits, uint8_t* out, size_t width) {
  const unsigned green_max = green_has_6_bits ? 63 : 31;
  const unsigned red_shift = green_has_6_bits ? 11 : 10;
  for (size_t x = 0; x < width; ++x) {
    const unsigned pixel = row[2 * x] | unsigned{row[2 * x + 1]} << 8;
    out[3 * x] = static_cast<uint8_t>(((pixel >> red_shift) & 31) * 255 / 31);
    out[3 * x + 1] = static_cast<uint8_t>(((pixel >> 5) & green_max) * 255 / green_max);
    out[3 * x + 2] = static_cast<uint8_t>((pixel & 31) * 255 / 31);
  }
}

void check_bmp_kind(const BmpHeader& h) {
  if (h.compression == kRle8 || h.compression == kRle4) fail_unsupported("run-length compression");
  if (h.compression != kRaw && h.compression != kBitfields) fail_unsupported("compression ", h.compression);
  if (h.bits != 1 && h.bits != 4 && h.bits != 8 && h.bits != 16 && h.bits != 24 && h.bits != 32) {
    fail_unsupported("pixels of ", h.bits, " bits");
  }
}

// Colours by index: always 256 entries, those that the file does not have black.
using BmpPalette = std::vector<std::array<uint8_t, 3>>;

uint32_t colours_of(const BmpHeader& h) { return h.n_colours != 0 ? h.n_colours : uint32_t{1} << h.bits; }

BmpPalette read_bmp_palette(ByteReader& in, const BmpHeader& h) {
  if (h.compression == kBitfields) fail_unsupported("channel masks in pixels of ", h.bits, " bits");
  const uint32_t n_colours = colours_of(h);
  if (n_colours > 65536) fail_malformed("a palette of ", n_colours, " colours");
  BmpPalette palette(256);
  in.seek(h.after);
  for (size_t i = 0; i < n_colours && i < 256; ++i) {
    const Bytes entry = in.take(h.palette_entry_bytes);
    for (size_t c = 0; c < 3; ++c) palette[i][c] = static_cast<uint8_t>(entry[2 - c]);
  }
  return palette;
}

size_t pixel_offset_of(const BmpHeader& h) {
  if (h.bits > 8) return h.pixel_offset == 0 ? h.after : h.pixel_offset;
  // Some writers leave the palette out of the offset to the pixels.
  const bool without_palette = h.pixel_offset == 14 + h.header_size;
  return h.pixel_offset + (without_palette ? h.palette_entry_bytes * colours_of(h) : 0);
}

// True if pixels of 16 bits have 5, 6 and 5 bits a channel, not 5 each.
bool green_has_6_bits(const BmpHeader& h) {
  if (h.compression != kBitfields || (h.masks[0] == 0x7c00 && h.masks[1] == 0x3e0 && h.masks[2] == 0x1f)) return false;
  if (h.masks[0] == 0xf800 && h.masks[1] == 0x7e0 && h.masks[2] == 0x1f) return true;
  fail_unsupported("channel masks ", h.masks[0], ", ", h.masks[1], ", ", h.masks[2], " in pixels of 16 bits");
}

void read_row_of_bytes(const uint8_t* row, size_t step, const Bytes8& order, uint8_t* out, size_t width) {
  for (size_t x = 0; x < width; ++x) {
    out[3 * x] = row[step * x + order.red];
    out[3 * x + 1] = row[step * x + order.green];
    out[3 * x + 2] = row[step * x + order.blue];
  }
}

}  // namespace

Image decode_bmp(Bytes file, const DecodeOptions& options) {
  ByteReader in(file, "bitmap");
  const BmpHeader h = read_bmp_header(in);
  check_bmp_kind(h);
  const BmpPalette palette = h.bits <= 8 ? read_bmp_palette(in, h) : BmpPalette();
  const bool six_bits = h.bits == 16 && green_has_6_bits(h);
  const Bytes8 order = h.bits >= 24 ? byte_order_of(h) : Bytes8{2, 1, 0};

  // Before allocating: rows are padded to 4 bytes, and all of them must be there.
  if (h.width <= 0 || h.height <= 0) fail_malformed("an image of ", h.width, "x", h.height, " pixels");
  const size_t stride = (static_cast<size_t>(h.width) * static_cast<size_t>(h.bits) + 31) / 32 * 4;
  const size_t pixel_offset = pixel_offset_of(h);
  in.seek(pixel_offset);
  const size_t row_bytes = (static_cast<size_t>(h.width) * static_cast<size_t>(h.bits) + 7) / 8;
  const size_t n_rows = h.height;
  if (in.remaining() < row_bytes || (in.remaining() - row_bytes) / stride < n_rows - 1) {
    fail_malformed("the file ends before the image does: ", in.remaining(), " bytes left for ", h.width, "x", h.height,
                   " pixels of ", h.bits, " bits");
  }
  Image image = allocate(h.width, h.height, options);
  const auto* pixels = reinterpret_cast<const uint8_t*>(file.data()) + pixel_offset;
  const size_t width = h.width;
  for (size_t y = 0; y < n_rows; ++y) {
    const uint8_t* row = pixels + y * stride;
    uint8_t* out = image.rgb.data() + (h.top_down ? y : n_rows - 1 - y) * width * 3;
    if (h.bits <= 8) {
      read_palette_row(row, h.bits, palette, out, width);
    } else if (h.bits == 16) {
      read_row_16(row, six_bits, out, width);
    } else {
      read_row_of_bytes(row, static_cast<size_t>(h.bits) / 8, order, out, width);
    }
  }
  return image;
}

}  // namespace dnn::codec
