// Checking constants while others are read; see constants.h.
#include "package/constants.h"

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>

#include "base/error.h"

namespace dnn {

struct Constants::Checking {
  const std::function<void(size_t)> check;
  std::atomic<size_t> checked{0};  // how many from the first on, or kFailed
  size_t failed = 0;               // the number of the one whose check threw
  std::atomic<bool> stop{false};
  std::thread thread;

  static constexpr size_t kFailed = SIZE_MAX;

  explicit Checking(std::function<void(size_t)> check) : check(std::move(check)) {}
  ~Checking() {
    stop = true;
    if (thread.joinable()) thread.join();
  }

  void run(size_t size) {
    for (size_t i = 0; i < size && !stop; ++i) {
      try {
        check(i);
      } catch (...) {  // said by those who want that constant
        failed = i;
        return tell(kFailed);
      }
      tell(i + 1);
    }
  }

  void tell(size_t count) {
    checked = count;
    checked.notify_all();
  }
};

void Constants::push_back(Tensor tensor) {
  DNN_CHECK(checking_ == nullptr);
  tensors_.push_back(std::move(tensor));
}

uint64_t Constants::bytes() const {
  uint64_t sum = 0;
  for (const Tensor& tensor : tensors_) sum += tensor.dtype() == DType::String ? 0 : tensor.size_bytes();
  return sum;
}

const Tensor& Constants::operator[](size_t i) const {
  DNN_CHECK(i < tensors_.size());
  wait_for(i + 1);
  return tensors_[i];
}

const std::vector<Tensor>& Constants::all() const {
  wait_for(tensors_.size());
  return tensors_;
}

void Constants::check_behind(std::function<void(size_t)> check) {
  DNN_CHECK(checking_ == nullptr);
  if (tensors_.empty()) return;
  checking_ = std::make_shared<Checking>(std::move(check));
  try {
    checking_->thread = std::thread([on = checking_.get(), size = tensors_.size()] { on->run(size); });
  } catch (const std::system_error&) {
    checking_->run(tensors_.size());
  }
}

void Constants::wait_for(size_t count) const {
  if (checking_ == nullptr) return;
  Checking& checking = *checking_;
  for (size_t checked = checking.checked; checked < count; checked = checking.checked) checking.checked.wait(checked);
  if (checking.checked != Checking::kFailed) return;
  for (size_t i = checking.failed; i < count; ++i) checking.check(i);
}

}  // namespace dnn
