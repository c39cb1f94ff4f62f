// ZipWriter: a zip file of stored entries (.keras, TorchScript, .pt2), in the order given; the same bytes for the same entries.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/io.h"

namespace dnn {

class ZipWriter {
 public:
  // Each entry's content starts at a multiple of `alignment` bytes (1: anywhere), by padding in an extra field.
  explicit ZipWriter(size_t alignment = 1);

  // `name` is UTF-8 with '/' between folders; Unsupported when it is taken or longer than zip can say. A view's bytes must live
  // until the file is written.
  void add(std::string name, std::string content);
  void add_view(std::string name, Bytes content);

  // Size of the whole file.
  uint64_t size_bytes() const;
  void write(ByteSink& to) const;
  // The whole file; large contents are copied once.
  std::string bytes() const;

 private:
  struct Entry {
    std::string name;
    std::string own;
    Bytes view;
    bool owned = false;
    uint32_t crc32 = 0;
    Bytes content() const { return owned ? as_bytes(own) : view; }
  };
  void add(Entry entry);
  std::string local_header(const Entry& entry, uint64_t offset) const;
  std::string directory(const std::vector<uint64_t>& offsets, uint64_t begin) const;
  std::vector<uint64_t> offsets(uint64_t* end) const;

  const size_t alignment_;
  std::set<std::string> names_;
  std::vector<Entry> entries_;
};

// CRC-32 of zip (ISO 3309).
uint32_t zip_crc32(Bytes bytes);

}  // namespace dnn
