// search_branches(): candidates of each stage, compiled and timed on each part, and the choice among them.
#include "branch/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "branch/config.h"
#include "branch/evaluate.h"
#include "ops/op.h"

namespace dnn::branch {
namespace {

constexpr int kWidths = 8;
constexpr int kWarmUp = 3;

class Stopwatch {
 public:
  Stopwatch(const std::vector<Part>& parts, const SearchOptions& options) : parts_(parts), options_(options) {}

  // Typical microseconds of a run on each part; one compilation for each kind of device.
  std::vector<double> measure(const Graph& graph) {
    std::map<std::string, std::shared_ptr<const Package>> packages;
    const std::vector<Tensor> inputs = place::inputs_for(graph);
    std::vector<double> result;
    for (const Part& part : parts_) {
      std::shared_ptr<const Package>& package = packages[part.device.text()];
      const std::unique_ptr<Session> session = place::on_part(part, [&] {
        if (package == nullptr)
          package = std::make_shared<Package>(compile(graph, place::options_for(part, options_.compile)));
        return place::open_alone(package, part);
      });
      const auto run = [&] { return place::on_part(part, [&] { return session->run(inputs); }); };
      const place::TypicalTime time = place::typical_time({run, part.cores}, kWarmUp, options_.runs);
      result.push_back(time.us);
      if (!time.runs_are_alike) ++unlike_[result.size() - 1];
    }
    ++graphs_;
    return result;
  }

  // By part: true where most graphs had runs that differ, as other programs take turns on its processors.
  std::vector<bool> shared_parts() const {
    std::vector<bool> shared;
    for (const int64_t unlike : unlike_) shared.push_back(2 * unlike > graphs_);
    return shared;
  }

