// ONNX Runtime's own operators (domain com.microsoft), which its quantiser and its optimiser write beside ONNX's.
#pragma once
#include "formats/leftovers.h"
#include "formats/onnx/rewrite.h"

namespace dnn::onnx {

inline constexpr std::string_view kContribDomain = "com.microsoft";

// An operator on quantised numbers as DequantizeLinear, ONNX's operator on real numbers, QuantizeLinear. False: not one of them,
// and left as it is.
bool expand_contrib(Rewrite& rewrite);
// The same of operators that stand for several of ONNX's: those in the order in which the one computes them.
bool expand_fused(Rewrite& rewrite, const IgnoredFields& ignored);

// com.microsoft.Attention and MultiHeadAttention, without the caches of generating networks.
void expand_attention(Rewrite& rewrite);
void expand_multi_head_attention(Rewrite& rewrite);

}  // namespace dnn::onnx
