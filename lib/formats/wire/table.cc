// LevelDB's table file; see table.h.
#include "formats/wire/table.h"

#include "base/crc.h"

namespace dnn {
namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr size_t kFooter = 48, kTrailer = 5;
// Keys share prefixes with the ones before, so a small file could spell out far more than it holds.
constexpr size_t kMaxKey = 1 << 14, kExpansion = 64, kAlwaysFits = 1 << 20;

uint64_t read_varint(ByteReader& reader) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = reader.u8();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail_malformed("table: a number of more than 64 bits");
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

template <class T>
void put_value(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

class TableReader {
 public:
  explicit TableReader(Bytes file) : file_(file), room_(kAlwaysFits + kExpansion * file.size()) {}

  std::map<std::string, std::string> read() {
    if (file_.size() < kFooter) fail_malformed("table: ", file_.size(), " bytes are too few for one");
    ByteReader footer(file_.subspan(file_.size() - kFooter), "table footer");
    block(footer);  // the metaindex, of which nothing is needed
    const Bytes index = block(footer);
    footer.seek(kFooter - 8);
    if (footer.u64() != kMagic) fail_malformed("table: its end is not that of a table");
    std::map<std::string, std::string> result;
    entries(index, [&](const std::string&, Bytes handle) {
      ByteReader reader(handle, "table index");
      entries(block(reader), [&](const std::string& key, Bytes value) {
        if (!result.empty() && key <= result.rbegin()->first) fail_malformed("table: keys are not in order");
        spend(value.size());
        result.emplace_hint(result.end(), key, as_text(value));
      });
    });
    return result;
  }

 private:
  // The content of the block whose place the reader gives.
  Bytes block(ByteReader& handle) const {
    const uint64_t offset = read_varint(handle), size = read_varint(handle);
    if (offset > file_.size() || size > file_.size() - offset || file_.size() - offset - size < kTrailer)
      fail_malformed("table: a block of ", size, " bytes at ", offset, " lies behind its end");
    const Bytes content = file_.subspan(offset, size + kTrailer);
    const auto type = static_cast<uint8_t>(content[size]);
    uint32_t stored = 0;
    std::memcpy(&stored, content.data() + size + 1, 4);
    if (stored != masked_crc32c(crc32c(content.first(size + 1)))) fail_malformed("table: wrong checksum of a block");
    if (type != 0) fail_unsupported("table: compressed blocks (type ", int{type}, ") are not read");
    return content.first(size);
  }

  template <class Visit>
  void entries(Bytes block, const Visit& visit) {
    if (block.size() < 4) fail_malformed("table: a block of ", block.size(), " bytes");
    uint32_t restarts = 0;
    std::memcpy(&restarts, block.data() + block.size() - 4, 4);
    if (restarts > (block.size() - 4) / 4) fail_malformed("table: ", restarts, " restarts in a small block");
    ByteReader reader(block.first(block.size() - 4 - 4 * size_t{restarts}), "table block");
    std::string key;
    while (reader.remaining() > 0) {
      const uint64_t shared = read_varint(reader), rest = read_varint(reader), size = read_varint(reader);
      if (shared > key.size() || rest > kMaxKey - shared) fail_malformed("table: a damaged key");
      key.resize(shared);
      key += as_text(reader.take(rest));
      spend(key.size());
      visit(key, reader.take(size));
    }
  }

  void spend(size_t bytes) {
    if (bytes > room_) fail_malformed("table: its entries are far larger than itself");
    room_ -= bytes;
  }

  Bytes file_;
  size_t room_;
};

// Appends a block and returns its place as a handle.
std::string add_block(std::string& file, const std::map<std::string, std::string>& entries) {
  std::string block;
  for (const auto& [key, value] : entries) {
    put_varint(block, 0);
    put_varint(block, key.size());
    put_varint(block, value.size());
    block += key;
    block += value;
  }
  put_value<uint32_t>(block, 0);  // one restart, at the beginning
  put_value<uint32_t>(block, 1);
  std::string handle;
  put_varint(handle, file.size());
  put_varint(handle, block.size());
  block.push_back(0);  // not compressed
  put_value(block, masked_crc32c(crc32c(as_bytes(block))));
  file += block;
  return handle;
}

}  // namespace

std::map<std::string, std::string> read_table(Bytes file) { return TableReader(file).read(); }

std::string write_table(const std::map<std::string, std::string>& entries) {
  std::string file;
  std::map<std::string, std::string> index;
  if (!entries.empty()) index[entries.rbegin()->first] = add_block(file, entries);
  std::string footer = add_block(file, {});
  footer += add_block(file, index);
  footer.resize(kFooter - 8);
  put_value(footer, kMagic);
  return file + footer;
}

}  // namespace dnn
