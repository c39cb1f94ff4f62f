// ONNX Runtime's operators on quantised numbers (domain com.microsoft), which its quantiser writes beside ONNX's own.
#pragma once
#include "formats/onnx/rewrite.h"

namespace dnn::onnx {

inline constexpr std::string_view kContribDomain = "com.microsoft";

// Such an operator as DequantizeLinear, ONNX's operator on real numbers, QuantizeLinear. False: not one of them, and left as
// it is.
bool expand_contrib(Rewrite& rewrite);

}  // namespace dnn::onnx
