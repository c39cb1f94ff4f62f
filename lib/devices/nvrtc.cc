// NVRTC; see nvrtc.h.
#include "devices/nvrtc.h"

#include <algorithm>

#include "base/text.h"

namespace dnn {
namespace {

using NvrtcProgram = void*;  // nvrtcProgram
constexpr int kNvrtcSuccess = 0;

// What `size` says is `get`'s, "" where either fails.
std::string log_text(const SharedLibrary& library, NvrtcProgram program, const char* size, const char* get) {
  size_t n = 0;
  if (library.function<int(NvrtcProgram, size_t*)>(size)(program, &n) != kNvrtcSuccess || n == 0) return {};
  std::string text(n, '\0');
  if (library.function<int(NvrtcProgram, char*)>(get)(program, text.data()) != kNvrtcSuccess) return {};
  return text;
}

}  // namespace

std::unique_ptr<Nvrtc> Nvrtc::open(const std::string& path, std::string* why) {
  // The last one is where NVIDIA's own packages put it, which the linker is told of on some machines only.
  std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
                                    "/usr/local/cuda/lib64/libnvrtc.so"};
  if (!path.empty()) names = {path};
  if (auto library = SharedLibrary::open(names)) return std::unique_ptr<Nvrtc>(new Nvrtc(std::move(library)));
  *why = cat("no NVRTC: ", join(names), " not found; install CUDA's, or have DNN_NVRTC name it");
  return nullptr;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  library_->function<int(int*, int*)>("nvrtcVersion")(&major, &minor);
  return cat(major, ".", minor);
}

std::vector<int> Nvrtc::architectures() const {
  int n = 0;
  if (library_->function<int(int*)>("nvrtcGetNumSupportedArchs")(&n) != kNvrtcSuccess) return {};
  std::vector<int> all(std::max(n, 0));
  if (!all.empty() && library_->function<int(int*)>("nvrtcGetSupportedArchs")(all.data()) != kNvrtcSuccess) return {};
  std::sort(all.begin(), all.end());
  return all;
}

Nvrtc::Compiled Nvrtc::compile(const std::string& source, int architecture,
                               const std::vector<std::string>& options) const {
  const std::vector<int> known = architectures();
  const auto above = std::upper_bound(known.begin(), known.end(), architecture);
  if (above == known.begin())
    return {"", cat("compute capability ", architecture / 10, ".", architecture % 10,
                    " is older than those that it knows; have DNN_NVRTC name an older one")};
  const int chosen = *(above - 1);
  const bool exact = chosen == architecture;
  std::vector<std::string> all = {cat("--gpu-architecture=", exact ? "sm_" : "compute_", chosen)};
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char*> pointers;
  for (const std::string& option : all) pointers.push_back(option.c_str());

  NvrtcProgram program = nullptr;
  using Create = int(NvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*);
  if (library_->function<Create>("nvrtcCreateProgram")(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) !=
      kNvrtcSuccess)
    return {"", "nvrtcCreateProgram failed"};
  const int status = library_->function<int(NvrtcProgram, int, const char* const*)>("nvrtcCompileProgram")(
      program, static_cast<int>(pointers.size()), pointers.data());
  Compiled result;
  result.log = log_text(*library_, program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog").c_str();  // up to its NUL
  if (starts_with(result.log, "nvrtc: warning: Architectures prior to")) result.log.erase(0, result.log.find('\n') + 1);
  if (status == kNvrtcSuccess) {
    result.code = exact ? log_text(*library_, program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
                        : log_text(*library_, program, "nvrtcGetPTXSize", "nvrtcGetPTX");
  }
  if (result.code.empty() && result.log.empty()) result.log = cat("NVRTC status ", status, " and no code");
  library_->function<int(NvrtcProgram*)>("nvrtcDestroyProgram")(&program);
  return result;
}

}  // namespace dnn
