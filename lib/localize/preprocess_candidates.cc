// Hypotheses of preprocessing; see preprocess_candidates.h.
#include "localize/preprocess_candidates.h"

#include <algorithm>
#include <cmath>

namespace dnn {
namespace {

// Arithmetic on pixels 0..255, mean and std by red, green, blue: what training scripts, model zoos and their mistakes use.
struct PixelArithmetic {
  float scale, divisor;
  std::array<float, 3> mean, std;
};

constexpr PixelArithmetic kArithmetics[] = {
    {1, 255, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}},                       // torchvision
    {1, 127.5F, {1, 1, 1}, {1, 1, 1}},                                                  // TensorFlow
    {1, 1, {123.68F, 116.779F, 103.939F}, {1, 1, 1}},                                   // Caffe
    {1, 1, {0, 0, 0}, {1, 1, 1}},                                                       // the pixels
    {1, 255, {0, 0, 0}, {1, 1, 1}},                                                     // 0 to 1
    {1, 255, {0.5F, 0.5F, 0.5F}, {1, 1, 1}},                                            // -0.5 to 0.5
    {1, 255, {0.485F, 0.456F, 0.406F}, {1, 1, 1}},                                      // no std
    {1, 255, {0, 0, 0}, {0.229F, 0.224F, 0.225F}},                                      // no mean
    {1, 1, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}},                         // not divided by 255
    {1, 255, {0.4814547F, 0.4578275F, 0.4082107F}, {0.268629F, 0.261303F, 0.275777F}},  // CLIP
    {0.017F, 1, {2.10256F, 1.985243F, 1.766963F}, {1, 1, 1}},                           // Caffe's means, times 0.017
    {1, 1, {123.68F, 116.779F, 103.939F}, {255, 255, 255}},
    {1, 256, {0, 0, 0}, {1, 1, 1}},
    {1, 128, {1, 1, 1}, {1, 1, 1}},
    {1, 1, {127.5F, 127.5F, 127.5F}, {128, 128, 128}},
    {1, 1, {128, 128, 128}, {1, 1, 1}},
    {1, 1, {117, 117, 117}, {1, 1, 1}},
};

bool uniform(const std::array<float, 3>& a) { return a[0] == a[1] && a[1] == a[2]; }

void add(std::vector<Hypothesis>* list, const Hypothesis& candidate) {
  if (std::find(list->begin(), list->end(), candidate) == list->end()) list->push_back(candidate);
}

}  // namespace

std::vector<Hypothesis> arithmetic_candidates(const Hypothesis& base, const std::vector<Preprocess>& of_sides) {
  std::vector<Hypothesis> list = {base};
  const auto with = [&](const PixelArithmetic& a, Channels channels, bool mean_reversed) {
    Hypothesis h = base;
    Preprocess& p = h.preprocess;
    p.name = "custom";
    p.scale = a.scale;
    p.divisor = a.divisor;
    p.mean = a.mean;
    p.std = a.std;
    p.channels = channels;
    if (mean_reversed) {
      std::swap(p.mean[0], p.mean[2]);
      std::swap(p.std[0], p.std[2]);
    }
    add(&list, h);
  };
  const auto all_orders = [&](const PixelArithmetic& a) {
    if (base.preprocess.channels == Channels::Grey) {
      if (uniform(a.mean) && uniform(a.std)) with(a, Channels::Grey, false);
      return;
    }
    with(a, Channels::Rgb, false);
    with(a, Channels::Bgr, true);
    if (uniform(a.mean) && uniform(a.std)) return;
    with(a, Channels::Rgb, true);
    with(a, Channels::Bgr, false);
  };
  // Those of both sides before those of the table, each in all orders of its channels.
  const auto own = [&](const Preprocess& p) {
    PixelArithmetic a = {p.scale, p.divisor, p.mean, p.std};
    if (p.channels == Channels::Bgr) {
      std::swap(a.mean[0], a.mean[2]);
      std::swap(a.std[0], a.std[2]);
    }
    all_orders(a);
  };
  own(base.preprocess);
  for (const Preprocess& p : of_sides) own(p);
  for (const PixelArithmetic& a : kArithmetics) all_orders(a);
  return list;
}

std::vector<Hypothesis> geometry_candidates(const Hypothesis& base, const std::vector<Preprocess>& of_sides) {
  std::vector<Hypothesis> list = {base};
  const auto with = [&](ResizeMode mode, int short_side) {
    Hypothesis h = base;
    h.preprocess.name = "custom";
    h.preprocess.resize = mode;
    h.preprocess.short_side = mode == ResizeMode::ShortCrop ? short_side : 0;
    if (mode == ResizeMode::ShortCrop && short_side < std::max(base.preprocess.height, base.preprocess.width)) return;
    add(&list, h);
  };
  for (const Preprocess& p : of_sides) {
    if (p.resize != ResizeMode::None) with(p.resize, p.short_side);
  }
  const int size = std::max(base.preprocess.height, base.preprocess.width);
  with(ResizeMode::Stretch, 0);
  with(ResizeMode::ShortCrop, static_cast<int>(std::lround(size / 0.875)));
  with(ResizeMode::ShortCrop, size);
  with(ResizeMode::ShortCrop, size + 32);
  with(ResizeMode::ShortCrop, static_cast<int>(std::lround(size / 0.9)));
  with(ResizeMode::ShortCrop, static_cast<int>(std::lround(size / 0.95)));
  return list;
}

std::vector<Hypothesis> filter_candidates(const Hypothesis& base) {
  std::vector<Hypothesis> list = {base};
  for (const std::string_view name : filter_names()) {
    Hypothesis h = base;
    h.preprocess.filter = filter_from_name(name);
    if (h.preprocess.filter != base.preprocess.filter) h.preprocess.name = "custom";
    add(&list, h);
  }
  return list;
}

std::vector<Hypothesis> handling_candidates(const Hypothesis& base) {
  std::vector<Hypothesis> list = {base};
  for (const Handling handling :
       {Handling::AsIs, Handling::OtherLayout, Handling::Transposed, Handling::UpsideDown, Handling::Mirrored}) {
    Hypothesis h = base;
    h.handling = handling;
    if (handling == Handling::Transposed && h.preprocess.height != h.preprocess.width) continue;
    add(&list, h);
  }
  return list;
}

Tensor handled(const Tensor& tensor, Layout layout, Handling handling) {
  if (handling == Handling::AsIs) return tensor;
  const bool first = layout == Layout::Nchw;
  if (handling == Handling::OtherLayout)
    return tensor.transposed(first ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 3, 1, 2})
        .arranged_copy()
        .reshaped(tensor.shape());
  if (handling == Handling::Transposed)
    return tensor.transposed(first ? std::vector<int64_t>{0, 1, 3, 2} : std::vector<int64_t>{0, 2, 1, 3})
        .arranged_copy();
  const Shape& s = tensor.shape();
  const int64_t channels = first ? s[1] : 1, height = first ? s[2] : s[1], width = first ? s[3] : s[2];
  const int64_t pixel = first ? 1 : s[3];
  Tensor result(tensor.dtype(), s);
  const float* in = tensor.data<float>();
  float* out = result.mutable_data<float>();
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        const int64_t from_y = handling == Handling::UpsideDown ? height - 1 - y : y;
        const int64_t from_x = handling == Handling::Mirrored ? width - 1 - x : x;
        std::copy_n(in + ((c * height + from_y) * width + from_x) * pixel, pixel,
                    out + ((c * height + y) * width + x) * pixel);
      }
    }
  }
  return result;
}

}  // namespace dnn
