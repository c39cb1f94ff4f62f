// Nodes that several formats write, for their tests: bodies of a graph with an input x and constants `from` and `to`.
#pragma once
#include <string>

#include "base/text.h"

namespace dnn {

inline constexpr const char* kSuppression = R"(
  const b: float32[1,6,4] = {0, 0, 2, 2, 0, 1, 2, 3, 0, 0.5, 2, 2.5, 3, 3, 5, 5, 5, 5, 4, 4, 8, 8, 9, 9}
  const m: int64[1] = {9}
  const o: float32[1] = {0.6}
  const l: float32[1] = {-9}
  const pair: int64[2] = {1, 2}
  const last: int64[1] = {1}
  const s: int64[3] = {1, 1, 6}
  p = ReduceMax(x, pair) {keepdims = 0}
  q = Slice(p, from, to, last)
  r = Reshape(q, s)
  y = NonMaxSuppression(b, r, m, o, l))";

// Places that are computed, some of them twice.
inline std::string scatter_to_largest(const std::string& reduction) {
  return cat(R"(
  const r: int64[1] = {-1}
  const t: int64[2] = {-1, 1}
  f = Reshape(x, r)
  i = ArgMax(x) {axis = 1}
  k = Reshape(i, t)
  c = Cast(k) {to = 1}
  u = Reshape(c, r)
  y = ScatterND(f, k, u) {reduction = ")",
             reduction, "\"}");
}

}  // namespace dnn
