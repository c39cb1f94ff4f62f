// ZipWriter: a zip file of stored entries (.keras, TorchScript, .pt2), in the order given; the same bytes for the same entries.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/content.h"

namespace dnn {

class ZipWriter {
 public:
  // Each entry's content starts at a multiple of `alignment` bytes (1: anywhere), by padding in an extra field.
  explicit ZipWriter(size_t alignment = 1);

  // `name` is UTF-8 with '/' between folders; Unsupported when it is taken or longer than zip can say.
  void add(std::string name, Content content);
  // The whole file.
  Content content() const;

 private:
  struct Entry {
    std::string name;
    Content content;
    uint32_t crc32 = 0;
  };
  std::string local_header(const Entry& entry, uint64_t offset) const;
  std::string directory(const std::vector<uint64_t>& offsets, uint64_t begin) const;

  const size_t alignment_;
  std::set<std::string> names_;
  std::vector<Entry> entries_;
};

}  // namespace dnn
