// Preprocessing and labels, judged from outputs alone: which other preprocessing, or which other order of classes, makes the
// target give what the source gives.
//
// A hypothesis is a preprocessing of the target, what is done to the tensor behind it, and a map of labels. Arithmetic,
// geometry and filter are searched in turn by successive halving: many hypotheses on few images, the best of them on twice as
// many. The best is stripped of each change that it does not need, and judged on images that the search did not see.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "infer/sample_source.h"
#include "localize/outcome.h"
#include "localize/preprocess_hypothesis.h"

namespace dnn {

struct PreprocessChange {
  std::string factor;    // "arithmetic", "channels", "resize", "filter", "handling", "labels"
  std::string from, to;  // in words
  Nearness without;      // the finding with this one change taken back, on the unseen images
};

struct PreprocessReport {
  size_t n_searched = 0, n_unseen = 0;  // images; a single one is judged on itself
  int64_t source_classes = 0, target_classes = 0;
  bool source_softmax = false, target_softmax = false;  // outputs that are probabilities; the other side's are made so
  Hypothesis assumed, found;
  Nearness before, after;                 // on the unseen images: as assumed, as found
  std::vector<PreprocessChange> changes;  // from assumed to found
  double explained = 0;                   // share of the distance that it removes
  enum class Verdict : uint8_t { Agree, Explained, Partly, None } verdict = Verdict::None;
  std::vector<std::pair<Hypothesis, Nearness>> others;  // next best, on the images of the search
  int64_t n_runs = 0;                                   // of the target
  std::optional<bool> ran_out;  // of time, where that was limited: hypotheses or images were left out
};
std::string_view verdict_name(PreprocessReport::Verdict verdict);  // "agree", "explained", "partly", "none"

struct PreprocessSearch {
  std::vector<Image> images;                             // decoded
  std::function<Tensor(const Image& image)> source;      // the source's output
  std::function<Tensor(const Tensor& input)> target;     // the target's, for a preprocessed image; may throw
  Preprocess assumed;                                    // of the target
  std::optional<Preprocess> source_preprocess;           // tried among the others, in the target's size and layout
  double rtol = 1e-3;                                    // the distance at which the two agree
  size_t n_searched = 16;                                // images, at most
  std::function<void(const std::string& message)> note;  // may be empty
  // The images that are judged on take at most a quarter of it, the search ends at three quarters, with the best of the last
  // round that was whole.
  Deadline deadline;
};

// Throws Negative where the outputs cannot be classes of one another.
PreprocessReport search_preprocess(const PreprocessSearch& search);

}  // namespace dnn
