// Files; see file.h.
#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/mappings.h"
#include "base/private.h"
#include "base/read_limit.h"

namespace dnn {
namespace {

std::string system_reason() { return std::string(std::strerror(errno)); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// The files that are mapped, of which the process has one view as the system has: what forget_mapped_files() is about.
struct Mappings {
  std::mutex mutex;
  std::map<void*, size_t> sizes;  // by address
};
Mappings& mappings() {
  static Mappings all;
  return all;
}

}  // namespace

namespace {

std::string read_all(const Descriptor& file, const std::string& path, bool regular) {
  if (file.get() < 0) fail_environment(path, ": cannot open: ", system_reason());
  std::string text;
  struct stat status {};
  const bool is_regular = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
  if (regular && !is_regular) fail_environment(path, ": not a regular file");
  if (is_regular) {
    count_read_file(status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size));
    text.reserve(status.st_size);
  }
  char buffer[1 << 16];
  while (true) {
    ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_environment(path, ": cannot read: ", system_reason());
    if (n == 0) return text;
    text.append(buffer, n);
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  return read_all(Descriptor(path == "-" ? ::dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path, false);
}

std::string read_regular_file(const std::string& path) {
  return read_all(Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), path, true);
}

std::string read_head(const std::string& path, size_t n) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  std::string head(n, '\0');
  const ssize_t got = ::pread(file.get(), head.data(), n, 0);
  head.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return head;
}

MappedFile::MappedFile(const std::string& path) {
  // Not blocking, so that a pipe is refused and not waited for.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail_environment(path, ": cannot open: ", system_reason());
  map(file.get(), path);
}

MappedFile::MappedFile(int fd, const std::string& name) { map(fd, name); }

void MappedFile::map(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail_environment(name, ": cannot stat: ", system_reason());
  if (!S_ISREG(status.st_mode)) fail_environment(name, ": not a regular file");
  count_read_file(status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size));
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  if (!why_not_private(status).empty()) return copy(fd, name);
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) fail_environment(name, ": cannot map: ", system_reason());
  data_ = static_cast<const std::byte*>(address);
  mapped_ = true;
  // Linux then reads such a file ahead 2 MiB at a time into large pages: of a model that is in no cache, most of the time is spent in
  // page faults otherwise.
  ::madvise(address, size_, MADV_HUGEPAGE);
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  all.sizes[address] = size_;
  remember_mapping(address, size_, name);
}

void MappedFile::copy(int fd, const std::string& name) {
  void* address = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) fail_environment(name, ": no memory for a copy: ", system_reason());
  data_ = static_cast<const std::byte*>(address);
  ::madvise(address, size_, MADV_HUGEPAGE);
  size_t done = 0;
  while (done < size_) {
    const ssize_t n = ::pread(fd, static_cast<char*>(address) + done, size_ - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    const std::string reason = system_reason();
    ::munmap(address, size_);
    if (n == 0) fail_malformed(name, ": shrank while it was read");
    fail_environment(name, ": cannot read: ", reason);
  }
  ::mprotect(address, size_, PROT_READ);
}

void forget_mapped_files() {
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  for (const auto& [address, size] : all.sizes) ::madvise(address, size, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  void* const address = const_cast<std::byte*>(data_);
  if (!mapped_) {
    ::munmap(address, size_);
    return;
  }
  forget_mapping(address);
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  all.sizes.erase(address);
  ::munmap(address, size_);
}

namespace {

// Where a file or folder of that name really lies: a link stays, and what it points to is replaced.
std::string behind_links(const std::string& path) {
  std::error_code not_there;
  const std::filesystem::path real = std::filesystem::canonical(path, not_there);
  return not_there ? path : real.string();
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, unsigned mode) : AtomicFile(path, path, mode) {}

AtomicFile::AtomicFile(const std::string& path, std::string said, unsigned mode)
    : said_(std::move(said)), path_(behind_links(path)) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {  // a device or pipe: nothing to replace
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail();
    return;
  }
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  fd_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  nameless_ = fd_ >= 0;
  if (nameless_) return;
  temporary_ = path_ + ".XXXXXX";  // a file system without files that have no name
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) fail();
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, mode & ~mask);
  leftover_ = std::make_unique<Leftover>(temporary_);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(Bytes bytes) { FdSink(fd_, said_).write(bytes); }

void AtomicFile::fail() const { fail_environment(said_, ": cannot write: ", system_reason()); }

SharedBytes write_nameless(const std::string& folder, const Content& content) {
  const std::string here = folder.empty() ? "." : folder;
  const Descriptor file([&] {
    const int fd = ::open(here.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    std::string name = (std::filesystem::temp_directory_path() / "dnn-tools.XXXXXX").string();
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) ::unlink(name.c_str());
    return named;
  }());
  if (file.get() < 0) fail_environment(here, ": cannot make a temporary file: ", system_reason());
  FdSink sink(file.get(), here + ": a temporary file");
  content.write(sink);
  auto mapped = std::make_shared<const MappedFile>(file.get(), here);
  const Bytes bytes = mapped->bytes();
  return {bytes, std::move(mapped)};
}

// rename() wants a name to start from.
void AtomicFile::name_it() {
  const std::string self = "/proc/self/fd/" + std::to_string(fd_);
  for (int i = 0; temporary_.empty(); ++i) {
    const std::string name = path_ + "." + std::to_string(::getpid()) + "." + std::to_string(i);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
    } else if (errno != EEXIST) {
      fail();
    }
  }
}

void AtomicFile::commit() {
  if (nameless_) name_it();
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0 || (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    const int reason = errno;
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    errno = reason;
    fail();
  }
}

AtomicFolder::AtomicFolder(const std::string& path)
    : said_(path), path_(behind_links(path)), temporary_(path_ + ".XXXXXX") {
  if (::mkdtemp(temporary_.data()) == nullptr) fail_environment(path, ": cannot make the folder: ", system_reason());
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::chmod(temporary_.c_str(), 0777 & ~mask);
  leftover_ = std::make_unique<Leftover>(temporary_);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
}

void AtomicFolder::add(const std::string& name, const Content& content) {
  const std::filesystem::path path = std::filesystem::path(temporary_) / name;
  make_folders(path.parent_path().string());
  AtomicFile file(path.string(), (std::filesystem::path(said_) / name).string());
  content.write(file);
  file.commit();
}

void AtomicFolder::commit() {
  // Swapped, so that there is a whole folder under the name at any time; then the older one is the temporary one.
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) return;
  std::error_code failure;
  if (errno != ENOENT) std::filesystem::remove_all(path_, failure);  // a file system that cannot swap
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_environment(said_, ": cannot write: ", system_reason());
}

std::string name_stem(const std::string& path) {
  const std::filesystem::path file = path;
  return (file.has_stem() ? file.stem() : file.parent_path().stem()).string();
}

void write_file(const std::string& path, std::string_view text, unsigned mode) {
  AtomicFile file(path, mode);
  file.write(text);
  file.commit();
}

void make_folders(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) fail_environment(path, ": cannot make the folder: ", failure.message());
}

TemporaryFolder::TemporaryFolder(const std::string& parent) : path_(parent + "/dnn-tools.XXXXXX") {
  check_temporary_parent(parent);
  if (::mkdtemp(path_.data()) == nullptr)
    fail_environment(parent, ": cannot make a temporary folder: ", system_reason());
  leftover_ = std::make_unique<Leftover>(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace dnn
