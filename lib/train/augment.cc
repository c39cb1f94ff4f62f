// Augmentation; see augment.h.
#include "train/augment.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "train/random.h"

namespace dnn::train {
namespace {

// Counters of the draws for one image in one epoch.
enum class Use : uint64_t { Mirror = 1, Down = 2, Right = 3, Brightness = 5, Contrast = 6, Saturation = 7, Crop = 8 };

constexpr const char* kWords =
    "flip, shift:PIXELS, crop:AREA, brightness:X, contrast:X, saturation:X with commas, or none";

[[noreturn]] void refuse(const std::string& part) { fail_usage("--augment ", quoted(part), ": give ", kWords); }

FactorRange parse_factors(const std::string& text, const std::string& part) {
  FactorRange range;
  const size_t dots = text.find("..");
  if (dots != std::string::npos) {
    if (!parse_double(text.substr(0, dots), &range.low) || !parse_double(text.substr(dots + 2), &range.high))
      refuse(part);
  } else {
    double deviation = 0;
    if (!parse_double(text, &deviation) || !(deviation > 0)) refuse(part);
    range = {std::max(0.0, 1 - deviation), 1 + deviation};
  }
  constexpr double kMost = 10;
  if (!(range.low >= 0 && range.low <= range.high && range.high <= kMost)) refuse(part);
  return range;
}

// Image.blend(degenerate, image, factor), whose arithmetic is in float.
uint8_t blended(int degenerate, int value, float factor) {
  const float result = static_cast<float>(degenerate) + factor * static_cast<float>(value - degenerate);
  return result <= 0 ? 0 : result >= 255 ? 255 : static_cast<uint8_t>(result);
}

Image as_grey(const Image& image) {
  Preprocess preprocess;
  preprocess.channels = Channels::Grey;
  return fit(image, preprocess);
}

}  // namespace

Augmentation parse_augmentation(const std::string& text) {
  Augmentation result;
  if (text.empty() || text == "none") return result;
  for (const std::string& part : dnn::split(text, ',')) {
    const size_t colon = part.find(':');
    const std::string name = part.substr(0, colon), value = colon == std::string::npos ? "" : part.substr(colon + 1);
    if (part == "flip") {
      result.flip = true;
    } else if (name == "shift") {
      int64_t pixels = 0;
      constexpr int64_t kMost = 999;
      if (!parse_int(value, &pixels) || pixels < 0 || pixels > kMost) refuse(part);
      result.shift = static_cast<int>(pixels);
    } else if (name == "crop") {
      if (!parse_double(value, &result.crop) || !(result.crop > 0 && result.crop <= 1)) refuse(part);
    } else if (name == "brightness") {
      result.brightness = parse_factors(value, part);
    } else if (name == "contrast") {
      result.contrast = parse_factors(value, part);
    } else if (name == "saturation") {
      result.saturation = parse_factors(value, part);
    } else {
      refuse(part);
    }
  }
  return result;
}

Change draw_change(const Augmentation& augmentation, uint64_t seed, int64_t epoch, int64_t image) {
  const auto bits = [&](Use use) {
    return random_bits(seed, {static_cast<uint64_t>(use), static_cast<uint64_t>(epoch), static_cast<uint64_t>(image)});
  };
  const auto pixels = [&](Use use) {
    const uint64_t span = 2 * static_cast<uint64_t>(augmentation.shift) + 1;
    return static_cast<int64_t>(bits(use) % span) - augmentation.shift;
  };
  const auto factor = [&](Use use, const std::optional<FactorRange>& range) {
    if (!range) return 1.0;
    const double unit = static_cast<double>(bits(use) >> 11) * 0x1p-53;
    return range->low + unit * (range->high - range->low);
  };
  Change change;
  change.mirrored = augmentation.flip && (bits(Use::Mirror) & 1) != 0;
  change.dy = pixels(Use::Down);
  change.dx = pixels(Use::Right);
  change.crop = augmentation.crop;
  change.crop_key = bits(Use::Crop);
  change.brightness = factor(Use::Brightness, augmentation.brightness);
  change.contrast = factor(Use::Contrast, augmentation.contrast);
  change.saturation = factor(Use::Saturation, augmentation.saturation);
  return change;
}

ImageRegion crop_region(ImageSize size, double least, uint64_t key) {
  constexpr double kNarrow = 3.0 / 4, kWide = 4.0 / 3;
  constexpr uint64_t kTries = 10;
  const double area = static_cast<double>(size.width) * size.height;
  for (uint64_t i = 0; i < kTries; ++i) {
    const double wanted = area * (least + (1 - least) * random_unit(key, {i, 0}));
    const double ratio = std::exp(std::log(kNarrow) + (std::log(kWide) - std::log(kNarrow)) * random_unit(key, {i, 1}));
    const auto width = static_cast<int>(std::lround(std::sqrt(wanted * ratio))),
               height = static_cast<int>(std::lround(std::sqrt(wanted / ratio)));
    if (width < 1 || width > size.width || height < 1 || height > size.height) continue;
    const auto place = [&](uint64_t use, int room) {
      return static_cast<int>(random_bits(key, {i, use}) % static_cast<uint64_t>(room + 1));
    };
    return {place(2, size.width - width), place(3, size.height - height), width, height};
  }
  const double ratio = static_cast<double>(size.width) / size.height;
  ImageSize part = size;
  if (ratio < kNarrow) part.height = std::clamp(static_cast<int>(std::lround(size.width / kNarrow)), 1, size.height);
  if (ratio > kWide) part.width = std::clamp(static_cast<int>(std::lround(size.height * kWide)), 1, size.width);
  return {(size.width - part.width) / 2, (size.height - part.height) / 2, part.width, part.height};
}

void change_colours(Image* image, double brightness, double contrast, double saturation) {
  if (brightness != 1) {
    for (uint8_t& c : image->rgb) c = blended(0, c, static_cast<float>(brightness));
  }
  if (contrast != 1 && !image->rgb.empty()) {
    const Image grey = as_grey(*image);
    uint64_t sum = 0;
    for (size_t i = 0; i < grey.rgb.size(); i += 3) sum += grey.rgb[i];
    const auto mean =
        static_cast<int>(std::floor(static_cast<double>(sum) / (static_cast<double>(grey.rgb.size()) / 3) + 0.5));
    for (uint8_t& c : image->rgb) c = blended(mean, c, static_cast<float>(contrast));
  }
  if (saturation != 1) {
    const Image grey = as_grey(*image);
    for (size_t i = 0; i < grey.rgb.size(); ++i)
      image->rgb[i] = blended(grey.rgb[i], image->rgb[i], static_cast<float>(saturation));
  }
}

void mirror(Image* image) {
  const auto pixel = [](uint8_t* row, int64_t x) { return row + 3 * x; };
  for (int64_t y = 0; y < image->height; ++y) {
    uint8_t* const row = image->rgb.data() + 3 * y * image->width;
    for (int64_t x = 0; 2 * x < image->width; ++x)
      std::swap_ranges(pixel(row, x), pixel(row, x) + 3, pixel(row, image->width - 1 - x));
  }
}

Tensor moved(const Tensor& image, Layout layout, bool mirrored, int64_t dy, int64_t dx) {
  if (!mirrored && dy == 0 && dx == 0) return image;
  const bool first = layout == Layout::Nchw;
  const int64_t channels = image.dim(first ? 1 : 3), height = image.dim(first ? 2 : 1),
                width = image.dim(first ? 3 : 2);
  const int64_t row = first ? width : width * channels, column = first ? 1 : channels,
                plane = first ? height * width : 1;
  Tensor result(image.dtype(), image.shape());
  const float* in = image.data<float>();
  float* out = result.mutable_data<float>();
  for (int64_t y = std::max<int64_t>(0, dy); y < std::min(height, height + dy); ++y) {
    for (int64_t x = std::max<int64_t>(0, dx); x < std::min(width, width + dx); ++x) {
      const int64_t from_x = mirrored ? width - 1 - (x - dx) : x - dx;
      for (int64_t c = 0; c < channels; ++c)
        out[c * plane + y * row + x * column] = in[c * plane + (y - dy) * row + from_x * column];
    }
  }
  return result;
}

}  // namespace dnn::train
