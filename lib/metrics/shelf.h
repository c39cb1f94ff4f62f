// A shelf of tensors: kept in memory up to a limit, in a file without a name beyond it.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/content.h"
#include "tensor/tensor.h"

namespace dnn::metrics {

// A tensor on a shelf, in 16 bytes.
struct Shelved {
  uint64_t place = 0;
  uint32_t kind = 0;  // its name, type and shape
};

class Shelf {
 public:
  // `limit` bytes of tensors stay in memory; those beyond go to $TMPDIR or /tmp, and come back as pages that are let go again.
  explicit Shelf(size_t limit) : limit_(limit) {}
  // Strings are not kept. Throws Environment where the file cannot be written.
  Shelved put(const std::string& name, const Tensor& tensor);
  // Before any get(), after the last put().
  void close();
  // By any number of threads at once.
  std::pair<std::string, Tensor> get(const Shelved& shelved) const;
  size_t bytes_in_memory() const { return in_memory_ + open_.size(); }

 private:
  struct Kind {
    std::string name;
    DType dtype = DType::Undefined;
    Shape shape;
    auto operator<=>(const Kind& other) const {
      return std::tie(name, dtype, shape) <=> std::tie(other.name, other.dtype, other.shape);
    }
    bool operator==(const Kind&) const = default;
  };
  struct Chunk {
    SharedBytes bytes;
    bool in_file = false;
  };
  void close_chunk();
  void spill();
  void let_go() const;

  size_t limit_, in_memory_ = 0;
  std::vector<std::byte> open_;  // the chunk that is being filled
  std::vector<Chunk> chunks_;
  std::vector<SharedBytes> files_;                     // mapped
  mutable std::atomic<size_t> n_read_from_files_ = 0;  // bytes since their pages were let go
  std::map<Kind, uint32_t> kinds_;
  std::vector<const Kind*> by_number_;
};

}  // namespace dnn::metrics
