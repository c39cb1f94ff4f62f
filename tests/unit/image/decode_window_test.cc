// A JPEG decoded for some of its columns has there the pixels of the whole one, whatever its sampling and process.
#include <gtest/gtest.h>

#include <cstdio>  // jpeglib.h needs FILE
#include <cstdlib>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "image/preprocess.h"

// After what it needs and does not include.
#include <jpeglib.h>

namespace dnn {
namespace {

struct Kind {
  int h, v;
  bool progressive;
  int restart;
};

// Noise, as every wrong sample then shows.
std::string jpeg_of_noise(int width, int height, const Kind& kind) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long n_bytes = 0;
  jpeg_mem_dest(&codec, &bytes, &n_bytes);
  codec.image_width = static_cast<JDIMENSION>(width);
  codec.image_height = static_cast<JDIMENSION>(height);
  codec.input_components = 3;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  codec.comp_info[0].h_samp_factor = kind.h;
  codec.comp_info[0].v_samp_factor = kind.v;
  codec.restart_interval = static_cast<unsigned>(kind.restart);
  if (kind.progressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  std::mt19937 random(5);
  std::vector<unsigned char> row(static_cast<size_t>(width) * 3);
  for (int y = 0; y < height; ++y) {
    for (unsigned char& v : row) v = static_cast<unsigned char>(random());
    unsigned char* line = row.data();
    jpeg_write_scanlines(&codec, &line, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  std::string file(reinterpret_cast<const char*>(bytes), n_bytes);
  std::free(bytes);
  return file;
}

// Also how many bytes outside of the window were left out.
size_t expect_same_inside(const std::string& file, const ImageRegion& window, const std::string& what) {
  const Image whole = decode_image(as_bytes(file));
  const Image part = decode_image(as_bytes(file), {.reads = [&](ImageSize) { return window; }});
  EXPECT_EQ(part.rgb.size(), whole.rgb.size()) << what;
  EXPECT_EQ(part.warning, whole.warning) << what;
  EXPECT_EQ(crop(part, window).rgb, crop(whole, window).rgb) << what;
  size_t n = 0;
  for (size_t i = 0; i < whole.rgb.size(); ++i) n += part.rgb[i] != whole.rgb[i] ? 1 : 0;
  return n;
}

TEST(DecodeWindow, HasThePixelsOfTheWhole) {
  size_t n_left_out = 0;
  for (const auto& [h, v] : {std::pair(1, 1), {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}, {1, 4}}) {
    for (const bool progressive : {false, true}) {
      for (const int restart : {0, 3}) {
        const std::string file = jpeg_of_noise(203, 37, {h, v, progressive, restart});
        for (const auto& [x, width] :
             {std::pair(0, 1), {0, 60}, {15, 1}, {16, 16}, {33, 100}, {64, 64}, {97, 9}, {150, 53}, {202, 1}}) {
          n_left_out += expect_same_inside(
              file, {x, 3, width, 11},
              cat(h, "x", v, progressive ? " progressive" : "", " restart ", restart, ", columns ", x, " + ", width));
        }
      }
    }
  }
  EXPECT_GT(n_left_out, 1000000u);
}

TEST(DecodeWindow, FindsWhatIsMissingBehindIt) {
  const std::string file = jpeg_of_noise(203, 120, {2, 2, false, 0});
  const DecodeOptions first_rows = {.reads = [](ImageSize) { return ImageRegion{20, 8, 30, 10}; }};
  EXPECT_NO_THROW(decode_image(as_bytes(file), first_rows));
  const std::string part = file.substr(0, file.size() * 3 / 4);
  try {
    decode_image(as_bytes(part), first_rows);
    ADD_FAILURE() << "a file that ends too early was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Malformed);
    EXPECT_NE(std::string(e.what()).find("ends before"), std::string::npos) << e.what();
  }
}

TEST(DecodeWindow, IsNotForImagesThatAreTurned) {
  const std::string file = jpeg_of_noise(203, 37, {2, 2, false, 0});
  const Image upright = decode_image(as_bytes(file), {.reads =
                                                          [](ImageSize) {
                                                            return ImageRegion{60, 0, 1, 37};
                                                          },
                                                      .apply_orientation = true});
  EXPECT_EQ(upright.rgb, decode_image(as_bytes(file)).rgb);
}

TEST(DecodeWindow, OfAPreprocessingGivesTheSameTensors) {
  const std::string file = jpeg_of_noise(203, 120, {2, 2, false, 0}), tall = jpeg_of_noise(90, 230, {2, 1, false, 0});
  for (const std::string& image : {file, tall}) {
    const Image whole = decode_image(as_bytes(image));
    for (const char* resize : {"crop", "crop:200", "stretch"}) {
      for (const std::string_view filter : filter_names()) {
        for (const int side : {32, 56, 120}) {
          Preprocess p = named_preprocess("imagenet-torch", side, side, Layout::Nchw);
          PreprocessOptions spelled_out;
          spelled_out.resize = resize;
          spelled_out.filter = filter;
          apply_options(spelled_out, &p);
          const DecodeOptions window = {.reads = [&](ImageSize size) { return fit_reads(size, p); }};
          EXPECT_EQ(fit(decode_image(as_bytes(image), window), p).rgb, fit(whole, p).rgb)
              << resize << ' ' << filter << ' ' << side;
        }
      }
    }
  }
  Preprocess wide = named_preprocess("imagenet-torch", 32, 32, Layout::Nchw);
  const ImageRegion all = fit_reads({2000000000, 1}, wide);
  EXPECT_EQ(all.width, 2000000000);  // it cannot be resized, which fit() says
}

TEST(DecodeWindow, OfRealPhotos) {
  const char* data = std::getenv("DNN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  int n = 0;
  for (const char* folder : {"/images/imagenet200", "/suites/ljt_testimages", "/suites/jpeg_decoder_tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(data) + folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string file = read_file(entry.path().string());
      if (sniff_image(as_bytes(file)) != ImageFormat::Jpeg) continue;
      ImageSize size;
      std::string said, said_of_part;
      try {
        const Image whole = decode_image(as_bytes(file));
        size = {whole.width, whole.height};
      } catch (const Error& e) {
        said = e.what();
      }
      const auto half = [](ImageSize s) {
        return ImageRegion{s.width / 5, s.height / 5, (s.width + 1) / 2, (s.height + 1) / 2};
      };
      if (size.width == 0) {
        try {
          decode_image(as_bytes(file), {.reads = half});
        } catch (const Error& e) {
          said_of_part = e.what();
        }
        EXPECT_EQ(said_of_part, said) << entry.path();
      } else {
        expect_same_inside(file, half(size), entry.path().string());
      }
      ++n;
    }
  }
  EXPECT_GE(n, 200);
}

}  // namespace
}  // namespace dnn
