// The readers behind decode_image, one per format; used by lib/image only.
#pragma once
#include "image/image.h"

namespace dnn::codec {

// The image with its pixels allocated, after the size was found to be positive and within the limit; black with `fill`,
// which only a decoder that sets every pixel it promises leaves out.
Image allocate(int64_t width, int64_t height, const DecodeOptions& options, bool fill = true);

// The bytes that decoding a file may take: what the user gives, or 4 times its size and 256 MiB.
uint64_t memory_for(Bytes file);

Image decode_jpeg(Bytes file, const DecodeOptions& options);
Image decode_png(Bytes file, const DecodeOptions& options);
Image decode_bmp(Bytes file, const DecodeOptions& options);
Image decode_pnm(Bytes file, const DecodeOptions& options);

}  // namespace dnn::codec
