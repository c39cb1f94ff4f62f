// NVRTC, NVIDIA's run-time compiler, loaded where it is installed: CUDA C++ text to machine code, which needs no GPU. Names and types of
// its functions are those of NVIDIA's NVRTC documentation.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/shared_library.h"

namespace dnn {

class Nvrtc {
 public:
  // The library at `path`, or where that is "" the system's newest; null, and why, when there is none.
  static std::unique_ptr<Nvrtc> open(const std::string& path, std::string* why);

  std::string version() const;
  // Compute capabilities as ten times the major number and the minor: 70, 90; ascending.
  std::vector<int> architectures() const;

  struct Compiled {
    std::string code;  // cubin, or PTX text; empty when it does not compile
    std::string log;   // the compiler's complaints
  };
  // For that architecture, or where NVRTC does not know it for the latest before it, as PTX that the driver compiles on.
  Compiled compile(const std::string& source, int architecture, const std::vector<std::string>& options = {}) const;

 private:
  explicit Nvrtc(std::unique_ptr<SharedLibrary> library) : library_(std::move(library)) {}

  std::unique_ptr<SharedLibrary> library_;
};

}  // namespace dnn
