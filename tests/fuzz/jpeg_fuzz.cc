// Fuzz target: the JPEG reader; only Malformed and Unsupported may escape.
#include "fuzz/fuzz.h"
#include "image/codec.h"

DNN_FUZZ(jpeg) {
  const dnn::Bytes file = dnn::fuzz::as_input(data, size);
  dnn::DecodeOptions options;
  options.max_pixels = 1 << 20;
  return dnn::fuzz::refuse_or_accept([&] {
    if (dnn::sniff_image(file) != dnn::ImageFormat::Jpeg) return;
    dnn::codec::decode_jpeg(file, options);
    dnn::exif_orientation(file);
  });
}
