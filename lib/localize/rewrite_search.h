// Searching the rewrites of one side for those that change its outputs.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "localize/searched_side.h"

namespace dnn {

struct RewriteSearch {
  std::vector<RewriteFinding> findings;
  std::vector<UnfinishedSearch> unfinished;
  LeftOut left_out;  // without which the rewrites agree
};

// Finds rewrites one by one, each with those before it left out. `differing` are the samples whose labels a finding is judged by.
RewriteSearch search_rewrites(const SearchedSide& side, const std::vector<size_t>& differing,
                              const BisectOptions& options);

// After `good` rewrites outputs agree, and after `bad` they depart; bad is good + 1 unless the time was over before.
struct BisectedRange {
  int64_t good = 0, bad = 0;
};
// Bisects 0 to `total`, first at `ends` (ascending, between them), which are states that can be had by name.
BisectedRange bisected_range(const std::vector<int64_t>& ends, int64_t total,
                             const std::function<bool(int64_t n)>& departs, const Deadline& deadline);

}  // namespace dnn
