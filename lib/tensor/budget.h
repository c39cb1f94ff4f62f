// A bound on the memory of tensors that a piece of work makes: what a file of others describes may not take a machine.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace dnn {

// While it lives, the tensors that this thread makes may take `bytes` together at once; those made before do not count. One that would
// take more throws Unsupported, with the way out. The inner one of two counts. Not copied; lives and ends in one thread, in
// any order with its tensors.
class TensorBudget {
 public:
  explicit TensorBudget(uint64_t bytes);
  ~TensorBudget();
  TensorBudget(const TensorBudget&) = delete;
  TensorBudget& operator=(const TensorBudget&) = delete;

  using Held = std::shared_ptr<std::atomic<uint64_t>>;
  // For Tensor: counts `n` bytes more, in what the memory's end has to count down; null where nothing is bounded here.
  static Held take(uint64_t n);
  // For memory that take() counted and that ends in the same thread, under the same budget.
  static void give_back(uint64_t n);

 private:
  const uint64_t bytes_;
  const Held held_;
  TensorBudget* const outer_;
};

// For a vector that lives within a call, and whose size follows from that of activations: it counts in the budget as a tensor does.
template <class T>
struct BudgetAllocator {
  using value_type = T;
  BudgetAllocator() = default;
  template <class U>
  explicit BudgetAllocator(const BudgetAllocator<U>&) {}
  T* allocate(size_t n) {
    TensorBudget::take(n * sizeof(T));
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, size_t n) {
    std::allocator<T>().deallocate(p, n);
    TensorBudget::give_back(n * sizeof(T));
  }
  bool operator==(const BudgetAllocator&) const { return true; }
};
template <class T>
using BudgetVector = std::vector<T, BudgetAllocator<T>>;

}  // namespace dnn
