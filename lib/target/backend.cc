// The table of backends; see backend.h.
#include "target/backend.h"

namespace dnn {

const std::vector<Backend>& backends() {
  static const std::vector<Backend> rows = {
#define DNN_BACKEND(language_, name_, device_, extension_, ...) \
  {.language = language_, .name = name_, .device = device_, .extension = extension_ __VA_OPT__(, ) __VA_ARGS__},
#include "target/backends.def"
#undef DNN_BACKEND
  };
  return rows;
}

const Backend* backend_of_device(std::string_view kind) {
  for (const Backend& row : backends()) {
    if (row.device == kind) return &row;
  }
  return nullptr;
}

const Backend* find_backend(std::string_view name) {
  for (const Backend& row : backends()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace dnn
