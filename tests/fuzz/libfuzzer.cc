// All fuzz targets as one libFuzzer program; the name that it is started by, fuzz_x, says which is meant.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/targets.h"

namespace {
dnn::fuzz::Target target = nullptr;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  const std::string_view path = (*arguments)[0], name = path.substr(path.rfind('/') + 1);
  if (name.substr(0, 5) == "fuzz_") target = dnn::fuzz::target_of(name.substr(5));
  if (target != nullptr) return 0;
  std::fprintf(stderr, "usage: fuzz_TARGET [OPTION OF LIBFUZZER]... [FOLDER]...   by a link of that name\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return target(data, size); }
