// Models from outside the tree, which DNN_TEST_DATA names.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>

namespace dnn {

inline const char* data_folder() { return std::getenv("DNN_TEST_DATA"); }

}  // namespace dnn

#define DNN_NEED_DATA() \
  if (data_folder() == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set"
