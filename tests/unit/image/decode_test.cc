// Decoding gives Pillow's pixels for every kind of file in the fuzz corpora, and damage gives one clear error.
#include <gtest/gtest.h>

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
  EXPECT_EQ(kind_of("P5 20000 5000 255\nabc"), ErrorKind::Malformed);
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
