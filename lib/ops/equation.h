// Einsum's equation as text.
#pragma once
#include <string>

namespace dnn {

// The equation without spaces and with its result stated behind "->", which it may leave out (numpy's implicit form).
std::string explicit_equation(std::string equation);

}  // namespace dnn
