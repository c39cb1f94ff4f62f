// Data sets; see data_set.h.
#include "image/data_set.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/inside.h"
#include "base/printable.h"
#include "image/dataset.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> subfolders(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::is_directory(folder, error)) fail_environment(folder, ": no such folder");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error) || is_hidden(entry.path())) continue;
    if (entry.is_symlink(error) && lies_in(folder, entry.path()))
      fail_malformed(entry.path().string(), ": a link to a folder that holds this one, and no class: remove it");
    names.push_back(entry.path().filename().string());
  }
  if (error) fail_environment(folder, ": ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// "Abyssinian_100 1 1 1": an image, the number of its class from 1 on, species, number within the species.
DataSet list_oxford_pets(const std::string& folder, const fs::path& list) {
  DataSet set;
  int64_t line_number = 0;
  for (std::string line : split(read_regular_file(list.string()), '\n')) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = split(line, ' ');
    const size_t cut = fields[0].rfind('_');
    const std::string name = fields[0].substr(0, cut);
    int64_t number = 0;
    constexpr int64_t kMostClasses = 100000;
    const auto fail = [&](const std::string& what) { fail_malformed(list.string(), ":", line_number, ": ", what); };
    if (fields.size() < 2 || cut == std::string::npos || name.empty() || name[0] == '.' ||
        fields[0].find('/') != std::string::npos || !parse_int(fields[1], &number) || number < 1 ||
        number > kMostClasses)
      fail(cat(quoted(line), " is not of the form CLASS_NUMBER CLASS-ID SPECIES BREED"));
    if (static_cast<size_t>(number) > set.classes.size()) set.classes.resize(number);
    std::string& known = set.classes[number - 1];
    if (known.empty()) known = name;
    if (known != name) fail(cat("class ", number, " is ", known, " and ", name));
    const std::string path = (fs::path(folder) / "images" / (fields[0] + ".jpg")).string();
    set.images.push_back({path, cat(name, "/", fields[0], ".jpg"), number - 1});
  }
  for (size_t i = 0; i < set.classes.size(); ++i) {
    if (set.classes[i].empty()) fail_malformed(list.string(), ": no image of class ", i + 1);
  }
  return set;
}

DataSet list_class_folders(const std::string& folder) {
  DataSet set;
  set.classes = subfolders(folder);
  for (size_t i = 0; i < set.classes.size(); ++i) {
    const fs::path path = fs::path(folder) / set.classes[i];
    for (Sample& sample : list_images({path.string()})) {
      std::string name = cat(set.classes[i], "/", fs::path(sample.path).lexically_relative(path).generic_string());
      set.images.push_back({std::move(sample.path), std::move(name), static_cast<int64_t>(i)});
    }
  }
  // Images that lie in the folder itself have no class.
  for (Sample& sample : list_images({folder})) {
    std::string name = fs::path(sample.path).lexically_relative(folder).generic_string();
    if (name.find('/') == std::string::npos)
      set.images.push_back({std::move(sample.path), std::move(name), std::nullopt});
  }
  return set;
}

// Lists of classes and of images have one on a line.
void check_names(const std::string& folder, const DataSet& set) {
  const auto check = [&](const std::string& name) {
    if (has_controls(name))
      fail_malformed(folder, ": ", quoted(name), " has a control character in its name: rename it");
  };
  for (const std::string& name : set.classes) check(name);
  for (const LabelledImage& image : set.images) check(image.name);
}

}  // namespace

DataSet list_data_set(const std::string& folder) {
  std::error_code ignored;
  std::optional<DataSet> set;
  for (const char* name : {"annotations/list.txt", "list.txt"}) {
    const fs::path list = fs::path(folder) / name;
    if (!set && fs::is_regular_file(list, ignored) && fs::is_directory(fs::path(folder) / "images", ignored))
      set = list_oxford_pets(folder, list);
  }
  if (!set) set = list_class_folders(folder);
  if (set->images.empty()) fail_malformed(folder, ": its list names no images");
  check_names(folder, *set);
  std::sort(set->images.begin(), set->images.end(),
            [](const LabelledImage& a, const LabelledImage& b) { return a.name < b.name; });
  for (size_t i = 1; i < set->images.size(); ++i) {
    if (set->images[i].name == set->images[i - 1].name)
      fail_malformed(folder, ": its list names ", set->images[i].name, " twice");
  }
  return std::move(*set);
}

}  // namespace dnn
