// The judgement of libonnx's checker on an ONNX file; libonnx is loaded when it is asked, where it is installed.
#pragma once
#include <string>

namespace dnn::onnx {

struct CheckResult {
  enum class Verdict { Valid, Invalid, CannotJudge } verdict;
  std::string reason;  // of anything but Valid
};

// Debian's libonnx 1.12 judges files up to IR version 8 and opset 17. CannotJudge too where it is not installed.
// Throws Environment when the file cannot be read.
CheckResult check_file(const std::string& path, int opset);
// Throws Unsupported where no file of that opset could be judged.
void require_checker(int opset);
// Throws Negative for a file that is invalid, Unsupported for one that cannot be judged, and what reading it throws.
void require_valid(const std::string& path);

}  // namespace dnn::onnx
