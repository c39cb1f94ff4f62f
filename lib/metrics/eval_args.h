// The command line of dnn-eval: what is evaluated, what it is held to, and where the results go.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "metrics/baseline.h"
#include "metrics/bounds.h"

namespace dnn::metrics {

struct EvalArgs {
  std::vector<std::string> inputs;
  std::vector<std::string> by, programs, requirements, allowances;
  Bounds limits;  // without `requirements`
  std::optional<std::string> against, json, junit, sarif, markdown, legacy_tree, measurements;
  std::string baseline;
  bool disagreements = false, confusion = false, list_metrics = false;
  int64_t memory_mib = 1024;

  std::vector<std::string> files() const { return inputs.empty() ? std::vector<std::string>{"-"} : inputs; }
  // The options whose results go to standard output, which takes one. The table goes there where none does.
  std::vector<std::string> on_standard_output() const;
  // All limits. Throws Usage.
  Bounds bounds() const;
  // How much worse than --against's file; throws Usage.
  std::vector<Allowance> allowed() const;
  // The fields that runs are grouped by.
  std::vector<std::string> fields() const;
  size_t memory_bytes() const;
};

void declare_eval(cli::Args& args, EvalArgs& o);

// Throws Usage for options that contradict.
void check_eval(const EvalArgs& o);

}  // namespace dnn::metrics
