// NonMaxSuppression by TFLite's kernel, which is at odds with ONNX's in two places.
#pragma once
#include "graph/graph.h"

namespace dnn::tflite {

// Writes what each NonMaxSuppression of one image and class reads so that TFLite's kernel chooses the same boxes in the same order.
// Types must be inferred, and are afterwards.
// - Boxes of equal scores: the kernel takes any first, ONNX the lower number. So boxes are sorted, and scored by their ranks.
// - Boxes without area: the kernel puts a chosen box back and relies on its overlap with itself, which these have not. So each is
//   moved to a place of its own beyond all others, where it overlaps itself alone.
void settle_suppression(Graph& graph);

}  // namespace dnn::tflite
