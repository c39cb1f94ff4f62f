// Private files and folders; see private.h.
#include "base/private.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/file.h"

namespace dnn {
namespace {

std::string mode_text(const struct stat& status) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return text;
}

bool ours(const struct stat& status) { return status.st_uid == ::geteuid() || status.st_uid == 0; }

bool others_write(const struct stat& status) { return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

struct stat status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_environment(path, ": cannot stat: ", std::strerror(errno));
  return status;
}

// "" of a file that may be added to.
std::string why_not_to_grow(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "is no regular file";
  if (!ours(status)) return why_not_private(status);
  if (status.st_nlink > 1) return "has another name, too";
  return "";
}

}  // namespace

std::string why_not_private(const struct stat& status) {
  if (!ours(status)) return cat("belongs to user ", status.st_uid);
  if (others_write(status)) return cat("others may write it (mode ", mode_text(status), ")");
  return "";
}

void make_private_folder(const std::string& path) {
  const std::filesystem::path folder(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (folder.has_parent_path()) make_folders(folder.parent_path().string());
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      fail_environment(path, ": cannot make the folder: ", std::strerror(errno));
    status = status_of(path);
  }
  if (!S_ISDIR(status.st_mode)) fail_environment(path, ": is not a folder");
  const std::string reason = why_not_private(status);
  if (!reason.empty())
    fail_environment(path, ": ", reason, ", so its files are not to be trusted: remove it, and it is made anew");
}

int open_growing(const std::string& path, int flags) {
  flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // a pipe is refused and not waited for
  constexpr int kTries = 16;                     // where it comes and goes meanwhile
  for (int i = 0; i < kTries; ++i) {
    int fd = ::open(path.c_str(), flags | O_CREAT | O_EXCL, 0666);
    if (fd >= 0) return fd;
    if (errno == EEXIST) {
      fd = ::open(path.c_str(), flags);
      if (fd < 0 && errno == ENOENT) continue;
    }
    const int error = errno;
    struct stat status {};
    std::string reason;
    if (fd >= 0) reason = ::fstat(fd, &status) == 0 ? why_not_to_grow(status) : std::strerror(errno);
    if (fd >= 0 && reason.empty()) return fd;
    if (fd >= 0) ::close(fd);
    if (fd < 0 && error == ELOOP) reason = "is a symbolic link";
    if (fd < 0 && error == ENXIO) reason = "is no regular file";
    if (reason.empty()) fail_environment(path, ": cannot write: ", std::strerror(error));
    fail_environment(path, ": ", reason, ", and is not written to: remove it, or choose another folder");
  }
  fail_environment(path, ": cannot write: it comes and goes");
}

void check_temporary_parent(const std::string& path) {
  const struct stat status = status_of(path.empty() ? "/" : path);
  if (ours(status) && (!others_write(status) || (status.st_mode & S_ISVTX) != 0)) return;
  fail_environment(path, ": ", why_not_private(status),
                   ", so temporary files are not safe there: set TMPDIR to a folder of your own");
}

}  // namespace dnn
