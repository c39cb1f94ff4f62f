// Tensors as C initialisers.
#pragma once
#include <string>

#include "tensor/tensor.h"

namespace dnn {

// An array's elements, with line breaks; floats as hexadecimal literals, which keep each bit. Throws Unsupported for a type that C has
// none for.
std::string c_initializer(const Tensor& tensor);

}  // namespace dnn
