// Data sets to train on: images with the classes that their folders or a list give them.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace dnn {

struct LabelledImage {
  std::string path, name;        // name: below the folder, "cat/1.jpg"
  std::optional<int64_t> label;  // of DataSet::classes
};
struct DataSet {
  std::vector<std::string> classes;
  std::vector<LabelledImage> images;  // sorted by name
};

// The images of a folder for each class, classes sorted by name; images that lie in the folder itself have no class. Where
// the folder holds images/ and annotations/list.txt (or list.txt) as the Oxford pets do: the images of the list, classes by
// its numbers, each image named as in a folder of its class. Throws Environment, Usage for a class without images,
// Malformed with the list's line number.
DataSet list_data_set(const std::string& folder);

}  // namespace dnn
