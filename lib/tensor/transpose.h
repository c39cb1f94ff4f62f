// Moving the axes of an array: its elements in another order, whole or part by part.
#pragma once
#include <cstdint>
#include <vector>

#include "base/io.h"

namespace dnn {

class Transposition {
 public:
  // Of a row-major array of elements of `element_bytes` (1, 2, 4, 8 or 16): axis i of the result is axis perm[i] of the array.
  Transposition(const std::vector<int64_t>& shape, const std::vector<int64_t>& perm, size_t element_bytes);

  // Whether every element stays where it is: no axis moves but those of extent 1.
  bool identity() const { return axes_.size() <= 1; }
  // The result; `from` need not be aligned.
  void run(const std::byte* from, std::byte* to) const;
  // The same, a few megabytes at a time.
  void run(const std::byte* from, ByteSink& to) const;

 private:
  // Of the result, from the outermost, without those of extent 1; axes that stay beside each other are one.
  struct Axis {
    int64_t extent = 0, stride = 0;  // the stride in elements of the array
  };
  using Axes = std::vector<Axis>;

  void copy(const std::byte* from, const Axes& axes, std::byte* to) const;
  void slabs(const std::byte* from, size_t depth, std::vector<std::byte>& room, ByteSink& to) const;
  size_t bytes_below(size_t depth) const;

  size_t element_bytes_;
  Axes axes_;
};

}  // namespace dnn
