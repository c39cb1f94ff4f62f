// lent: things that threads use in turn, each by one at a time; what is lent comes back however its borrower ends.
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"

namespace dnn {

template <class T>
class Lent {
 public:
  void add(std::unique_ptr<T> thing) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(thing));
  }

  class Loan {
   public:
    Loan(Lent* of, std::unique_ptr<T> thing) : of_(of), thing_(std::move(thing)) {}
    ~Loan() { of_->add(std::move(thing_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    T& operator*() const { return *thing_; }
    T* operator->() const { return thing_.get(); }

   private:
    Lent* of_;
    std::unique_ptr<T> thing_;
  };

  Loan borrow() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) fail_internal("more threads than things to lend");
    std::unique_ptr<T> thing = std::move(free_.back());
    free_.pop_back();
    return Loan(this, std::move(thing));
  }

  // Those that nobody has.
  const std::vector<std::unique_ptr<T>>& free() const { return free_; }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace dnn
