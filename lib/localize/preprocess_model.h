// Searching the preprocessing of model files as a command line asks for it, and the report for people and programs.
#pragma once
#include <string>
#include <vector>

#include "infer/setup.h"
#include "localize/judged.h"
#include "localize/preprocess_search.h"

namespace dnn {

struct PreprocessRequest {
  std::string source, target;       // model files or packages
  std::vector<std::string> inputs;  // images, folders, lists
  std::string preprocess;           // of the source: right
  PreprocessOptions spelled_out;
  std::string target_preprocess;  // "NAME KEY=VALUE ..."; "": the source's
  bool apply_orientation = false;
  NetworkOptions network;  // device, level (default 3) and extents of both
  OpenOptions folders;     // cache and key places, log sinks
  int threads = 0;
  double rtol = 1e-3;
  Deadline deadline;  // when to end with what was found
};

struct SearchedPreprocess {
  std::string source, target;  // paths
  PreprocessReport report;
  NotJudged not_judged = {};  // of the images that were given
};

// Throws Usage, and what reading, compiling and running throw.
SearchedPreprocess search_preprocess_of(const PreprocessRequest& request);

std::string preprocess_report_text(const SearchedPreprocess& searched);
// {"source", "target", "verdict", "found", "changes", ...} on one line.
std::string preprocess_report_json(const SearchedPreprocess& searched);

}  // namespace dnn
