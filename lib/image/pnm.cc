// PNM: the bit, grey and pixel maps P1 to P6, plain and raw, with samples of up to 16 bits.
#include <cmath>

#include "base/error.h"
#include "image/codec.h"

namespace dnn::codec {
namespace {

bool is_space(std::byte b) { return b == std::byte{' '} || (b >= std::byte{'\t'} && b <= std::byte{'\r'}); }

class Reader {
 public:
  explicit Reader(Bytes file) : file_(file), position_(2) {}
  // The next whitespace-separated decimal number, comments skipped; the single space behind it is consumed.
  int64_t number(int64_t limit, std::string_view what) {
    skip_blanks();
    int64_t value = 0;
    const size_t begin = position_;
    while (position_ < file_.size() && !is_space(file_[position_])) {
      const auto c = static_cast<char>(file_[position_]);
      if (c < '0' || c > '9') fail_malformed("the ", what, " is not a number");
      value = value * 10 + (c - '0');
      if (value > limit) fail_malformed("the ", what, " is above ", limit);
      ++position_;
    }
    if (position_ == begin) fail_malformed("the file ends before its ", what);
    if (position_ < file_.size()) ++position_;
    return value;
  }
  // One digit of a plain bit map, where blanks between digits are optional.
  bool bit() {
    skip_blanks();
    if (position_ == file_.size()) fail_malformed("the file ends before the image does");
    const auto c = static_cast<char>(file_[position_++]);
    if (c != '0' && c != '1') fail_malformed("a bit that is neither 0 nor 1");
    return c == '1';
  }
  Bytes rest() const { return file_.subspan(position_); }

 private:
  void skip_blanks() {
    while (position_ < file_.size()) {
      if (file_[position_] == std::byte{'#'}) {
        while (position_ < file_.size() && file_[position_] != std::byte{'\n'} && file_[position_] != std::byte{'\r'}) {
          ++position_;
        }
      } else if (is_space(file_[position_])) {
        ++position_;
      } else {
        return;
      }
    }
  }

  Bytes file_;
  size_t position_;
};

}  // namespace

Image decode_pnm(Bytes file, const DecodeOptions& options) {
  Reader in(file);
  const char kind = static_cast<char>(file[1]);
  const bool plain = kind <= '3';
  const bool bits = kind == '1' || kind == '4';
  const size_t n_channels = kind == '3' || kind == '6' ? 3 : 1;
  constexpr int64_t kMaxSide = 0x7fffffff;
  const int64_t width = in.number(kMaxSide, "width");
  const int64_t height = in.number(kMaxSide, "height");
  const int64_t max_value = bits ? 1 : in.number(65535, "largest sample");
  if (max_value < 1) fail_malformed("the largest sample is 0");
  if (width <= 0 || height <= 0) fail_malformed("an image of ", width, "x", height, " pixels");
  if (width > options.max_pixels / height) allocate(width, height, options);  // says why

  // The byte of each sample value: rounded to the nearest of 0..255; grey above 8 bits is of 16.
  std::vector<uint8_t> byte_of(static_cast<size_t>(max_value) + 1);
  for (int64_t v = 0; v <= max_value; ++v) {
    const double part = static_cast<double>(v) / static_cast<double>(max_value);
    const int deep = static_cast<int>(std::nearbyint(part * 65535));
    byte_of[v] = n_channels != 1 || max_value <= 255  ? static_cast<uint8_t>(std::nearbyint(part * 255))
                 : options.grey16 == Grey16::HighByte ? static_cast<uint8_t>(deep >> 8)
                                                      : static_cast<uint8_t>(std::min(deep, 255));
  }

  const Bytes data = in.rest();
  const auto n_pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  const size_t n_samples = n_pixels * n_channels;
  const size_t row_bytes = (static_cast<size_t>(width) + 7) / 8;
  const size_t sample_bytes = max_value > 255 ? 2 : 1;
  const size_t smallest = plain ? (bits ? n_samples : 2 * n_samples - 1)
                                : (bits ? row_bytes * static_cast<size_t>(height) : sample_bytes * n_samples);
  if (data.size() < smallest) {
    fail_malformed("the file ends before the image does: ", data.size(), " of at least ", smallest, " bytes");
  }
  Image image = allocate(width, height, options);
  const auto* raw = reinterpret_cast<const uint8_t*>(data.data());
  for (size_t i = 0; i < n_samples; ++i) {
    uint8_t value;
    if (bits) {  // 1 is black
      const size_t x = i % static_cast<size_t>(width), y = i / static_cast<size_t>(width);
      const bool black = plain ? in.bit() : ((raw[y * row_bytes + x / 8] >> (7 - x % 8)) & 1) != 0;
      value = black ? 0 : 255;
    } else if (plain) {
      value = byte_of[in.number(max_value, "sample")];
    } else {
      const unsigned sample = sample_bytes == 1 ? raw[i] : unsigned{raw[2 * i]} << 8 | raw[2 * i + 1];
      value = byte_of[std::min<size_t>(sample, static_cast<size_t>(max_value))];
    }
    if (n_channels == 3) {
      image.rgb[i] = value;
    } else {
      image.rgb[3 * i] = image.rgb[3 * i + 1] = image.rgb[3 * i + 2] = value;
    }
  }
  return image;
}

}  // namespace dnn::codec
