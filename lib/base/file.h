// Files: reading whole or memory-mapped, and writing so that nothing half-written is ever seen under the final name.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/content.h"
#include "base/io.h"
#include "base/leftovers.h"

namespace dnn {

// The whole file (or all of standard input for "-"). Throws Environment with the system's reason.
std::string read_file(const std::string& path);

// The same of a regular file alone, so that nothing is waited for and it ends. Throws Environment for any other.
std::string read_regular_file(const std::string& path);

// The first bytes of a regular file, fewer where it is shorter; none where it is no regular file or cannot be read.
std::string read_head(const std::string& path, size_t n);

// A file's bytes, which live as long as the object and do not change: a read-only mapping where nobody but this user and root may
// write the file, else a copy, so that what was checked is what is used. Throws Environment.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  // Of an open file, which may be closed; `name` is for errors.
  MappedFile(int fd, const std::string& name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  Bytes bytes() const { return {data_, size_}; }

 private:
  void map(int fd, const std::string& name);
  void copy(int fd, const std::string& name);

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
};

// Writes to a file without a name in the same folder, which commit() checks and puts in its place: without commit() nothing
// remains, however the process ends. Where the file system has no such files, it has a temporary name until then.
// A device or pipe is written directly; a symbolic link stays, the file that it points to is replaced. `mode` is what the process's
// mask leaves of it. Errors name the file as the caller does, or by `said`.
class AtomicFile : public ByteSink {
 public:
  explicit AtomicFile(const std::string& path, unsigned mode = 0666);
  AtomicFile(const std::string& path, std::string said, unsigned mode = 0666);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(Bytes bytes) override;
  void write(std::string_view text) { write(as_bytes(text)); }
  void commit();

 private:
  [[noreturn]] void fail() const;  // for what errno says
  void name_it();

  std::string said_, path_, temporary_;
  int fd_ = -1;
  bool nameless_ = false;
  std::unique_ptr<Leftover> leftover_;  // while it has a temporary name
};

// The same for a folder: its files are written into a new one beside it, which commit() puts in its place, whole.
class AtomicFolder {
 public:
  // What is there already goes with commit(); the caller sees to it that it may.
  explicit AtomicFolder(const std::string& path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  // `name` is relative to the folder; folders on the way are made.
  void add(const std::string& name, const Content& content);
  void commit();

 private:
  std::string said_, path_, temporary_;
  std::unique_ptr<Leftover> leftover_;
};

// The content in a file without a name in that folder ("": here; $TMPDIR or /tmp where it has none), mapped; the file is gone with
// the owner.
SharedBytes write_nameless(const std::string& folder, const Content& content);

// The file's name without folders and ending, and the folder's where the path ends in "/": "net" of a/net.onnx and of a/net/.
std::string name_stem(const std::string& path);

// AtomicFile in one call.
void write_file(const std::string& path, std::string_view text, unsigned mode = 0666);

// The folder with those above it, where they are not there yet. Throws Environment.
void make_folders(const std::string& path);

// A new private folder in `parent` (mode 0700), removed with its contents by the destructor, and by remove_leftovers(). Throws
// Environment, where others may replace what lies in the parent too.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::unique_ptr<Leftover> leftover_;
};

}  // namespace dnn
