// Decoding gives Pillow's pixels for every kind of file in the fuzz corpora, and damage gives one clear error.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "image/image.h"

namespace dnn {
namespace {

const std::string kCorpus = "fuzz/corpus/";

std::string digest(const Image& image) {
  return sha256_hex({reinterpret_cast<const std::byte*>(image.rgb.data()), image.rgb.size()});
}

ErrorKind kind_of(const std::string& file, const DecodeOptions& options = {}) {
  try {
    decode_image(as_bytes(file), options);
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    return e.kind();
  }
  ADD_FAILURE() << "decoded without an error";
  return ErrorKind::Internal;
}

// decoded.txt comes from Pillow 13 through make_goldens.py beside this file.
TEST(Decode, EqualsPillow) {
  std::ifstream goldens("unit/image/decoded.txt");
  std::string name, sha;
  int width = 0, height = 0, n = 0;
  while (goldens >> name >> width >> height >> sha) {
    const Image image = read_image(kCorpus + name);
    EXPECT_EQ(image.width, width) << name;
    EXPECT_EQ(image.height, height) << name;
    EXPECT_EQ(digest(image), sha) << name;
    ++n;
  }
  EXPECT_GE(n, 60);
}

TEST(Decode, EveryTruncationOfEveryFormatIsMalformedOrWhole) {
  for (const char* name : {"png/colour2_depth8.png", "png/colour3_depth4_adam7.png", "jpeg/420.jpg",
                           "jpeg/progressive.jpg", "bmp/24.bmp", "bmp/8.bmp", "pnm/6.ppm", "pnm/2.pgm"}) {
    const std::string file = read_file(kCorpus + name);
    const std::string whole = digest(decode_image(as_bytes(file)));
    size_t n_whole = 0;
    for (size_t n = 0; n < file.size(); ++n) {
      const std::string part = file.substr(0, n);
      try {
        const Image image = decode_image(as_bytes(part));
        if (std::string_view(name) != "pnm/2.pgm") {  // there a cut can shorten the last number
          EXPECT_EQ(digest(image), whole) << name << " cut at " << n;
        }
        ++n_whole;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Malformed) << name << " cut at " << n << ": " << e.what();
      }
    }
    EXPECT_LE(n_whole, 20u) << name;  // only the tail behind the pixels: IEND, EOI, padding, the last digits
  }
}

TEST(Decode, DamagedPngIsMalformed) {
  std::string file = read_file(kCorpus + "png/colour2_depth8.png");
  file[20] ^= 1;  // inside the header, whose checksum no longer fits
  EXPECT_EQ(kind_of(file), ErrorKind::Malformed);
}

TEST(Decode, NamesTheFormatsItDoesNotRead) {
  EXPECT_EQ(kind_of("GIF89a..."), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of(std::string("II*\0....", 8)), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of("RIFF....WEBPVP8 "), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of(""), ErrorKind::Malformed);
  EXPECT_EQ(kind_of("hello"), ErrorKind::Malformed);
}

TEST(Decode, RefusesSizesBeforeAllocating) {
  EXPECT_EQ(kind_of("P5 2000000000 2000000000 255\n"), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of("P5 16000 5000 255\nabc"), ErrorKind::Malformed);
  std::string jpeg = read_file(kCorpus + "jpeg/grey.jpg");
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");  // 65500 x 65500
  EXPECT_EQ(kind_of(jpeg), ErrorKind::Unsupported);
  DecodeOptions small;
  small.max_pixels = 13 * 11 - 1;
  for (const char* name : {"png/colour2_depth8.png", "bmp/24.bmp", "pnm/6.ppm"}) {
    EXPECT_EQ(kind_of(read_file(kCorpus + name), small), ErrorKind::Unsupported) << name;
  }
}

TEST(Decode, OrientationIsAppliedOnlyWhenAsked) {
  DecodeOptions upright;
  upright.apply_orientation = true;
  for (const char* name : {"jpeg/turned.jpg", "png/turned.png"}) {
    const std::string file = read_file(kCorpus + name);
    EXPECT_EQ(exif_orientation(as_bytes(file)), 6) << name;
    const Image lying = decode_image(as_bytes(file));
    const Image turned = decode_image(as_bytes(file), upright);
    ASSERT_EQ(turned.width, lying.height);
    ASSERT_EQ(turned.height, lying.width);
    // 6: the first row of the file is the right-hand column.
    for (int x = 0; x < lying.width; ++x) {
      for (size_t c = 0; c < 3; ++c) {
        const auto from = static_cast<size_t>(x) * 3 + c;
        const auto to =
            (static_cast<size_t>(x) * static_cast<size_t>(turned.width) + static_cast<size_t>(turned.width) - 1) * 3 +
            c;
        ASSERT_EQ(turned.rgb[to], lying.rgb[from]) << name << " column " << x;
      }
    }
  }
}

TEST(Orientation, EachHasItsInverse) {
  const Image image = read_image(kCorpus + "bmp/24.bmp");
  const int inverse[9] = {0, 1, 2, 3, 4, 5, 8, 7, 6};
  for (int i = 1; i <= 8; ++i) {
    const Image turned = apply_orientation(image, i);
    EXPECT_EQ(digest(turned) == digest(image), i == 1) << i;
    EXPECT_EQ(digest(apply_orientation(turned, inverse[i])), digest(image)) << i;
  }
}

// Pillow 13 clips 16-bit grey; the digests are those of decoded.txt before and after.
TEST(Decode, SixteenBitGreyIsClippedOrKeepsItsHighByte) {
  const std::string clipped = "0502403b8fb6f21ff870cc38d903823413522f66b7eb12457dff36d37ae3f633";
  const std::string high_byte = digest(read_image(kCorpus + "png/colour0_depth8.png"));
  for (const char* name : {"png/colour0_depth16.png", "png/colour0_depth16_adam7.png", "pnm/5_16.pgm"}) {
    EXPECT_EQ(digest(read_image(kCorpus + name)), clipped) << name;
    EXPECT_EQ(digest(read_image(kCorpus + name, {.grey16 = Grey16::HighByte})), high_byte) << name;
  }
  // With alpha Pillow keeps the high byte itself.
  EXPECT_EQ(digest(read_image(kCorpus + "png/colour4_depth16.png")), high_byte);
}

std::string big_endian(size_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const uLong sum = ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(data.size()) + body + big_endian(sum);
}

// 10 x 10 grey pixels, and in the same stream of Deflate as many megabytes as one likes.
std::string png_that_goes_on(bool interlaced, size_t more) {
  std::string rows;
  if (interlaced) {
    for (const auto& [width, height] : {std::pair(2, 2), {1, 2}, {3, 1}, {2, 3}, {5, 2}, {5, 5}, {10, 5}}) {
      for (int y = 0; y < height; ++y) rows += std::string(1, '\0') + std::string(static_cast<size_t>(width), 'p');
    }
  } else {
    for (int y = 0; y < 10; ++y) rows += std::string(1, '\0') + std::string(10, 'p');
  }
  rows += std::string(more, '\0');
  uLongf size = ::compressBound(rows.size());
  std::string packed(size, '\0');
  EXPECT_EQ(::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                        rows.size(), 1),
            Z_OK);
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(10) + big_endian(10) + std::string("\x8\0\0\0", 4) + (interlaced ? '\1' : '\0')) +
         chunk("IDAT", packed) + chunk("IEND", "");
}

