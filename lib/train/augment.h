// Augmentation: changes of training images, drawn by counters for each epoch and image.
#pragma once
#include <optional>
#include <string>

#include "image/preprocess.h"
#include "tensor/tensor.h"

namespace dnn::train {

// Factors are drawn evenly from low to high.
struct FactorRange {
  double low = 1, high = 1;
};

struct Augmentation {
  bool flip = false;  // mirrored left to right, one time in two
  int shift = 0;      // moved by up to so many pixels along both axes, zeros behind
  double crop = 0;    // a part of the image of this share of its area or more, resized; 0: the whole
  std::optional<FactorRange> brightness{}, contrast{}, saturation{};

  bool colours() const { return brightness || contrast || saturation; }
  bool any() const { return flip || shift > 0 || crop > 0 || colours(); }
};
// A list of flip, shift:PIXELS, crop:LEAST_AREA, brightness:X, contrast:X, saturation:X, where X is a deviation from 1 (0.2) or
// a range of factors (0.7..1); or "none". Throws Usage.
Augmentation parse_augmentation(const std::string& text);

// The changes of one image in one epoch.
struct Change {
  bool mirrored = false;
  int64_t dy = 0, dx = 0;
  double crop = 0;        // the least area
  uint64_t crop_key = 0;  // decides the part of an image of a given size
  double brightness = 1, contrast = 1, saturation = 1;
};
Change draw_change(const Augmentation& augmentation, uint64_t seed, int64_t epoch, int64_t image);

// The part of an image of that size, as torchvision's RandomResizedCrop chooses it: an area from `least` to 1 of the whole, sides in a
// proportion from 3:4 to 4:3; after ten tries that do not fit, the centre.
ImageRegion crop_region(ImageSize size, double least, uint64_t key);
// Its columns in the other order.
void mirror(Image* image);
// Pillow's ImageEnhance.Brightness, Contrast and Color, one after the other, with these factors.
void change_colours(Image* image, double brightness, double contrast, double saturation);
// `image` [1, ...] in that layout, moved by (dy, dx), mirrored first where `mirrored`.
Tensor moved(const Tensor& image, Layout layout, bool mirrored, int64_t dy, int64_t dx);

}  // namespace dnn::train
