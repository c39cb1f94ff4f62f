// Resizing: the plan, the weights and the portable passes; see resize.h.
#include "image/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace dnn {
namespace {

struct FilterRow {
  ResizeFilter filter;
  std::string_view name;
  double support;  // half width, in output pixels
  double (*value)(double x);
};

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double bilinear(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double hamming(double x) {
  x = std::abs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  x *= M_PI;
  return std::sin(x) / x * (double{0.54f} + double{0.46f} * std::cos(x));
}

// Cubic convolution (Keys 1981) with a = -0.5.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= M_PI;
  return std::sin(x) / x;
}

double lanczos(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0; }

constexpr std::array<FilterRow, 6> kFilters = {{
    {ResizeFilter::Nearest, "nearest", 0.0, nullptr},
    {ResizeFilter::Box, "box", 0.5, box},
    {ResizeFilter::Bilinear, "bilinear", 1.0, bilinear},
    {ResizeFilter::Hamming, "hamming", 1.0, hamming},
    {ResizeFilter::Bicubic, "bicubic", 2.0, bicubic},
    {ResizeFilter::Lanczos, "lanczos", 3.0, lanczos},
}};

const FilterRow& row_of(ResizeFilter filter) { return kFilters[static_cast<size_t>(filter)]; }

void check_region(ImageSize size, const ImageRegion& r) {
  if (r.x < 0 || r.y < 0 || r.width <= 0 || r.height <= 0 || r.width > size.width - r.x ||
      r.height > size.height - r.y) {
    fail_usage("a crop of ", r.width, "x", r.height, " at (", r.x, ", ", r.y, ") leaves the image of ", size.width, "x",
               size.height);
  }
}

Image new_image(int width, int height) {
  Image image;
  image.width = width;
  image.height = height;
  image.rgb.resize(width * static_cast<size_t>(height) * 3);
  return image;
}

size_t stride(const Image& image) { return static_cast<size_t>(image.width) * 3; }

// The input index of each output in [begin, end): positions are summed up, as Pillow does, not multiplied.
std::vector<int> nearest_indices(int in_size, int out_size, int begin, int end) {
  const double step = static_cast<double>(in_size) / out_size;
  double position = step * 0.5;
  std::vector<int> indices;
  for (int i = 0; i < end; ++i) {
    if (i >= begin) indices.push_back(std::min(static_cast<int>(position), in_size - 1));
    position += step;
  }
  return indices;
}

Image resize_nearest(const Image& image, ImageSize size, const ImageRegion& region) {
  const std::vector<int> columns = nearest_indices(image.width, size.width, region.x, region.x + region.width);
  const std::vector<int> rows = nearest_indices(image.height, size.height, region.y, region.y + region.height);
  Image out = new_image(region.width, region.height);
  uint8_t* to = out.rgb.data();
  for (int row : rows) {
    const uint8_t* from = image.rgb.data() + row * stride(image);
    for (int column : columns) {
      std::memcpy(to, from + 3 * static_cast<size_t>(column), 3);
      to += 3;
    }
  }
  return out;
}

using resample::Weights;

// Rows [begin, end) of `image` through the horizontal pass.
Image pass_horizontal(const Image& image, int begin, int end, const Weights& weights) {
  Image out = new_image(static_cast<int>(weights.first.size()), end - begin);
  const resample::PassHorizontal pass{image.rgb.data() + static_cast<size_t>(begin) * stride(image), out.rgb.data(),
                                      image.width, end - begin, &weights};
  if (resample::avx512_usable()) {
    resample::horizontal_avx512(pass);
  } else if (resample::avx2_usable()) {
    resample::horizontal_avx2(pass);
  } else {
    resample::horizontal_portable(pass);
  }
  return out;
}

// Columns [begin, end) of `image` through the vertical pass.
Image pass_vertical(const Image& image, int begin, int end, const Weights& weights) {
  Image out = new_image(end - begin, static_cast<int>(weights.first.size()));
  const resample::PassVertical pass{image.rgb.data() + 3 * static_cast<size_t>(begin),
                                    out.rgb.data(),
                                    image.height,
                                    stride(out),
                                    stride(image),
                                    &weights};
  if (resample::avx2_usable()) {
    resample::vertical_avx2(pass);
  } else {
    resample::vertical_portable(pass);
  }
  return out;
}

// The range of inputs that the weights reach; afterwards they count from its begin.
std::pair<int, int> move_to_used(Weights& weights, int in_size) {
  const int begin = weights.first.front();
  const int end = std::min(weights.first.back() + weights.taps, in_size);
  for (int& first : weights.first) first -= begin;
  return {begin, end};
}

}  // namespace

std::string_view filter_name(ResizeFilter filter) { return row_of(filter).name; }

