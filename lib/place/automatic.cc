// find_placement(): measures, searches, measures again; see automatic.h.
#include "place/automatic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/error.h"
#include "place/blocks.h"
#include "place/costs.h"
#include "place/divisions.h"
#include "place/timeline.h"

namespace dnn::place {
namespace {

constexpr int64_t kPlacedWarmUp = 5;

std::string ms(double us) { return formatted("%.3f", us / 1e3) + " ms"; }

std::string percent(double share) { return cat(std::lround(100 * share), " %"); }

bool on_one_device(const Graph& graph, const std::vector<size_t>& places) {
  std::set<size_t> used;
  for (NodeId id : graph.order()) used.insert(places[id]);
  return used.size() < 2;
}

class AutoPlacement {
 public:
  AutoPlacement(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options)
      : graph_(graph), numbered_(numbered(graph)), parts_(parts), options_(options), inputs_(inputs_for(graph)) {}

  Found find(int64_t runs) {
    open_singles();
    std::vector<Candidate> candidates = predicted_candidates();
    std::vector<Way> ways;
    for (size_t i = 0; i < sessions_.size(); ++i)
      ways.push_back({[this, i] { return on_part(found_.singles[i].part, [&] { return sessions_[i]->run(inputs_); }); },
                      found_.singles[i].part.cores});
    for (Candidate& candidate : candidates) {
      const Divided divided = divide(graph_, candidate.placement);
      candidate.session = open_parallel(divided.graph, parts_, divided.places, options_);
      ways.push_back(
          {[&candidate, this] { return candidate.session->run(inputs_); }, candidate.session->callers_processors()});
    }
    run_in_turns(ways, kPlacedWarmUp, runs);
    compare(ways, candidates);
    say_what_is_in_the_way();
    return std::move(found_);
  }

 private:
  struct Candidate {
    Placement placement;
    double predicted_us = 0;
    bool proved = false;  // that the measured costs predict no faster one
    std::unique_ptr<ParallelSession> session;
  };

  // Each part alone, then all processors of several of them as one device.
  void open_singles() {
    std::vector<Part> all = parts_;
    const std::vector<Part> joined = joined_parts(parts_);
    all.insert(all.end(), joined.begin(), joined.end());
    sessions_ = open_each_alone(numbered_, all, options_).sessions;
    for (const Part& part : all) found_.singles.push_back({part, {}});
  }

  // Placements worth measuring: the best by the measured costs, and the best where handing over costs more than was measured.
  std::vector<Candidate> predicted_candidates() {
    constexpr double kDearer[] = {1, 4};
    if (parts_.size() < 2) return {};
    const std::vector<std::unique_ptr<Session>>& alone = sessions_;
    measured_ = measure_costs(graph_, parts_, alone, options_);
    blocks_ = find_blocks(graph_);
    cost_ = cost_of(blocks_, measured_);
    std::vector<Candidate> candidates;
    for (double dearer : kDearer) {
      NetworkCost cost = cost_;
      cost.copy = dearer_copies(cost_.copy, dearer);
      const Searched searched = search_placement(cost);
      if (dearer == 1) found_.proved = searched.proved;
      add({{places_of(graph_, blocks_, searched.blocks)},
           predicted_us(cost_, searched.blocks),
           searched.proved && dearer == 1,
           nullptr},
          &candidates);
    }
    for (double dearer : kDearer) {
      DividedSearch searched = search_divided(graph_, blocks_, measured_, dearer);
      found_.chains = searched.chains;
      if (searched.placement.divisions.empty()) continue;
      // The others are not the best by these costs then.
      for (Candidate& other : candidates) other.proved = other.proved && other.predicted_us <= searched.us;
      add({std::move(searched.placement), searched.us, searched.proved, nullptr}, &candidates);
    }
    return candidates;
  }

  // Where it is on several devices, and not there yet.
  void add(Candidate candidate, std::vector<Candidate>* candidates) const {
    const bool known = std::any_of(candidates->begin(), candidates->end(),
                                   [&](const Candidate& c) { return c.placement == candidate.placement; });
    const bool several = !candidate.placement.divisions.empty() || !on_one_device(graph_, candidate.placement.places);
    if (!known && several) candidates->push_back(std::move(candidate));
  }

