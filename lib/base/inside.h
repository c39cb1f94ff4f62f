// Links that lead out of a folder.
#pragma once
#include <filesystem>

namespace dnn {

// When all links are followed.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace dnn