std::vector<std::string_view> filter_names() {
  std::vector<std::string_view> names;
  for (const FilterRow& row : kFilters) names.push_back(row.name);
  return names;
}

ResizeFilter filter_from_name(std::string_view name) {
  for (const FilterRow& row : kFilters) {
    if (row.name == name) return row.filter;
  }
  fail_usage("filter '", name, "' is none of ", join(filter_names()));
}

Weights resample::compute_weights(int in_size, int out_size, int out_begin, int out_end, ResizeFilter filter) {
  const FilterRow& row = row_of(filter);
  const double scale = static_cast<double>(static_cast<float>(in_size)) / out_size;
  const double filter_scale = std::max(scale, 1.0);
  const double support = row.support * filter_scale;
  const double inverse_filter_scale = 1.0 / filter_scale;

  struct Window {
    int first, n;
  };
  std::vector<Window> windows;
  int widest = 0;
  for (int i = out_begin; i < out_end; ++i) {
    const double centre = (i + 0.5) * scale;
    // Towards zero, as Pillow does.
    // NOLINTBEGIN(bugprone-incorrect-roundings)
    const int first = std::max(static_cast<int>(centre - support + 0.5), 0);
    const int n = std::min(static_cast<int>(centre + support + 0.5), in_size) - first;
    // NOLINTEND(bugprone-incorrect-roundings)
    windows.push_back({first, n});
    widest = std::max(widest, n);
  }

  Weights result;
  result.taps = (widest + 3) / 4 * 4;
  result.weights.resize(windows.size() * result.taps);
  std::vector<double> values(widest);
  for (size_t i = 0; i < windows.size(); ++i) {
    const auto [first, n] = windows[i];
    const double centre = (out_begin + static_cast<int>(i) + 0.5) * scale;
    double sum = 0.0;
    for (int t = 0; t < n; ++t) {
      values[t] = row.value((t + first - centre + 0.5) * inverse_filter_scale);
      sum += values[t];
    }
    const int moved_first = std::max(0, std::min(first, in_size - result.taps));
    int32_t* weights = result.weights.data() + i * result.taps + (first - moved_first);
    for (int t = 0; t < n; ++t) {
      double value = values[t];
      if (sum != 0.0) value /= sum;
      value *= 1 << kFractionBits;
      weights[t] = static_cast<int32_t>(value < 0 ? value - 0.5 : value + 0.5);
    }
    result.first.push_back(moved_first);
  }
  return result;
}

namespace {

uint8_t narrow(uint32_t sum) {
  const int32_t value = static_cast<int32_t>(sum) >> resample::kFractionBits;
  return static_cast<uint8_t>(std::clamp(value, 0, 255));
}

constexpr uint32_t kRounding = 1u << (resample::kFractionBits - 1);

}  // namespace

// Sums are kept unsigned: a partial sum of a filter with negative parts may wrap, the whole sum never does.
void resample::horizontal_portable(const PassHorizontal& pass) {
  const Weights& w = *pass.weights;
  const int taps = std::min(w.taps, pass.in_width);  // a window wider than the image holds zeros behind it
  uint8_t* out = pass.out;
  for (int y = 0; y < pass.n_rows; ++y) {
    const uint8_t* row = pass.in + static_cast<size_t>(y) * static_cast<size_t>(pass.in_width) * 3;
    for (size_t x = 0; x < w.first.size(); ++x) {
      const uint8_t* in = row + 3 * static_cast<size_t>(w.first[x]);
      const int32_t* weight = w.weights.data() + x * w.taps;
      uint32_t red = kRounding, green = kRounding, blue = kRounding;
      for (int t = 0; t < taps; ++t) {
        const auto k = static_cast<uint32_t>(weight[t]);
        red += in[3 * t] * k;
        green += in[3 * t + 1] * k;
        blue += in[3 * t + 2] * k;
      }
      *out++ = narrow(red);
      *out++ = narrow(green);
      *out++ = narrow(blue);
    }
  }
}

void resample::vertical_portable(const PassVertical& pass) {
  const Weights& w = *pass.weights;
  const int taps = std::min(w.taps, pass.in_rows);
  std::vector<uint32_t> sums(pass.row_bytes);
  for (size_t y = 0; y < w.first.size(); ++y) {
    std::fill(sums.begin(), sums.end(), kRounding);
    for (int t = 0; t < taps; ++t) {
      const auto k = static_cast<uint32_t>(w.weights[y * w.taps + t]);
      if (k == 0) continue;
      const uint8_t* row = pass.in + static_cast<size_t>(w.first[y] + t) * pass.in_stride;
      for (size_t x = 0; x < pass.row_bytes; ++x) sums[x] += row[x] * k;
    }
    uint8_t* out = pass.out + y * pass.row_bytes;
    for (size_t x = 0; x < pass.row_bytes; ++x) out[x] = narrow(sums[x]);
  }
}