  void compare(const std::vector<Way>& ways, const std::vector<Candidate>& candidates) {
    double rate = 0;
    for (size_t i = 0; i < found_.singles.size(); ++i) {
      found_.singles[i].latency = latency_of(ways[i].us);
      if (i < parts_.size()) rate += 1 / found_.singles[i].latency.median;
      if (found_.singles[i].latency.median < found_.singles[found_.best].latency.median) found_.best = i;
    }
    found_.bound_us = 1 / rate;
    const Candidate* fastest = nullptr;
    found_.undivided_us = found_.singles[found_.best].latency.median;
    for (size_t c = 0; c < candidates.size(); ++c) {
      const Latency latency = latency_of(ways[found_.singles.size() + c].us);
      count_divided(candidates[c].placement.divisions.size(), latency.median);
      if (fastest != nullptr && latency.median >= found_.placed.median) continue;
      fastest = &candidates[c];
      found_.placed = latency;
      found_.predicted_us = candidates[c].predicted_us;
      found_.proved = candidates[c].proved;
    }
    const Single& best = found_.singles[found_.best];
    found_.worth_it = fastest != nullptr && best.latency.median >= kWorthIt * found_.placed.median;
    found_.parts = found_.worth_it ? parts_ : std::vector<Part>{best.part};
    found_.placement = found_.worth_it ? fastest->placement : Placement{std::vector<size_t>(graph_.node_slots(), 0)};
  }

  // A placement that divides so many layers was measured.
  void count_divided(size_t divisions, double us) {
    if (divisions == 0) {
      found_.undivided_us = std::min(found_.undivided_us, us);
    } else if (found_.divided == 0 || us < found_.divided_us) {
      found_.divided = divisions;
      found_.divided_us = us;
    }
  }

  void say_what_is_in_the_way() {
    if (parts_.size() < 2) return;
    size_t branched = 0;
    double at_once = 0, all = 0;
    const size_t d = std::min(found_.best, parts_.size() - 1);
    for (const BlockCost& block : cost_.blocks) {
      const double join = block.join_us[d];
      double branches = 0;
      for (double us : block.branch_us[d]) branches += us;
      branched += block.branch_bytes.empty() ? 0 : 1;
      at_once += branches;
      all += branches + join;
    }
    found_.in_the_way.push_back(cat(branched, " of ", cost_.blocks.size(), " blocks have branches, which take ",
                                    percent(all > 0 ? at_once / all : 0), " of the time on ", parts_[d].label()));
    for (size_t a = 0; a < parts_.size(); ++a) {
      for (size_t b = a + 1; b < parts_.size(); ++b) {
        const CopyCost& copy = cost_.copy[a][b];
        constexpr double kMiB = 1 << 20;
        found_.in_the_way.push_back(cat("handing over from ", parts_[a].label(), " to ", parts_[b].label(), " takes ",
                                        formatted("%.0f", copy.us), " us and ",
                                        formatted("%.0f", copy.us_per_byte * kMiB), " us for each MiB"));
      }
    }
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (measured_.contention[p] >= 1.02)
        found_.in_the_way.push_back(cat(parts_[p].label(), " takes ", formatted("%.2f", measured_.contention[p]),
                                        " times as long while the others work, too"));
    }
  }

  const Graph& graph_;
  const Graph numbered_;
  const std::vector<Part>& parts_;
  const CompileOptions& options_;
  const std::vector<Tensor> inputs_;
  std::vector<std::unique_ptr<Session>> sessions_;  // of the singles
  std::vector<Block> blocks_;
  Measured measured_;
  NetworkCost cost_;
  Found found_;
};

}  // namespace

Found find_placement(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options, int64_t runs) {
  return AutoPlacement(graph, parts, options).find(runs);
}

std::string found_text(const Found& found) {
  std::string text;
  for (const Single& single : found.singles)
    text += cat(single.part.label(), " alone: ", ms(single.latency.median), "\n");
  const Single& best = found.singles[found.best];
  text += cat("bound 1/sum(1/t): ", ms(found.bound_us), "\n");
  if (found.placed.median > 0) {
    text += cat("on several devices: ", ms(found.placed.median), " (predicted ", ms(found.predicted_us), ", ",
                found.proved ? "the best by these costs" : "not the best by these costs", "), ",
                formatted("%.2f", best.latency.median / found.placed.median), " times the best single device\n");
  } else if (found.singles.size() > 1) {
    text += cat("no placement on several devices is predicted to be faster", found.proved ? "" : ", not proved", "\n");
  }
  if (found.divided > 0) {
    text += cat("with ", found.divided, " of ", found.chains, " layers divided over devices: ", ms(found.divided_us),
                "; with none: ", ms(found.undivided_us), "\n");
  } else if (found.chains > 0) {
    text += cat("none of ", found.chains, " layers is predicted to be faster divided over devices\n");
  }
  for (const std::string& sentence : found.in_the_way) text += cat("in the way: ", sentence, "\n");
  if (!found.worth_it) text += cat("not worth it: all runs on ", best.part.label(), "\n");
  return text;
}

}  // namespace dnn::place
