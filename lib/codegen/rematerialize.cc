// The search for steps to run again; see rematerialize.h.
#include "codegen/rematerialize.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "codegen/memory_plan.h"

namespace dnn::codegen {
namespace {

// Each limit is this share of the one before it.
constexpr double kNextLimit = 0.97;
// Values smaller than this share of the peak are kept rather than made again, and are no move of their own.
constexpr int64_t kSmallShare = 256;
// How far back a move goes for what a step reads.
constexpr int kMostDepth = 64;
// A step of a smaller share of the cost of all is cheap: some moves repeat such steps alone.
constexpr double kCheapShare = 1.0 / 400;
// Values of the peak that are tried in each round.
constexpr size_t kMostTried = 48;

struct Lives {
  std::vector<int> first, last;            // by version: positions; first -1: no longer made
  std::vector<std::vector<int>> versions;  // by value; of a sequence that is to be changed
  std::vector<int64_t> bytes_at;           // by position
  int64_t peak = 0;
  int peak_at = 0;
};

// How a move gets at what a repeated step reads and is no longer there.
struct Reach {
  bool repeats;  // makes it again; else it is kept from its last use on
  bool cheap;    // but only by cheap steps
  bool shares;   // versions that come later are dropped, and read the new one
};
constexpr Reach kReaches[] = {
    {false, false, false}, {false, false, true}, {true, true, false},
    {true, true, true},    {true, false, false}, {true, false, true},
};

// Steps in order, with the versions that they read and make. Copied for each move that is tried, so all is flat.
class Sequence {
 public:
  explicit Sequence(const RematerialProblem& problem) : problem_(&problem) {
    for (size_t i = 0; i < problem.steps.size(); ++i) {
      const RematerialStep& step = problem.steps[i];
      items_.push_back({static_cast<int>(i), false, add(step.reads), add(step.makes)});
      cost_ += step.cost;
    }
    for (size_t v = 0; v < problem.bytes.size(); ++v) value_of_.push_back(static_cast<int>(v));
    drop_unread();
  }

  double cost() const { return cost_; }
  int size() const { return static_cast<int>(items_.size()); }

  Lives lives() const {
    Lives lives;
    lives.first.assign(value_of_.size(), -1);
    lives.last.assign(value_of_.size(), -1);
    for (int at = 0; at < size(); ++at) {
      for_each(items_[at].reads, step(at).reads, [&](int version) { lives.last[version] = at; });
      for_each(items_[at].makes, step(at).makes, [&](int version) { lives.first[version] = lives.last[version] = at; });
    }
    std::vector<int64_t> change(items_.size() + 1);
    for (size_t version = 0; version < value_of_.size(); ++version) {
      if (lives.first[version] < 0) continue;
      change[lives.first[version]] += bytes(static_cast<int>(version));
      change[lives.last[version] + 1] -= bytes(static_cast<int>(version));
    }
    lives.bytes_at.resize(items_.size());
    int64_t now = 0;
    for (int at = 0; at < size(); ++at) {
      now += change[at];
      lives.bytes_at[at] = now + step(at).temporary_bytes;
      if (lives.bytes_at[at] > lives.peak) {
        lives.peak = lives.bytes_at[at];
        lives.peak_at = at;
      }
    }
    return lives;
  }

  std::vector<std::vector<int>> versions(const Lives& lives) const {
    std::vector<std::vector<int>> found(problem_->bytes.size());
    for (size_t version = 0; version < value_of_.size(); ++version) {
      if (lives.first[version] >= 0) found[value_of_[version]].push_back(static_cast<int>(version));
    }
    return found;
  }

