// preprocess_dump: writes what lib/image makes of image files as .npy, for scripts/check-preprocess.
//
//   preprocess_dump WHAT OUTPUT_FOLDER IMAGE...
// WHAT is "decode" (the RGB bytes), "resize:FILTER:WIDTHxHEIGHT[:ORDER]" (bytes), "NAME:S:LAYOUT" (a named preprocessing) or
// "@JSON" (a preprocessing in full). The i-th image becomes OUTPUT_FOLDER/i.npy; the exit code is that of the tools.
#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "image/preprocess.h"
#include "tensor/npy.h"

namespace {

using namespace dnn;

Tensor bytes_tensor(const Image& image) {
  Tensor tensor(DType::UInt8, {image.height, image.width, 3});
  std::copy(image.rgb.begin(), image.rgb.end(), tensor.mutable_data<uint8_t>());
  return tensor;
}

int64_t number(const std::string& text) {
  int64_t value = 0;
  if (!parse_int(text, &value)) fail_usage("'", text, "' is not a number");
  return value;
}

Tensor make(const std::string& what, const Image& image) {
  if (what == "decode") return bytes_tensor(image);
  if (starts_with(what, "@")) return to_tensor(image, preprocess_from_json(std::string_view(what).substr(1)));
  const std::vector<std::string> parts = split(what, ':');
  if (parts[0] == "resize" && parts.size() >= 3) {
    const std::vector<std::string> sides = split(parts[2], 'x');
    if (sides.size() != 2) fail_usage("'", parts[2], "' is not WIDTHxHEIGHT");
    const PassOrder order = parts.size() > 3 && parts[3] == "pillow12" ? PassOrder::Pillow12 : PassOrder::Pillow13;
    const ImageSize size{static_cast<int>(number(sides[0])), static_cast<int>(number(sides[1]))};
    return bytes_tensor(resize(image, size, filter_from_name(parts[1]), order));
  }
  if (parts.size() != 3) fail_usage("'", what, "' is not NAME:S:LAYOUT");
  const int side = static_cast<int>(number(parts[1]));
  const Layout layout = parts[2] == "nhwc" ? Layout::Nhwc : Layout::Nchw;
  return to_tensor(image, named_preprocess(parts[0], side, side, layout));
}

// Decodes and prepares every image `n_rounds` times, discards the results, prints the mean times.
void measure(const std::string& what, const std::vector<std::string>& files, int n_rounds) {
  using Clock = std::chrono::steady_clock;
  Clock::duration decoding{}, preparing{};
  for (int round = 0; round < n_rounds; ++round) {
    for (const std::string& file : files) {
      const auto begin = Clock::now();
      const Image image = decode_image(as_bytes(file));
      const auto middle = Clock::now();
      make(what, image);
      decoding += middle - begin;
      preparing += Clock::now() - middle;
    }
  }
  const auto mean_ms = [&](Clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count() / (n_rounds * static_cast<double>(files.size()));
  };
  std::printf("decode %.3f ms, prepare %.3f ms\n", mean_ms(decoding), mean_ms(preparing));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: preprocess_dump WHAT OUTPUT_FOLDER|--time=ROUNDS IMAGE...\n");
    return 2;
  }
  try {
    const std::string what = argv[1], folder = argv[2];
    if (starts_with(folder, "--time=")) {
      std::vector<std::string> files;
      for (int i = 3; i < argc; ++i) files.push_back(read_file(argv[i]));
      measure(what, files, static_cast<int>(number(folder.substr(7))));
      return 0;
    }
    for (int i = 3; i < argc; ++i)
      write_file(cat(folder, "/", i - 3, ".npy"), format_npy(make(what, read_image(argv[i]))));
  } catch (const Error& e) {
    std::fprintf(stderr, "preprocess_dump: error: %s\n", e.what());
    return e.exit_code();
  }
  return 0;
}
