// Transport: bytes to and from another process, here or on another machine. Every wait has a limit, and says which when it is over.
#pragma once
#include <chrono>
#include <string>

#include "base/io.h"

namespace dnn {

class Transport : public ByteSource, public ByteSink {
 public:
  // All that is read and written until the next call has this long; beyond, read() and write() throw Environment, naming
  // what sets the limit.
  virtual void limit(double seconds, const std::string& set_by) = 0;
  // Why it ended, once read() has returned 0: "ended with code 3: no such host", "closed the connection".
  virtual std::string ending() = 0;
};

// A moment so many seconds from now, and how long it is until then for poll().
std::chrono::steady_clock::time_point moment_in(double seconds);
int milliseconds_until(std::chrono::steady_clock::time_point deadline);

// What nobody takes any more is dropped: that the other side has closed, read() tells, behind what it said before.
// A connected socket, or the two ends of pipes: the descriptors are closed at the end if it owns them, else made blocking again.
class FdTransport : public Transport {
 public:
  // `name` stands in errors. With one descriptor for both it is a socket.
  FdTransport(int in, int out, std::string name, bool owns);
  ~FdTransport() override;
  FdTransport(const FdTransport&) = delete;
  FdTransport& operator=(const FdTransport&) = delete;

  void limit(double seconds, const std::string& set_by) override;
  size_t read(std::byte* to, size_t n) override;
  void write(Bytes bytes) override;
  std::string ending() override { return "closed the connection"; }
  int in() const { return in_; }

 private:
  void wait_for(int fd, short events);

  const int in_, out_;
  const std::string name_;
  const bool owns_;
  double limit_s_ = 0;
  std::string set_by_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace dnn
