// Text from files as it may stand in a document: file names and labels are hostile, so each printer escapes everything, after
// clean() (base/printable.h) made it visible.
#pragma once
#include <string>
#include <string_view>

namespace dnn::report {

// clean() text of at most n characters, the middle replaced by an ellipsis where it is longer.
std::string shortened(std::string_view text, size_t n);
size_t character_count(std::string_view utf8);

// Text without the blanks at its ends, and these.
struct Peeled {
  std::string before, text, after;
};
Peeled peeled(std::string_view text);

// clean() text with what means something there escaped: in HTML and XML text and attributes, in a line of reStructuredText, in a
// line or table cell of GitHub's Markdown. Of the last two, blanks at the ends become ones that cannot be broken.
std::string html_text(std::string_view text);
std::string rst_text(std::string_view text);
std::string markdown_text(std::string_view text);

}  // namespace dnn::report
