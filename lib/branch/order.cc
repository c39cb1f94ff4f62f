// order_channels(): a bisection of each group of channels, as of a graph whose edges are weights.
#include "branch/order.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "branch/channel_groups.h"

namespace dnn::branch {
namespace {

// How much of `reader`'s branches want of a channel that `read` places, and do not have.
int missing(uint32_t reader, uint32_t read) { return std::popcount(reader & ~read); }

class Orderer {
 public:
  explicit Orderer(ChannelGroups& all) : groups_(all.groups), links_(all.links) {}

  void improve() {
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      bool any = false;
      for (size_t g = 0; g < groups_.size(); ++g) any |= improve(g);
      if (!any) return;
    }
  }

  double lost() const {
    double sum = 0;
    for (const ChannelLink& link : links_) sum += lost_of(link);
    return links_.empty() ? 0 : sum / static_cast<double>(links_.size());
  }

 private:
  // Weights of a link by the places of the channels at their other ends; a channel's weight of itself is lost nowhere, and not in them.
  struct Sums {
    size_t n_masks;
    std::vector<double> rows, columns;  // [made, mask of read], [read, mask of made]
  };
  Sums sums_of(const ChannelLink& link) const {
    const std::vector<uint32_t> made = masks(link.made, link.stage), read = masks(link.read, link.stage);
    Sums sums{size_t{1} << std::bit_width(*std::max_element(made.begin(), made.end()) |
                                          *std::max_element(read.begin(), read.end())),
              {},
              {}};
    sums.rows.resize(made.size() * sums.n_masks);
    sums.columns.resize(read.size() * sums.n_masks);
    const float* w = link.weight.data();
    for (size_t o = 0; o < made.size(); ++o) {
      for (size_t i = 0; i < read.size(); ++i, ++w) {
        if (link.made == link.read && o == i) continue;
        sums.rows[o * sums.n_masks + read[i]] += *w;
        sums.columns[i * sums.n_masks + made[o]] += *w;
      }
    }
    return sums;
  }

  std::vector<uint32_t> masks(size_t group, size_t stage) const {
    std::vector<uint32_t> result(groups_[group].channels);
    for (size_t c = 0; c < result.size(); ++c) result[c] = groups_[group].mask(static_cast<int64_t>(c), stage);
    return result;
  }

  double lost_of(const ChannelLink& link) const {
    const Sums sums = sums_of(link);
    double lost = 0, rows = 0;
    for (int64_t o = 0; o < groups_[link.made].channels; ++o) {
      const uint32_t mask = groups_[link.made].mask(o, link.stage);
      rows += std::popcount(mask);
      for (uint32_t m = 0; m < sums.n_masks; ++m) lost += missing(mask, m) * sums.rows[o * sums.n_masks + m];
    }
    return lost / rows;
  }

  // The sum over links that a group has part in.
  double lost_around(size_t g) const {
    double sum = 0;
    for (const ChannelLink& link : links_) {
      if (link.made == g || link.read == g) sum += lost_of(link);
    }
    return sum;
  }

  // By channel of group g: the weights that it would lose, and make others lose, in each kind of places.
  using Costs = std::vector<std::vector<double>>;  // [channel][kind]
  Costs costs_of(size_t g, const std::vector<Places>& kinds) const {
    Costs costs(groups_[g].channels, std::vector<double>(kinds.size(), 0));
    for (const ChannelLink& link : links_) {
      if (link.made != g && link.read != g) continue;
      const Sums sums = sums_of(link);
      for (size_t c = 0; c < costs.size(); ++c) {
        for (size_t k = 0; k < kinds.size(); ++k) {
          const uint32_t mine = kinds[k][link.stage];
          for (uint32_t m = 0; m < sums.n_masks; ++m) {
            if (link.made == g) costs[c][k] += sums.rows[c * sums.n_masks + m] * missing(mine, m);
            if (link.read == g) costs[c][k] += sums.columns[c * sums.n_masks + m] * missing(m, mine);
          }
        }
      }
    }
    return costs;
  }

  // One pass of swaps over a group; whether it lost less then.
  bool improve(size_t g) {
    ChannelGroup& group = groups_[g];
    if (group.fixed) return false;
    std::vector<Places> kinds(group.places);
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    if (kinds.size() < 2) return false;
    std::vector<size_t> kind(group.channels);
    for (int64_t c = 0; c < group.channels; ++c)
      kind[c] = std::lower_bound(kinds.begin(), kinds.end(), group.places[group.position_of[c]]) - kinds.begin();
    const double before = lost_around(g);
    const std::vector<int64_t> old = group.channel_at;
    Costs costs = costs_of(g, kinds);
    std::vector<bool> done(group.channels, false);
    while (const auto swap = best_swap(costs, kind, kinds.size(), done)) {
      const auto [a, b] = *swap;
      std::swap(kind[a], kind[b]);
      std::swap(group.channel_at[group.position_of[a]], group.channel_at[group.position_of[b]]);
      std::swap(group.position_of[a], group.position_of[b]);
      done[a] = done[b] = true;
      update(costs, g, kinds, kind, {a, b});
    }
    sort_within_kinds(group);
    if (lost_around(g) < before - 1e-9) return true;
    group.set_order(old);
    return false;
  }

