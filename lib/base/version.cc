// Version; see version.h. The build makes base/version_commit.h and the definitions.
#include "base/version.h"

#include "base/text.h"
#include "base/version_commit.h"

namespace dnn {

std::string version() { return DNN_VERSION; }
std::string commit() { return DNN_COMMIT; }

std::string compiler() {
#ifdef __clang__
  return cat("clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__, ", " DNN_BUILD_TYPE);
#else
  return cat("gcc ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__, ", " DNN_BUILD_TYPE);
#endif
}

std::string features() { return *DNN_FEATURES == 0 ? "none" : DNN_FEATURES; }

}  // namespace dnn