  // Bytes of versions that are alive at `at` and next read behind it, the next reads, and what repeating the step costs.
  struct Candidate {
    int version, next;
    double worth;
  };
  std::vector<Candidate> candidates(const Lives& lives, int at) const {
    std::vector<Candidate> found;
    for (size_t i = 0; i < value_of_.size(); ++i) {
      const int version = static_cast<int>(i);
      if (lives.first[i] < 0 || lives.first[i] >= at || lives.last[i] <= at ||
          bytes(version) < lives.peak / kSmallShare)
        continue;
      const int maker = items_[lives.first[i]].step;
      if (!problem_->steps[maker].repeatable || reads(at, version)) continue;
      int next = at + 1;
      while (!reads(next, version)) ++next;
      found.push_back({version, next, static_cast<double>(bytes(version)) / (problem_->steps[maker].cost + 1)});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
    return found;
  }

  // The sequence in which reads of `version` from position `at` on are of one that is made again there.
  Sequence moved(const Lives& lives, int version, int at, const Reach& reach) const {
    Sequence result = *this;
    Chain chain{this, &result, &lives, at, reach, {}, {}};
    chain.make(value_of_[version], 0);
    for (const auto& [value, fresh] : chain.made) {
      for (int later = at; later < size(); ++later) {
        for (size_t k = 0; k < step(later).reads.size(); ++k) {
          int& read = result.pool_[static_cast<size_t>(items_[later].reads) + k];
          if (read >= static_cast<int>(value_of_.size()) || value_of_[read] != value) continue;
          if (read == version || (reach.shares && lives.first[read] >= at)) read = fresh;
        }
      }
    }
    for (const Item& item : chain.items) result.cost_ += problem_->steps[item.step].cost;
    result.items_.insert(result.items_.begin() + at, chain.items.begin(), chain.items.end());
    result.drop_unread();
    return result;
  }

  std::vector<RematerialItem> items() const {
    std::vector<RematerialItem> result;
    for (int at = 0; at < size(); ++at) {
      RematerialItem item{items_[at].step, items_[at].again, {}, {}};
      for_each(items_[at].reads, step(at).reads, [&](int version) { item.reads.push_back(version); });
      for_each(items_[at].makes, step(at).makes, [&](int version) { item.makes.push_back(version); });
      result.push_back(std::move(item));
    }
    return result;
  }
  const std::vector<int>& value_of() const { return value_of_; }

  int64_t planned() const {
    const Lives all = lives();
    std::vector<Lifetime> values;
    for (size_t version = 0; version < value_of_.size(); ++version) {
      if (all.first[version] >= 0)
        values.push_back({bytes(static_cast<int>(version)), all.first[version], all.last[version]});
    }
    for (int at = 0; at < size(); ++at) {
      if (step(at).temporary_bytes > 0) values.push_back({step(at).temporary_bytes, at, at});
    }
    int64_t bytes = 0;
    plan_memory(values, &bytes);
    return bytes;
  }

 private:
  struct Item {
    int step;
    bool again;
    int reads, makes;  // in pool_
  };

  // The steps that one move puts in front of position `at`.
  struct Chain {
    const Sequence* before;
    Sequence* after;
    const Lives* lives;
    int at;
    Reach reach;
    std::vector<Item> items;
    std::vector<std::pair<int, int>> made;  // value, version

    int make(int value, int depth) {
      const int old = lives->versions[value].front();
      const int index = before->items_[lives->first[old]].step;
      const RematerialStep& step = before->problem_->steps[index];
      std::vector<int> reads, makes;
      for (int read : step.reads) reads.push_back(get(read, depth + 1));
      int result = -1;
      for (int output : step.makes) {
        makes.push_back(static_cast<int>(after->value_of_.size()));
        after->value_of_.push_back(output);
        if (output != value && !reach.shares) continue;
        made.emplace_back(output, makes.back());
        if (output == value) result = makes.back();
      }
      items.push_back({index, true, after->add(reads), after->add(makes)});
      return result;
    }

    // The version that a step here reads: one that is alive, or that is kept, or made again.
    int get(int value, int depth) {
      for (const auto& [other, version] : made) {
        if (other == value) return version;
      }
      int kept = -1;
      for (int version : lives->versions[value]) {
        if (lives->first[version] >= at) continue;
        if (lives->last[version] >= at) return version;
        kept = version;
      }
      const int maker = before->items_[lives->first[kept]].step;
      const RematerialStep& step = before->problem_->steps[maker];
      const bool is_small = before->problem_->bytes[value] < lives->peak / kSmallShare;
      const bool can =
          step.repeatable && depth < kMostDepth && (!reach.cheap || step.cost < before->cost_ * kCheapShare);
      return reach.repeats && can && !is_small ? make(value, depth) : kept;
    }
  };

  const RematerialStep& step(int at) const { return problem_->steps[items_[at].step]; }
  int64_t bytes(int version) const { return problem_->bytes[value_of_[version]]; }

  int add(const std::vector<int>& versions) {
    const int at = static_cast<int>(pool_.size());
    pool_.insert(pool_.end(), versions.begin(), versions.end());
    return at;
  }
  template <typename Use>
  void for_each(int from, const std::vector<int>& like, const Use& use) const {
    for (size_t k = 0; k < like.size(); ++k) use(pool_[from + static_cast<int>(k)]);
  }
  bool reads(int at, int version) const {
    const auto from = pool_.begin() + items_[at].reads;
    return std::find(from, from + static_cast<std::ptrdiff_t>(step(at).reads.size()), version) !=
           from + static_cast<std::ptrdiff_t>(step(at).reads.size());
  }

  // Takes out steps of which nothing is read.
  void drop_unread() {
    std::vector<int> readers(value_of_.size(), 0);
    for (int at = 0; at < size(); ++at)
      for_each(items_[at].reads, step(at).reads, [&](int version) { ++readers[version]; });
    std::vector<Item> left;
    for (int at = size() - 1; at >= 0; --at) {
      bool is_read = step(at).kept || step(at).makes.empty();
      for_each(items_[at].makes, step(at).makes, [&](int version) { is_read = is_read || readers[version] > 0; });
      if (is_read) {
        left.push_back(items_[at]);
        continue;
      }
      cost_ -= step(at).cost;
      for_each(items_[at].reads, step(at).reads, [&](int version) { --readers[version]; });
    }
    std::reverse(left.begin(), left.end());
    items_ = std::move(left);
  }

  const RematerialProblem* problem_;
  std::vector<Item> items_;
  std::vector<int> pool_;      // of versions
  std::vector<int> value_of_;  // by version
  double cost_ = 0;
};

// Bytes above the limit, summed over the steps.
double excess(const Lives& lives, double limit) {
  double sum = 0;
  for (int64_t bytes : lives.bytes_at) sum += std::max(0.0, static_cast<double>(bytes) - limit);
  return sum;
}

// The best move, made; none where none helps.
std::optional<Sequence> best_move(const Sequence& now, Lives lives, double limit, double most_cost) {
  std::optional<Sequence> best;
  double best_score = 0;
  const double above = excess(lives, limit);
  lives.versions = now.versions(lives);
  size_t tried = 0;
  for (const Sequence::Candidate& candidate : now.candidates(lives, lives.peak_at)) {
    if (++tried > kMostTried) break;
    for (const Reach& reach : kReaches) {
      Sequence next = now.moved(lives, candidate.version, candidate.next, reach);
      if (next.cost() > most_cost) continue;
      const double gain = above - excess(next.lives(), limit);
      if (gain <= 0) continue;
      const double score = gain / std::max(next.cost() - now.cost(), 1e-6 * now.cost());
      if (score <= best_score) continue;
      best_score = score;
      best = std::move(next);
    }
  }
  return best;
}

}  // namespace

Rematerialized rematerialize(const RematerialProblem& problem) {
  Sequence now(problem), best = now;
  const double cost = now.cost(), most_cost = cost * (1 + problem.most_added);
  // Memory times time: the last bytes may cost more than they are worth.
  const auto product = [](const Sequence& sequence, int64_t bytes) {
    return static_cast<double>(bytes) * sequence.cost();
  };
  Rematerialized result;
  result.before_bytes = result.after_bytes = now.planned();
  Lives lives = now.lives();
  bool stuck = lives.peak == 0;
  for (auto limit = static_cast<double>(lives.peak) * kNextLimit; !stuck; limit *= kNextLimit) {
    while (static_cast<double>(lives.peak) > limit) {
      std::optional<Sequence> next = best_move(now, lives, limit, most_cost);
      stuck = !next;
      if (stuck) break;
      now = std::move(*next);
      lives = now.lives();
    }
    const int64_t planned = now.planned();
    if (product(now, planned) < product(best, result.after_bytes)) {
      result.after_bytes = planned;
      best = now;
    }
  }
  result.items = best.items();
  result.value_of = best.value_of();
  result.added = cost > 0 ? best.cost() / cost - 1 : 0;
  return result;
}

int64_t planned_bytes(const RematerialProblem& problem) { return Sequence(problem).planned(); }

}  // namespace dnn::codegen