  // The two channels of different kinds that gain most by a swap, of those not swapped in this pass.
  static std::optional<std::pair<int64_t, int64_t>> best_swap(const Costs& costs, const std::vector<size_t>& kind,
                                                              size_t n_kinds, const std::vector<bool>& done) {
    // By kinds from and to: the channel that gains most.
    std::vector<int64_t> best(n_kinds * n_kinds, -1);
    const auto gain = [&](int64_t c, size_t to) { return costs[c][kind[c]] - costs[c][to]; };
    for (size_t c = 0; c < costs.size(); ++c) {
      if (done[c]) continue;
      for (size_t to = 0; to < n_kinds; ++to) {
        int64_t& at = best[kind[c] * n_kinds + to];
        if (at < 0 || gain(static_cast<int64_t>(c), to) > gain(at, to)) at = static_cast<int64_t>(c);
      }
    }
    std::optional<std::pair<int64_t, int64_t>> result;
    double most = 1e-12;
    for (size_t k = 0; k < n_kinds; ++k) {
      for (size_t l = k + 1; l < n_kinds; ++l) {
        const int64_t a = best[k * n_kinds + l], b = best[l * n_kinds + k];
        if (a < 0 || b < 0 || gain(a, l) + gain(b, k) <= most) continue;
        most = gain(a, l) + gain(b, k);
        result = {a, b};
      }
    }
    return result;
  }

  // Costs of a group that reads its own channels change with a swap.
  void update(Costs& costs, size_t g, const std::vector<Places>& kinds, const std::vector<size_t>& kind,
              const std::pair<int64_t, int64_t>& swapped) const {
    const auto& [a, b] = swapped;  // a has b's old kind now
    for (const ChannelLink& link : links_) {
      if (link.made != g || link.read != g) continue;
      const int64_t n = groups_[g].channels;
      for (const auto& [moved, was, is] : {std::tuple{a, kind[b], kind[a]}, std::tuple{b, kind[a], kind[b]}}) {
        const uint32_t from = kinds[was][link.stage], to = kinds[is][link.stage];
        for (int64_t c = 0; c < n; ++c) {
          if (c == moved) continue;
          for (size_t k = 0; k < kinds.size(); ++k) {
            const uint32_t mask = kinds[k][link.stage];
            costs[c][k] += link.weight[c * n + moved] * (missing(mask, to) - missing(mask, from)) +
                           link.weight[moved * n + c] * (missing(to, mask) - missing(from, mask));
          }
        }
      }
    }
  }

  // Channels of the same places in the source's order: which of these comes first makes no difference.
  static void sort_within_kinds(ChannelGroup& group) {
    std::map<Places, std::vector<int64_t>> of;
    for (int64_t p = 0; p < group.channels; ++p) of[group.places[p]].push_back(group.channel_at[p]);
    for (auto& [places, list] : of) std::sort(list.rbegin(), list.rend());
    std::vector<int64_t> order;
    for (int64_t p = 0; p < group.channels; ++p) {
      std::vector<int64_t>& list = of[group.places[p]];
      order.push_back(list.back());
      list.pop_back();
    }
    group.set_order(order);
  }

  std::vector<ChannelGroup>& groups_;
  const std::vector<ChannelLink>& links_;
};

}  // namespace

ChannelOrders order_channels(const Graph& source, const SourceStages& stages, const StretchPlan& plan) {
  if (plan.stages.size() != stages.stages.size()) return {};  // stretch() says so
  ChannelGroups all(source, stages, plan);
  Orderer(all).improve();
  ChannelOrders orders;
  for (const auto& [layer, group] : all.group_of) {
    if (!all.groups[group].fixed) orders[layer] = all.groups[group].channel_at;
  }
  return orders;
}

double lost_share(const Graph& source, const SourceStages& stages, const StretchPlan& plan,
                  const ChannelOrders& orders) {
  ChannelGroups all(source, stages, plan);
  for (const auto& [layer, order] : orders) {
    const auto group = all.group_of.find(layer);
    if (group != all.group_of.end()) all.groups[group->second].set_order(order);
  }
  return Orderer(all).lost();
}

}  // namespace dnn::branch
