// SharedLibrary; see shared_library.h.
#include "base/shared_library.h"

#ifndef DNN_STATIC
#include <dlfcn.h>
#endif

#include "base/error.h"

namespace dnn {

std::filesystem::path program_folder() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
}

#ifndef DNN_STATIC
std::unique_ptr<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return std::unique_ptr<SharedLibrary>(new SharedLibrary(name, handle));
  }
  return nullptr;
}

void* SharedLibrary::find(const char* name) const { return ::dlsym(handle_, name); }
#else
// A static program has no libraries of others.
std::unique_ptr<SharedLibrary> SharedLibrary::open(const std::vector<std::string>&) { return nullptr; }

void* SharedLibrary::find(const char*) const { return nullptr; }
#endif

void* SharedLibrary::symbol(const char* name) const {
  void* found = find(name);
  if (found == nullptr) fail_environment(name_, " lacks ", name);
  return found;
}

}  // namespace dnn
