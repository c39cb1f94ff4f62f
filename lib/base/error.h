// Error: the one exception type of the library; its kind is the exit code of the tool that meets it.
#pragma once
#include <exception>
#include <string>
#include <string_view>

#include "base/text.h"

namespace dnn {

// Exit codes that every tool shares (0 is success).
enum class ErrorKind : int {
  Negative = 1,     // the answer is no: above tolerance, models differ, bound missed
  Usage = 2,        // the command line is wrong
  Malformed = 3,    // input is damaged or truncated
  Unsupported = 4,  // input is valid, but an operator, dtype, opset or format is not ours yet
  Environment = 5,  // file, device, compiler, disk
  Internal = 70,    // a bug of ours
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }
  const char* what() const noexcept override { return message_.c_str(); }
  // Puts `context` in front ("context: message"); called while unwinding, so the outermost comes first.
  Error& within(std::string_view context) {
    message_.insert(0, std::string(context) + ": ");
    return *this;
  }

 private:
  ErrorKind kind_;
  std::string message_;
};

// Throws an Error whose message is the parts one after another.
[[noreturn]] void fail(ErrorKind kind, std::initializer_list<TextPart> parts);

template <class... T>
[[noreturn]] void fail_malformed(const T&... parts) {
  fail(ErrorKind::Malformed, {TextPart(parts)...});
}
template <class... T>
[[noreturn]] void fail_unsupported(const T&... parts) {
  fail(ErrorKind::Unsupported, {TextPart(parts)...});
}
template <class... T>
[[noreturn]] void fail_usage(const T&... parts) {
  fail(ErrorKind::Usage, {TextPart(parts)...});
}
template <class... T>
[[noreturn]] void fail_environment(const T&... parts) {
  fail(ErrorKind::Environment, {TextPart(parts)...});
}
template <class... T>
[[noreturn]] void fail_internal(const T&... parts) {
  fail(ErrorKind::Internal, {TextPart(parts)...});
}

// Invariants of our own code; what a user or a file can cause gets a real error instead.
#define DNN_CHECK(condition)                                                                             \
  do {                                                                                                   \
    if (!(condition)) ::dnn::fail_internal(__FILE_NAME__, ":", __LINE__, ": check failed: " #condition); \
  } while (0)

}  // namespace dnn
