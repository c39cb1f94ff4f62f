// Pairs of layers; see paired_layers.h.
#include "localize/paired_layers.h"

#include <algorithm>

namespace dnn {

bool PairedLayers::possible(size_t i, size_t j) const {
  return free(i, j) && std::none_of(pairs_.begin(), pairs_.end(), [&](const LayerPair& known) {
           return contradict(source_descent_, target_descent_, {known.source, known.target}, {i, j});
         });
}

void PairedLayers::take(size_t i, size_t j, LayerPair::By by) {
  if (!free(i, j)) return;
  source_partner_[i] = j;
  target_partner_[j] = i;
  pairs_.push_back({i, j, by});
}

}  // namespace dnn
