// Bytes that saturate: a number that is clamped, rounded and made a byte is rounded first and clamped as an integer, which instructions do as they
// narrow vectors.
#pragma once
#include <functional>
#include <optional>

#include "loops/ir.h"

namespace dnn::codegen {

// byte(int32(round(min(max(x, low - z), high - z))) + z)   ->   byte(min(max(int32(round(x)) + z, low), high))
// in all stores of bytes of whose type low and high are the least and the largest number, where |x| is surely far within what int32 holds.
// `magnitude`: the largest absolute value in a buffer of floats; infinity where it is not known.
loops::Stmt saturate_bytes(const loops::Stmt& body, const std::function<double(const loops::Buffer&)>& magnitude);

// The int32 in front of the clamp of such a store's value; nothing where it is no such value.
std::optional<loops::Expr> saturated(const loops::Expr& value);

}  // namespace dnn::codegen
