// ZipArchive: the entries of a zip file held in memory (.npz, .keras, TorchScript, .pt2), stored or deflated, zip64 too.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace dnn {

inline constexpr uint16_t kZip64Field = 1;  // the extra field that holds numbers of 64 bits

class ZipArchive {
 public:
  struct Entry {
    std::string name;
    uint16_t method = 0;  // 0 stored, 8 deflated
    uint32_t crc32 = 0;
    uint64_t packed_size = 0;
    uint64_t size = 0;
    uint64_t header_offset = 0;
  };

  // Reads the directory; `file` must outlive the archive. Throws Malformed.
  explicit ZipArchive(Bytes file);
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(std::string_view name) const;  // nullptr when absent

  // The bytes of an entry as they lie in the file; throws Malformed when they would lie outside.
  Bytes packed(const Entry& entry) const;
  // The content, checked against size and CRC. Throws Malformed, Unsupported for other methods and for encryption, and
  // Unsupported above `max_size`.
  std::string read(const Entry& entry, uint64_t max_size = uint64_t{1} << 40) const;
  // The first bytes of the content, at most `n`, unchecked: what it will be, before it is all inflated.
  std::string head(const Entry& entry, size_t n) const;
  // The content of a stored entry as a view of the file, checked likewise; Unsupported for a deflated one.
  Bytes stored(const Entry& entry) const;

 private:
  Bytes file_;
  std::vector<Entry> entries_;
};

// `packed` inflated to exactly `size` bytes. `raw`: without zlib's header. Throws Malformed.
std::string inflate(Bytes packed, uint64_t size, bool raw);

}  // namespace dnn
