// Passes: rewrites of a graph, one file and one row of passes.def each. A pass looks at a graph and returns patches; the
// runner applies and numbers them, verifies the graph after each pass, and logs what happened.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "graph/patch.h"
#include "target/target.h"

namespace dnn {

struct PassContext {
  const Target& target;       // that is compiled for; of several, the one with the widest vectors
  bool keep_storage = false;  // constants stay in the few bits that the model keeps them in
  bool share_bits = false;    // levels share the bits of quantised networks, as integer_passes() run
};

// The level of passes that no optimisation level runs: formats ask for them by name (formats.def).
inline constexpr int kConversionLevel = 9;

struct Pass {
  int level;          // lowest level that runs it, or kConversionLevel
  const char* name;   // "fuse-ops"
  const char* alias;  // the name in the published ablation studies, "" when they have none
  std::vector<Patch> (*run)(const Graph& graph, const PassContext& context);
  const char* help;  // one line
};

// In the order they run.
const std::vector<Pass>& passes();
// Tab-separated: level ("-" for conversions), name, alias, help; a line each.
std::string passes_list();

struct PassLog {
  std::string name;
  int patches = 0;             // applied
  int removed = 0, added = 0;  // nodes
  int fused = 0;               // source nodes that fused nodes compute, above those before
  int layouts = 0;             // values whose memory layout changed
  double time_ms = 0;
};

struct PassOptions {
  Target target = any_target(3);
  bool keep_storage = false;
  // "+name,-name", applied to the level's own set; "only:name,name" replaces it. Names or aliases.
  std::string changes;
  int64_t stop_after = -1;  // patches to apply in all; -1: no limit
  // Whether to apply a rewrite that a pass proposes for `graph`; empty: all are. What is left out has no number.
  std::function<bool(const Graph& graph, const std::string& pass, const Patch& patch)> allow;
  const std::vector<Pass>* rows = nullptr;  // in place of passes(): how tests bring in passes that are wrong
  std::function<void(const std::string& pass, const Graph& graph)> after_pass;
  std::function<void(int64_t number, const std::string& pass, const Patch& patch)> on_patch;
};

// Runs the chosen passes over `graph`, each until it finds nothing more; types are inferred anew after each change.
// Throws Usage for an unknown name, Internal naming the pass when one breaks the graph.
std::vector<PassLog> run_passes(Graph& graph, const PassOptions& options);

// Names of the passes that these options choose, in order.
std::vector<std::string> chosen_passes(const PassOptions& options);

// The passes that give quantised networks their meaning (docs/explanation/integers.md): at every level, where no other arithmetic is asked
// for, and so not of -O0's own rewrites.
const std::vector<std::string>& integer_passes();

// What passes that ran differ by from the level's own, and from integer_passes() where these ran, in order: "-fold-constant,+fast-math"; "" where they are the same.
std::string pass_changes(int opt, const std::vector<std::string>& ran);

}  // namespace dnn
