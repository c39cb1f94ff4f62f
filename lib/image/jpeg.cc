// JPEG through libjpeg-turbo with its default, exact integer DCT and smooth chroma upsampling, as Pillow uses it.
#include <algorithm>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>

#include "base/error.h"
#include "image/codec.h"

namespace dnn::codec {
namespace {

// A progressive file may hold any number of scans, each costing a pass over the whole image; real ones hold about ten. Kept to what
// the options allow, but for the first, and to the last.
constexpr int kCommonScans = 20, kMaxScans = 500;

struct JpegFailure {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  char warning[JMSG_LENGTH_MAX];
  int code;
  bool ends_hard;  // the end of the file jumps, as skipped rows cannot be suspended
  bool ended;
  int64_t most_scanned_pixels;
};

JpegFailure* failure_of(j_common_ptr codec) { return reinterpret_cast<JpegFailure*>(codec->err); }

[[noreturn]] void on_jpeg_error(j_common_ptr codec) {
  JpegFailure* failure = failure_of(codec);
  codec->err->format_message(codec, failure->message);
  failure->code = codec->err->msg_code;
  std::longjmp(failure->jump, 1);
}

void on_message(j_common_ptr codec, int level) {
  if (level >= 0) return;  // a trace
  JpegFailure* failure = failure_of(codec);
  if (codec->err->num_warnings++ == 0) codec->err->format_message(codec, failure->warning);
}

void no_output(j_common_ptr) {}

// The source is the whole file, and it never pretends to go on: at its end the decoder suspends, which is how Pillow
// tells a truncated file from one that merely lacks its last marker.
void init_source(j_decompress_ptr) {}
boolean fill_input(j_decompress_ptr codec) {
  JpegFailure* failure = failure_of(reinterpret_cast<j_common_ptr>(codec));
  if (!failure->ends_hard) return FALSE;
  failure->ended = true;
  std::longjmp(failure->jump, 1);
}
void term_source(j_decompress_ptr) {}
void skip_input(j_decompress_ptr codec, long n) {
  if (n <= 0) return;
  jpeg_source_mgr* source = codec->src;
  const size_t step = std::min(static_cast<size_t>(n), source->bytes_in_buffer);
  source->next_input_byte += step;
  source->bytes_in_buffer -= step;
}

void on_progress(j_common_ptr codec) {
  auto* decoder = reinterpret_cast<j_decompress_ptr>(codec);
  const int64_t pixels = std::max<int64_t>(1, int64_t{decoder->image_width} * decoder->image_height);
  const auto most =
      static_cast<int>(std::clamp<int64_t>(failure_of(codec)->most_scanned_pixels / pixels, kCommonScans, kMaxScans));
  if (decoder->input_scan_number <= most) return;
  JpegFailure* failure = failure_of(codec);
  std::snprintf(failure->message, sizeof failure->message, "more than %d scans of an image of %ld pixels", most,
                static_cast<long>(pixels));
  failure->code = JERR_UNKNOWN_MARKER;
  std::longjmp(failure->jump, 1);
}

// Owns the decoder; everything libjpeg may longjmp across lives here or outside, nothing with a destructor between.
struct JpegDecoder {
  jpeg_decompress_struct codec{};
  JpegFailure failure{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  bool created = false;
  ~JpegDecoder() {
    if (created) jpeg_destroy_decompress(&codec);
  }
};

enum class Outcome { Done, Failed, Truncated };

Outcome open(JpegDecoder& d, Bytes file) {
  d.codec.err = jpeg_std_error(&d.failure.manager);
  d.failure.manager.error_exit = on_jpeg_error;
  d.failure.manager.emit_message = on_message;
  d.failure.manager.output_message = no_output;
  if (setjmp(d.failure.jump) != 0) return Outcome::Failed;
  jpeg_create_decompress(&d.codec);
  d.created = true;
  d.source.init_source = init_source;
  d.source.fill_input_buffer = fill_input;
  d.source.skip_input_data = skip_input;
  d.source.resync_to_restart = jpeg_resync_to_restart;
  d.source.term_source = term_source;
  d.source.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  d.source.bytes_in_buffer = file.size();
  d.codec.src = &d.source;
  d.progress.progress_monitor = on_progress;
  d.codec.progress = &d.progress;
  int status = JPEG_HEADER_TABLES_ONLY;
  while (status == JPEG_HEADER_TABLES_ONLY) status = jpeg_read_header(&d.codec, FALSE);
  return status == JPEG_SUSPENDED ? Outcome::Truncated : Outcome::Done;
}

// Columns and rows [begin, end) of the image.
struct Window {
  JDIMENSION left, right, top, bottom;
};

Window whole_image(const JpegDecoder& d) { return {0, d.codec.image_width, 0, d.codec.image_height}; }

// What is decoded for the pixels that are wanted: with those around them that would show the cut.
Window with_margin(const JpegDecoder& d, const ImageRegion& wanted) {
  // Smooth chroma upsampling has other weights in the outermost column; and of a progressive file that lacks scans, blocks
  // are smoothed by what lies two blocks away.
  const int64_t margin = d.codec.progressive_mode != 0 ? int64_t{d.codec.max_h_samp_factor} * DCTSIZE * 4 : 2;
  const auto within = [](int64_t at, JDIMENSION size) {
    return static_cast<JDIMENSION>(std::clamp<int64_t>(at, 0, size));
  };
  const JDIMENSION width = d.codec.image_width, height = d.codec.image_height;
  return {within(wanted.x - margin, width), within(int64_t{wanted.x} + wanted.width + margin, width),
          within(wanted.y - margin, height), within(int64_t{wanted.y} + wanted.height + margin, height)};
}

// Decodes `window` (or more) into `rows`, whose stride is image width * components. All of the file is read: rows outside of
// the window are taken apart as far as damage shows.
Outcome decode(JpegDecoder& d, uint8_t* rows, int n_components, Window window) {
  if (setjmp(d.failure.jump) != 0) return d.failure.ended ? Outcome::Truncated : Outcome::Failed;
  d.codec.out_color_space = n_components == 1 ? JCS_GRAYSCALE : n_components == 3 ? JCS_RGB : JCS_CMYK;
  if (!jpeg_start_decompress(&d.codec)) return Outcome::Truncated;
  const size_t stride = static_cast<size_t>(d.codec.output_width) * static_cast<size_t>(n_components);
  JDIMENSION begin = window.left, width = window.right - window.left;
  if (width < d.codec.output_width) jpeg_crop_scanline(&d.codec, &begin, &width);
  d.failure.ends_hard = window.top > 0 || window.bottom < d.codec.output_height;
  if (window.top > 0) jpeg_skip_scanlines(&d.codec, window.top);
  while (d.codec.output_scanline < d.codec.output_height) {
    // But for the last row: skipping to the end would read no further.
    if (d.codec.output_scanline >= window.bottom && d.codec.output_scanline + 1 < d.codec.output_height)
      jpeg_skip_scanlines(&d.codec, d.codec.output_height - 1 - d.codec.output_scanline);
    constexpr JDIMENSION kRows = 4;  // as many as the upsampling may give at once
    JSAMPROW lines[kRows];
    const JDIMENSION n = std::min(kRows, d.codec.output_height - d.codec.output_scanline);
    for (JDIMENSION i = 0; i < n; ++i)
      lines[i] = rows + (d.codec.output_scanline + i) * stride + begin * static_cast<size_t>(n_components);
    if (jpeg_read_scanlines(&d.codec, lines, n) == 0) return Outcome::Truncated;
  }
  return Outcome::Done;
}

void check_outcome(const JpegDecoder& d, Outcome outcome) {
  if (outcome == Outcome::Truncated) fail_malformed("the file ends before the image does");
  if (outcome == Outcome::Done) return;
  switch (d.failure.code) {
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CONVERSION_NOTIMPL: fail_unsupported(d.failure.message);
    default: fail_malformed(d.failure.message);
  }
}

void grey_to_rgb(const std::vector<uint8_t>& grey, Image& image) {
  for (size_t i = 0; i < grey.size(); ++i) {
    image.rgb[3 * i] = image.rgb[3 * i + 1] = image.rgb[3 * i + 2] = grey[i];
  }
}

// Adobe stores inverted ink, and Pillow takes every four-component file for Adobe's; its CMYK to RGB is (1-c)(1-k) with
// products of bytes divided by 255 and rounded.
void inverted_cmyk_to_rgb(const std::vector<uint8_t>& cmyk, Image& image) {
  for (size_t i = 0; i < image.rgb.size() / 3; ++i) {
    const int paper = cmyk[4 * i + 3];
    for (size_t c = 0; c < 3; ++c) {
      const int product = (255 - cmyk[4 * i + c]) * paper + 128;
      image.rgb[3 * i + c] = static_cast<uint8_t>(paper - ((product + (product >> 8)) >> 8));
    }
  }
}

// Throws Unsupported where pixels, samples and the coefficients of a file of several scans take more than the file is worth.
void check_memory(const JpegDecoder& d, Bytes file) {
  const uint64_t pixels = uint64_t{d.codec.image_width} * d.codec.image_height;
  uint64_t wanted = pixels * (d.codec.num_components == 3 ? 3 : 3 + static_cast<uint64_t>(d.codec.num_components));
  if (jpeg_has_multiple_scans(const_cast<jpeg_decompress_struct*>(&d.codec)) != FALSE) {
    for (int i = 0; i < d.codec.num_components; ++i) {
      const jpeg_component_info& component = d.codec.comp_info[i];
      wanted += uint64_t{component.width_in_blocks} * component.height_in_blocks * sizeof(JBLOCK);
    }
  }
  const uint64_t most = memory_for(file);
  if (wanted > most)
    fail_unsupported("an image of ", d.codec.image_width, "x", d.codec.image_height, " pixels takes ", wanted,
                     " bytes to decode; the limit for a file of that size is ", most, " (--max-memory)");
}

}  // namespace

Image decode_jpeg(Bytes file, const DecodeOptions& options) {
  JpegDecoder d;
  d.failure.most_scanned_pixels = options.most_scanned_pixels;
  check_outcome(d, open(d, file));
  const int n_components = d.codec.num_components;
  if (n_components != 1 && n_components != 3 && n_components != 4) {
    fail_unsupported("an image of ", n_components, " components");
  }
  check_memory(d, file);
  Image image = allocate(d.codec.image_width, d.codec.image_height, options, false);
  if (n_components == 3) {
    const bool all = !options.reads || options.apply_orientation;
    const Window window = all ? whole_image(d) : with_margin(d, options.reads({image.width, image.height}));
    check_outcome(d, decode(d, image.rgb.data(), 3, window));
  } else {
    std::vector<uint8_t> samples(image.rgb.size() / 3 * static_cast<size_t>(n_components));
    check_outcome(d, decode(d, samples.data(), n_components, whole_image(d)));
    if (n_components == 1) {
      grey_to_rgb(samples, image);
    } else {
      inverted_cmyk_to_rgb(samples, image);
    }
  }
  if (d.failure.manager.num_warnings > 0) image.warning = d.failure.warning;
  return image;
}

}  // namespace dnn::codec
