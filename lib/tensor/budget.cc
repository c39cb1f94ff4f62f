// TensorBudget; see budget.h.
#include "tensor/budget.h"

#include "base/error.h"

namespace dnn {
namespace {

thread_local TensorBudget* innermost = nullptr;

}  // namespace

TensorBudget::TensorBudget(uint64_t bytes)
    : bytes_(bytes), held_(std::make_shared<std::atomic<uint64_t>>(0)), outer_(innermost) {
  innermost = this;
}

TensorBudget::~TensorBudget() { innermost = outer_; }

void TensorBudget::give_back(uint64_t n) {
  if (innermost != nullptr) innermost->held_->fetch_sub(n, std::memory_order_relaxed);
}

TensorBudget::Held TensorBudget::take(uint64_t n) {
  const TensorBudget* const budget = innermost;
  if (budget == nullptr) return nullptr;
  const uint64_t held = budget->held_->fetch_add(n, std::memory_order_relaxed) + n;
  if (held > budget->bytes_ || held < n) {
    budget->held_->fetch_sub(n, std::memory_order_relaxed);
    fail_unsupported("running it takes more than ", (budget->bytes_ + 999'999) / 1'000'000,
                     " MB of memory; --max-memory BYTES allows more");
  }
  return budget->held_;
}

}  // namespace dnn
