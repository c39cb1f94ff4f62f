// Reduced findings: each as the two networks' segments and the activations in front of them, in files that show it again, with a
// report for an issue tracker.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "localize/findings.h"

namespace dnn {

struct LocalizeRequest;

struct ReducedFinding {
  size_t finding = 0;       // index into the report's findings
  std::string folder;       // "" where nothing is written
  std::string why_not;      // why nothing is written, or why the files do not show it; "" where they do
  bool reproduced = false;  // the files, read back, give a finding
  std::string command;      // that gives it, in the folder
  std::string own_file;     // the target in its own format beside target.onnx, where that shows it too; else ""
  std::string own_why_not;  // and why there is none
  int64_t n_source_nodes = 0, n_target_nodes = 0;  // of the files
  int64_t n_source_nodes_before = 0, n_target_nodes_before = 0;
  std::vector<Shape> inputs;        // as the source holds them
  double max_abs = 0, largest = 0;  // on these inputs; 0 where the extents do not fit
};

// What the findings are of. A finding becomes source.onnx, target.onnx, inputs.npz, report.md, where it is needed alignment.tsv, and the target's part in its own
// format. The segments stay as they are; heights, widths, tokens and batches of inputs are halved as long as the finding stays (as
// sure as it was). Then the files are compared as any two models are.
struct ReducedFiles {
  const Graph &source, &target;
  const OwnErrors& own;
  const LocalizeRequest& request;  // names, device, deadline
};

// Makes the folder, before time is spent on what goes there. Throws Environment where it cannot hold the findings' folders.
void make_reduced_folder(const std::string& folder);

// The first `most` findings (0: all) in request.reduce/1, request.reduce/2 and so on, as they are numbered.
std::vector<ReducedFinding> reduce_findings(const ReducedFiles& of, const std::vector<Finding>& findings);

// A line for each; ends with a newline where there is any.
std::string reduced_text(const std::vector<ReducedFinding>& reduced);
// [{"finding": 1, "folder": ..., ...}]: a member of a JSON object.
nlohmann::ordered_json reduced_json(const std::vector<ReducedFinding>& reduced);

}  // namespace dnn
