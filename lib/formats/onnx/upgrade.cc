// Upgrades; see upgrade.h.
#include "formats/onnx/upgrade.h"

namespace dnn::onnx {
void upgrade(Graph&, const std::vector<int>&) {}
}  // namespace dnn::onnx
