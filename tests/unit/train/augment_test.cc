// Changes of images: Pillow's colours, parts as torchvision chooses them, draws that depend on nothing but their counters.
#include "train/augment.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/sha256.h"
#include "train/random.h"
#include "train/schedule.h"

namespace dnn::train {
namespace {

Image pattern() {
  Image image;
  image.width = 16;
  image.height = 12;
  for (int i = 0; i < 16 * 12 * 3; ++i) image.rgb.push_back(static_cast<uint8_t>((i * i / 7 + 3 * i) % 256));
  return image;
}

std::string changed(double brightness, double contrast, double saturation) {
  Image image = pattern();
  change_colours(&image, brightness, contrast, saturation);
  return sha256_hex(Bytes(reinterpret_cast<const std::byte*>(image.rgb.data()), image.rgb.size())).substr(0, 16);
}

// Pillow 13.0.0's ImageEnhance makes these of the same image.
TEST(Augment, ColoursArePillows) {
  EXPECT_EQ(changed(1, 1, 1), "57d2b15f2983b865");
  EXPECT_EQ(changed(0.7, 1, 1), "7ac738c93d73b79a");
  EXPECT_EQ(changed(1.4, 1, 1), "b5fad88ca9170958");
  EXPECT_EQ(changed(1, 0.7, 1), "4c7855f1e293e4ac");
  EXPECT_EQ(changed(1, 1.3, 1), "a57d57a8a54cc3ed");
  EXPECT_EQ(changed(1, 1, 0.25), "ed19f6b9c6e00d12");
  EXPECT_EQ(changed(1, 1, 1.75), "3406dfaa4a3de938");
  EXPECT_EQ(changed(0.9, 1.2, 0.8), "e708decf95eb113c");
}

TEST(Augment, PartsLieWithinAndHaveTheAskedAreaAndShape) {
  double least = 1, most = 0, area_sum = 0;
  constexpr int kDraws = 2000;
  for (uint64_t key = 0; key < kDraws; ++key) {
    const ImageRegion r = crop_region({500, 375}, 0.08, random_bits(7, {key}));
    ASSERT_GE(r.x, 0);
    ASSERT_GE(r.y, 0);
    ASSERT_LE(r.x + r.width, 500);
    ASSERT_LE(r.y + r.height, 375);
    const double area = static_cast<double>(r.width) * r.height / (500 * 375),
                 ratio = static_cast<double>(r.width) / r.height;
    EXPECT_GT(ratio, 0.73);
    EXPECT_LT(ratio, 1.36);
    least = std::min(least, area);
    most = std::max(most, area);
    area_sum += area;
  }
  EXPECT_GT(least, 0.075);
  EXPECT_LT(least, 0.1);
  EXPECT_GT(most, 0.9);
  EXPECT_NEAR(area_sum / kDraws, 0.433, 0.02);  // the mean of 200,000 draws by torchvision's rule
  // A strip has no such part: its centre.
  const ImageRegion strip = crop_region({1000, 10}, 0.9, 1);
  EXPECT_EQ(strip.width, 13);
  EXPECT_EQ(strip.height, 10);
  EXPECT_EQ(strip.x, 493);
}

TEST(Augment, ListsAreRead) {
  const Augmentation all = parse_augmentation("flip,shift:4,crop:0.3,brightness:0.1,contrast:0.7..1,saturation:2");
  EXPECT_TRUE(all.flip && all.shift == 4 && all.crop == 0.3);
  EXPECT_EQ(all.brightness->low, 0.9);
  EXPECT_EQ(all.contrast->low, 0.7);
  EXPECT_EQ(all.contrast->high, 1);
  EXPECT_EQ(all.saturation->low, 0);
  EXPECT_EQ(all.saturation->high, 3);
  EXPECT_FALSE(parse_augmentation("none").any());
  for (const char* wrong : {"rotate", "shift", "shift:-1", "shift:1000", "crop:0", "crop:1.5", "contrast:1..0.5",
                            "brightness:", "flip:1", "brightness:-1"})
    EXPECT_THROW(parse_augmentation(wrong), Error) << wrong;
}

// torch 2.15.0's lr_scheduler gives these.
TEST(Schedule, RatesArePyTorchs) {
  const auto rates = [](const std::string& text) {
    Schedule schedule = parse_schedule(text);
    schedule.rate = 0.1;
    std::vector<double> all;
    for (int64_t epoch = 1; epoch <= 7; ++epoch) all.push_back(schedule.at(epoch, 7));
    return all;
  };
  const auto expect = [](const std::vector<double>& got, const std::vector<double>& wanted) {
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-15) << i;
  };
  expect(rates("constant"), std::vector<double>(7, 0.1));
  expect(rates("cosine"), {0.1, 0.09504844339512096, 0.08117449009293669, 0.061126046697815725, 0.03887395330218429,
                           0.018825509907063328, 0.004951556604879048});
  expect(rates("step:3:0.5"), {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025});
  expect(rates("exponential:0.75"), {0.1, 0.075, 0.05625, 0.0421875, 0.031640625, 0.02373046875, 0.0177978515625});
  Schedule warm = parse_schedule("constant");
  warm.rate = 1;
  warm.warmup = 4;
  expect({warm.at(1, 9), warm.at(2, 9), warm.at(4, 9), warm.at(5, 9)}, {0.1, 0.325, 0.775, 1});
  for (const char* wrong : {"", "linear", "step", "step:0:0.5", "step:3:2", "exponential:0", "cosine:1"})
    EXPECT_THROW(parse_schedule(wrong), Error) << wrong;
}

}  // namespace
}  // namespace dnn::train
