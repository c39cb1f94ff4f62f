// Orders of axes; see permutation.h.
#include "layout/permutation.h"

#include <numeric>

namespace dnn {

Permutation normal(Permutation p) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] != static_cast<int64_t>(i)) return p;
  }
  return {};
}

Permutation compose(const Permutation& p, const Permutation& q) {
  if (p.empty()) return q;
  if (q.empty()) return p;
  Permutation r;
  for (int64_t i : q) r.push_back(p[i]);
  return normal(std::move(r));
}

Permutation inverse(const Permutation& p) {
  Permutation r(p.size());
  for (size_t i = 0; i < p.size(); ++i) r[p[i]] = static_cast<int64_t>(i);
  return r;
}

Permutation change_of_order(const Permutation& p, const Permutation& q) {
  return p.empty() ? q : compose(inverse(p), q);
}

Permutation full(const Permutation& p, size_t rank) {
  if (!p.empty()) return p;
  Permutation r(rank);
  std::iota(r.begin(), r.end(), 0);
  return r;
}

Type permuted(const Type& type, const Permutation& p) {
  Type result = type;
  for (size_t i = 0; i < p.size(); ++i) (*result.shape)[i] = (*type.shape)[p[i]];
  return result;
}

}  // namespace dnn
