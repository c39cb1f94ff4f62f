// Text and numbers of files as a person may see them.
//
// Names, labels and paths come from files and are hostile: they must neither steer a terminal nor begin a line of their own.
// A writer of lines passes each field through clean(), plain() or quoted(); lib/cli filters whatever leaves a tool once more.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dnn {

// The UTF-8 character at a place of a text; size 0 where the bytes there are none.
struct Character {
  size_t size = 0;
  uint32_t code = 0;
};
Character character_at(std::string_view text, size_t at);

// Whether a code point must not reach a terminal: C0, DEL and C1 controls, separators of lines, marks of writing direction
// (Unicode TR 36), characters without width or picture (tags, fillers), the byte order mark, noncharacters.
bool is_unseen(uint32_t code);

// Whether a text has a C0, DEL or C1 control.
bool has_controls(std::string_view text);

// Visible UTF-8 on one line: a byte that is not UTF-8 becomes \xNN, an unseen character \u{N}.
std::string clean(std::string_view text);

// quoted() (text.h) without its quotes: visible, on one line, and without ambiguity.
std::string plain(std::string_view text);

// Without the blanks, tabs and ends of lines before and after it.
std::string_view trimmed(std::string_view text);

// By printf's format for one double; any NaN is "nan".
std::string number_text(double value, const char* format);

}  // namespace dnn
