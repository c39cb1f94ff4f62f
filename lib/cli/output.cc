// Output; see output.h.
#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/printable.h"
#include "base/text.h"
#include "cli/console.h"

namespace dnn::cli {
namespace {

bool is_ordinary(char c) { return (c >= ' ' && c < 0x7F) || c == '\n' || c == '\t'; }

// Whether the bytes may be the beginning of a character that is longer.
bool may_begin_character(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (first < 0xC2 || first > 0xF4 || bytes.size() > 3) return false;
  for (const std::string_view end : {"\x80", "\x80\x80", "\x80\x80\x80", "\xBF", "\xBF\x80", "\xBF\x80\x80"}) {
    if (is_utf8(cat(bytes, end))) return true;
  }
  return false;
}

enum class Begins { Nothing, Perhaps, Command };

// Whether a line that goes on so is a command to a CI service; Perhaps where more of it must be known.
Begins begins_command(std::string_view line) {
  if (line[0] == ':') {
    if (line.size() < 3) return line == ":" || line == "::" ? Begins::Perhaps : Begins::Nothing;
    return line[1] == ':' && std::isalpha(static_cast<unsigned char>(line[2])) != 0 ? Begins::Command : Begins::Nothing;
  }
  for (const std::string_view mark : {"##[", "##vso["}) {
    if (starts_with(line, mark)) return Begins::Command;
    if (starts_with(mark, line)) return Begins::Perhaps;
  }
  return Begins::Nothing;
}

// Whether nothing in the text needs a look at each character.
bool is_ordinary_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_ordinary) && text.find("::") == std::string_view::npos &&
         text.find("##") == std::string_view::npos && text.back() != ':' && text.back() != '#';
}

}  // namespace

void VisibleSink::write(Bytes bytes) {
  if (begun_.empty()) return put(as_text(bytes), false);
  const std::string whole = cat(begun_, as_text(bytes));
  begun_.clear();
  put(whole, false);
}

void VisibleSink::finish() {
  const std::string rest = std::move(begun_);
  begun_.clear();
  put(rest, true);
}

void VisibleSink::put(std::string_view text, bool last) {
  if (text.empty()) return;
  if (is_ordinary_text(text)) {
    const size_t line = text.rfind('\n') + 1;  // 0 where there is none
    const bool blank = text.find_first_not_of(" \t", line) == std::string_view::npos;
    at_line_start_ = blank && (line > 0 || at_line_start_);
    to_.write(as_bytes(text));
    return;
  }
  std::string out;
  out.reserve(text.size());
  char escape[16];
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (at_line_start_ && (c.code == ':' || c.code == '#')) {
      const Begins begins = begins_command(text.substr(at));
      if (begins == Begins::Perhaps && !last) {
        begun_ = text.substr(at);
        break;
      }
      at_line_start_ = false;
      if (begins == Begins::Command) {
        out += c.code == ':' ? "\\x3a" : "\\x23";
        ++at;
        continue;
      }
    }
    if (c.size == 0 && !last && may_begin_character(text.substr(at))) {
      begun_ = text.substr(at);
      break;
    }
    if (c.size == 0) {
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text[at]));
      out += escape;
    } else if (is_unseen(c.code) && c.code != '\n' && c.code != '\t') {
      // As JSON has it, which the text may be: above 16 bits by two.
      const uint32_t rest = c.code - 0x10000;
      if (c.code <= 0xFFFF) {
        std::snprintf(escape, sizeof escape, "\\u%04x", c.code);
      } else {
        std::snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xD800 | rest >> 10, 0xDC00 | (rest & 0x3FF));
      }
      out += escape;
    } else {
      out += text.substr(at, c.size);
    }
    at_line_start_ = c.code == '\n' || (at_line_start_ && (c.code == ' ' || c.code == '\t'));
    at += c.size == 0 ? 1 : c.size;
  }
  to_.write(as_bytes(out));
}

Output::Output(const std::string& path, Content content)
    : text_(content == Content::Text),
      path_(path),
      standard_output_(STDOUT_FILENO, "standard output"),
      visible_(standard_output_) {
  if (path != "-") {
    file_ = std::make_unique<AtomicFile>(path);
  } else if (content == Content::Binary && ::isatty(STDOUT_FILENO) != 0) {
    fail_usage("the result is binary and would go to the terminal: pipe to dnn-cat, redirect, or use -o");
  }
}

void Output::write(Bytes bytes) {
  if (file_) {
    file_->write(bytes);
  } else if (text_) {
    visible_.write(bytes);
  } else {
    standard_output_.write(bytes);
  }
}

void Output::commit() {
  if (file_) {
    file_->commit();
    say_wrote(path_);
  } else if (text_) {
    visible_.finish();
  }
}

void write_text(const std::string& path, std::string_view text) {
  Output output(path, Output::Content::Text);
  output.write(text);
  output.commit();
}

}  // namespace dnn::cli
