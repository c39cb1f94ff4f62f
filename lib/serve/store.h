// The packages that a server keeps, each under the SHA-256 of its bytes, and uploads that go on where an earlier one was cut off.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/sha256.h"

namespace dnn::serve {

// 64 hexadecimal digits, which so are no path. Throws Malformed.
void check_sha256(const std::string& sha256);

class Store {
 public:
  // Makes the folder, for this user alone. Throws Environment. Beyond `most_bytes` the longest unused packages go.
  Store(std::string folder, int64_t most_bytes);
  // The package's file; "" where it is not there.
  std::string find(const std::string& sha256) const;
  std::string file_of(const std::string& sha256) const;
  std::string part_of(const std::string& sha256) const;
  void keep_small(const std::string& newest) const;
  // Unfinished uploads are held to the same limit: those that nobody goes on with are removed, the oldest first. Throws Environment
  // where the others are more.
  void make_room_for_parts() const;
  const std::string& folder() const { return folder_; }

 private:
  const std::string folder_;
  const int64_t most_bytes_;
};

// SHA-256 of bytes by a thread of its own, so that who gives them goes on meanwhile.
class HashBehind {
 public:
  HashBehind();
  ~HashBehind();
  HashBehind(const HashBehind&) = delete;
  HashBehind& operator=(const HashBehind&) = delete;
  void add(Bytes bytes);  // are copied
  std::string hex();      // of all so far; the next begin anew

 private:
  void work();

  std::mutex mutex_;  // guards all below, but for the hash, which is the thread's while there is something to do
  std::condition_variable changed_;
  std::vector<std::byte> waiting_, at_work_;
  bool stop_ = false, busy_ = false;
  Sha256Stream hash_;
  std::thread thread_;
};

// A package that arrives. What has arrived stays when the upload is cut off, for the next one of the same package; while one
// goes on, another of the same package has a file of its own and begins with its first byte.
class Upload {
 public:
  Upload(const Store& store, std::string sha256, int64_t size);
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  const std::string& sha256() const { return sha256_; }
  int64_t size() const { return size_; }
  int64_t at() const { return at_; }  // bytes that are there
  // Throws Environment (disk), Malformed above the size.
  void add(Bytes bytes);
  // Puts the package in its place. Throws Malformed where the bytes are others.
  void finish();

 private:
  void open();
  void close();
  void write(Bytes bytes);

  const Store& store_;
  const std::string sha256_;
  const int64_t size_;
  std::string path_;
  int fd_ = -1;
  bool shared_ = true;  // the file that a later upload goes on with
  int64_t at_ = 0, room_checked_at_ = 0;
  HashBehind hash_;
};

}  // namespace dnn::serve
