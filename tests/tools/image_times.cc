// image_times: how long dnn-infer's way from an image file's bytes to a network's input takes, and libjpeg-turbo's decoding alone.
//
//   image_times NAME:S     (a named preprocessing of lib/image, as imagenet-torch:224)
// For each path on standard input, a line "ours_ns decode_ns": processor time of this thread. What is timed starts with the file in
// memory. The decoding is libjpeg-turbo's with its defaults, which are Pillow's too, into memory that is there already.
#include <time.h>

#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "base/file.h"
#include "image/preprocess.h"

// After what it needs and does not include.
#include <jpeglib.h>

namespace {

using namespace dnn;

int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The pixels' sum keeps the work from being left out.
unsigned decode(const std::string& file, std::vector<unsigned char>* pixels) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  const size_t row = size_t{info.output_width} * 3;
  if (pixels->size() < row * info.output_height) pixels->resize(row * info.output_height);
  while (info.output_scanline < info.output_height) {
    unsigned char* line = pixels->data() + row * info.output_scanline;
    jpeg_read_scanlines(&info, &line, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return (*pixels)[row * 7 % pixels->size()];
}

int run(const std::string& what) {
  const std::vector<std::string> parts = split(what, ':');
  int64_t side = 0;
  if (parts.size() != 2 || !parse_int(parts[1], &side)) fail_usage("'", what, "' is not NAME:S");
  const Preprocess preprocess =
      named_preprocess(parts[0], static_cast<int>(side), static_cast<int>(side), Layout::Nchw);
  DecodeOptions options;
  options.reads = [&](ImageSize size) { return fit_reads(size, preprocess); };
  std::vector<unsigned char> pixels;
  for (std::string path; std::getline(std::cin, path);) {
    const std::string file = read_file(path);
    const int64_t start = now_ns();
    const Tensor tensor = to_tensor(decode_image(as_bytes(file), options), preprocess);
    const int64_t middle = now_ns();
    decode(file, &pixels);
    std::cout << middle - start << ' ' << now_ns() - middle << std::endl;
    if (tensor.size() != 3 * side * side) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) fail_usage("image_times NAME:S");
    return run(argv[1]);
  } catch (const Error& error) {
    std::cerr << "image_times: error: " << error.what() << '\n';
    return error.exit_code();
  }
}
