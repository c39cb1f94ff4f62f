// A kernel with its names resolved to slots, as evaluate() runs it.
#pragma once
#include <utility>
#include <vector>

#include "loops/scalar.h"

namespace dnn::loops {

// A buffer's memory and the way from logical indices into it.
struct Storage {
  BufferRef buffer;
  std::vector<int64_t> low, high;  // addressable logical indices per axis: low .. high - 1
  std::vector<LayoutDim> dims;
  std::vector<int64_t> strides;  // by physical dim
  DType dtype;
  size_t width;  // bytes of an element
  std::byte* data = nullptr;
  Tensor own;  // a local buffer's memory

  explicit Storage(BufferRef which) : buffer(std::move(which)), dtype(buffer->dtype), width(dtype_size(dtype)) {
    const Shape& shape = buffer->shape;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      low.push_back(-buffer->layout.halo_low(axis));
      high.push_back(buffer->layout.capacity(shape, axis));
    }
    dims = buffer->layout.dims(shape);
    strides.assign(dims.size(), 1);
    for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d].extent;
  }

  // `index` has one number an axis. True where all are addressable; then offset() is where its element is in the memory.
  bool inside(const int64_t* index) const {
    for (size_t axis = 0; axis < low.size(); ++axis) {
      if (index[axis] < low[axis] || index[axis] >= high[axis]) return false;
    }
    return true;
  }
  int64_t offset(const int64_t* index) const {
    int64_t sum = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      const size_t axis = dims[d].axis;
      const int64_t distance = index[axis] - low[axis], divisor = dims[d].divisor;
      const int64_t coordinate = divisor == 1 ? distance : distance / divisor;
      sum += (dims[d].outermost ? coordinate : coordinate % dims[d].extent) * strides[d];
    }
    return sum;
  }
  // Floats of 16 bits, which only memory has, are widened at once.
  Scalar read(int64_t offset) const;
  void write(int64_t offset, Scalar value);
};

// Expressions and statements with names resolved to slots. Most indices are sums of loop variables, which are one step.
struct Code {
  Op op;
  DType dtype, operand;  // its own; its first argument's
  size_t slot = 0;       // Load: its storage
  bool sum = false;      // constant.i + all terms: variable times number, modulo 2^64; has no args
  Scalar constant = {.i = 0};
  std::vector<std::pair<size_t, int64_t>> terms;
  std::vector<Code> args;
};
struct Task {
  const StmtNode* stmt;
  size_t slot = 0;  // For: its variable; Store, Alloc: the storage
  std::vector<Code> indices;
  std::vector<Code> value;  // none or one
  std::vector<Task> children;
};

struct Program {
  std::vector<Storage> storages;  // the kernel's arguments first; no data yet
  size_t n_variables = 0;         // slots of loop variables
  Task body;                      // points into the kernel
};

// Throws Internal for a name that is used where it does not exist, and for what has no arithmetic.
Program compile_program(const Kernel& kernel);

}  // namespace dnn::loops