Image resize(const Image& image, ImageSize size, const ImageRegion& region, ResizeFilter filter, PassOrder order) {
  if (image.width <= 0 || image.height <= 0) fail_usage("an image without pixels cannot be resized");
  if (size.width <= 0 || size.height <= 0 || size.width > kMaxImagePixels / size.height) {
    fail_usage("cannot resize to ", size.width, "x", size.height, " pixels; the limit is ", kMaxImagePixels, " pixels");
  }
  check_region(size, region);
  const ImageSize from{image.width, image.height};
  if (size == from) return crop(image, region);
  Image out;
  if (filter == ResizeFilter::Nearest) {
    out = resize_nearest(image, size, region);
  } else {
    const int shrink_x = from.width - size.width;
    const int shrink_y = from.height - size.height;
    const bool vertical_first = order == PassOrder::Pillow13 && shrink_y > 0 && shrink_y > int64_t{2} * shrink_x;
    Weights columns, rows;
    if (shrink_x != 0) {
      columns = resample::compute_weights(from.width, size.width, region.x, region.x + region.width, filter);
    }
    if (shrink_y != 0) {
      rows = resample::compute_weights(from.height, size.height, region.y, region.y + region.height, filter);
    }
    if (shrink_x == 0) {
      out = pass_vertical(image, region.x, region.x + region.width, rows);
    } else if (shrink_y == 0) {
      out = pass_horizontal(image, region.y, region.y + region.height, columns);
    } else if (vertical_first) {
      const auto [begin, end] = move_to_used(columns, image.width);
      out = pass_horizontal(pass_vertical(image, begin, end, rows), 0, region.height, columns);
    } else {
      const auto [begin, end] = move_to_used(rows, image.height);
      out = pass_vertical(pass_horizontal(image, begin, end, columns), 0, region.width, rows);
    }
  }
  out.warning = image.warning;
  return out;
}

Image resize(const Image& image, ImageSize size, ResizeFilter filter, PassOrder order) {
  return resize(image, size, {0, 0, size.width, size.height}, filter, order);
}

ImageRegion resize_reads(ImageSize from, ImageSize size, const ImageRegion& region, ResizeFilter filter) {
  check_region(size, region);
  if (size == from) return region;
  const auto along = [&](int in, int out, int begin, int n) -> std::pair<int, int> {
    if (in == out) return {begin, begin + n};
    if (filter == ResizeFilter::Nearest) {
      const std::vector<int> indices = nearest_indices(in, out, begin, begin + n);
      return {indices.front(), indices.back() + 1};
    }
    // Of the first output and of the last, with the zeros that may stand before and behind their weights.
    const Weights first = resample::compute_weights(in, out, begin, begin + 1, filter);
    const Weights last = resample::compute_weights(in, out, begin + n - 1, begin + n, filter);
    constexpr int kZeros = 4;
    return {std::max(first.first[0] - kZeros, 0), std::min(last.first[0] + last.taps + kZeros, in)};
  };
  const auto [left, right] = along(from.width, size.width, region.x, region.width);
  const auto [top, bottom] = along(from.height, size.height, region.y, region.height);
  return {left, top, right - left, bottom - top};
}

ImageSize short_side_size(ImageSize from, int side) {
  const auto scaled = [&](int longer, int shorter) {
    const int64_t result = int64_t{side} * longer / shorter;
    if (result > kMaxImagePixels)
      fail_usage("resizing ", from.width, "x", from.height, " to a short side of ", side, " gives too long a side");
    return static_cast<int>(result);
  };
  if (from.width <= 0 || from.height <= 0 || side <= 0)
    fail_usage("a short side of ", side, " for ", from.width, "x", from.height);
  if (from.width <= from.height) return {side, scaled(from.height, from.width)};
  return {scaled(from.width, from.height), side};
}

ImageRegion centre_region(ImageSize whole, ImageSize part) {
  const auto half_to_even = [](int margin) { return margin % 4 == 3 ? margin / 2 + 1 : margin / 2; };
  const ImageRegion region{half_to_even(whole.width - part.width), half_to_even(whole.height - part.height), part.width,
                           part.height};
  check_region(whole, region);
  return region;
}

Image crop(const Image& image, const ImageRegion& region) {
  check_region({image.width, image.height}, region);
  Image out = new_image(region.width, region.height);
  out.warning = image.warning;
  for (int y = 0; y < region.height; ++y) {
    const uint8_t* from =
        image.rgb.data() + static_cast<size_t>(region.y + y) * stride(image) + 3 * static_cast<size_t>(region.x);
    std::memcpy(out.rgb.data() + y * stride(out), from, stride(out));
  }
  return out;
}

}  // namespace dnn
