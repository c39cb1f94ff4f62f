// The command line of dnn-branch, but for its search of a supernet.
#pragma once
#include <string>
#include <vector>

#include "branch/evaluate.h"
#include "branch/make.h"
#include "cli/cli.h"

namespace dnn::branch {

struct BranchArgs {
  std::vector<std::string> configs;  // networks, behind "eval" or "search" where that is asked for
  std::string output, weights, devices, key, level = "3", affinity;
  int64_t threads = 0;
  bool flops = false;
  MakeRequest make;          // without what the texts say
  EvaluateRequest evaluate;  // the same; its seed and runs are for all

  // The parts of --devices, connected. Throws what parse_parts() and connecting throw.
  std::vector<Part> parts() const;
  // The level, and the user's folders.
  CompileOptions compile() const;
  // The requests for evaluate() and make_branched(); log sinks are the caller's. Throw Usage.
  EvaluateRequest evaluate_request() const;
  MakeRequest make_request() const;
};

// Declares all options but those of the search of a supernet and --seed.
void declare_branch(cli::Args& args, BranchArgs* o);

// Throws Usage for options that are for eval alone.
void refuse_eval_options(const BranchArgs& o);

// Throws Usage for options that would change nothing for a model, or for a configuration.
void check_branch(const BranchArgs& o, bool is_model);

}  // namespace dnn::branch
