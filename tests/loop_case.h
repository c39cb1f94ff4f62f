// Buffers for kernels that tests write themselves.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "loops/ir.h"

namespace dnn::loops {

// A float32 argument of a kernel; `layout` as of Layout::parse().
inline BufferRef global(std::string name, Shape shape, const std::string& layout = "") {
  return std::make_shared<const Buffer>(
      Buffer{std::move(name), DType::Float32, std::move(shape), Layout::parse(layout), Scope::Global});
}

}  // namespace dnn::loops
