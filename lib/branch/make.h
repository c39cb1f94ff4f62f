// Making a branched network of a model file: searching or reading its plan, and saying what was gained.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "branch/search.h"

namespace dnn::branch {

struct MakeRequest {
  std::string model;
  std::vector<Part> parts;  // what the branches are for; may be empty with a plan
  std::string plan;         // a file of plan_text(), in place of a search
  std::string plan_out;     // where the plan goes; "": nowhere
  SearchOptions search;
  std::function<void(const std::string&)> say, warn;
};

// The model's graph with branches, its batch open where the model's is; its metadata says what they came from. With parts, it is measured against the model on the best single
// device, and the ratio said. Throws what find_stages(), search_branches(), read_plan() and stretch() throw.
Graph make_branched(const MakeRequest& request);

// The graph with a batch of one, its types inferred and fixed, without the nodes that compute shapes and pads: find_stages() takes it.
Graph prepare_source(Graph model);

// Metadata key of what a branched network was made of.
inline constexpr const char* kBranchedKey = "dnn-tools.branched";

}  // namespace dnn::branch
