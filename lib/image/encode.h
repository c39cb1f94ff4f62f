// Encoding: images as the bytes of image files.
#pragma once
#include <string>

#include "image/image.h"

namespace dnn {

// A baseline JPEG of 8-bit RGB, chroma halved both ways, the exact integer DCT: Pillow's save(quality=...), 1 to 100. Throws Unsupported for
// more than 65500 pixels a side.
std::string encode_jpeg(const Image& image, int quality);

// The pixels as they are, behind a header (PNM, P6).
std::string encode_pnm(const Image& image);

}  // namespace dnn
