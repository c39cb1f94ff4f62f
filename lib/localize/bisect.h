// Bisection: between a model as it is written and as it runs, the single rewrite or kernel that changes what comes out.
//
// Both sides are judged by the model as written, node by node on the reference interpreter. A side that departs from it is
// searched: first its rewrites, all of them interpreted too, so that no kernel has a say: the passes, then the patches of
// the guilty pass, one at a time; then, with the guilty rewrites left out, each kernel against the interpreter on the
// inputs that it had. Rewrites are values (docs/decisions/0003), so that the first N of them, and all but one, can be run.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "localize/outcome.h"

namespace dnn {

// One way of running the model.
struct BisectSide {
  std::string name;  // as messages call it: "cpu -O3"
  CompileOptions compile;
  DeviceSpec device = "cpu";
  DeviceOptions run;
  // Where no passes and kernels of ours run, a framework: runs as it is and is not searched. Must outlive the search.
  Session* as_it_is = nullptr;
  // In place of compile(): how tests bring in kernels that are wrong.
  std::function<Package(const Graph& graph, const CompileOptions& options)> compiler = compile_model;
  static Package compile_model(const Graph& graph, const CompileOptions& options) {
    return dnn::compile(graph, options);
  }
};

struct BisectSample {
  std::string path;
  std::vector<Tensor> inputs;  // of the model as written
};

struct BisectOptions {
  OutputTolerance tolerance;
  size_t n_searched = 2;    // samples that the search runs on: of those that differ, the ones that differ most
  size_t max_findings = 8;  // of each kind and side
  std::function<void(const std::string& message)> note;  // what is being done; may be empty
  Deadline deadline;                                     // samples beyond the first get a third of it
};

struct SampleMovement {
  size_t sample = 0;  // index into the samples
  Movement movement;
};

// A node as a finding names it.
struct NodeText {
  std::string name, op;
  std::vector<std::string> sources;  // nodes of the model as written that it computes
  std::vector<std::string> values;   // what it makes, by the model's own names where it has them
};

enum class FaultKind : uint8_t {
  Wrong,     // computes something else
  Rounding,  // computes the same, and rounds otherwise
  Breaks,    // the graph that it leaves does not run
};
std::string_view fault_name(FaultKind kind);  // "wrong", "rounding", "breaks"

struct Probe {
  int64_t n_rewrites = 0;  // the first so many applied
  std::string after;       // the pass that this is the end of; "" in the midst of one
  double max_abs = 0;      // of the outputs, from the model as written
  bool departs = false;
  std::string error;  // why it did not run
};

struct RewriteFinding {
  bool of_source = false;  // which side
  std::string pass;
  int64_t number = 0, n_rewrites = 0;  // from 1, of the rewrites in all (those of findings before it left out)
  int64_t number_in_pass = 0, n_in_pass = 0;
  std::string reason;  // the rewrite's own words
  std::vector<NodeText> before, after;
  std::vector<std::pair<std::string, std::string>> layouts;  // values that it gives another memory layout, and which
  FaultKind kind = FaultKind::Wrong;
  double max_abs_before = 0, max_abs_after = 0, largest = 0;  // of the outputs, without it and with it
  double max_abs_float64 = 0;              // how far it alone moves them in float64; NaN where that does not run
  std::string error;                       // of FaultKind::Breaks
  bool restores = false;                   // leaving out this one rewrite alone makes the outputs agree
  bool pass_restores = false;              // leaving out its pass does
  std::vector<SampleMovement> relabelled;  // samples whose label leaving it out changes, from without it to with it
  std::vector<Probe> probes;
};

struct KernelFinding {
  bool of_source = false;
  NodeText node;
  std::vector<std::string> kernels, patterns;  // the node's own, in order
  std::vector<std::string> shared_with;        // other nodes that run one of them
  std::string layout;                          // memory layout of what it makes
  std::string rewrite;  // what made the node: "fuse-ops: Conv + Relu from ...", "" where none did
  FaultKind kind = FaultKind::Wrong;
  double max_abs = 0, largest = 0;  // of what it makes, from the interpreter's on the same inputs
  std::string value;                // which of its outputs that is
  int64_t at = -1;                  // element
  double expected = 0, got = 0;
  double output_max_abs = 0;     // how far it alone moves the outputs
  double remaining_max_abs = 0;  // and how far all kernels not found here do together
  bool restores = false;         // these are within the tolerance, and no label changes
  std::vector<SampleMovement> relabelled;
};

// Where a search for a rewrite ended, as the time was over: the first that departs is one of number after + 1 to before.
struct UnfinishedSearch {
  bool of_source = false;
  int64_t after = 0, before = 0, n_rewrites = 0;
  std::vector<std::string> passes;  // that these are of, in their order
};

struct BisectReport {
  size_t n_samples = 0;
  std::string source_error, target_error;  // why a side did not run
  double max_abs = 0, largest = 0;         // of the outputs of the two sides, in the sample that differs most
  bool beyond_tolerance = false;
  std::vector<SampleMovement> relabelled;               // samples with another label in the target
  std::vector<size_t> searched;                         // samples
  size_t differs_most = 0;                              // the sample whose outputs exceed the tolerance most
  bool source_departs = false, target_departs = false;  // from the model as written
  std::vector<RewriteFinding> rewrites;
  std::vector<KernelFinding> kernels;
  std::vector<UnfinishedSearch> unfinished;
  std::optional<bool> ran_out;  // of time, where that was limited
  // With the rewrites that were found left out, over all samples; nothing where there are none, or a framework runs.
  struct After {
    double max_abs = 0;
    size_t relabelled = 0;
    bool beyond_tolerance = false;
  };
  std::optional<After> after;
  bool differs() const { return beyond_tolerance || !relabelled.empty(); }
};

BisectReport bisect(const Graph& model, const std::vector<BisectSample>& samples, const BisectSide& source,
                    const BisectSide& target, const BisectOptions& options);

}  // namespace dnn
