// Building printed C kernels into shared objects with the system's compiler, in parallel and cached by content.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "package/package.h"
#include "target/architecture.h"

namespace dnn {

struct BuildOptions {
  std::string compiler;      // "" looks for cc, gcc, clang, or for another architecture GCC's cross compiler
  std::string cache_folder;  // object files by content; "" for none
  std::string key_path;      // of the key that vouches for them; "" where the folder's mode alone is to
  int jobs = 0;              // compilers at once; 0: as many as processors
  bool contract = false;     // allow fused multiply-add and our own vector exp, erf, tanh (-O3 and up)
  std::function<void(const std::string& message)> warn;  // when the cache cannot be written; may be empty, any thread
};

// Name and version of the compiler that build_code() would use: "gcc (Debian 12.2.0) 12.2.0". Throws Environment when
// there is none, saying what to install.
std::string compiler_identity(const BuildOptions& options, const Architecture& architecture = host_architecture());

// Fills in the variant's binary from its source: one object per kernel, linked into one shared object. Throws Usage for a compiler that
// makes code for another architecture than the variant's.
void build_code(Variant& variant, const BuildOptions& options);

}  // namespace dnn
