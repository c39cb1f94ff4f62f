// What can be read, written and run, as tab-separated tables made from the rows that the code uses.
#pragma once
#include <string>

namespace dnn {

// Name, extensions, "read", "write" or "-", trust of each format.
std::string list_formats();
// Operators that run, with their domains where not ONNX's own.
std::string list_ops();
// Name of each architecture, the extent of its images, and what it covers.
std::string list_architectures();

}  // namespace dnn
