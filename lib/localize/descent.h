// Descent: which layers are computed from which, and pairs of layers of two networks that contradict each other in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "localize/lineup.h"

namespace dnn {

class Descent {
 public:
  // Layers in an order of execution.
  explicit Descent(const std::vector<Layer>& layers);
  // Whether layer `below` is computed from layer `above`, by any way.
  bool from(size_t below, size_t above) const;

 private:
  size_t words_ = 0;
  std::vector<uint64_t> above_;  // by layer, a bit for each layer that it is computed from
};

using IndexPair = std::pair<size_t, size_t>;  // a layer of the source, one of the target

// Two pairs cannot both be right: what is computed from the other in the source, the other is computed from in the target.
bool contradict(const Descent& source, const Descent& target, const IndexPair& a, const IndexPair& b);

// Those of the pairs that are left when, again and again, those go that contradict most of the others.
std::vector<IndexPair> without_contradiction(const Descent& source, const Descent& target,
                                             std::vector<IndexPair> pairs);

}  // namespace dnn
