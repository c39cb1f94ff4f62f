// Searching the branches of an imported network: by the rule of NN-Stretch, on latencies that are measured here.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "branch/placement.h"
#include "branch/stretch.h"

namespace dnn::branch {

// The rule (kaleid-liner/pycls, tools/elastic_search.py; Wang et al., MobiSys 2023): the main branch has at least `alpha` of the stage's
// arithmetic, all branches together at least `beta`, and none takes longer than `gamma` of what the stage takes on the best single device.
struct SearchOptions {
  double alpha = 0.4, beta = 0.8, gamma = 0.8;
  double merge_us = 60;  // a stage is branched where it saves more than that: what joining it is taken to cost
  int64_t runs = 20;     // timed runs of each candidate; typical_us() says what counts
  CompileOptions compile;
  std::function<void(const std::string&)> say;
};

// The cost of a stage, or of one branch of it, on one part.
struct Candidate {
  size_t part = 0;
  int64_t depth = 0;
  double width = 1, flops = 0, us = 0;
};

// Those that are chosen for a stage: of all sets of at most one candidate for each part, with the rule kept, the one whose slowest branch is
// fastest; then the one of most arithmetic. Empty where none keeps the rule. `whole`: all of the stage, by part.
std::vector<Candidate> choose_branches(const std::vector<Candidate>& candidates, const std::vector<Candidate>& whole,
                                       const SearchOptions& options);

// The candidates as if each shared part (`shared`: by part) took `times` as long.
std::vector<Candidate> slower(std::vector<Candidate> candidates, const std::vector<bool>& shared, double times);

struct SearchedStage {
  std::vector<Candidate> whole;     // by part
  std::vector<Candidate> branches;  // chosen; empty: not branched
};

struct SearchResult {
  StretchPlan plan;
  std::vector<SearchedStage> stages;
};

// Measures stage after stage, each behind the tensor that the stages before it merge. `parts`: two or more. Widths are eighths; latencies of
// depths between the least and the whole are on the line between these two. Where a part's runs differ, as other
// programs share its processor, plans with less work for it are measured whole, too, and the fastest is the result.
SearchResult search_branches(const Graph& source, const SourceStages& stages, const std::vector<Part>& parts,
                             const SearchOptions& options);

}  // namespace dnn::branch
