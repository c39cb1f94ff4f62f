// Descent of layers; see descent.h.
#include "localize/descent.h"

#include <algorithm>

namespace dnn {

namespace {

constexpr size_t kBits = 64;

}  // namespace

Descent::Descent(const std::vector<Layer>& layers)
    : words_((layers.size() + kBits - 1) / kBits), above_(layers.size() * words_, 0) {
  for (size_t i = 0; i < layers.size(); ++i) {
    for (size_t input : layers[i].inputs) {
      if (input >= i) continue;  // of a record in another order
      for (size_t w = 0; w < words_; ++w) above_[i * words_ + w] |= above_[input * words_ + w];
      above_[i * words_ + input / kBits] |= uint64_t{1} << (input % kBits);
    }
  }
}

bool Descent::from(size_t below, size_t above) const {
  return (above_[below * words_ + above / kBits] >> (above % kBits) & 1) != 0;
}

bool contradict(const Descent& source, const Descent& target, const IndexPair& a, const IndexPair& b) {
  return (source.from(a.first, b.first) && target.from(b.second, a.second)) ||
         (source.from(b.first, a.first) && target.from(a.second, b.second));
}

std::vector<IndexPair> without_contradiction(const Descent& source, const Descent& target,
                                             std::vector<IndexPair> pairs) {
  std::vector<size_t> n(pairs.size(), 0);
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t k = i + 1; k < pairs.size(); ++k) {
      if (!contradict(source, target, pairs[i], pairs[k])) continue;
      ++n[i];
      ++n[k];
    }
  }
  while (!pairs.empty()) {
    const size_t most = *std::max_element(n.begin(), n.end());
    if (most == 0) return pairs;
    // All of them at once: of two that contradict each other alike none is known to be the right one.
    std::vector<IndexPair> gone, left;
    std::vector<size_t> n_left;
    for (size_t i = 0; i < pairs.size(); ++i) {
      (n[i] == most ? gone : left).push_back(pairs[i]);
      if (n[i] != most) n_left.push_back(n[i]);
    }
    for (size_t i = 0; i < left.size(); ++i) {
      for (const IndexPair& pair : gone) n_left[i] -= contradict(source, target, left[i], pair) ? 1 : 0;
    }
    pairs = std::move(left);
    n = std::move(n_left);
  }
  return pairs;
}

}  // namespace dnn
