// A child process that one speaks with: what is written is its standard input, what is read its standard output.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/transport.h"

namespace dnn {

class ChildProcess : public Transport {
 public:
  // Runs argv[0] (looked up in PATH); `name` stands in errors. Throws Environment when it cannot be started.
  ChildProcess(const std::vector<std::string>& argv, std::string name);
  // Ends it, with its children, whatever it is doing.
  ~ChildProcess() override;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Its number, while it was not ended.
  pid_t pid() const { return pid_; }

  void limit(double seconds, const std::string& set_by) override;
  // 0: it closed its output, or ended.
  size_t read(std::byte* to, size_t n) override;
  // What nobody takes any more is dropped: that the child ended, read() tells. What it says meanwhile is kept for read(), up to
  // 64 MiB, so that two who write do not wait for each other.
  void write(Bytes bytes) override;

  // Nothing more will be written: it reads the end.
  void close_input();

  struct End {
    int exit_code = 0;      // 128 + signal when one ended it
    std::string last_line;  // of its standard error
    // "ended with code 3", "was ended by signal 9 (Killed)"; with the last line, where there is one.
    std::string text() const;
  };
  // Closes its input, gives it this long to end by itself, then ends it.
  End end(double grace_s);
  // Ends it, too.
  std::string ending() override;

 private:
  // Waits until the socket is ready for one of these, and says which; throws past the limit.
  short wait_for(short events);
  void keep_early();

  std::string name_;
  pid_t pid_ = -1;
  int socket_ = -1, errors_ = -1;
  bool reset_ = false, silent_ = false;
  std::vector<std::byte> early_;  // what it said while it was written to, read from early_at_ on
  size_t early_at_ = 0;
  double limit_s_ = 0;
  std::string set_by_;
  std::chrono::steady_clock::time_point deadline_;
};

// What `work` returns, called in a copy of this process (fork), which it may end or block without harm to this one. The copy has
// the calling thread alone; what `work` changes in memory is lost with it, and what it prints is not shown. Throws Environment
// where `work` throws, has not returned after so many seconds, or ends the process: "NAME was ended by signal 6 (Aborted): LINE",
// the last line of its standard error.
std::string try_in_child(const std::string& name, double limit_s, const std::function<std::string()>& work);

// The words of a command line, for no shell: divided at blanks, but for those in '...' or "..." or behind a backslash. Throws Usage,
// naming `what`.
std::vector<std::string> words_of(const std::string& command, const std::string& what);

}  // namespace dnn