TEST(Decode, APngIsReadToItsLastRow) {
  for (const bool interlaced : {false, true}) {
    const std::string file = png_that_goes_on(interlaced, 64 << 20);
    EXPECT_GT(file.size(), 200'000u);
    const Image image = decode_image(as_bytes(file));
    EXPECT_EQ(std::vector<uint8_t>(image.rgb.begin(), image.rgb.end()), std::vector<uint8_t>(300, 'p'));
    EXPECT_EQ(image.warning, "data behind the last row is left unread") << interlaced;
    EXPECT_EQ(decode_image(as_bytes(png_that_goes_on(interlaced, 0))).warning, "") << interlaced;
  }
}

// Each scan costs a pass over the image, whatever it holds.
TEST(Decode, AJpegOfTooManyScansIsMalformed) {
  const std::string file = read_file(kCorpus + "jpeg/progressive.jpg");
  const size_t last = file.rfind("\xff\xda"), end = file.rfind("\xff\xd9");
  ASSERT_LT(last, end);
  const std::string scan = file.substr(last, end - last);
  const auto with_scans = [&](int more) {
    std::string longer = file.substr(0, end);
    for (int i = 0; i < more; ++i) longer += scan;
    return longer + file.substr(end);
  };
  decode_image(as_bytes(with_scans(100)));
  EXPECT_EQ(kind_of(with_scans(1000)), ErrorKind::Malformed);
  DecodeOptions few;
  few.most_scanned_pixels = 1;
  decode_image(as_bytes(file), few);
  EXPECT_EQ(kind_of(with_scans(100), few), ErrorKind::Malformed);
}

TEST(Decode, CorruptFilesOfPngSuiteAreMalformed) {
  const char* data = std::getenv("DNN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  int n_corrupt = 0, n_valid = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(data) + "/suites/pngsuite")) {
    const std::string name = entry.path().filename().string();
    if (!ends_with(name, ".png")) continue;
    const std::string file = read_file(entry.path().string());
    if (name[0] == 'x') {
      EXPECT_EQ(kind_of(file), ErrorKind::Malformed) << name;
      ++n_corrupt;
    } else {
      EXPECT_NO_THROW(decode_image(as_bytes(file))) << name;
      ++n_valid;
    }
  }
  EXPECT_GE(n_corrupt, 14);
  EXPECT_GE(n_valid, 160);
}

}  // namespace
}  // namespace dnn
