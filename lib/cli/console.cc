// Console and Progress; see console.h.
#include "cli/console.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/printable.h"
#include "base/text.h"

namespace dnn::cli {
namespace {

// stderr without buffering and without caring whether anybody reads.
void put_text(const std::string& text) {
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
}

bool colored() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && (no_color == nullptr || *no_color == 0) &&
         (term == nullptr || std::string_view(term) != "dumb");
}

// What a message quotes out of a file is hostile (base/printable.h).
void put_line(std::string_view kind, const char* color, std::string_view text) {
  std::string said(text);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  std::replace_if(
      said.begin(), said.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  std::string line = console().tool + ": ";
  if (!kind.empty()) line += colored() ? cat(color, kind, "\033[0m: ") : cat(kind, ": ");
  put_text(line + clean(said) + "\n");
}

}  // namespace

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

Console& console() {
  static Console the_console;
  return the_console;
}

void say_error(std::string_view text) { put_line("error", "\033[1;31m", text); }
void say(std::string_view text) { put_line("", "", text); }
void say_unless_quiet(std::string_view text) {
  if (!console().quiet) say(text);
}
void warn(std::string_view text) {
  if (!console().quiet) put_line("warning", "\033[1;33m", text);
}
void note(std::string_view text) {
  if (console().verbose) put_line("", "", text);
}

void say_wrote(const std::string& path) {
  if (path.empty() || path == "-" || console().quiet || ::isatty(STDERR_FILENO) == 0) return;
  std::error_code not_known;  // a folder has no size, and a pipe none that says anything
  const auto bytes = static_cast<double>(std::filesystem::file_size(path, not_known));
  std::string size;
  if (!not_known && std::filesystem::is_regular_file(path, not_known)) {
    size = bytes < 1e4   ? cat(" (", number_text(bytes, "%.0f"), " bytes)")
           : bytes < 1e6 ? cat(" (", number_text(bytes / 1e3, "%.0f"), " kB)")
                         : cat(" (", number_text(bytes / 1e6, "%.1f"), " MB)");
  }
  say(cat("wrote ", path, size));
}

void show(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  for (const std::string& line : split(text, '\n')) put_text(clean(line) + "\n");
}
void show_unless_quiet(std::string_view text) {
  if (!console().quiet) show(text);
}

Progress::Progress(std::string label, int64_t total)
    : label_(std::move(label)), total_(total), shown_(!console().quiet && ::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) put_text("\r\033[K");
}

void Progress::advance(int64_t n) {
  done_ += n;
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  draw();
}

void Progress::draw() const {
  if (total_ <= 0) return put_text(cat("\r", label_, " ", done_, "\033[K"));
  constexpr int64_t kCells = 30;
  const int64_t full = std::min(kCells, kCells * done_ / total_);
  put_text(cat("\r", label_, " [", std::string(full, '#'), std::string(kCells - full, '.'), "] ", done_, "/", total_,
               "\033[K"));
}

}  // namespace dnn::cli
