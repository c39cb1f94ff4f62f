// The weights of a package as kernels read them. Of a file they are checked while what reads the first of them runs already.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace dnn {

class Constants {
 public:
  // Before check_behind().
  void push_back(Tensor tensor);
  size_t size() const { return tensors_.size(); }
  uint64_t bytes() const;  // of all, checked or not; strings aside
  // Waits until those up to `i` are checked. Throws what the check of one of them throws.
  const Tensor& operator[](size_t i) const;
  // The same of all of them.
  const std::vector<Tensor>& all() const;
  // Has a thread call `check` with 0, 1, ..., size() - 1 in this order, until it throws; then it is called once more with that number
  // and those behind it by each who asks for them. Copies share the thread, and it ends with the last of them. Where the system gives
  // no thread, this call checks all of them itself.
  void check_behind(std::function<void(size_t)> check);

 private:
  struct Checking;
  void wait_for(size_t count) const;

  std::vector<Tensor> tensors_;
  std::shared_ptr<Checking> checking_;
};

}  // namespace dnn
