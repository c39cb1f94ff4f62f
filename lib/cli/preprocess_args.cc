// The options of tools that take images; see cli.h.
#include "cli/cli.h"

namespace dnn::cli {

void Args::preprocess(std::string* name, PreprocessOptions* spelled_out, bool* exif) {
  option(name, "--preprocess", "NAME", join(preprocess_names(), ", "));
  option(&spelled_out->resize, "--resize", "HOW", "none, stretch, crop or crop:SHORTSIDE");
  option(&spelled_out->filter, "--filter", "NAME", "nearest, bilinear or bicubic");
  option(&spelled_out->pass_order, "--resize-compat", "P", "pillow13 or pillow12: the order of the two passes");
  option(&spelled_out->scale, "--scale", "A[/B]", "times A, divided by B");
  option(&spelled_out->mean, "--mean", "M[,M,M]", "then less M, by channel of the tensor");
  option(&spelled_out->std, "--std", "S[,S,S]", "then divided by S");
  option(&spelled_out->channels, "--channels", "ORDER", "rgb or bgr");
  option(&spelled_out->layout, "--layout", "LAYOUT", "nchw or nhwc; default: the model's");
  option(&spelled_out->grey16, "--grey16", "HOW", "16-bit grey images: clip at 255, as Pillow does, or high-byte");
  flag(exif, "--exif", "turn images as their EXIF orientation says");
}

}  // namespace dnn::cli
