// The pairs of layers that an alignment has found so far; no pair contradicts another.
#pragma once
#include <vector>

#include "localize/descent.h"
#include "localize/lineup.h"

namespace dnn {

class PairedLayers {
 public:
  PairedLayers(const std::vector<Layer>& source, const std::vector<Layer>& target)
      : source_descent_(source),
        target_descent_(target),
        source_partner_(source.size(), kNoLayer),
        target_partner_(target.size(), kNoLayer) {}

  const std::vector<LayerPair>& pairs() const { return pairs_; }
  const Descent& source_descent() const { return source_descent_; }
  const Descent& target_descent() const { return target_descent_; }
  // By layer: the layer of the other network; kNoLayer: not known; kNever: none.
  static constexpr size_t kNever = kNoLayer - 1;
  const std::vector<size_t>& source_partner() const { return source_partner_; }
  const std::vector<size_t>& target_partner() const { return target_partner_; }

  bool free(size_t i, size_t j) const { return source_partner_[i] == kNoLayer && target_partner_[j] == kNoLayer; }
  // True if it can be a pair beside all that are known.
  bool possible(size_t i, size_t j) const;
  // Takes a pair of layers that are both free.
  void take(size_t i, size_t j, LayerPair::By by);
  // A layer that is no layer of the other network.
  void leave_source(size_t i) { source_partner_[i] = kNever; }
  void leave_target(size_t j) { target_partner_[j] = kNever; }

 private:
  Descent source_descent_, target_descent_;
  std::vector<size_t> source_partner_, target_partner_;
  std::vector<LayerPair> pairs_;
};

}  // namespace dnn
