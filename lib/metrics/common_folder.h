// The folder that some paths have in common.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace dnn::metrics {

class CommonFolder {
 public:
  void add(std::string_view path) {
    if (!folder_) folder_ = path.substr(0, path.rfind('/') + 1);
    while (!path.starts_with(*folder_)) {
      folder_->pop_back();  // its '/'
      folder_->resize(folder_->rfind('/') + 1);
    }
  }
  // The rest of a path that was added.
  std::string_view below(std::string_view path) const { return path.substr(folder_ ? folder_->size() : 0); }

 private:
  std::optional<std::string> folder_;  // "" or ending in '/'; of no path, none
};

}  // namespace dnn::metrics
