// Dialogue; see dialogue.h.
#include "stream/dialogue.h"

#include <algorithm>

namespace dnn::stream {
namespace {

constexpr double kGraceSeconds = 2;
constexpr std::string_view kPrefix = "exec:";

std::vector<std::string> words(const std::string& command) { return words_of(command.substr(kPrefix.size()), command); }

class ProgramSource : public ByteSource {
 public:
  ProgramSource(const std::string& command, const Header& header, double wait_s)
      : name_(command), wait_s_(wait_s), child_(words(command), command) {
    child_.limit(wait_s_, kWaitVariable);
    Writer(child_).write(header);
    child_.close_input();
  }
  size_t read(std::byte* to, size_t n) override {
    if (ended_) return 0;
    child_.limit(wait_s_, kWaitVariable);
    const size_t got = child_.read(to, n);
    if (got > 0) return got;
    ended_ = true;
    const ChildProcess::End end = child_.end(kGraceSeconds);
    if (end.exit_code != 0) fail_environment(name_, ": it ", end.text());
    return 0;
  }

 private:
  const std::string name_;
  const double wait_s_;
  ChildProcess child_;
  bool ended_ = false;
};

}  // namespace

double seconds_to_wait(const std::string& text) {
  constexpr double kDefault_s = 600;
  double seconds = kDefault_s;
  if (!text.empty() && (!parse_double(text, &seconds) || !(seconds > 0)))
    fail_usage(kWaitVariable, " is '", text, "': give a number of seconds");
  return std::min(seconds, 1e9);
}

bool is_command(const std::string& text) { return starts_with(text, kPrefix); }

Dialogue::Dialogue(const std::vector<std::string>& argv, std::string name, double wait_s)
    : name_(std::move(name)), wait_s_(wait_s), child_(argv, name_), reader_(child_, name_), writer_(child_) {}

Dialogue::Dialogue(const std::string& command, double wait_s) : Dialogue(words(command), command, wait_s) {}

Dialogue::~Dialogue() { child_.end(kGraceSeconds); }

void Dialogue::send(const Record& record) {
  child_.limit(wait_s_, kWaitVariable);
  writer_.write(record);
}

std::optional<Record> Dialogue::receive() {
  child_.limit(wait_s_, kWaitVariable);
  return reader_.next();
}

Record Dialogue::answer() {
  if (std::optional<Record> record = receive()) return std::move(*record);
  fail_environment(name_, ": it ", end().text());
}

ChildProcess::End Dialogue::end() { return child_.end(kGraceSeconds); }

void Dialogue::finish() {
  const ChildProcess::End ended = end();
  if (ended.exit_code != 0) fail_environment(name_, ": it ", ended.text());
}

std::unique_ptr<ByteSource> program_source(const std::string& command, const Header& header, double wait_s) {
  return std::make_unique<ProgramSource>(command, header, wait_s);
}

}  // namespace dnn::stream
