// The command line of dnn-report.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "metrics/families.h"
#include "report/read_runs.h"
#include "report/report.h"

namespace dnn::report {

struct ReportArgs {
  std::vector<std::string> inputs;
  std::string output = "-", format = "html", types, paths = "base", baseline = std::string(metrics::kPlainest);
  Options report;
  std::optional<std::string> image_folder, root, node_data, annotate;
  std::vector<std::string> graphs;
  bool no_thumbnails = false, list_types = false;

  bool full_paths() const { return paths == "full"; }
  std::vector<std::string> files() const { return inputs.empty() ? std::vector<std::string>{"-"} : inputs; }
  // The options of the document. Throws Usage for a type that there is not.
  Options options() const;
};

void declare_report(cli::Args& args, ReportArgs& o);

// Throws Usage for options that have no say in a report on runs, or, with --graph, in a picture of networks.
void check_report(const ReportArgs& o);

}  // namespace dnn::report
