// Sums along a row in one order, whatever the instruction set and the level: element i is added to partial sum i mod 16, and these in pairs, the
// first with the ninth. They fill whole vectors, and are no less exact than a sum from first to last.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "loops/ir.h"

namespace dnn {

inline constexpr int64_t kPartialSums = 16;

// The sum of term(0), ..., term(size - 1).
template <class T, class Term>
T ordered_sum(int64_t size, const Term& term) {
  std::array<T, kPartialSums> parts = {};
  for (int64_t i = 0; i < size; ++i) parts[i % kPartialSums] += term(i);
  for (int64_t n = kPartialSums / 2; n > 0; n /= 2) {
    for (int64_t j = 0; j < n; ++j) parts[j] += parts[j + n];
  }
  return parts[0];
}

// The same as loops, of names that begin with `name`; `total`, a local number, is stored last. `lanes`: Vector where elements lie side by side.
inline std::vector<loops::Stmt> ordered_sum(const loops::BufferRef& total, int64_t size, const std::string& name,
                                            loops::LoopKind lanes,
                                            const std::function<loops::Expr(loops::Expr)>& term) {
  using namespace loops;
  const DType dtype = total->dtype;
  const int64_t whole = size / kPartialSums;
  const auto index = [](int64_t i) { return constant_int(DType::Int64, i); };
  const auto named = [&](const char* part) { return variable(name + part); };
  const auto add = [&](const BufferRef& to, const Expr& at, const Expr& value) {
    return store(to, {at}, load(to, {at}) + value);
  };
  const BufferRef parts = local_buffer(name + "_parts", dtype, {kPartialSums}),
                  joined = local_buffer(name + "_joined", dtype, {kPartialSums});
  std::vector<Stmt> body = {alloc(parts),
                            loop(name + "_a", kPartialSums, store(parts, {named("_a")}, constant(dtype, 0)), lanes)};
  if (whole > 0) {
    const Expr here = term(named("_o") * index(kPartialSums) + named("_i"));
    body.push_back(loop(name + "_o", whole, loop(name + "_i", kPartialSums, add(parts, named("_i"), here), lanes)));
  }
  // In memory, where single ones of them are read; `parts` stays in a register.
  body.insert(body.end(), {alloc(joined), loop(name + "_b", kPartialSums,
                                               store(joined, {named("_b")}, load(parts, {named("_b")})), lanes)});
  if (size % kPartialSums > 0)
    body.push_back(loop(name + "_t", size % kPartialSums,
                        add(joined, named("_t"), term(named("_t") + index(whole * kPartialSums)))));
  for (int64_t n = kPartialSums / 2; n > 0; n /= 2) {
    const std::string j = name + "_j" + std::to_string(n);
    body.push_back(loop(j, n, add(joined, variable(j), load(joined, {variable(j) + index(n)})),
                        n > 1 ? lanes : LoopKind::Unrolled));
  }
  body.push_back(store(total, {}, load(joined, {index(0)})));
  return body;
}

}  // namespace dnn
