// Dialogue: records to and from a process of its own: a framework's adapter, or a user's program given as exec:COMMAND.
//
// Both sides begin with a header. What follows depends on what the program is for; docs/howto/programs.md says it. The program reads its standard
// input until that ends and writes to standard output; it says why it fails on the last line of standard error.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child.h"
#include "stream/stream.h"

namespace dnn::stream {

// The environment's variable that limits how long a program may say nothing, and what stands in it ("": 600) in seconds. Throws
// Usage.
inline constexpr const char* kWaitVariable = "DNN_ADAPTER_TIMEOUT";
double seconds_to_wait(const std::string& text);

// Whether a text is exec:COMMAND.
bool is_command(const std::string& text);

class Dialogue {
 public:
  // `name` stands in errors. Throws Environment where the program does not start.
  Dialogue(const std::vector<std::string>& argv, std::string name, double wait_s);
  // Of exec:COMMAND, divided into words without a shell.
  Dialogue(const std::string& command, double wait_s);
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  const std::string& name() const { return name_; }
  int pid() const { return child_.pid(); }
  void send(const Record& record);
  // The end of its input.
  void no_more() { child_.close_input(); }
  // Its next record, nullopt where it has ended. Throws Environment past the limit, Malformed.
  std::optional<Record> receive();
  // The same where there must be one: otherwise throws Environment with its exit code and last line.
  Record answer();
  // Closes its input, waits a little, and ends it.
  ChildProcess::End end();
  // Throws Environment unless it ends with code 0.
  void finish();

 private:
  const std::string name_;
  const double wait_s_;
  ChildProcess child_;
  Reader reader_;
  Writer writer_;
};

// A stream that a program writes, which is given one header and no more. Throws Environment when it ends with another code than 0.
std::unique_ptr<ByteSource> program_source(const std::string& command, const Header& header, double wait_s);

}  // namespace dnn::stream
