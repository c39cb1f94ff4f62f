// Fuzz targets without libFuzzer: runs one on files, and on truncations and byte flips of them.
// usage: fuzz_replay TARGET FILE|FOLDER...   or   fuzz_replay TARGET --data FOLDER...   with folders of DNN_TEST_DATA, searched through
// all levels
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"

#define DNN_FUZZ_TARGET(name) int fuzz_##name(const uint8_t* data, size_t size);
#include "fuzz_targets.def"
#undef DNN_FUZZ_TARGET

namespace {

using Target = int (*)(const uint8_t* data, size_t size);

const std::map<std::string, Target> kTargets = {
#define DNN_FUZZ_TARGET(name) {#name, fuzz_##name},
#include "fuzz_targets.def"
#undef DNN_FUZZ_TARGET
};

constexpr int kSkipped = 77;
constexpr int kTruncations = 32;
constexpr int kFlips = 64;
constexpr size_t kLargest = size_t{1} << 20;  // bytes; beyond it a file is run as it is only

// A heap copy of exactly the input's size, so that the address sanitizer sees the first byte past its end.
void run(Target target, const std::string& text) {
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  target(bytes.data(), bytes.size());
}

void run_with_damage(Target target, const std::string& text) {
  run(target, text);
  if (text.empty() || text.size() > kLargest) return;
  for (int i = 0; i < kTruncations; ++i) {
    run(target, text.substr(0, text.size() * static_cast<size_t>(i) / kTruncations));
  }
  std::mt19937 random(1);
  for (int i = 0; i < kFlips; ++i) {
    std::string damaged = text;
    for (int flips = 1 + i % 4; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1U << random() % 8);
    }
    run(target, damaged);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto target = argc > 1 ? kTargets.find(argv[1]) : kTargets.end();
  if (target == kTargets.end()) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET FILE|FOLDER...\n");
    return 2;
  }
  std::vector<std::string> files;
  const bool outside = argc > 2 && std::string(argv[2]) == "--data";
  const char* data = std::getenv("DNN_TEST_DATA");
  if (outside && data == nullptr) {
    std::printf("SKIP: DNN_TEST_DATA is not set\n");
    return kSkipped;
  }
  for (int i = outside ? 3 : 2; i < argc; ++i) {
    const std::string path = outside ? std::string(data) + "/" + argv[i] : argv[i];
    if (std::filesystem::is_regular_file(path)) {
      files.push_back(path);
    } else {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) files.push_back(entry.path().string());
      }
    }
  }
  std::sort(files.begin(), files.end());
  run(target->second, "");
  for (const std::string& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    run_with_damage(target->second, dnn::read_file(file));
  }
  std::printf("%zu inputs, each with %d truncations and %d damaged copies\n", files.size(), kTruncations, kFlips);
  return 0;
}
