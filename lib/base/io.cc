// ByteSource and ByteSink; see io.h.
#include "base/io.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace dnn {
namespace {

class FileSource : public FdSource {
 public:
  FileSource(int fd, const std::string& name) : FdSource(fd, name), fd_(fd) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

 private:
  int fd_;
};

}  // namespace

size_t FdSource::read(std::byte* to, size_t n) {
  while (true) {
    const ssize_t got = ::read(fd_, to, n);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) fail_environment(name_, ": cannot read: ", std::strerror(errno));
  }
}

void FdSink::write(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(n));
    } else if (errno == EPIPE) {
      throw BrokenPipe(name_);
    } else if (errno != EINTR) {
      fail_environment(name_, ": cannot write: ", std::strerror(errno));
    }
  }
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  if (path == "-") return std::make_unique<FdSource>(0, "standard input");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_environment(path, ": cannot open: ", std::strerror(errno));
  return std::make_unique<FileSource>(fd, path);
}

size_t MemorySource::read(std::byte* to, size_t n) {
  n = std::min(n, rest_.size());
  std::copy_n(rest_.begin(), n, to);
  rest_ = rest_.subspan(n);
  return n;
}

}  // namespace dnn
