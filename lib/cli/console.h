// Console: what a tool says to the person on stderr; set up once by cli::run(). All of it is clean() text (base/printable.h).
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace dnn::cli {

// An environment variable; "" where it is not set.
std::string variable(const std::string& name);

struct Console {
  std::string tool = "dnn";
  bool quiet = false;
  bool verbose = false;
};
Console& console();

// "dnn-x: error: text", "dnn-x: warning: text" (not with --quiet), "dnn-x: text" (with --verbose only): one line each.
void say_error(std::string_view text);
void warn(std::string_view text);
void note(std::string_view text);
// "dnn-x: text", always: the reason for exit code 1.
void say(std::string_view text);
// The same, but not with --quiet: results as they come.
void say_unless_quiet(std::string_view text);

// "dnn-x: wrote FILE (1.2 MB)", for a person: where stderr is a terminal, and not with --quiet. Nothing for "-" and "".
void say_wrote(const std::string& path);

// Lines of a table on stderr.
void show(std::string_view text);
void show_unless_quiet(std::string_view text);

// A bar on stderr while the object lives; nothing when stderr is no terminal or with --quiet. One thread at a time.
class Progress {
 public:
  // `total` 0: not known, so a count is shown.
  Progress(std::string label, int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void advance(int64_t n = 1);

 private:
  void draw() const;

  std::string label_;
  int64_t total_;
  int64_t done_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace dnn::cli
