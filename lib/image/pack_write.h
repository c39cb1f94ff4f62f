// Making packs (pack.h) of folders.
#pragma once
#include <functional>
#include <string>

#include "image/pack.h"

namespace dnn {

struct PackOptions {
  int max_side = 0;                    // images with a longer side are scaled down to it; 0: none is
  std::optional<double> jpeg_share{};  // so many of the images are stored as JPEG, the others as pixels
  int quality = 90;                    // of JPEG
  bool apply_orientation = false;      // images that are stored anew are turned as their EXIF orientation says
  bool skip_broken = false;            // images that cannot be read are left out, not refused
  bool resume = false;                 // go on with OUTPUT.partial where it is there
  uint64_t seed = 0;                   // which images are JPEG
  int threads = 0;
  std::function<void(const std::string& message)> warn{};  // may be empty
  std::function<void(int64_t images)> progress{};          // so many more are done; may be empty
};

struct PackSummary {
  int64_t images = 0, classes = 0, skipped = 0, resumed = 0;
  int64_t stored_anew = 0;  // of those made by this call: not the file's own bytes
  uint64_t size_bytes = 0;
};

// Packs the images of each folder in `folder` (a class), and those that lie in it directly (of no class). What is done is in
// OUTPUT.partial until the pack is whole; a process that is killed leaves it. The same bytes come of any number of threads, and of
// a run that was interrupted. Throws Usage for a class without images and a partial file of something else, Malformed for images
// that cannot be read, Environment.
PackSummary write_pack(const std::string& folder, const std::string& output, const PackOptions& options);

}  // namespace dnn
