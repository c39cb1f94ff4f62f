// Resizing 8-bit RGB images to the same bits as Pillow's Image.resize.
//
// The algorithm: a separable filter whose support grows with the reduction, its weights computed in double, normalised,
// rounded to 22 fractional bits; one pass per direction with an image of clipped bytes in between. Because of that image
// the order of the passes shows in the result (by one unit, in few pixels).
#pragma once
#include <cstring>
#include <string_view>
#include <vector>

#include "image/image.h"

namespace dnn {

enum class ResizeFilter { Nearest, Box, Bilinear, Hamming, Bicubic, Lanczos };
std::string_view filter_name(ResizeFilter filter);     // "bilinear"
ResizeFilter filter_from_name(std::string_view name);  // throws Usage with the list of names
std::vector<std::string_view> filter_names();

enum class PassOrder {
  Pillow13,  // vertical first when the height shrinks by more than twice as many pixels as the width
  Pillow12,  // horizontal first, as all older versions
};

// The part `region` of `image` resized to `size`, identical to crop(resize(image, size), region) but computing no more
// than that part needs. Throws Usage when a size is not positive, above max_pixels, or the region leaves it.
Image resize(const Image& image, ImageSize size, const ImageRegion& region, ResizeFilter filter,
             PassOrder order = PassOrder::Pillow13);
Image resize(const Image& image, ImageSize size, ResizeFilter filter, PassOrder order = PassOrder::Pillow13);

// The part of an image of size `from` that such a resize reads.
ImageRegion resize_reads(ImageSize from, ImageSize size, const ImageRegion& region, ResizeFilter filter);

// The size with the shorter side `side` and the longer one side * long / short, truncated (torchvision.transforms.Resize).
ImageSize short_side_size(ImageSize from, int side);
// The centred region of size `part`; an odd margin is cut in half and rounded to even (torchvision CenterCrop).
ImageRegion centre_region(ImageSize whole, ImageSize part);
Image crop(const Image& image, const ImageRegion& region);

namespace resample {

// The weights of one direction: output i is the sum over t < taps of weights[i * taps + t] * input[first[i] + t],
// plus half, shifted right by kFractionBits. Windows are moved inward so that all of them lie within the input where it
// has `taps` samples or more; taps is a multiple of 4, unused weights are 0.
inline constexpr int kFractionBits = 22;
struct Weights {
  int taps = 0;
  std::vector<int> first;
  std::vector<int32_t> weights;
};
Weights compute_weights(int in_size, int out_size, int out_begin, int out_end, ResizeFilter filter);

// One pass over rows of interleaved RGB. `rows` of the input are `in_width` pixels wide.
struct PassHorizontal {
  const uint8_t* in;  // n_rows rows of in_width pixels
  uint8_t* out;       // n_rows rows of weights.first.size() pixels
  int in_width, n_rows;
  const Weights* weights;
};
struct PassVertical {
  const uint8_t* in;  // in_rows rows of row_bytes, in_stride bytes apart
  uint8_t* out;       // weights.first.size() rows of row_bytes, without gaps
  int in_rows;
  size_t row_bytes, in_stride;
  const Weights* weights;
};
void horizontal_portable(const PassHorizontal& pass);
void vertical_portable(const PassVertical& pass);
// The same results with AVX2 and AVX-512; call only where usable.
bool avx2_usable();
void horizontal_avx2(const PassHorizontal& pass);
void vertical_avx2(const PassVertical& pass);
bool avx512_usable();  // then AVX2 is, too
void horizontal_avx512(const PassHorizontal& pass);

// Weights of taps (2i, 2i+1) as pairs of 16 bits, their low 15 bits and the rest apart.
inline constexpr int kLowBits = 15;
struct Pairs {
  std::vector<int32_t> low, high;
};
Pairs split_weights(const Weights& weights);
// The first 3 or 4 bytes of a register.
inline void store_pixel(uint8_t* to, int pixel, size_t n_bytes) {
  if (n_bytes == 4) {
    std::memcpy(to, &pixel, 4);
  } else {
    std::memcpy(to, &pixel, 3);
  }
}

}  // namespace resample
}  // namespace dnn
