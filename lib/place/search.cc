// The search of a placement; see search.h.
#include "place/search.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace dnn::place {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int64_t kMostSteps = 2'000'000;  // of branch and bound, in one block
constexpr size_t kHost = SIZE_MAX;         // where the network's inputs are: at hand for every device

// Microseconds from when the value at `from` is there until the block's is there on the join's device.
double block_us(const NetworkCost& cost, const BlockCost& block, size_t from, const BlockChoice& choice) {
  const auto copy = [&](size_t a, size_t b, int64_t bytes) { return a == kHost ? 0.0 : cost.copy[a][b].of(bytes); };
  const size_t join = choice.join;
  if (!choice.splits()) {
    const double arrives = from == kHost || from == join ? 0 : copy(from, join, block.bytes_in);
    return arrives + std::accumulate(block.branch_us[join].begin(), block.branch_us[join].end(), block.join_us[join]);
  }
  double ready = block.join_reads_input && from != join ? copy(from, join, block.bytes_in) : 0;
  for (size_t d = 0; d < cost.devices(); ++d) {
    double work = 0;
    int64_t bytes = 0;
    bool used = false;
    for (size_t b = 0; b < choice.branches.size(); ++b) {
      if (choice.branches[b] != d) continue;
      used = true;
      work += block.busy_us[d][b];
      bytes += block.branch_bytes[b];
    }
    if (used) ready = std::max(ready, copy(from, d, block.bytes_in) + work + copy(d, join, bytes));
  }
  return ready + block.join_us[join];
}

// Branch and bound over the devices of a block's branches, longest first, for one device in front and one behind.
class BlockSearch {
 public:
  BlockSearch(const NetworkCost& cost, const BlockCost& block, size_t from, size_t join)
      : cost_(cost), block_(block), from_(from), choice_{join, std::vector<size_t>(block.branch_bytes.size(), join)} {
    best_ = choice_;
    best_us_ = block_us(cost_, block_, from_, choice_);
    order_.resize(choice_.branches.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    const auto longest = [&](size_t b) {
      double us = 0;
      for (size_t d = 0; d < cost_.devices(); ++d) us = std::max(us, block_.busy_us[d][b]);
      return us;
    };
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return longest(a) > longest(b); });
    ends_.assign(cost_.devices(), 0);
    bytes_.assign(cost_.devices(), 0);
    for (size_t d = 0; d < cost_.devices(); ++d)
      starts_.push_back(from_ == kHost ? 0 : cost_.copy[from_][d].of(block_.bytes_in));
    if (!order_.empty()) descend(0, 0);
  }

  const BlockChoice& best() const { return best_; }
  double us() const { return best_us_; }
  bool proved() const { return steps_ < kMostSteps; }

 private:
  // `ready`: when the last of the branches so far is at the join. More branches only make it later.
  void descend(size_t i, double ready) {
    if (++steps_ >= kMostSteps) return;
    if (ready + block_.join_us[choice_.join] >= best_us_) return;
    if (i == order_.size()) {
      if (!choice_.splits()) return;  // that is one device alone, which is the first choice
      const double us = block_us(cost_, block_, from_, choice_);
      if (us >= best_us_) return;
      best_us_ = us;
      best_ = choice_;
      return;
    }
    const size_t b = order_[i];
    for (size_t d = 0; d < cost_.devices(); ++d) {
      ends_[d] += block_.busy_us[d][b];
      bytes_[d] += block_.branch_bytes[b];
      choice_.branches[b] = d;
      const double arrives = starts_[d] + ends_[d] + cost_.copy[d][choice_.join].of(bytes_[d]);
      // With all branches on the join's device there are no copies, and nothing else is busy.
      descend(i + 1, d == choice_.join ? ready : std::max(ready, arrives));
      ends_[d] -= block_.busy_us[d][b];
      bytes_[d] -= block_.branch_bytes[b];
    }
  }

  const NetworkCost& cost_;
  const BlockCost& block_;
  const size_t from_;
  BlockChoice choice_, best_;
  double best_us_ = kNever;
  std::vector<size_t> order_;
  std::vector<double> starts_, ends_;  // by device
  std::vector<int64_t> bytes_;
  int64_t steps_ = 0;
};

struct State {
  double us = kNever;
  std::vector<BlockChoice> path;
};

}  // namespace

bool BlockChoice::splits() const {
  return std::any_of(branches.begin(), branches.end(), [&](size_t d) { return d != join; });
}

std::vector<size_t> places_of(const Graph& graph, const std::vector<Block>& blocks,
                              const std::vector<BlockChoice>& choice) {
  std::vector<size_t> places(graph.node_slots(), 0);
  for (size_t k = 0; k < blocks.size(); ++k) {
    for (NodeId id : blocks[k].join) places[id] = choice[k].join;
    for (size_t b = 0; b < blocks[k].branches.size(); ++b) {
      for (NodeId id : blocks[k].branches[b].nodes) places[id] = choice[k].branches[b];
    }
  }
  return places;
}

double predicted_us(const NetworkCost& cost, const std::vector<BlockChoice>& choice) {
  double us = 0;
  size_t at = kHost;
  for (size_t k = 0; k < choice.size(); ++k) {
    us += block_us(cost, cost.blocks[k], at, choice[k]);
    at = choice[k].join;
  }
  return us;
}

Searched search_placement(const NetworkCost& cost) {
  Searched result;
  std::vector<State> states(cost.devices());
  for (size_t k = 0; k < cost.blocks.size(); ++k) {
    std::vector<State> next(cost.devices());
    for (size_t join = 0; join < cost.devices(); ++join) {
      const auto consider = [&](size_t from, double before, const std::vector<BlockChoice>& path) {
        const BlockSearch search(cost, cost.blocks[k], from, join);
        result.proved = result.proved && search.proved();
        if (before + search.us() >= next[join].us) return;
        next[join].us = before + search.us();
        next[join].path = path;
        next[join].path.push_back(search.best());
      };
      if (k == 0) {
        consider(kHost, 0, {});
        continue;
      }
      for (size_t from = 0; from < cost.devices(); ++from) consider(from, states[from].us, states[from].path);
    }
    states = std::move(next);
  }
  const auto best =
      std::min_element(states.begin(), states.end(), [](const State& a, const State& b) { return a.us < b.us; });
  if (best == states.end() || cost.blocks.empty()) return result;
  result.blocks = best->path;
  result.us = best->us;
  return result;
}

}  // namespace dnn::place
