// Kenning's protocol on a serial line; see uart.h.
#include "kenning/uart.h"

#include <cmath>

#include "base/error.h"
#include "remote/kenning.h"

namespace dnn::serve::uart {

void await_opening(ByteSource& line) {
  std::string last;
  while (true) {
    std::byte next{};
    if (line.read(&next, 1) == 0) fail_environment("the line is hung up");
    last += static_cast<char>(next);
    if (last.size() > remote::kenning::kHead) last.erase(0, 1);
    if (last.size() < remote::kenning::kHead) continue;
    const std::optional<remote::kenning::Message> message = remote::kenning::parse_short(as_bytes(last));
    if (message && message->type == remote::kenning::kPing && (message->flags & remote::kenning::kSuccess) != 0) return;
  }
}

bool is_structure(Bytes io_spec) {
  // Two inputs and twelve outputs of four extents each, their types, and two names of twenty letters.
  constexpr size_t kInputs = 2, kOutputs = 12, kExtents = 4, kNames = 40;
  constexpr size_t kTensor = 4 + 4 * kExtents + 2;
  return io_spec.size() == 4 + kInputs * kTensor + 4 + kOutputs * kTensor + kNames;
}

std::string statistics(double last_run_s) {
  constexpr size_t kName = 32;
  constexpr uint64_t kInferenceTime = 2;
  std::string record = "target_inference_step";
  record.resize(kName);
  const auto put = [&](uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) record += static_cast<char>(value >> shift & 0xff);
  };
  put(kInferenceTime);
  put(static_cast<uint64_t>(std::llround(last_run_s * 1e9)));
  return record;
}

}  // namespace dnn::serve::uart
