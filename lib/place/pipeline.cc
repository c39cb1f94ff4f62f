// Cutting networks into stages and dealing inferences to devices; see pipeline.h.
#include "place/pipeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dnn::place {
namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();
constexpr size_t kMostPermuted = 4;

// Sums of the blocks' times on each device: of blocks [i, k) in O(1).
class StageTimes {
 public:
  StageTimes(const NetworkCost& cost, const std::vector<double>& slower) : cost_(cost) {
    for (size_t d = 0; d < cost.devices(); ++d) {
      std::vector<double>& sums = sums_.emplace_back(1, 0.0);
      for (const BlockCost& block : cost.blocks) {
        const double us = std::accumulate(block.branch_us[d].begin(), block.branch_us[d].end(), block.join_us[d]);
        sums.push_back(sums.back() + us * slower[d]);
      }
    }
  }

  // Time of blocks [i, k) on a device; behind the first stage with the way of their input from the one before.
  double us(size_t i, size_t k, size_t device, const size_t* before) const {
    const double work = sums_[device][k] - sums_[device][i];
    return before == nullptr ? work : work + cost_.copy[*before][device].of(cost_.blocks[i].bytes_in);
  }

  size_t blocks() const { return cost_.blocks.size(); }

 private:
  const NetworkCost& cost_;
  std::vector<std::vector<double>> sums_;  // by device: of the first k blocks
};

// The best cut for devices in this order, each with one stage of at least one block.
Stages cut_for(const StageTimes& times, const std::vector<size_t>& devices) {
  const size_t n = times.blocks(), stages = devices.size();
  Stages result{devices, std::vector<size_t>(n, 0), kUnreached};
  if (n < stages) return result;
  // longest[s][k]: of stages 0..s over the first k blocks; from[s][k]: where stage s begins then.
  std::vector<std::vector<double>> longest(stages, std::vector<double>(n + 1, kUnreached));
  std::vector<std::vector<size_t>> from(stages, std::vector<size_t>(n + 1, 0));
  for (size_t k = 1; k <= n; ++k) longest[0][k] = times.us(0, k, devices[0], nullptr);
  for (size_t s = 1; s < stages; ++s) {
    for (size_t k = s + 1; k <= n; ++k) {
      for (size_t i = s; i < k; ++i) {
        const double us = std::max(longest[s - 1][i], times.us(i, k, devices[s], &devices[s - 1]));
        if (us >= longest[s][k]) continue;
        longest[s][k] = us;
        from[s][k] = i;
      }
    }
  }
  result.us = longest[stages - 1][n];
  size_t end = n;
  for (size_t s = stages; s-- > 0;) {
    const size_t begin = s == 0 ? 0 : from[s][end];
    std::fill(result.of_blocks.begin() + static_cast<std::ptrdiff_t>(begin),
              result.of_blocks.begin() + static_cast<std::ptrdiff_t>(end), s);
    end = begin;
  }
  return result;
}

// All orders of two and more of `n` devices; with many devices the listed order and what it begins with.
std::vector<std::vector<size_t>> orders_of(size_t n) {
  std::vector<std::vector<size_t>> orders;
  std::vector<size_t> all(n);
  std::iota(all.begin(), all.end(), size_t{0});
  do {
    for (size_t used = 2; used <= n; ++used)
      orders.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(used));
  } while (n <= kMostPermuted && std::next_permutation(all.begin(), all.end()));
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

}  // namespace

Stages search_stages(const NetworkCost& cost, const std::vector<double>& slower) {
  Stages best;
  best.us = kUnreached;
  if (cost.blocks.size() < 2 || cost.devices() < 2) return {};
  const StageTimes times(cost, slower);
  for (const std::vector<size_t>& devices : orders_of(cost.devices())) {
    Stages stages = cut_for(times, devices);
    if (stages.us < best.us) best = std::move(stages);
  }
  return best;
}

std::vector<size_t> places_of(const Graph& graph, const std::vector<Block>& blocks, const Stages& stages) {
  std::vector<size_t> places(graph.node_slots(), 0);
  for (size_t k = 0; k < blocks.size(); ++k) {
    const size_t device = stages.devices[stages.of_blocks[k]];
    for (NodeId id : blocks[k].join) places[id] = device;
    for (const Branch& branch : blocks[k].branches) {
      for (NodeId id : branch.nodes) places[id] = device;
    }
  }
  return places;
}

std::vector<size_t> deal(const std::vector<double>& us, size_t queued) {
  if (us.empty()) return {};
  const double fastest = *std::min_element(us.begin(), us.end());
  double slowest = fastest;
  for (double one : us) slowest = one <= kMostTimesFaster * fastest ? std::max(slowest, one) : slowest;
  std::vector<size_t> wanted, given(us.size(), 0);
  for (double one : us)
    wanted.push_back(one > kMostTimesFaster * fastest ? 0 : queued * static_cast<size_t>(std::lround(slowest / one)));
  // Each in turn to the device that is furthest behind its share, of equal ones to the first.
  std::vector<size_t> lanes;
  const size_t total = std::accumulate(wanted.begin(), wanted.end(), size_t{0});
  while (lanes.size() < total) {
    size_t next = us.size();
    const auto behind = [&](size_t d) {
      return static_cast<double>(wanted[d] * (lanes.size() + 1)) / static_cast<double>(total) -
             static_cast<double>(given[d]);
    };
    for (size_t d = 0; d < us.size(); ++d) {
      if (given[d] < wanted[d] && (next == us.size() || behind(d) > behind(next))) next = d;
    }
    ++given[next];
    lanes.push_back(next);
  }
  return lanes;
}

double dealt_us(const std::vector<size_t>& lanes, const std::vector<double>& us) {
  double longest = 0;
  for (size_t d = 0; d < us.size(); ++d)
    longest = std::max(longest, us[d] * static_cast<double>(std::count(lanes.begin(), lanes.end(), d)));
  return lanes.empty() ? 0 : longest / static_cast<double>(lanes.size());
}

}  // namespace dnn::place
