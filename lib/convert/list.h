// What can be read, written and run, as tab-separated tables made from the rows that the code uses.
#pragma once
#include <string>

namespace dnn {

// Name, extensions, "read", "write" or "-", trust of each format.
std::string list_formats();
// The support matrix, a heading and a row per operator: whether its types are inferred, it runs on the interpreter and is lowered to
// loops, and which formats read ("r") and write ("w") it. A format's own names for operators follow, as "tflite:CONV_2D".
std::string list_ops();
// A heading and a row per attribute of each operator: operator, attribute, type, default ("required", or "-" for none: the text
// says what holds then; of a list, for each axis), text.
std::string list_attributes();
// Name of each architecture, the extent of its images, and what it covers.
std::string list_architectures();

}  // namespace dnn
