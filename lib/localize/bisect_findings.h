// Findings of a bisection: a rewrite or a kernel, with the evidence for it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "localize/outcome.h"

namespace dnn {

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

// A search for a rewrite that the time ended: the first rewrite that departs is one of number after + 1 to before.
struct UnfinishedSearch {
  bool of_source = false;
  int64_t after = 0, before = 0, n_rewrites = 0;
  std::vector<std::string> passes;  // that these are of, in their order
};

}  // namespace dnn
