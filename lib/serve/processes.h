// Parts that servers of every transport share: descriptors that close, the signals that end a server, and a client's process.
#pragma once
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace dnn::serve {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// The signals that end a server, taken from a descriptor while this lives.
class EndingSignals {
 public:
  EndingSignals();
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;
  int fd() const { return fd_; }
  // True once one of those that end it has come.
  bool ends() const;

 private:
  int fd_ = -1;
  sigset_t before_{};
};

// In a process that a server has just forked for a client: signals end it, and the server's end, too. False where that has ended already.
bool begin_client_process(pid_t server);

// Limits of a client's process: address space (0: none; a stranger gets half of the machine's memory at most), the size of each file
// that it writes, and no core files, which would hold the client's model.
void limit_process(int64_t memory_bytes, int64_t file_bytes, bool trusted);

// True where nobody holds the other end of this descriptor any more. `half`: or has shut its side of the socket.
bool is_hung_up(int fd, bool half);

}  // namespace dnn::serve
