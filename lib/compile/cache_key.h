// The options of compiling as text: what a cached package is found by, so that none made with other options is taken for it.
#pragma once
#include <optional>
#include <string>

#include "compile/compile.h"

namespace dnn {

// JSON of everything in them that decides a package's bytes, as it is resolved on this processor; what only costs time, as where
// objects are cached, is left out. None where a function of the caller's has a say, or wants to be called: such packages are not cached.
std::optional<std::string> serialised(const CompileOptions& options);

}  // namespace dnn
