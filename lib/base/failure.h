// Failures: exceptions as the person meets them who called a tool.
#pragma once
#include <exception>
#include <string>

namespace dnn {

// One line, and the tool's exit code.
struct Failure {
  std::string text;
  int exit_code = 0;
};
Failure failure_of(const std::exception_ptr& exception);

}  // namespace dnn
