// Preprocessing that a network computes itself: the numbers are those of to_tensor(), to the bit.
#include "quant/pixels.h"

#include <gtest/gtest.h>

#include "cases.h"
#include "interp/interpreter.h"

namespace dnn::quant {
namespace {

constexpr int kHeight = 7, kWidth = 37;  // of which 256 pixels and some come twice

Graph network(Layout layout, int channels) {
  const std::string shape = layout == Layout::Nchw ? cat("1,", channels, ",7,37") : cat("1,7,37,", channels);
  return parsed(cat("input x: float32[", shape, "]\ny = Relu(x)\nz = Neg(x)\noutput y\noutput z\n"));
}

// Every byte in each channel.
Image every_byte() {
  Image image;
  image.height = kHeight;
  image.width = kWidth;
  for (int i = 0; i < kHeight * kWidth; ++i) {
    for (int c = 0; c < 3; ++c) image.rgb.push_back(static_cast<uint8_t>(i + 85 * c));
  }
  return image;
}

Preprocess preprocess_of(std::string_view name, Layout layout, const PreprocessOptions& spelled_out = {}) {
  Preprocess result = named_preprocess(name, kHeight, kWidth, layout);
  result.resize = ResizeMode::None;
  apply_options(spelled_out, &result);
  return result;
}

// The image as the network reads it then: all but the arithmetic is done.
Tensor bytes_of(const Image& image, const Graph& graph) {
  const std::string* left = nullptr;
  for (const auto& [key, text] : graph.metadata) left = key == "preprocess" ? &text : left;
  return convert(to_tensor(image, preprocess_from_json(*left)), DType::UInt8);
}

TEST(Pixels, TheNetworkComputesWhatPreprocessingDid) {
  PreprocessOptions own;
  own.scale = "3/7";
  own.mean = "1.5";
  own.std = "0.3,0.7,1.1";
  PreprocessOptions grey;
  grey.scale = "1/255";
  grey.mean = "0.1307";
  grey.std = "0.3081";
  for (const Layout layout : {Layout::Nchw, Layout::Nhwc}) {
    Preprocess one_channel = preprocess_of("none", layout, grey);
    one_channel.channels = Channels::Grey;
    for (const Preprocess& preprocess : {preprocess_of("imagenet-torch", layout), preprocess_of("imagenet-tf", layout),
                                         preprocess_of("imagenet-caffe", layout), preprocess_of("none", layout),
                                         preprocess_of("none", layout, own), one_channel}) {
      const Graph plain = network(layout, preprocess.n_channels());
      Graph changed = plain;
      read_pixels(changed, preprocess);
      infer_types(changed);
      verify(changed);
      EXPECT_EQ(changed.value(changed.inputs[0]).name, "x");
      EXPECT_EQ(changed.value(changed.inputs[0]).type.dtype, DType::UInt8);
      const std::vector<Tensor> before = interpret(plain, {to_tensor(every_byte(), preprocess)}),
                                after = interpret(changed, {bytes_of(every_byte(), changed)});
      for (size_t i = 0; i < before.size(); ++i)
        EXPECT_EQ(to_doubles(before[i]), to_doubles(after[i])) << to_json(preprocess);
    }
  }
}

TEST(Pixels, KeepsOneDescriptionOfWhatIsLeftToDo) {
  Graph graph = network(Layout::Nchw, 3);
  graph.metadata.emplace_back("preprocess", "imagenet-torch");
  read_pixels(graph, preprocess_of("imagenet-caffe", Layout::Nchw));
  ASSERT_EQ(graph.metadata.size(), 1U);
  const Preprocess left = preprocess_from_json(graph.metadata[0].second);
  EXPECT_EQ(left.channels, Channels::Bgr);
  EXPECT_EQ(left.mean, (std::array<float, 3>{0, 0, 0}));
}

TEST(Pixels, RefusesWhatReadsNoImage) {
  const Preprocess preprocess = preprocess_of("imagenet-torch", Layout::Nchw);
  Graph other = network(Layout::Nhwc, 3);
  EXPECT_THROW(read_pixels(other, preprocess), Error);
  Graph two = parsed("input x: float32[1,3,7,37]\ninput v: float32[1,3,7,37]\ny = Add(x, v)\noutput y\n");
  EXPECT_THROW(read_pixels(two, preprocess), Error);
}

}  // namespace
}  // namespace dnn::quant
