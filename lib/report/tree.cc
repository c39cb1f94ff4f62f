// Places of pages and figures; see tree.h.
#include "report/tree.h"

#include <cctype>
#include <filesystem>
#include <set>

#include "base/file.h"

namespace dnn::report {
namespace {

namespace fs = std::filesystem;

fs::path whole(const fs::path& folder) { return fs::absolute(folder.empty() ? "." : folder).lexically_normal(); }

}  // namespace

TreePlaces tree_places(const std::string& output, const std::optional<std::string>& image_folder,
                       const std::optional<std::string>& root) {
  const fs::path page = output == "-" ? "report" : output;
  const fs::path images = whole(image_folder ? fs::path(*image_folder) : page.parent_path());
  const fs::path from = whole(root ? fs::path(*root) : page.parent_path());
  std::string below = images.lexically_relative(from).generic_string();
  below = below == "." || below.empty() ? "" : below + (below.ends_with('/') ? "" : "/");
  std::string prefix = page.stem().string();
  for (char& c : prefix) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '-';
  }
  return {images.string(), below, prefix};
}

void write_figures(const Tree& tree, const TreePlaces& places) {
  if (!tree.files.empty()) make_folders(places.images);
  for (const Tree::File& file : tree.files) write_file((fs::path(places.images) / file.name).string(), file.content);
}

std::vector<std::string> left_over_figures(const Tree& tree, const TreePlaces& places) {
  std::set<std::string> others;
  std::error_code error;
  for (fs::directory_iterator it(places.images, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(places.prefix + "_") && (name.ends_with(".svg") || name.ends_with(".png")))
      others.insert(name);
  }
  for (const Tree::File& file : tree.files) others.erase(file.name);
  return {others.begin(), others.end()};
}

}  // namespace dnn::report
