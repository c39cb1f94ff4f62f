// The judgement of libonnx's checker; see check.h.
#include "formats/onnx/check.h"

#include "base/error.h"
#include "base/shared_library.h"
#include "formats/format.h"

namespace dnn::onnx {
namespace {

constexpr int kLastOpset = 17;
constexpr char kNewerFile[] = "ir_version is higher than the checker's";
// onnx::checker::check_model(const std::string& path), as libonnx 1.12 exports it.
constexpr char kCheckModel[] = "_ZN4onnx7checker11check_modelERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";

std::unique_ptr<SharedLibrary> open_checker() { return SharedLibrary::open({"libonnx.so.1"}); }

// Why files of an opset cannot be judged; empty where they can.
std::string beyond(int opset) {
  if (open_checker() == nullptr) return "there is no libonnx.so.1 here (package libonnx1)";
  return opset <= kLastOpset ? "" : cat("libonnx knows opset ", kLastOpset, ", the file has ", opset);
}

}  // namespace

CheckResult check_file(const std::string& path, int opset) {
  if (const std::string reason = beyond(opset); !reason.empty()) return {CheckResult::Verdict::CannotJudge, reason};
  auto* const check_model = open_checker()->function<void(const std::string&)>(kCheckModel);
  try {
    check_model(path);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    const bool newer = reason.find(kNewerFile) != std::string::npos;
    return {newer ? CheckResult::Verdict::CannotJudge : CheckResult::Verdict::Invalid, reason};
  }
  return {CheckResult::Verdict::Valid, ""};
}

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
