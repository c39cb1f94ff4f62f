// Expressions of kernels as text of a C-like language.
#pragma once
#include <string>

#include "codegen/print_place.h"

namespace dnn::codegen {

// The text of an expression, and whether it is a vector of the place's lanes.
struct Text {
  std::string code;
  bool vector = false;
};

Text print(const Place& place, const loops::Expr& e);

// The expression's value in one lane, as a scalar.
std::string print_lane(const Place& place, const loops::Expr& e, int64_t i);

// A value as a vector: a scalar in all lanes.
std::string splat(const Place& place, const Text& value, DType dtype);

// The address of a buffer's element.
std::string print_pointer(const Place& place, const loops::Buffer& buffer, const loops::Expr& offset);

// A float32 in 16 bits of memory, which hold it but where it is to be rounded.
std::string print_narrowed(DType to, bool rounds, const std::string& value);

}  // namespace dnn::codegen