 private:
  const std::vector<Part>& parts_;
  const SearchOptions& options_;
  std::vector<int64_t> unlike_ = std::vector<int64_t>(parts_.size(), 0);
  int64_t graphs_ = 0;
};

std::string device_of(const Part& part) { return find_processor(std::string(1, part.letter))->name; }

// Candidates of one stage on all parts, with the plan so far; those of full width and depth first, by part.
std::vector<Candidate> candidates_of(const Graph& source, const SourceStages& stages, StretchPlan plan, size_t index,
                                     size_t parts, Stopwatch& watch) {
  const auto depth = static_cast<int64_t>(stages.stages[index].blocks.size());
  const int64_t least = least_depth(stages.stages[index]);
  std::vector<Candidate> result;
  for (int eighths = kWidths; eighths >= 2; --eighths) {
    const double width = static_cast<double>(eighths) / kWidths;
    // A second branch that has the other channels stands beside it, so that the plan is one; it is not measured.
    const auto at = [&](int64_t blocks) {
      plan.stages.resize(index + 1);
      plan.stages[index] = {{plan.main_device, blocks, width}};
      if (eighths < kWidths) plan.stages[index].push_back({"", blocks, 1 - width});
      return stretch_stage(source, stages, plan, index, 0);
    };
    const Graph whole = at(depth);
    const std::vector<double> us = watch.measure(whole);
    const double flops = graph_flops(whole);
    std::vector<double> least_us = us;
    double least_flops = flops;
    if (least < depth) {
      const Graph shortest = at(least);
      least_us = watch.measure(shortest);
      least_flops = graph_flops(shortest);
    }
    for (int64_t d = depth; d >= least; --d) {
      const double part_of_way =
          least < depth ? static_cast<double>(d - least) / static_cast<double>(depth - least) : 1;
      for (size_t p = 0; p < parts; ++p)
        result.push_back({p, d, width, least_flops + (flops - least_flops) * part_of_way,
                          least_us[p] + (us[p] - least_us[p]) * part_of_way});
    }
  }
  return result;
}

std::string percent(double share) { return cat(std::lround(100 * share), " %"); }

std::string stage_line(const SourceStage& stage, size_t index, const SearchedStage& found,
                       const std::vector<Part>& parts) {
  std::string line = cat("stage ", index + 1, ": ", counted(stage.channels, "channel"), " of ", stage.height, " x ",
                         stage.width, ", ", counted(stage.blocks.size(), "block"), ";");
  for (const Candidate& c : found.whole)
    line += cat(" ", parts[c.part].letter, " ", std::lround(c.us), " us", c.part + 1 < parts.size() ? "," : ";");
  if (found.branches.empty()) return line + " not branched";
  const char* comma = " ";
  for (const Candidate& c : found.branches) {
    line += cat(comma, parts[c.part].letter, ": ", c.depth, " blocks of ", percent(c.width), " (", std::lround(c.us),
                " us)");
    comma = ", ";
  }
  return line;
}

// The choice among a stage's candidates, which begin with the whole stage on each part.
SearchedStage searched_stage(const std::vector<Candidate>& candidates, size_t parts, const SearchOptions& options) {
  SearchedStage found;
  found.whole.assign(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(parts));
  found.branches = choose_branches(candidates, found.whole, options);
  return found;
}

std::vector<BranchShape> shapes_of(const SearchedStage& found, const SourceStage& stage, const std::vector<Part>& parts,
                                   const std::string& main_device) {
  std::vector<BranchShape> branches;
  for (const Candidate& c : found.branches) branches.push_back({device_of(parts[c.part]), c.depth, c.width});
  if (branches.empty()) branches = {{main_device, static_cast<int64_t>(stage.blocks.size()), 1}};
  return branches;
}

// The search's result as if each shared part were `times` as slow.
SearchResult with_slower_parts(const SourceStages& stages, const std::vector<Part>& parts, const SearchOptions& options,
                               const std::vector<std::vector<Candidate>>& candidates, const std::vector<bool>& shared,
                               double times, const SearchResult& first) {
  SearchResult result;
  result.plan.main_device = first.plan.main_device;
  for (size_t s = 0; s < candidates.size(); ++s) {
    SearchedStage found = searched_stage(slower(candidates[s], shared, times), parts.size(), options);
    result.plan.stages.push_back(shapes_of(found, stages.stages[s], parts, result.plan.main_device));
    result.stages.push_back(std::move(found));
  }
  return result;
}

// A part whose processor other programs share has its share of the time on average, but when it is called, it may
// have to wait for a time slice, and all parts with it. How often depends on what it has to do in all, so whole
// networks are measured, with less and less for such parts.
SearchResult fastest_for_shared(const Graph& source, const SourceStages& stages, const std::vector<Part>& parts,
                                const SearchOptions& options, const std::vector<std::vector<Candidate>>& candidates,
                                const std::vector<bool>& shared, const SearchResult& first) {
  const auto us_of = [&](const StretchPlan& plan) {
    Graph graph = stretch(source, stages, plan);
    infer_types(graph);
    return branches_us(graph, parts, options.compile, kWarmUp, options.runs);
  };
  std::set<std::string> texts = {plan_text(first.plan, stages)};
  SearchResult best = first;
  double best_us = us_of(first.plan);
  std::string line = cat("programs share processors: as measured ", std::lround(best_us), " us");
  for (const double times : {1.5, 2.0, 2.5}) {
    SearchResult other = with_slower_parts(stages, parts, options, candidates, shared, times, first);
    if (!texts.insert(plan_text(other.plan, stages)).second) continue;
    const double us = us_of(other.plan);
    line += cat(", as if ", times, " times as slow ", std::lround(us), " us");
    if (us >= best_us) continue;
    best_us = us;
    best = std::move(other);
  }
  if (options.say) options.say(line);
  return best;
}

}  // namespace

std::vector<Candidate> choose_branches(const std::vector<Candidate>& candidates, const std::vector<Candidate>& whole,
                                       const SearchOptions& options) {
  double best_alone = whole[0].us;
  for (const Candidate& c : whole) best_alone = std::min(best_alone, c.us);
  const double all_flops = whole[0].flops;
  const double limit = std::min(options.gamma * best_alone, best_alone - options.merge_us);
  std::vector<double> limits;
  for (const Candidate& c : candidates) {
    if (c.us <= limit) limits.push_back(c.us);
  }
  std::sort(limits.begin(), limits.end());
  // The least limit for which the strongest candidates below it keep the rule.
  for (double us : limits) {
    std::map<size_t, Candidate> strongest;
    for (const Candidate& c : candidates) {
      if (c.us > us) continue;
      const auto at = strongest.find(c.part);
      if (at == strongest.end() || c.flops > at->second.flops) strongest[c.part] = c;
    }
    double sum = 0, most = 0, width = 0;
    std::vector<Candidate> chosen;
    for (const auto& [part, c] : strongest) {
      sum += c.flops;
      most = std::max(most, c.flops);
      width += c.width;
      chosen.push_back(c);
    }
    if (chosen.size() > 1 && sum >= options.beta * all_flops && most >= options.alpha * all_flops && width >= 1)
      return chosen;
  }
  return {};
}

std::vector<Candidate> slower(std::vector<Candidate> candidates, const std::vector<bool>& shared, double times) {
  for (Candidate& c : candidates) c.us *= shared[c.part] ? times : 1;
  return candidates;
}

SearchResult search_branches(const Graph& source, const SourceStages& stages, const std::vector<Part>& parts,
                             const SearchOptions& options) {
  Stopwatch watch(parts, options);
  const std::vector<double> alone = watch.measure(source);
  const size_t best = std::min_element(alone.begin(), alone.end()) - alone.begin();
  SearchResult result;
  result.plan.main_device = device_of(parts[best]);
  std::vector<std::vector<Candidate>> candidates;
  for (size_t s = 0; s < stages.stages.size(); ++s) {
    candidates.push_back(candidates_of(source, stages, result.plan, s, parts.size(), watch));
    SearchedStage found = searched_stage(candidates[s], parts.size(), options);
    result.plan.stages.push_back(shapes_of(found, stages.stages[s], parts, result.plan.main_device));
    if (options.say) options.say(stage_line(stages.stages[s], s, found, parts));
    result.stages.push_back(std::move(found));
  }
  const std::vector<bool> shared = watch.shared_parts();
  if (std::find(shared.begin(), shared.end(), true) == shared.end()) return result;
  return fastest_for_shared(source, stages, parts, options, candidates, shared, result);
}

}  // namespace dnn::branch
