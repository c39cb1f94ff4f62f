// Files: reading whole or memory-mapped, and writing so that nothing half-written is ever seen under the final name.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/content.h"
#include "base/io.h"

namespace dnn {

// The whole file (or all of standard input for "-"). Throws Environment with the system's reason.
std::string read_file(const std::string& path);

// A read-only mapping of a file; the bytes live as long as the object. Throws Environment.
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

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Writes to a file without a name in the same folder, which commit() checks and puts in its place: without commit() nothing
// remains, however the process ends. Where the file system has no such files, it has a temporary name until then.
// A device or pipe is written directly; a symbolic link stays, the file that it points to is replaced.
class AtomicFile : public ByteSink {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(Bytes bytes) override;
  void write(std::string_view text) { write(as_bytes(text)); }
  void commit();

 private:
  void name_it();

  std::string path_, temporary_;
  int fd_ = -1;
  bool nameless_ = false;
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
  std::string path_, temporary_;
};

// The content in a file without a name in that folder ("": here; $TMPDIR or /tmp where it has none), mapped; the file is gone with
// the owner.
SharedBytes write_nameless(const std::string& folder, const Content& content);

// AtomicFile in one call.
void write_file(const std::string& path, std::string_view text);

// The folder with those above it, where they are not there yet. Throws Environment.
void make_folders(const std::string& path);

// A new private folder under $TMPDIR or /tmp (mode 0700), removed with its contents by the destructor.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dnn
