// Fuzz target: the PNM reader; only Malformed and Unsupported may escape.
#include "fuzz/fuzz.h"
#include "image/codec.h"

DNN_FUZZ(pnm) {
  const dnn::Bytes file = dnn::fuzz::as_input(data, size);
  dnn::DecodeOptions options;
  options.max_pixels = 1 << 20;
  return dnn::fuzz::refuse_or_accept([&] {
    if (dnn::sniff_image(file) != dnn::ImageFormat::Pnm) return;
    dnn::codec::decode_pnm(file, options);
  });
}
