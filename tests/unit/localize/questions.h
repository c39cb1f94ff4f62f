// Time that counts questions, so that what is out of time ends after the same steps on every machine.
#pragma once
#include <atomic>
#include <memory>

#include "base/deadline.h"

namespace dnn {

// Over, every part of it at once, when it has been asked n times.
inline Deadline after_questions(int n) {
  return Deadline(1, [asked = std::make_shared<std::atomic<int>>(-1), n] { return (*asked)++ < n ? 0.0 : 1.0; });
}

// Never over; counts the questions, which several threads may ask.
inline Deadline counted_questions(std::atomic<int>* asked) {
  *asked = -1;
  return Deadline(1, [asked] { return ++*asked, 0.0; });
}

}  // namespace dnn
