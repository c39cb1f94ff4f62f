// Halves: validation inputs split in two by a seed. A search sees one half; the other judges what the search found.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "quant/validate.h"

namespace dnn::quant {

struct OpenedSamples {
  std::unique_ptr<SampleSource> source;
  int64_t label_offset = 0;  // class - label_offset is the truth's label
};

class Halves {
 public:
  // At most this many inputs search, and are held in memory; all others judge.
  static constexpr size_t kMostSearching = 256;

  // Runs `before` (every extent fixed) once over the samples. Of each two that follow one another the seed picks the one that
  // searches, so that both halves have the classes in the same shares. `open` is called anew for each judgement; with `once` it
  // cannot be, and all inputs are held. Throws Usage below two samples, and what validate() throws.
  Halves(std::function<OpenedSamples()> open, bool once, const Graph& before, uint64_t seed, CalibrateOptions options);

  // `after` on the half that searches. `median_ms`: of its runs' times; may be null.
  Validation search(const Graph& after, double* median_ms) const;
  // And on the other one.
  Validation judge(const Graph& after) const;
  int64_t searching() const { return static_cast<int64_t>(searching_.size()); }
  int64_t judging() const { return judging_; }
  std::vector<std::vector<Tensor>> searching_inputs() const;

 private:
  struct Held {
    int64_t id = 0;
    Ranking before = Ranking(Tensor());
    std::optional<int64_t> truth;
    std::vector<Tensor> inputs;
  };

  std::function<OpenedSamples()> open_;
  CalibrateOptions options_;
  std::map<int64_t, Ranking> before_;   // by sample, where it is opened again to judge
  std::vector<Held> searching_, held_;  // held_: the others, where they cannot be opened again
  bool once_;
  int64_t judging_ = 0;
  int64_t label_offset_ = 0;
};

}  // namespace dnn::quant
