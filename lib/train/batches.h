// Batches: the images of one part of a data set, as what a network is trained on: images, features, a teacher's logits.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "base/threads.h"
#include "compile/compile.h"
#include "train/data.h"
#include "train/fit.h"
#include "train/ranks.h"

namespace dnn::train {

// How one network takes images.
struct NetworkInput {
  Preprocess preprocess;
  InputSlot slot;
};

// That of a model with an open batch: images as the name and what is spelled out say, or the model's file. Throws Usage where nothing says it.
NetworkInput input_of(const Graph& model, const std::string& preprocess, const PreprocessOptions& spelled_out,
                      bool apply_orientation);

class DataPart {
 public:
  // `variants`: random changes of each image where features are computed once; 0: the image itself, and its mirror image with a
  // flip. `ranks`: who compute features together; null: this process alone. The objects given outlive this one.
  DataPart(const Images& images, std::vector<int64_t> picked, const Augmentation& augmentation, int64_t variants,
           uint64_t seed, ThreadPool& pool, Ranks* ranks = nullptr);

  // Images, changed by the epoch and the image.
  Batches images(const NetworkInput& input);
  // The rows that `graph` (image of batch 1 -> [1, width]) makes of each variant, computed now. Throws Usage for an augmentation of which there
  // are more than the variants.
  Batches features(const Graph& graph, const NetworkInput& input, const CompileOptions& compile);
  // The logits of a teacher of `graph` for the batches of either: computed now where there are few variants of each image, else at each step.
  // A shift is by `size` pixels where the trained network sees so many.
  std::function<Tensor(const std::vector<int64_t>&, int64_t)> teacher(const Graph& graph, const NetworkInput& input,
                                                                      const NetworkInput& student, int threads,
                                                                      const CompileOptions& compile);

 private:
  struct Table;

  int64_t variants() const;  // 0: as many as there are epochs
  size_t variant_of(int64_t epoch, int64_t image) const;
  Change change_of(int64_t variant, int64_t image) const;
  ImageInputs& inputs_of(const NetworkInput& input);
  ImageInputs& kept_inputs_of(const NetworkInput& input);
  std::shared_ptr<const Table> tabulate(const Graph& graph, const NetworkInput& input, double scale,
                                        const CompileOptions& compile);
  std::function<Tensor(const std::vector<int64_t>&, int64_t)> rows_of(std::shared_ptr<const Table> table) const;
  Tensor stack(const ImageInputs& inputs, const std::vector<int64_t>& samples, int64_t epoch, double scale,
               Tensor memory = {}) const;
  Batches labels() const;

  const Images& images_;
  const std::vector<int64_t> picked_;
  const Augmentation augmentation_;
  const int64_t fixed_variants_;
  const uint64_t seed_;
  ThreadPool& pool_;
  Ranks* const ranks_;
  mutable std::mutex pool_mutex_;  // a batch is loaded while the teacher looks at the one before
  std::vector<std::pair<Preprocess, std::unique_ptr<ImageInputs>>> inputs_;
};

}  // namespace dnn::train
