// The step functions that versions.def names: what changes in a node between two versions of its operator.
#pragma once
#include "formats/onnx/rewrite.h"

namespace dnn::onnx::steps {

inline constexpr int64_t kLargestExtent = int64_t{1} << 24;  // of what is made out of attributes

#define DNN_ONNX_VERSION(op, version, up, down) \
  void up(Rewrite& rewrite);                    \
  void down(Rewrite& rewrite);
#include "formats/onnx/versions.def"

}  // namespace dnn::onnx::steps
