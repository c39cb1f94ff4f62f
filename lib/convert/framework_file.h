// What a framework is given to run: the user's own file where it loads that format, otherwise the model converted.
#pragma once
#include <memory>
#include <string>

#include "base/file.h"
#include "devices/library.h"

namespace dnn {

struct FrameworkFile {
  std::string path, format;
  std::string converted_from;                          // a format's name; "" for the user's own file
  std::shared_ptr<const TemporaryFolder> folder = {};  // keeps what was made for the run
};

// `path` is what the package was opened from. A conversion is not certified: running it is the comparison. Throws what
// convert_model() throws.
FrameworkFile file_for_framework(const Framework& framework, const std::string& path, const Package& package);

}  // namespace dnn
