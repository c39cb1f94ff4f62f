// run_tool(): the frame around a tool's work; see cli.h.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <streambuf>

#include "base/box.h"
#include "base/failure.h"
#include "base/io.h"
#include "base/read_limit.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "stream/records.h"

namespace dnn::cli {
namespace {

// std::cout's buffer while a tool runs: failures keep their reason (BrokenPipe, "No space left on device").
class OutputBuffer : public std::streambuf {
 public:
  OutputBuffer() : sink_(STDOUT_FILENO, "standard output"), visible_(sink_) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  // The end of the output.
  void finish() {
    flush();
    visible_.finish();
  }

 protected:
  int_type overflow(int_type c) override {
    flush();
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      *pptr() = traits_type::to_char_type(c);
      pbump(1);
    }
    return traits_type::not_eof(c);
  }
  int sync() override {
    flush();
    return 0;
  }

 private:
  void flush() {
    const size_t n = pptr() - pbase();
    setp(buffer_.data(), buffer_.data() + buffer_.size());  // what cannot be written is not tried again
    if (n > 0) visible_.write({reinterpret_cast<const std::byte*>(buffer_.data()), n});
  }

  FdSink sink_;
  VisibleSink visible_;
  std::array<char, 1 << 16> buffer_;
};

// A descriptor 0, 1 or 2 that the caller closed would be given to the next file opened; occupy it with one that
// fails in the direction that it is for.
void occupy_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    if (::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

std::string version_text(const Tool& tool) {
  return cat(tool.name, " ", version(), "\ncommit: ", commit(), "\ncompiler: ", compiler(), "\nfeatures: ", features(),
             "\nstream version: ", stream::kStreamVersion, "\n");
}

int run_inside(const Tool& tool, Args& args, const std::function<void(Args&)>& declare,
               const std::function<int()>& work) {
  declare(args);
  switch (args.parse()) {
    case Args::Outcome::Help: std::cout << args.help(tool); return 0;
    case Args::Outcome::Version: std::cout << version_text(tool); return 0;
    case Args::Outcome::Work: break;
  }
  return work();
}

// Every exception's exit code, with its line on stderr.
int guarded(const Tool& tool, const std::function<int()>& body) {
  try {
    return body();
  } catch (const BrokenPipe& e) {
    return e.fd() == STDOUT_FILENO ? kExitClosedOutput : say_failure(tool);
  } catch (const std::exception&) {
    return say_failure(tool);
  }
}

}  // namespace

int say_failure(const Tool& tool) {
  const Failure failure = failure_of(std::current_exception());
  const bool by_usage = failure.exit_code == static_cast<int>(ErrorKind::Usage);
  // One hint: a message that names a list or another tool has the better one.
  const bool says_where = failure.text.find("see dnn-") != std::string::npos;
  say_error(by_usage && !says_where ? cat(failure.text, " (see ", tool.name, " --help)") : failure.text);
  return failure.exit_code;
}

int run_tool(const Tool& tool, int argc, char** argv, const std::function<void(Args&)>& declare,
             const std::function<int()>& work) {
  occupy_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is then an error with a name, too
  console() = Console{tool.name};
  end_cleanly_by_signals();
  report_bus_errors();
  report_slow_reading();
  set_sandbox(Sandbox::Auto);
  limit_reading({});
  OutputBuffer buffer;
  std::streambuf* const previous = std::cout.rdbuf(&buffer);
  const std::ios::iostate previous_exceptions = std::cout.exceptions();
  std::cout.exceptions(std::ios::badbit | std::ios::failbit);

  Args args(std::vector<std::string>(argv, argv + argc));
  int code = guarded(tool, [&] { return run_inside(tool, args, declare, work); });
  std::cout.clear();
  const int closing = guarded(tool, [&] {
    buffer.finish();
    if (::close(STDOUT_FILENO) != 0) fail_environment("standard output: cannot close: ", std::strerror(errno));
    return 0;
  });
  if (closing != 0 && (code == 0 || code == static_cast<int>(ErrorKind::Negative))) code = closing;
  std::cout.exceptions(previous_exceptions);
  std::cout.rdbuf(previous);
  return code;
}

}  // namespace dnn::cli
