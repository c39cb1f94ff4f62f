// Labelled images as inputs: both ways of loading one give the same numbers, whatever is changed.
#include "train/data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "image/encode.h"
#include "train/augment.h"

namespace dnn::train {
namespace {

Image drawn_image(int width, int height, int seed) {
  Image image;
  image.width = width;
  image.height = height;
  for (int i = 0; i < width * height * 3; ++i)
    image.rgb.push_back(static_cast<uint8_t>((i * i / 7 + (3 + seed) * i) % 256));
  return image;
}

// Two images of each of two classes.
void write_images(const std::string& folder) {
  for (int i = 0; i < 4; ++i) {
    const std::string of = folder + (i % 2 == 0 ? "/a" : "/b");
    std::filesystem::create_directories(of);
    std::ofstream(cat(of, "/", i, ".ppm"), std::ios::binary) << encode_pnm(drawn_image(19, 14, i));
  }
}

TEST(Data, LoadsIntoMemoryWhatItLoads) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  write_images(folder.path());
  const Images images(folder.path(), std::nullopt);
  for (const Layout layout : {Layout::Nchw, Layout::Nhwc}) {
    Preprocess preprocess = named_preprocess("imagenet-torch", 8, 9, layout);
    preprocess.resize = ResizeMode::Stretch;
    InputSlot slot;
    slot.dtype = DType::Float32;
    slot.shape = preprocess.shape();
    const ImageInputs inputs(images, preprocess, slot);
    const Change changes[] = {{},
                              {.mirrored = true},
                              {.mirrored = true, .dy = 2, .dx = -3},
                              {.dx = 1},
                              {.mirrored = true, .crop = 0.3, .crop_key = 5},
                              {.crop = 0.1, .crop_key = 9, .brightness = 0.7, .contrast = 1.2, .saturation = 0.4}};
    for (size_t c = 0; c < std::size(changes); ++c) {
      const Tensor tensor = inputs.load(1, changes[c]);
      std::vector<float> memory(tensor.size(), -7);  // as an earlier batch left it
      inputs.load_into(1, changes[c], memory);
      EXPECT_TRUE(std::equal(memory.begin(), memory.end(), tensor.data<float>())) << c;
    }
  }
}

TEST(Data, MirrorsColumns) {
  for (const int width : {1, 2, 5}) {
    const Image image = drawn_image(width, 3, 1);
    Image mirrored = image;
    mirror(&mirrored);
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < 3; ++c)
          EXPECT_EQ(mirrored.rgb[3 * (y * width + x) + c], image.rgb[3 * (y * width + width - 1 - x) + c]);
      }
    }
    mirror(&mirrored);
    EXPECT_EQ(mirrored.rgb, image.rgb);
  }
}

}  // namespace
}  // namespace dnn::train
