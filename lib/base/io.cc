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

// Bytes of one write: of a mapped file the pages come that many at a time, at half the cost of one by one as each is copied.
constexpr size_t kMostWritten = 1 << 20;

}  // namespace

size_t FdSource::read(std::byte* to, size_t n) {
  while (true) {
    const ssize_t got = ::read(fd_, to, n);
    if (got >= 0) return got;
    if (errno != EINTR) fail_environment(name_, ": cannot read: ", std::strerror(errno));
  }
}

void FdSink::write(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), std::min(bytes.size(), kMostWritten));
    if (n >= 0) {
      bytes = bytes.subspan(n);
    } else if (errno == EPIPE) {
      throw BrokenPipe(fd_, name_);
    } else if (errno == EFAULT) {  // bytes of a mapped file, which are gone
      fail_malformed(name_, ": cannot write: a file that is read shrank meanwhile");
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

std::string source_name(const std::string& path) { return path == "-" ? "standard input" : path; }

Bytes PeekSource::peek(size_t n) {
  while (head_.size() < n) {
    const size_t had = head_.size();
    head_.resize(n);
    const size_t got = source_->read(head_.data() + had, n - had);
    head_.resize(had + got);
    if (got == 0) break;
  }
  return Bytes(head_).first(std::min(n, head_.size()));
}

size_t PeekSource::read(std::byte* to, size_t n) {
  if (used_ == head_.size()) return source_->read(to, n);
  n = std::min(n, head_.size() - used_);
  std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(used_), n, to);
  used_ += n;
  return n;
}

size_t MemorySource::read(std::byte* to, size_t n) {
  n = std::min(n, rest_.size());
  std::copy_n(rest_.begin(), n, to);
  rest_ = rest_.subspan(n);
  return n;
}

}  // namespace dnn
