// Resizing gives Pillow's bytes, whichever instruction set does it and whatever part of the result is asked for.
#include "image/resize.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/error.h"
#include "base/sha256.h"

namespace dnn {
namespace {

// As pattern() in make_goldens.py.
Image resized_pattern(int width, int height) {
  Image image;
  image.width = width;
  image.height = height;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) image.rgb.push_back(static_cast<uint8_t>((x * 7 + y * 13 + c * 31) ^ (x * y)));
    }
  }
  return image;
}

Image noise(int width, int height, std::mt19937& random) {
  Image image = resized_pattern(width, height);
  for (uint8_t& value : image.rgb) value = (random() & 3) == 0 ? 255 : static_cast<uint8_t>(random());
  return image;
}

// resized.txt comes from Pillow 13 through make_goldens.py beside this file.
TEST(Resize, EqualsPillow) {
  std::ifstream goldens("unit/image/resized.txt");
  int from_width = 0, from_height = 0, width = 0, height = 0, n = 0;
  std::string filter, sha;
  while (goldens >> from_width >> from_height >> filter >> width >> height >> sha) {
    const Image image = resize(resized_pattern(from_width, from_height), {width, height}, filter_from_name(filter));
    EXPECT_EQ(sha256_hex({reinterpret_cast<const std::byte*>(image.rgb.data()), image.rgb.size()}), sha)
        << from_width << "x" << from_height << " to " << width << "x" << height << " by " << filter;
    ++n;
  }
  EXPECT_EQ(n, 66);
}

TEST(Resize, PassOrderShows) {
  const Image image = resized_pattern(61, 400);
  const Image now = resize(image, {50, 40}, ResizeFilter::Bicubic, PassOrder::Pillow13);
  const Image before = resize(image, {50, 40}, ResizeFilter::Bicubic, PassOrder::Pillow12);
  int n_different = 0;
  for (size_t i = 0; i < now.rgb.size(); ++i) {
    ASSERT_LE(std::abs(now.rgb[i] - before.rgb[i]), 2);
    n_different += now.rgb[i] != before.rgb[i];
  }
  EXPECT_GT(n_different, 0);
  const Image wide = resized_pattern(400, 61);  // here both go horizontally first
  EXPECT_EQ(resize(wide, {50, 40}, ResizeFilter::Bicubic, PassOrder::Pillow13).rgb,
            resize(wide, {50, 40}, ResizeFilter::Bicubic, PassOrder::Pillow12).rgb);
}

TEST(Resize, PartOfTheResultEqualsTheCroppedWhole) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 300; ++i) {
    const Image image = noise(1 + below(70), 1 + below(90), random);
    const ImageSize size{1 + below(60), 1 + below(60)};
    ImageRegion part{below(size.width), below(size.height), 0, 0};
    part.width = 1 + below(size.width - part.x);
    part.height = 1 + below(size.height - part.y);
    const auto filter = static_cast<ResizeFilter>(below(6));
    const auto order = static_cast<PassOrder>(below(2));
    EXPECT_EQ(resize(image, size, part, filter, order).rgb, crop(resize(image, size, filter, order), part).rgb)
        << "case " << i << ": " << image.width << "x" << image.height << " to " << size.width << "x" << size.height
        << " by " << filter_name(filter);
  }
}

TEST(Resize, VectorsEqualPortable) {
  if (!resample::avx2_usable()) GTEST_SKIP() << "this processor has no AVX2";
  std::mt19937 random(11);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 300; ++i) {
    const Image image = noise(1 + below(i < 100 ? 12 : 150), 1 + below(i < 100 ? 12 : 150), random);
    const int out_size = 1 + below(80);
    const auto filter = static_cast<ResizeFilter>(1 + below(5));
    const resample::Weights columns = resample::compute_weights(image.width, out_size, 0, out_size, filter);
    std::vector<uint8_t> plain(static_cast<size_t>(out_size * image.height * 3)), fast(plain.size());
    resample::horizontal_portable({image.rgb.data(), plain.data(), image.width, image.height, &columns});
    resample::horizontal_avx2({image.rgb.data(), fast.data(), image.width, image.height, &columns});
    ASSERT_EQ(plain, fast) << "horizontal case " << i;
    if (resample::avx512_usable()) {
      std::fill(fast.begin(), fast.end(), uint8_t{77});
      resample::horizontal_avx512({image.rgb.data(), fast.data(), image.width, image.height, &columns});
      ASSERT_EQ(plain, fast) << "horizontal case " << i << " with AVX-512";
    }
    const resample::Weights rows = resample::compute_weights(image.height, out_size, 0, out_size, filter);
    const auto row_bytes = static_cast<size_t>(image.width) * 3;
    plain.assign(row_bytes * static_cast<size_t>(out_size), 0);
    fast = plain;
    resample::vertical_portable({image.rgb.data(), plain.data(), image.height, row_bytes, row_bytes, &rows});
    resample::vertical_avx2({image.rgb.data(), fast.data(), image.height, row_bytes, row_bytes, &rows});
    ASSERT_EQ(plain, fast) << "vertical case " << i;
  }
}

TEST(Geometry, ShortSideTruncatesTheLongOne) {
  EXPECT_EQ(short_side_size({500, 375}, 256), (ImageSize{341, 256}));
  EXPECT_EQ(short_side_size({375, 500}, 256), (ImageSize{256, 341}));
  EXPECT_EQ(short_side_size({333, 333}, 256), (ImageSize{256, 256}));
  EXPECT_THROW(short_side_size({1, 2000000000}, 256), Error);
}

TEST(Geometry, CentreRoundsHalfToEven) {
  EXPECT_EQ(centre_region({341, 256}, {224, 224}).x, 58);  // 117 / 2 = 58.5
  EXPECT_EQ(centre_region({343, 256}, {224, 224}).x, 60);  // 119 / 2 = 59.5
  EXPECT_EQ(centre_region({342, 256}, {224, 224}).x, 59);
  EXPECT_EQ(centre_region({342, 256}, {224, 224}).y, 16);
  EXPECT_THROW(centre_region({200, 256}, {224, 224}), Error);
}

TEST(Resize, RefusesNonsense) {
  const Image image = resized_pattern(5, 5);
  EXPECT_THROW(resize(image, {0, 5}, ResizeFilter::Box), Error);
  EXPECT_THROW(resize(image, {100000, 100000}, ResizeFilter::Box), Error);
  EXPECT_THROW(resize(image, {5, 5}, {4, 4, 2, 1}, ResizeFilter::Box), Error);
  EXPECT_THROW(filter_from_name("cubic"), Error);
}

}  // namespace
}  // namespace dnn
