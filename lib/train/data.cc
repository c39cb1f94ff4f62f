// Labelled images; see data.h.
#include "train/data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "image/dataset.h"
#include "train/random.h"

namespace dnn::train {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> subfolders(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::is_directory(folder, error)) fail_environment(folder, ": no such folder");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(error) && name[0] != '.') names.push_back(name);
  }
  if (error) fail_environment(folder, ": ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Images::Images(const std::string& folder, const std::optional<LabelSet>& classes, const Preprocess& preprocess,
               const BatchPlan& plan) {
  const std::vector<std::string> names = subfolders(folder);
  if (names.size() < 2)
    fail_usage(folder, ": a folder for each of two or more classes is wanted, there ",
               names.size() == 1 ? "is " : "are ", names.size());
  SourceOptions options;
  for (size_t c = 0; c < names.size(); ++c) {
    const std::string path = (fs::path(folder) / names[c]).string();
    const size_t n = list_images({path}).size();  // Usage where there are none
    labels_.insert(labels_.end(), n, static_cast<int64_t>(c));
    options.inputs.push_back(path);
  }
  classes_ = LabelSet::parse(join(names, "\n"), "folders");
  if (classes) {
    std::vector<std::string> wanted;
    for (int64_t i = 0; i < classes->size(); ++i) wanted.push_back(classes->label(i));
    if (wanted != names)
      fail_usage(folder, ": its classes are ", join(names, ", "), "; those of the training images are ",
                 join(wanted, ", "));
  }
  options.preprocess = preprocess;
  source_ = open_samples(options, plan);
  while (std::optional<SampleSource::Load> load = source_->next()) loads_.push_back(std::move(*load));
  if (loads_.size() != labels_.size()) fail_environment(folder, ": its files changed while they were listed");
}

Tensor Images::decode(int64_t i) const {
  LoadedSample sample = loads_[static_cast<size_t>(i)]();
  if (sample.error) throw *sample.error;
  return std::move(sample.inputs.at(0));
}

void Images::keep(ThreadPool& pool, int64_t limit_bytes) {
  const auto bytes = static_cast<int64_t>(decode(0).size_bytes());
  if (bytes > limit_bytes / std::max<int64_t>(1, count())) return;
  std::vector<Tensor> kept(loads_.size());
  share_out(pool, count(), [&](int64_t i) { kept[static_cast<size_t>(i)] = decode(i); });
  kept_ = std::move(kept);
}

Split split(const std::vector<int64_t>& labels, int64_t classes, double share, uint64_t seed) {
  std::vector<std::vector<int64_t>> by_class(static_cast<size_t>(classes));
  for (size_t i = 0; i < labels.size(); ++i)
    by_class[static_cast<size_t>(labels[i])].push_back(static_cast<int64_t>(i));
  Split result;
  for (size_t c = 0; c < by_class.size(); ++c) {
    std::vector<int64_t>& members = by_class[c];
    shuffle(members, seed, {c});
    const auto n = static_cast<int64_t>(members.size());
    const int64_t least = n > 1 ? 1 : 0;
    const int64_t held =
        std::clamp<int64_t>(std::llround(share * static_cast<double>(n)), least, std::max<int64_t>(n - 1, 0));
    result.validation.insert(result.validation.end(), members.begin(), members.begin() + held);
    result.train.insert(result.train.end(), members.begin() + held, members.end());
  }
  std::sort(result.train.begin(), result.train.end());
  std::sort(result.validation.begin(), result.validation.end());
  return result;
}

Augmentation parse_augmentation(const std::string& text) {
  Augmentation result;
  if (text.empty() || text == "none") return result;
  for (const std::string& part : dnn::split(text, ',')) {
    if (part == "flip") {
      result.flip = true;
    } else if (part.rfind("shift:", 0) == 0 && part.size() > 6 && part.size() < 10 &&
               std::all_of(part.begin() + 6, part.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      result.shift = std::stoi(part.substr(6));
    } else {
      fail_usage("--augment ", quoted(part), ": give flip, shift:PIXELS, both with a comma, or none");
    }
  }
  return result;
}

Tensor moved(const Tensor& image, Layout layout, bool mirrored, int64_t dy, int64_t dx) {
  if (!mirrored && dy == 0 && dx == 0) return image;
  const bool first = layout == Layout::Nchw;
  const int64_t channels = image.dim(first ? 1 : 3), height = image.dim(first ? 2 : 1),
                width = image.dim(first ? 3 : 2);
  const int64_t row = first ? width : width * channels, column = first ? 1 : channels,
                plane = first ? height * width : 1;
  Tensor result(image.dtype(), image.shape());
  const float* in = image.data<float>();
  float* out = result.mutable_data<float>();
  for (int64_t y = std::max<int64_t>(0, dy); y < std::min(height, height + dy); ++y) {
    for (int64_t x = std::max<int64_t>(0, dx); x < std::min(width, width + dx); ++x) {
      const int64_t from_x = mirrored ? width - 1 - (x - dx) : x - dx;
      for (int64_t c = 0; c < channels; ++c)
        out[c * plane + y * row + x * column] = in[c * plane + (y - dy) * row + from_x * column];
    }
  }
  return result;
}

}  // namespace dnn::train
