// Checkpoints of dnn-train on hostile bytes, as they come and with the checksum and the settings that a run asks for: only Malformed and
// Unsupported may escape, and what is taken is written and read again alike.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/sha256.h"
#include "fuzz/fuzz.h"
#include "train/checkpoint.h"

namespace {

using namespace dnn;

// The bytes with a header that vouches for what follows it.
std::string sealed(const std::string& text) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return text;
  auto header = nlohmann::json::parse(text.substr(0, end), nullptr, false);
  if (!header.is_object()) return text;
  header["settings"] = "fuzz";
  header["sha256"] = sha256_hex(as_bytes(text).subspan(end + 1));
  return header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + text.substr(end);
}

void check(const std::string& path, const std::string& text) {
  write_file(path, text);
  fuzz::refuse_or_accept([&] {
    try {
      const train::Progress progress = train::read_checkpoint(path, "fuzz");
      train::write_checkpoint(path, progress, "fuzz");
      if (train::read_checkpoint(path, "fuzz").steps != progress.steps) __builtin_trap();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Usage) throw;  // of a run with other settings
    }
  });
}

}  // namespace

DNN_FUZZ(checkpoint) {
  static const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(folder.path() + "/checkpoint", text);
  check(folder.path() + "/checkpoint", sealed(text));
  return 0;
}
