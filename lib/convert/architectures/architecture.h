// Architectures: graphs for state dicts, which hold parameters without saying what is computed with them.
#pragma once
#include <string>
#include <vector>

#include "convert/architectures/modules.h"

namespace dnn {

struct NetArchitecture {
  const char* name;
  const char* help;
  int64_t image_size;     // extent of the images it was made for
  const char* parameter;  // one that no architecture asked later has
  Graph (*build)(Modules& modules, int64_t image_size);
};

const std::vector<NetArchitecture>& net_architectures();

// The network that the constants of `weights` are the parameters of: of that name, or, where it is empty, the one that the
// parameters' names tell. Throws Usage for an unknown name, Unsupported where the names tell none, Malformed where
// parameters are missing or left over.
Graph build_architecture(const Graph& weights, const std::string& name);

}  // namespace dnn
