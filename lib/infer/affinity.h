// Which processors a run is kept to.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace dnn {

// What --affinity asks for: of `allowed`, those of a list as "0,2-5", in its order; or "big" or "little", those of the fastest or
// slowest of `classes` (usage::core_classes). Throws Usage.
std::vector<int> choose_processors(const std::string& asked, const std::vector<std::vector<int>>& classes,
                                   std::span<const int> allowed);

}  // namespace dnn
