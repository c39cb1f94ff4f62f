// The judgement of libonnx's checker; see check.h.
#include "formats/onnx/check/check.h"

#include "base/error.h"
#include "formats/format.h"

#ifdef DNN_HAVE_ONNX
#include <onnx/checker.h>
#endif

namespace dnn::onnx {

#ifdef DNN_HAVE_ONNX
namespace {

constexpr int kLastOpset = 17;
constexpr char kNewerFile[] = "ir_version is higher than the checker's";

// Why files of an opset cannot be judged; empty where they can.
std::string beyond(int opset) {
  return opset <= kLastOpset ? "" : cat("libonnx knows opset ", kLastOpset, ", the file has ", opset);
}

}  // namespace

CheckResult check_file(const std::string& path, int opset) {
  if (const std::string reason = beyond(opset); !reason.empty()) return {CheckResult::Verdict::CannotJudge, reason};
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
namespace {
std::string beyond(int) { return "built without libonnx (package libonnx-dev)"; }
}  // namespace

CheckResult check_file(const std::string&, int opset) { return {CheckResult::Verdict::CannotJudge, beyond(opset)}; }
#endif

void require_checker(int opset) {
  if (const std::string reason = beyond(opset); !reason.empty()) fail_unsupported("--check: ", reason);
}

void require_valid(const std::string& path) {
  const CheckResult result = check_file(path, static_cast<int>(read_model(path).source_opsets.at("")));
  if (result.verdict == CheckResult::Verdict::CannotJudge)
    fail_unsupported(path, ": cannot be checked: ", result.reason);
  if (result.verdict == CheckResult::Verdict::Invalid)
    throw Error(ErrorKind::Negative, path + ": libonnx: " + result.reason);
}

}  // namespace dnn::onnx
