// NVRTC, NVIDIA's run-time compiler, loaded where it is installed: CUDA C++ text to machine code, without a GPU.
#pragma once
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"

namespace dnn {

class Nvrtc {
 public:
  // The library at `path`, or where that is null the system's newest; null, and why, when there is none.
  static std::unique_ptr<Nvrtc> open(const char* path, std::string* why) {
    std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    if (path != nullptr && *path != '\0') names = {path};
    for (const std::string& name : names) {
      if (void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
        return std::unique_ptr<Nvrtc>(new Nvrtc(library));
    }
    *why = cat("no NVRTC: ", join(names), " not found; DNN_NVRTC may name one");
    return nullptr;
  }
  // The library stays loaded: its threads outlive its users.

  std::string version() const {
    int major = 0, minor = 0;
    function<int (*)(int*, int*)>("nvrtcVersion")(&major, &minor);
    return cat(major, ".", minor);
  }

  bool supports(int architecture) const {
    int n = 0;
    function<int (*)(int*)>("nvrtcGetNumSupportedArchs")(&n);
    std::vector<int> all(static_cast<size_t>(n));
    function<int (*)(int*)>("nvrtcGetSupportedArchs")(all.data());
    return std::find(all.begin(), all.end(), architecture) != all.end();
  }

  // The compiler's complaints; "" when it made machine code without any.
  std::string compile(const std::string& source, int architecture) const {
    void* program = nullptr;
    if (function<int (*)(void**, const char*, const char*, int, const char* const*, const char* const*)>(
            "nvrtcCreateProgram")(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) != 0)
      return "nvrtcCreateProgram failed";
    const std::string target = cat("--gpu-architecture=sm_", architecture);
    const char* const options[] = {target.c_str()};
    const int status = function<int (*)(void*, int, const char* const*)>("nvrtcCompileProgram")(program, 1, options);
    size_t size = 0;
    function<int (*)(void*, size_t*)>("nvrtcGetProgramLogSize")(program, &size);
    std::string log(size, '\0');
    function<int (*)(void*, char*)>("nvrtcGetProgramLog")(program, log.data());
    size_t code = 0;
    function<int (*)(void*, size_t*)>("nvrtcGetCUBINSize")(program, &code);
    function<int (*)(void**)>("nvrtcDestroyProgram")(&program);
    log.resize(std::min(log.size(), std::string(log.c_str()).size()));
    if (starts_with(log, "nvrtc: warning: Architectures prior to")) log.erase(0, log.find('\n') + 1);
    if (status == 0 && code > 0) return log;
    return cat("NVRTC status ", status, ", ", code, " bytes of code\n", log);
  }

 private:
  explicit Nvrtc(void* library) : library_(library) {}

  template <class F>
  F function(const char* name) const {
    void* symbol = ::dlsym(library_, name);
    if (symbol == nullptr) fail_environment("NVRTC lacks ", name);
    return reinterpret_cast<F>(symbol);
  }

  void* library_;
};

}  // namespace dnn
