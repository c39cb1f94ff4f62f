// Preprocessing: the named ones are what their documentation says, bit by bit, and survive a trip through JSON.
#include "image/preprocess.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "base/error.h"

namespace dnn {
namespace {

Image ramp() {
  Image image;
  image.width = 16;
  image.height = 16;
  for (int i = 0; i < 256; ++i) {
    for (int c = 0; c < 3; ++c) image.rgb.push_back(static_cast<uint8_t>(i + c * 50));
  }
  return image;
}

TEST(Preprocess, GeometryFollowsTheInputSize) {
  for (const auto& [side, short_side] : {std::pair{224, 256}, {299, 342}, {192, 219}, {160, 183}, {32, 37}, {1, 1}}) {
    const Preprocess p = named_preprocess("imagenet-tf", side, side, Layout::Nhwc);
    EXPECT_EQ(p.short_side, short_side);
    EXPECT_EQ(p.shape(), (Shape{1, side, side, 3}));
  }
  EXPECT_EQ(named_preprocess("imagenet-torch", 100, 224, Layout::Nchw).shape(), (Shape{1, 3, 100, 224}));
}

// Expected bits: numpy 2.4, np.float32 arithmetic as in preprocess.h, printed with .view(np.uint32).
TEST(Preprocess, ArithmeticIsNumpys) {
  const Image image = ramp();  // pixel 100 is (100, 150, 200)
  struct Case {
    const char* name;
    uint32_t bits[3];  // channels of pixel 100 in tensor order
  };
  for (const Case& c : {Case{"imagenet-torch", {0xbecf9456, 0x3f172046, 0x3fd737ef}},
                        Case{"imagenet-tf", {0xbe5cdcdc, 0x3e34b4b8, 0x3f119192}},
                        Case{"imagenet-caffe", {0x42c01f3b, 0x4204e24e, 0xc1bd70a4}}}) {
    Preprocess p = named_preprocess(c.name, 16, 16, Layout::Nchw);
    p.resize = ResizeMode::None;
    const Tensor planar = to_tensor(image, p);
    p.layout = Layout::Nhwc;
    const Tensor interleaved = to_tensor(image, p);
    for (size_t channel = 0; channel < 3; ++channel) {
      const float value = planar.data<float>()[channel * 256 + 100];
      EXPECT_EQ(std::bit_cast<uint32_t>(value), c.bits[channel]) << c.name << " channel " << channel << ": " << value;
      EXPECT_EQ(interleaved.data<float>()[300 + channel], value);
    }
  }
}

TEST(Preprocess, NoneWantsTheRightSize) {
  const Tensor raw = to_tensor(ramp(), named_preprocess("none", 16, 16, Layout::Nhwc));
  EXPECT_EQ(raw.data<float>()[303], 101.0f);
  EXPECT_THROW(to_tensor(ramp(), named_preprocess("none", 16, 17, Layout::Nhwc)), Error);
  EXPECT_EQ(to_tensor(ramp(), Preprocess{}).shape(), (Shape{1, 3, 16, 16}));
}

TEST(Preprocess, JsonKeepsEveryField) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> numbers(-200, 200);
  for (int i = 0; i < 200; ++i) {
    Preprocess p = named_preprocess(preprocess_names()[static_cast<size_t>(i) % 3], 224, 200,
                                    i % 2 == 0 ? Layout::Nchw : Layout::Nhwc);
    p.apply_orientation = i % 3 == 0;
    p.pass_order = i % 4 == 0 ? PassOrder::Pillow12 : PassOrder::Pillow13;
    p.filter = static_cast<ResizeFilter>(i % 6);
    if (i > 10) {
      p.scale = numbers(random);
      p.mean = {numbers(random), numbers(random) * 1e-30f, numbers(random) * 1e30f};
      p.std = {numbers(random), 1, 0.1f};
    }
    EXPECT_EQ(preprocess_from_json(to_json(p)), p) << to_json(p);
  }
  EXPECT_NE(to_json(named_preprocess("imagenet-torch", 224, 224, Layout::Nchw)).find("\"mean\":[0.485,0.456,0.406]"),
            std::string::npos);
}

TEST(Preprocess, DamagedJsonIsMalformed) {
  const std::string good = to_json(named_preprocess("imagenet-torch", 224, 224, Layout::Nchw));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text : {std::string("{"), std::string("[]"), with("224", "\"224\""), with("crop", "trim"),
                                  with("\"divisor\":255.0", "\"divisor\":0"), with("256", "100"), with("0.485,", ""),
                                  with("256", "1" + std::string(100, '0')), with("256", "18446744073709551615"),
                                  with("256", "256.5"), with("\"height\":224", "\"height\":-224"),
                                  with("0.485", "1e39"), with("\"divisor\":255.0", "\"divisor\":1e300")}) {
    try {
      preprocess_from_json(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed) << text;
    }
  }
}

