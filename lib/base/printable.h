// Text and numbers of files as a person may see them.
#pragma once
#include <string>
#include <string_view>

namespace dnn {

// quoted() (text.h) without its quotes: one line that cannot steer a terminal.
std::string plain(std::string_view text);

// Without the blanks, tabs and ends of lines before and after it.
std::string_view trimmed(std::string_view text);

// By printf's format for one double; any NaN is "nan".
std::string number_text(double value, const char* format);

}  // namespace dnn
