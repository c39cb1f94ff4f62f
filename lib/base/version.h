// Which dnn-tools this is: for --version and for the records of what made a file.
#pragma once
#include <string>

namespace dnn {

std::string version();   // "0.1.0"
std::string commit();    // "a1b2c3d4e5f6", with "+" behind it when files differed from it; "unknown" outside a clone
std::string compiler();  // "gcc 12.2.0, Release"
std::string features();  // what was built in beyond the standard, space-separated; "none"

}  // namespace dnn
