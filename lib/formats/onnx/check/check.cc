// The judgement of libonnx's checker; see check.h.
#include "formats/onnx/check/check.h"

#include "base/error.h"

#ifdef DNN_HAVE_ONNX
#include <onnx/checker.h>
#endif

namespace dnn::onnx {

#ifdef DNN_HAVE_ONNX
namespace {
constexpr int kLastOpset = 17;
constexpr char kNewerFile[] = "ir_version is higher than the checker's";
}  // namespace

CheckResult check_file(const std::string& path, int opset) {
  if (opset > kLastOpset) {
    return {CheckResult::Verdict::CannotJudge, cat("libonnx knows opset ", kLastOpset, ", the file has ", opset)};
  }
  try {
    ::onnx::checker::check_model(path);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    const bool newer = reason.find(kNewerFile) != std::string::npos;
    return {newer ? CheckResult::Verdict::CannotJudge : CheckResult::Verdict::Invalid, reason};
  }
  return {CheckResult::Verdict::Valid, ""};
}
#else
CheckResult check_file(const std::string&, int) {
  return {CheckResult::Verdict::CannotJudge, "built without libonnx (package libonnx-dev)"};
}
#endif

}  // namespace dnn::onnx
