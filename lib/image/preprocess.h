// Preprocessing: how an image file becomes a network's input tensor, as a value that a stream can record in full.
//
// The arithmetic is numpy's in float32, one rounding per step, so that these lines give the same bits:
//   x = np.asarray(image)[:, :, ::-1 if bgr else 1].astype(np.float32)      # [H, W, 3], 0..255
//   y = (x * np.float32(scale) / np.float32(divisor) - np.float32(mean)) / np.float32(std)
//   y = y.transpose(2, 0, 1)[None] if NCHW else y[None]
// mean and std belong to the channels in the order of the tensor (of BGR where the channels are bgr).
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/image.h"
#include "image/resize.h"
#include "tensor/tensor.h"

namespace dnn {

enum class ResizeMode {
  None,       // the image must have the network's size
  ShortCrop,  // the short side to short_side, then the centre
  Stretch,    // both sides to the network's size, whatever that does to the shape
};
enum class Channels {
  Rgb,
  Bgr,
  Grey,  // one: Pillow's convert("RGB").convert("L"), before the resize
};
enum class Layout { Nchw, Nhwc };

struct Preprocess {
  std::string name = "none";  // "custom" when spelled out
  ResizeMode resize = ResizeMode::None;
  int short_side = 0;  // of ShortCrop
  int height = 0;      // of the tensor; 0 with None: as the image
  int width = 0;
  ResizeFilter filter = ResizeFilter::Bilinear;
  PassOrder pass_order = PassOrder::Pillow13;
  bool apply_orientation = false;
  Grey16 grey16 = Grey16::Clip;
  Channels channels = Channels::Rgb;
  Layout layout = Layout::Nchw;
  float scale = 1;
  float divisor = 1;
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> std{1, 1, 1};

  bool operator==(const Preprocess&) const = default;
  int n_channels() const { return channels == Channels::Grey ? 1 : 3; }
  // Shape of one preprocessed image, [1, C, H, W] or [1, H, W, C].
  Shape shape() const;
};

// The same without its arithmetic: what is left are the bytes of an image, resized and in an order of channels.
Preprocess without_arithmetic(const Preprocess& preprocess);

// The named preprocessings, for a network whose input is height x width:
//   imagenet-torch  short side to S/0.875 (bilinear), centre S; x/255, ImageNet's mean and std; RGB
//   imagenet-tf     the same geometry; x/127.5 - 1; RGB
//   imagenet-caffe  the same geometry; BGR minus (103.939, 116.779, 123.68)
//   none            the pixels 0..255 of an image that has the network's size
// S is the longer of height and width; S/0.875 is rounded (224 -> 256, 299 -> 342). Throws Usage for other names.
Preprocess named_preprocess(std::string_view name, int height, int width, Layout layout);
std::vector<std::string_view> preprocess_names();

// What a user may spell out over a named preprocessing; texts as on a command line, empty where not given.
struct PreprocessOptions {
  std::string resize;      // "none", "stretch", "crop" (short side by S/0.875) or "crop:SIDE"
  std::string filter;      // a filter_name
  std::string scale;       // "A" or "A/B": x * A / B
  std::string mean;        // one number or three, separated by commas
  std::string std;         // the same
  std::string channels;    // "rgb" or "bgr"
  std::string layout;      // "nchw" or "nhwc"
  std::string pass_order;  // "pillow13" or "pillow12"
  std::string grey16;      // "clip" or "high-byte"

  bool any() const;  // whether something is given
};
// Throws Usage, naming the option.
void apply_options(const PreprocessOptions& options, Preprocess* preprocess);

// One line of JSON that holds every field, and back; floats read back to the same bits.
std::string to_json(const Preprocess& preprocess);
Preprocess preprocess_from_json(std::string_view json);  // throws Malformed
// The same for a description that may leave fields out: those are `base`'s.
Preprocess preprocess_from_json(std::string_view json, const Preprocess& base);

// The pixels of an image of size `from` that fit() reads; all where it would throw.
ImageRegion fit_reads(ImageSize from, const Preprocess& preprocess);
// The image resized and cropped as `preprocess` says, still bytes.
Image fit(const Image& image, const Preprocess& preprocess);
// fit() and the arithmetic, as float32 of shape(); throws Usage when a None resize meets another size.
Tensor to_tensor(const Image& image, const Preprocess& preprocess);
// The same into one slot of a batch: `out` holds exactly height * width * n_channels() values.
void to_tensor(const Image& image, const Preprocess& preprocess, std::span<float> out);

}  // namespace dnn
