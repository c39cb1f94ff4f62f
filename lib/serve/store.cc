// Kept packages and uploads; see store.h.
#include "serve/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/private.h"
#include "package/cache.h"

namespace dnn::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char *kWhole = ".dnnpkg", *kPart = ".part";

// Parts that nobody went on with for a day.
void remove_old_parts(const std::string& folder) {
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    std::error_code gone;
    const bool old = at->path().extension() == kPart &&
                     fs::file_time_type::clock::now() - at->last_write_time(gone) > std::chrono::hours(24);
    if (old && !gone) fs::remove(at->path(), gone);
  }
}

// A client that was cut off and comes again may be faster than the end of the process that served it: that is waited for.
bool lock_soon(int fd) {
  constexpr int kTries = 30, kStep_us = 10'000;
  for (int i = 0; ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (i == kTries) return false;
    ::usleep(kStep_us);
  }
  return true;
}

}  // namespace

void check_sha256(const std::string& sha256) {
  const bool hex = std::all_of(sha256.begin(), sha256.end(),
                               [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (sha256.size() != 64 || !hex) fail_malformed("a package is named by no SHA-256");
}

Store::Store(std::string folder, int64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {
  if (folder_.empty()) fail_environment("there is no folder for packages: set HOME, or give --store DIR");
  make_private_folder(folder_);
  remove_old_parts(folder_);
}

std::string Store::file_of(const std::string& sha256) const { return cat(folder_, "/", sha256, kWhole); }
std::string Store::part_of(const std::string& sha256) const { return cat(folder_, "/", sha256, kPart); }

std::string Store::find(const std::string& sha256) const {
  std::string path = file_of(sha256);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return "";
  touch_cached(path);
  return path;
}

void Store::keep_small(const std::string& newest) const { trim_cache(folder_, most_bytes_, newest); }

void Store::make_room_for_parts() const {
  const int64_t total = trim_folder(folder_, kPart, most_bytes_, [](const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    const bool gone = fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::unlink(path.c_str()) == 0;
    if (fd >= 0) ::close(fd);
    return gone;
  });
  if (total > most_bytes_)
    fail_environment(folder_, ": the uploads of other clients take ", total, " bytes (--max-store ", most_bytes_, ")");
}

HashBehind::HashBehind() : thread_([this] { work(); }) {}

HashBehind::~HashBehind() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HashBehind::add(Bytes bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty(); });
  waiting_.assign(bytes.begin(), bytes.end());
  changed_.notify_all();
}

std::string HashBehind::hex() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
  return hash_.hex();
}

void HashBehind::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    at_work_.swap(waiting_);
    waiting_.clear();
    busy_ = true;
    changed_.notify_all();
    lock.unlock();
    hash_.add(at_work_);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

Upload::Upload(const Store& store, std::string sha256, int64_t size)
    : store_(store), sha256_(std::move(sha256)), size_(size) {
  store_.make_room_for_parts();
  open();
  struct stat status {};
  if (::fstat(fd_, &status) != 0) fail_environment(path_, ": cannot stat: ", std::strerror(errno));
  if (status.st_size > size_ && ::ftruncate(fd_, 0) != 0)
    fail_environment(path_, ": cannot shorten: ", std::strerror(errno));
  std::vector<std::byte> buffer(size_t{1} << 20);
  while (true) {  // what came earlier
    const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_environment(path_, ": cannot read: ", std::strerror(errno));
    if (n == 0) break;
    hash_.add(Bytes(buffer).first(n));
    at_ += n;
  }
}

Upload::~Upload() { close(); }

void Upload::close() {
  if (fd_ < 0) return;
  if (!shared_) ::unlink(path_.c_str());
  ::close(fd_);
  fd_ = -1;
}

// The part's file, locked; where another upload holds it, a file of this one's own.
void Upload::open() {
  path_ = store_.part_of(sha256_);
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd_ < 0) fail_environment(path_, ": cannot open: ", std::strerror(errno));
    if (!lock_soon(fd_)) {
      ::close(fd_);
      break;
    }
    // The upload that held it may have put it in its place meanwhile: then it is the part no more.
    struct stat here {
    }, there{};
    if (::fstat(fd_, &here) == 0 && ::stat(path_.c_str(), &there) == 0 && here.st_ino == there.st_ino) return;
    ::close(fd_);
  }
  shared_ = false;
  path_ = cat(store_.folder(), "/XXXXXX", kPart);
  fd_ = ::mkostemps(path_.data(), static_cast<int>(std::strlen(kPart)), O_CLOEXEC);
  if (fd_ < 0) fail_environment(path_, ": cannot open: ", std::strerror(errno));
  ::flock(fd_, LOCK_EX | LOCK_NB);  // as long as it is in use
}

void Upload::add(Bytes bytes) {
  if (static_cast<int64_t>(bytes.size()) > size_ - at_)
    fail_malformed("an upload is longer than the ", size_, " bytes that it was to be");
  hash_.add(bytes);
  write(bytes);
  constexpr int64_t kStep = int64_t{64} << 20;
  if (at_ - room_checked_at_ < kStep) return;
  room_checked_at_ = at_;
  store_.make_room_for_parts();
}

void Upload::write(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_environment(path_, ": cannot write: ", std::strerror(errno));
    at_ += n;
    bytes = bytes.subspan(n);
  }
}

void Upload::finish() {
  if (at_ < size_) fail_malformed("an upload ends at byte ", at_, " of ", size_);
  if (hash_.hex() != sha256_) {
    ::unlink(path_.c_str());
    fail_malformed("an upload's bytes have another SHA-256 than it was to have: it is dropped");
  }
  const std::string whole = store_.file_of(sha256_);
  if (::rename(path_.c_str(), whole.c_str()) != 0)
    fail_environment(whole, ": cannot be put in its place: ", std::strerror(errno));
  shared_ = true;
  close();
  store_.keep_small(whole);
}

}  // namespace dnn::serve
