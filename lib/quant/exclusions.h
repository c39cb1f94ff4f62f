// Exclusions: the layers that stay in float32, as other quantising tools are told of them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "quant/plan.h"

namespace dnn::quant {

// A node that stays in float32 because a user or the search said so.
struct Excluded {
  std::vector<std::string> nodes;  // names in the source model
  std::string value;               // what it makes
};
std::vector<Excluded> excluded_nodes(const Graph& graph, const Plan& plan);

struct ExclusionTool {
  const char* name;  // as --exclusions has it
  std::string (*text)(const std::vector<Excluded>& excluded);
  const char* help;  // where the tool takes it
};
const std::vector<ExclusionTool>& exclusion_tools();
// Throws Usage for an unknown name.
const ExclusionTool& exclusion_tool(std::string_view name);

}  // namespace dnn::quant
