// Data: labelled images of folders, one a class, or of a pack, as input tensors of a network; and how they are split.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/threads.h"
#include "image/dataset.h"
#include "image/labels.h"
#include "image/pack.h"
#include "infer/sample_source.h"
#include "train/augment.h"

namespace dnn::train {

// The images of a data set (list_data_set()) or a pack of one, class by class; those of no class are left out.
class Images {
 public:
  // Throws Usage for fewer than two classes, a class without images, or where `classes` is given and the data's are others
  // (in whatever order: theirs holds).
  Images(const std::string& data, const std::optional<LabelSet>& classes);

  const LabelSet& classes() const { return classes_; }
  const std::vector<int64_t>& labels() const { return labels_; }
  int64_t count() const { return static_cast<int64_t>(labels_.size()); }
  // From any thread. Throws what is wrong with the file, under its path.
  Image read(int64_t i, const DecodeOptions& options) const;

 private:
  struct Place {
    std::string path;
    size_t packed = 0;
  };

  std::unique_ptr<ImagePack> pack_;
  LabelSet classes_;
  std::vector<int64_t> labels_;
  std::vector<Place> places_;
};

// Those images as the input of one network.
class ImageInputs {
 public:
  ImageInputs(const Images& images, const Preprocess& preprocess, const InputSlot& slot);

  const Images& images() const { return images_; }
  // The tensor of one image, changed first; from any thread. A shift is in pixels of the tensor.
  Tensor load(int64_t i, const Change& change = {}) const;
  DType dtype() const { return slot_.dtype; }
  const Shape& shape() const { return slot_.shape; }  // of one image
  // The same into memory of such a tensor, of an input of float32.
  void load_into(int64_t i, const Change& change, std::span<float> out) const;
  // Decodes the images now and keeps them where all together take no more than `limit_bytes`: whole images where parts of them
  // will be cut out, else resized ones.
  void keep(ThreadPool& pool, bool whole, int64_t limit_bytes);

 private:
  Image decode(int64_t i, bool whole) const;
  Image cut_out(int64_t i, const Change& change) const;  // with its colours changed

  const Images& images_;
  const Preprocess preprocess_;
  Preprocess arithmetic_;  // the same of an image that has the network's size
  const InputSlot slot_;
  std::vector<Image> kept_;
  bool kept_whole_ = false;
};

// Indices of two parts. `share` of each class, rounded, at least one image where it has two, goes to validation.
struct Split {
  std::vector<int64_t> train, validation;
};
Split split(const std::vector<int64_t>& labels, int64_t classes, double share, uint64_t seed);

}  // namespace dnn::train
