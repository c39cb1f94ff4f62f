// NVIDIA's management library, loaded where it is and never linked: what all GPUs of the machine do.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace dnn::usage {

struct GpuReading {
  std::optional<double> percent;        // added up: two busy ones are 200
  std::optional<int64_t> memory_bytes;  // in use
  std::optional<int64_t> energy_mj;     // since the driver was loaded
};

class Gpus {
 public:
  // `library` as dlopen() takes it.
  explicit Gpus(const std::string& library);
  ~Gpus();
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;

  bool any() const;
  // The GPUs' names, or why there is none, in one line.
  const std::string& text() const { return text_; }
  // Of all GPUs; a value that one of them does not tell is not there.
  GpuReading read() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string text_;
};

}  // namespace dnn::usage
