// Writing PNG through libpng.
#include <png.h>

#include "base/error.h"
#include "image/image.h"

namespace dnn {

std::string encode_png(const Image& image) {
  DNN_CHECK(image.width > 0 && image.height > 0);
  DNN_CHECK(image.rgb.size() == static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGB;
  std::string out(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
  png_alloc_size_t size = out.size();
  if (png_image_write_to_memory(&png, out.data(), &size, 0, image.rgb.data(), 0, nullptr) == 0)
    fail_internal("libpng: ", png.message);
  out.resize(size);
  return out;
}

}  // namespace dnn
