// Inputs that were seen; see seen_inputs.h.
#include "quant/seen_inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/error.h"

namespace dnn::quant {
namespace {

namespace fs = std::filesystem;

fs::path path_in(const std::string& folder, const std::string& path) {
  std::error_code none;
  return folder.empty() ? fs::absolute(path, none) : fs::path(folder) / path;
}

// An input as `name` and path where it is NAME=FILE, and no file is called that.
std::pair<std::string, fs::path> located(const std::string& folder, const std::string& input) {
  std::error_code none;
  const size_t equals = input.find('=');
  fs::path whole = path_in(folder, input);
  if (equals == std::string::npos || equals == 0 || fs::exists(whole, none)) return {"", whole};
  return {input.substr(0, equals), path_in(folder, input.substr(equals + 1))};
}

bool is_same(const std::string& folder, const std::string& input, const std::string& other_folder,
             const std::string& other_input) {
  const auto [name, path] = located(folder, input);
  const auto [other_name, other_path] = located(other_folder, other_input);
  std::error_code none;
  if (name == other_name && fs::weakly_canonical(path, none) == fs::weakly_canonical(other_path, none)) return true;
  return input == other_input && !(fs::exists(path, none) && fs::exists(other_path, none));
}

// A file and, in a pack, the image's place; by where it is stored, so that links and spellings make no difference.
using StoredImage = std::tuple<dev_t, ino_t, size_t>;

// By position. Empty where the inputs are not all images, or are not here.
std::vector<StoredImage> stored_images(const SeenInputs& seen) {
  std::vector<std::string> paths;
  std::error_code none;
  for (const std::string& input : seen.inputs) {
    const fs::path path = path_in(seen.folder, input);
    if (input == "-" || !fs::exists(path, none)) return {};
    paths.push_back(path.string());
  }
  std::vector<StoredImage> images;
  try {
    for (const ImageFile& image : image_files(paths)) {
      struct stat status {};
      if (::stat(image.path.c_str(), &status) != 0) return {};
      images.emplace_back(status.st_dev, status.st_ino, image.place);
    }
  } catch (const Error&) {  // a folder that was emptied since, say
    return {};
  }
  return images;
}

}  // namespace

bool SeenInputs::is(const SeenInputs& other) const {
  return std::equal(inputs.begin(), inputs.end(), other.inputs.begin(), other.inputs.end(),
                    [&](const std::string& a, const std::string& b) { return is_same(folder, a, other.folder, b); });
}

SeenInputs named_here(const std::vector<std::string>& inputs) {
  std::error_code none;
  return {inputs, {}, fs::current_path(none).string()};
}

Ranges done_by(const SeenInputs& other, const SeenInputs& inputs) {
  if (inputs.is(other)) return other.done;
  const std::vector<StoredImage> theirs = stored_images(other);
  if (theirs.empty()) return {};
  std::vector<StoredImage> done;
  for (size_t i = 0; i < theirs.size(); ++i) {
    if (holds_position(other.done, static_cast<int64_t>(i))) done.push_back(theirs[i]);
  }
  std::sort(done.begin(), done.end());
  const std::vector<StoredImage> ours = stored_images(inputs);
  Ranges found;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (std::binary_search(done.begin(), done.end(), ours[i])) add_position(&found, static_cast<int64_t>(i));
  }
  return found;
}

int64_t count_positions(const Ranges& ranges) {
  int64_t n = 0;
  for (const auto& [from, to] : ranges) n += to - from;
  return n;
}

Ranges common_positions(const Ranges& a, const Ranges& b) {
  Ranges common;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end(); x->second < y->second ? ++x : ++y) {
    const int64_t from = std::max(x->first, y->first), to = std::min(x->second, y->second);
    if (from < to) common.emplace_back(from, to);
  }
  return common;
}

}  // namespace dnn::quant
