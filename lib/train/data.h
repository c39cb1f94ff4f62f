// Data: labelled images in folders, one a class, as input tensors of a network; and how they are split.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/threads.h"
#include "image/labels.h"
#include "infer/sample_source.h"

namespace dnn::train {

// The images of one data folder: the names of its folders, sorted, are the classes.
class Images {
 public:
  // Throws Usage for fewer than two classes, a class without images, or where `classes` is given and the folders are others.
  Images(const std::string& folder, const std::optional<LabelSet>& classes, const Preprocess& preprocess,
         const BatchPlan& plan);

  const LabelSet& classes() const { return classes_; }
  const std::vector<int64_t>& labels() const { return labels_; }
  int64_t count() const { return static_cast<int64_t>(labels_.size()); }
  // The tensor of one image, from any thread. Throws what is wrong with its file, under its path.
  Tensor load(int64_t i) const { return kept_.empty() ? decode(i) : kept_[static_cast<size_t>(i)]; }
  // The same, decoded now and kept where all together take no more than `limit_bytes`.
  void keep(ThreadPool& pool, int64_t limit_bytes);

 private:
  Tensor decode(int64_t i) const;

  LabelSet classes_;
  std::vector<int64_t> labels_;
  std::vector<SampleSource::Load> loads_;
  std::unique_ptr<SampleSource> source_;
  std::vector<Tensor> kept_;
};

// Indices of two parts. `share` of each class, rounded, at least one image where it has two, goes to validation.
struct Split {
  std::vector<int64_t> train, validation;
};
Split split(const std::vector<int64_t>& labels, int64_t classes, double share, uint64_t seed);

// Fixed changes of training images; drawn by counters for each epoch and sample.
struct Augmentation {
  bool flip = false;  // mirrored left to right, one time in two
  int shift = 0;      // moved by up to so many pixels along both axes, zeros behind
  bool any() const { return flip || shift > 0; }
};
// "flip", "shift:4", "flip,shift:4" or "none". Throws Usage.
Augmentation parse_augmentation(const std::string& text);
// `image` [1, ...] in that layout, moved by (dy, dx), mirrored first where `mirrored`.
Tensor moved(const Tensor& image, Layout layout, bool mirrored, int64_t dy, int64_t dx);

}  // namespace dnn::train
