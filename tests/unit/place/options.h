// How tests of placed packages compile: at a level, with the tests' cache.
#pragma once
#include "cache.h"
#include "compile/compile.h"

namespace dnn::place {

inline CompileOptions options(int opt) {
  CompileOptions o;
  o.opt = opt;
  o.build.cache_folder = test_cache();
  return o;
}

}  // namespace dnn::place
