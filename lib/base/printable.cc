// Text and numbers of files as a person may see them; see printable.h.
#include "base/printable.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace dnn {

std::string plain(std::string_view text) {
  const std::string q = quoted(text);
  return q.substr(1, q.size() - 2);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string number_text(double value, const char* format) {
  if (std::isnan(value)) return "nan";
  char buffer[512];  // the longest is 1.8e308 in full, with its decimals
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

}  // namespace dnn
