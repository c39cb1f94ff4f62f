// Where tests keep compiled kernels, by content, so that only changed ones cost compiler time.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace dnn {

inline std::string test_cache() {
  const char* folder = std::getenv("DNN_TEST_CACHE");  // set by ctest
  return folder != nullptr ? folder : testing::TempDir() + "dnn-test-cache";
}

}  // namespace dnn
