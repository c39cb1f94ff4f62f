// Writing JPEG through libjpeg-turbo, and pixels as PNM; see encode.h.
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstdlib>

#include <jpeglib.h>

#include "base/error.h"
#include "image/encode.h"

namespace dnn {
namespace {

struct JpegWriteFailure {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_jpeg_write_error(j_common_ptr codec) {
  auto* failure = reinterpret_cast<JpegWriteFailure*>(codec->err);
  codec->err->format_message(codec, failure->message);
  std::longjmp(failure->jump, 1);
}

// Owns the encoder and its output; everything libjpeg may longjmp across lives here or outside.
struct Encoder {
  jpeg_compress_struct codec{};
  JpegWriteFailure failure{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  bool created = false;
  ~Encoder() {
    if (created) jpeg_destroy_compress(&codec);
    std::free(bytes);
  }
};

bool encode(Encoder& e, const Image& image, int quality) {
  e.codec.err = jpeg_std_error(&e.failure.manager);
  e.failure.manager.error_exit = on_jpeg_write_error;
  if (setjmp(e.failure.jump) != 0) return false;
  jpeg_create_compress(&e.codec);
  e.created = true;
  jpeg_mem_dest(&e.codec, &e.bytes, &e.size);
  e.codec.image_width = static_cast<JDIMENSION>(image.width);
  e.codec.image_height = static_cast<JDIMENSION>(image.height);
  e.codec.input_components = 3;
  e.codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&e.codec);
  jpeg_set_quality(&e.codec, quality, TRUE);
  jpeg_start_compress(&e.codec, TRUE);
  const size_t stride = static_cast<size_t>(image.width) * 3;
  while (e.codec.next_scanline < e.codec.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(image.rgb.data() + e.codec.next_scanline * stride);  // libjpeg only reads it
    jpeg_write_scanlines(&e.codec, &row, 1);
  }
  jpeg_finish_compress(&e.codec);
  return true;
}

}  // namespace

std::string encode_jpeg(const Image& image, int quality) {
  DNN_CHECK(image.width > 0 && image.height > 0 && quality >= 1 && quality <= 100);
  if (image.width > JPEG_MAX_DIMENSION || image.height > JPEG_MAX_DIMENSION)
    fail_unsupported("a JPEG of ", image.width, "x", image.height, " pixels; it holds ", JPEG_MAX_DIMENSION, " a side");
  Encoder encoder;
  if (!encode(encoder, image, quality)) fail_internal("libjpeg: ", encoder.failure.message);
  return {reinterpret_cast<const char*>(encoder.bytes), encoder.size};
}

std::string encode_pnm(const Image& image) {
  DNN_CHECK(image.width > 0 && image.height > 0);
  std::string text = cat("P6\n", image.width, " ", image.height, "\n255\n");
  text.append(reinterpret_cast<const char*>(image.rgb.data()), image.rgb.size());
  return text;
}

}  // namespace dnn
