// Thumbnails: small PNGs of the images that samples name.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "image/image.h"
#include "image/resize.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

constexpr int kSide = 80, kLeastShown = 48;
constexpr uintmax_t kMostFileBytes = uintmax_t{64} << 20;
constexpr int64_t kMostPixels = 50'000'000;

namespace fs = std::filesystem;

// Where the file really is, nullopt unless that is below the folder of images.
std::optional<fs::path> found_below(const std::string& root, const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::canonical(root.empty() ? "." : root, error);
  if (error) return std::nullopt;
  const fs::path file = fs::canonical(folder / path, error);
  if (error) return std::nullopt;
  const auto [in_folder, in_file] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return in_folder == folder.end() && in_file != file.end() ? std::optional(file) : std::nullopt;
}

}  // namespace

// The path comes from a stream, which may be anybody's: what is not below the folder that the user named, by way of symbolic
// links or ".." too, is not even opened; nor is anything but a regular file, a pipe or a device.
std::optional<Picture> thumbnail(const SampleLists& sample, const Options& options) {
  if (!options.thumbnails || sample.file.empty()) return std::nullopt;
  std::error_code error;
  const std::optional<fs::path> found = found_below(options.image_root, sample.file);
  if (!found || !fs::is_regular_file(*found, error)) return std::nullopt;
  const fs::path& file = *found;
  if (const uintmax_t size = fs::file_size(file, error); error || size > kMostFileBytes) return std::nullopt;
  try {
    Image image =
        read_image(file.string(), {.max_pixels = kMostPixels, .grey16 = Grey16::HighByte, .apply_orientation = false});
    const int longer = std::max(image.width, image.height);
    if (longer < 1) return std::nullopt;
    const auto fitted = [&](int64_t extent, int side) {
      return static_cast<int>(std::max<int64_t>(1, extent * side / longer));
    };
    if (longer > kSide)
      image = resize(image, {fitted(image.width, kSide), fitted(image.height, kSide)}, ResizeFilter::Bilinear);
    const int shown = std::max(kLeastShown, std::max(image.width, image.height));
    Picture picture{{}, sample.path, image.width, image.height};
    if (shown > std::max(image.width, image.height)) {
      picture.width = fitted(image.width, shown);
      picture.height = fitted(image.height, shown);
    }
    // Five bits of each colour look the same at this size and take half of the bytes.
    for (uint8_t& c : image.rgb) c = static_cast<uint8_t>((c & 0xF8) | c >> 5);
    picture.png = encode_png(image);
    return picture;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace dnn::report
