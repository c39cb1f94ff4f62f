// ByteSource and ByteSink: where bytes come from and go to, file descriptors and memory alike.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace dnn {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads at least 1 and at most n bytes into `to`, waiting for them; 0 means the end. Throws Environment.
  virtual size_t read(std::byte* to, size_t n) = 0;
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Hands over all the bytes. Throws Environment with the system's reason, BrokenPipe when nobody reads any more.
  virtual void write(Bytes bytes) = 0;
};

// The reader of a pipe or socket has gone; on standard output, tools end silently.
class BrokenPipe : public Error {
 public:
  BrokenPipe(int fd, const std::string& name)
      : Error(ErrorKind::Environment, name + ": closed by its reader"), fd_(fd) {}
  int fd() const { return fd_; }

 private:
  int fd_;
};

// A file descriptor that someone else owns; `name` is for errors.
class FdSource : public ByteSource {
 public:
  FdSource(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  size_t read(std::byte* to, size_t n) override;

 private:
  int fd_;
  std::string name_;
};

class FdSink : public ByteSink {
 public:
  FdSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  void write(Bytes bytes) override;

 private:
  int fd_;
  std::string name_;
};

// Opens a file for reading, or standard input for "-". Throws Environment.
std::unique_ptr<ByteSource> open_source(const std::string& path);
// The path as errors name it: "standard input" for "-".
std::string source_name(const std::string& path);

// Another source whose first bytes can be looked at before they are read.
class PeekSource : public ByteSource {
 public:
  explicit PeekSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  // The first n bytes, fewer at the end; to be called before read().
  Bytes peek(size_t n);
  size_t read(std::byte* to, size_t n) override;

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<std::byte> head_;
  size_t used_ = 0;  // of head_
};

// Bytes that someone else owns.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : rest_(bytes) {}
  size_t read(std::byte* to, size_t n) override;

 private:
  Bytes rest_;
};

class StringSink : public ByteSink {
 public:
  void reserve(size_t n) { text_.reserve(n); }
  void write(Bytes bytes) override { text_ += as_text(bytes); }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace dnn
