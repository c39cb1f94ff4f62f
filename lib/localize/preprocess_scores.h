// Scores of a hypothesis of preprocessing: how near two networks' outputs come, and which classes are each other's.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "localize/preprocess_hypothesis.h"

namespace dnn {

using ClassScores = std::vector<double>;  // of one image, by class

// One image's scores of the source and of the target, both logits or both probabilities.
struct ScorePair {
  ClassScores source, target;
};

// True if there are rows and each one is a probability distribution.
bool are_probabilities(const std::vector<ClassScores>& rows);

// Labels and distance of the target's scores from the source's, class by class through the map.
Nearness nearness(const std::vector<ScorePair>& images, const LabelMap& labels);

// The distance of the sorted scores, which no order of classes changes.
double sorted_distance(const std::vector<ScorePair>& images);

// Gives each class of the source the class of the target with the nearest scores over these images; the nearest pairs come first.
LabelMap nearest_classes(const std::vector<ScorePair>& images);

// Outputs of both sides by image. The target runs once for each preprocessing, handling and image.
class PreprocessOutputs {
 public:
  // Both are kept by reference. `source` are the source's outputs; `target` gives the target's for a preprocessed image.
  PreprocessOutputs(const std::vector<Image>& images, const std::function<Tensor(const Tensor& input)>& target,
                    std::vector<ClassScores> source);

  // The target's raw output for an image. Throws Negative where its size differs by image.
  const ClassScores& target(const Hypothesis& h, size_t image);
  // Scores for these images. Where one side alone gives probabilities, softmax makes the other side's.
  std::vector<ScorePair> scores(const Hypothesis& h, const std::vector<size_t>& images);
  Nearness nearness_of(const Hypothesis& h, const std::vector<size_t>& images);

  void set_probabilities(bool source, bool target);
  const std::vector<ClassScores>& source() const { return source_; }
  size_t source_classes() const { return source_[0].size(); }
  size_t target_classes() const { return targets_.begin()->second.size(); }  // after a first run of it
  int64_t n_runs() const { return n_runs_; }                                 // of the target

 private:
  const std::vector<Image>& images_;
  const std::function<Tensor(const Tensor& input)>& run_target_;
  std::vector<ClassScores> source_;             // by image
  std::map<std::string, ClassScores> targets_;  // by hypothesis and image
  bool source_probabilities_ = false, target_probabilities_ = false;
  int64_t n_runs_ = 0;
};

}  // namespace dnn
