// Labelled images; see data.h.
#include "train/data.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "image/data_set.h"
#include "image/resize.h"
#include "train/random.h"

namespace dnn::train {

Images::Images(const std::string& data, const std::optional<LabelSet>& classes) {
  std::vector<std::string> names;
  std::vector<std::pair<int64_t, Place>> found;
  if (is_pack(data)) {
    pack_ = std::make_unique<ImagePack>(data);
    names = pack_->index().classes;
    for (size_t i = 0; i < pack_->index().images.size(); ++i) {
      if (const auto& label = pack_->index().images[i].label) found.push_back({*label, {"", i}});
    }
  } else {
    DataSet set = list_data_set(data);
    names = std::move(set.classes);
    for (LabelledImage& image : set.images) {
      if (image.label) found.push_back({*image.label, {std::move(image.path), 0}});
    }
  }
  if (names.size() < 2)
    fail_usage(data, ": a folder for each of two or more classes is wanted, there ", names.size() == 1 ? "is " : "are ",
               names.size());
  if (classes) {  // the same ones, in their order
    const std::vector<std::string> given = std::exchange(names, {});
    for (int64_t i = 0; i < classes->size(); ++i) names.push_back(classes->label(i));
    std::vector<int64_t> place;
    for (const std::string& name : given) place.push_back(classes->index_of(name));
    const std::set<int64_t> known(place.begin(), place.end());
    if (known.count(-1) != 0 || known.size() != given.size() || given.size() != names.size())
      fail_usage(data, ": its classes are ", dnn::join(given, ", "), "; those of the training images are ",
                 dnn::join(names, ", "));
    for (auto& [label, image] : found) label = place[label];
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [label, place] : found) {
    labels_.push_back(label);
    places_.push_back(std::move(place));
  }
  for (size_t c = 0; c < names.size(); ++c) {
    if (!std::binary_search(labels_.begin(), labels_.end(), static_cast<int64_t>(c)))
      fail_usage(data, ": class ", names[c], " has no images");
  }
  classes_ = classes ? *classes : LabelSet::of(names, "folders");
}

Image Images::read(int64_t i, const DecodeOptions& options) const {
  const Place& place = places_[i];
  return pack_ ? pack_->read(place.packed, options) : read_image(place.path, options);
}

ImageInputs::ImageInputs(const Images& images, const Preprocess& preprocess, const InputSlot& slot)
    : images_(images), preprocess_(preprocess), arithmetic_(preprocess), slot_(slot) {
  if (preprocess.shape() != slot.shape)
    fail_usage("the preprocessing makes ", shape_text(preprocess.shape()), ", input '", slot.name, "' wants ",
               shape_text(slot.shape));
  arithmetic_.resize = ResizeMode::None;
}

Image ImageInputs::decode(int64_t i, bool whole) const {
  DecodeOptions options = {.grey16 = preprocess_.grey16, .apply_orientation = preprocess_.apply_orientation};
  if (whole) return images_.read(i, options);
  options.reads = [&](ImageSize size) { return fit_reads(size, preprocess_); };
  return fit(images_.read(i, options), preprocess_);
}

Image ImageInputs::cut_out(int64_t i, const Change& change) const {
  const bool whole = change.crop > 0;
  Image image = kept_.empty() || kept_whole_ != whole ? decode(i, whole) : kept_[i];
  if (whole) {
    const ImageRegion region = crop_region({image.width, image.height}, change.crop, change.crop_key);
    Preprocess stretch = preprocess_;
    stretch.resize = ResizeMode::Stretch;
    image = fit(crop(image, region), stretch);
  }
  change_colours(&image, change.brightness, change.contrast, change.saturation);
  return image;
}

Tensor ImageInputs::load(int64_t i, const Change& change) const {
  return fit(
      moved(to_tensor(cut_out(i, change), arithmetic_), preprocess_.layout, change.mirrored, change.dy, change.dx),
      slot_);
}

void ImageInputs::load_into(int64_t i, const Change& change, std::span<float> out) const {
  if (change.dy != 0 || change.dx != 0) {  // zeros come in, which are no pixels
    const Tensor tensor = load(i, change);
    std::copy_n(tensor.data<float>(), tensor.size(), out.begin());
    return;
  }
  Image image = cut_out(i, change);
  if (change.mirrored) mirror(&image);
  to_tensor(image, arithmetic_, out);
}

void ImageInputs::keep(ThreadPool& pool, bool whole, int64_t limit_bytes) {
  if (!kept_.empty()) return;
  std::vector<Image> kept(images_.count());
  std::atomic<int64_t> bytes = 0;
  share_out(pool, images_.count(), [&](int64_t i) {
    if (bytes > limit_bytes) return;
    Image image = decode(i, whole);
    bytes += static_cast<int64_t>(image.rgb.size());
    kept[i] = std::move(image);
  });
  if (bytes > limit_bytes) return;
  kept_ = std::move(kept);
  kept_whole_ = whole;
}

Split split(const std::vector<int64_t>& labels, int64_t classes, double share, uint64_t seed) {
  std::vector<std::vector<int64_t>> by_class(classes);
  for (size_t i = 0; i < labels.size(); ++i) by_class[labels[i]].push_back(static_cast<int64_t>(i));
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

}  // namespace dnn::train