TEST(Preprocess, OptionsOverrideANamedOne) {
  Preprocess p = named_preprocess("imagenet-torch", 224, 224, Layout::Nchw);
  PreprocessOptions options;
  options.layout = "nhwc";
  apply_options(options, &p);
  EXPECT_EQ(p.name, "imagenet-torch");
  options.resize = "crop:300";
  options.scale = "1/127.5";
  options.mean = "1";
  options.std = "0.5,0.6,0.7";
  options.channels = "bgr";
  options.filter = "bicubic";
  apply_options(options, &p);
  EXPECT_EQ(p.name, "custom");
  EXPECT_EQ(p.short_side, 300);
  EXPECT_EQ(p.divisor, 127.5f);
  EXPECT_EQ(p.mean, (std::array<float, 3>{1, 1, 1}));
  EXPECT_EQ(p.std, (std::array<float, 3>{0.5f, 0.6f, 0.7f}));
  for (const auto& [field, text] :
       std::vector<std::pair<std::string PreprocessOptions::*, std::string>>{{&PreprocessOptions::scale, "1/0"},
                                                                             {&PreprocessOptions::mean, "1,2"},
                                                                             {&PreprocessOptions::std, "0"},
                                                                             {&PreprocessOptions::resize, "crop:100"},
                                                                             {&PreprocessOptions::resize, "shrink"},
                                                                             {&PreprocessOptions::scale, "x"}}) {
    PreprocessOptions bad;
    bad.*field = text;
    Preprocess untouched = p;
    EXPECT_THROW(apply_options(bad, &untouched), Error) << text;
    EXPECT_EQ(untouched, p);
  }
}

// One channel: Pillow 13's convert("L") of the same pixels, and its bilinear resize of that.
TEST(Preprocess, GreyIsPillowsL) {
  Image colours;
  colours.width = 6;
  colours.height = 1;
  colours.rgb = {255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 254, 253, 1, 77, 200, 131};
  Preprocess p = named_preprocess("none", 1, 6, Layout::Nchw);
  p.channels = Channels::Grey;
  EXPECT_EQ(p.shape(), (Shape{1, 1, 1, 6}));
  EXPECT_EQ(to_doubles(to_tensor(colours, p)), (std::vector<double>{76, 150, 29, 2, 225, 155}));

  Image drawn;
  drawn.width = 8;
  drawn.height = 6;
  for (int i = 0; i < 8 * 6 * 3; ++i)
    drawn.rgb.push_back(static_cast<uint8_t>(i / 3 % 8 * 37 + i / 24 * 101 + i % 3 * 59));
  p = named_preprocess("none", 3, 4, Layout::Nhwc);
  p.channels = Channels::Grey;
  p.resize = ResizeMode::Stretch;
  EXPECT_EQ(p.shape(), (Shape{1, 3, 4, 1}));
  EXPECT_EQ(to_doubles(to_tensor(drawn, p)),
            (std::vector<double>{112, 132, 137, 112, 119, 129, 140, 118, 134, 119, 137, 130}));

  EXPECT_EQ(preprocess_from_json(to_json(p)), p);
  PreprocessOptions three_means;
  three_means.mean = "1,2,3";
  EXPECT_THROW(apply_options(three_means, &p), Error);
}

TEST(Preprocess, FieldsThatAreLeftOutAreTheBases) {
  const Preprocess base = named_preprocess("none", 8, 6, Layout::Nhwc);
  const Preprocess p = preprocess_from_json(R"({"resize": "stretch", "mean": [127.5, 127.5, 127.5]})", base);
  EXPECT_EQ(p.resize, ResizeMode::Stretch);
  EXPECT_EQ(p.mean[2], 127.5f);
  EXPECT_EQ(p.height, 8);
  EXPECT_EQ(p.layout, Layout::Nhwc);
  EXPECT_THROW(preprocess_from_json(R"({"mean": 3})", base), Error);
  EXPECT_THROW(preprocess_from_json("[]", base), Error);
  EXPECT_THROW(preprocess_from_json("{", base), Error);
}

}  // namespace
}  // namespace dnn
