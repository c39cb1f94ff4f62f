// ZipArchive: APPNOTE.TXT 6.3 sections 4.3 and 4.5.3; see zip.h.
#include "base/zip.h"

#include <zlib.h>

#include <algorithm>

#include "base/crc.h"
#include "base/error.h"

namespace dnn {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryHeader = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr size_t kEndBytes = 22;
constexpr size_t kLocatorBytes = 20;
constexpr size_t kDirectoryHeaderBytes = 46;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint32_t kIn64 = 0xffffffff;
// Deflate's best: 258 bytes from two bits, which is 1032 to 1.
constexpr uint64_t kMaxInflation = 1032;

struct Directory {
  uint64_t n_entries = 0, size = 0, offset = 0;
};

size_t find_end(Bytes file) {
  const size_t farthest = 0xffff + kEndBytes;  // a comment may follow
  for (size_t back = kEndBytes; back <= std::min(file.size(), farthest); ++back) {
    const size_t at = file.size() - back;
    if (ByteReader(file.subspan(at), "zip end").u32() == kEnd) return at;
  }
  fail_malformed("zip: no directory at the end of the file");
}

Directory read_end(Bytes file) {
  const size_t at = find_end(file);
  ByteReader in(file, "zip end");
  in.seek(at + 10);
  Directory directory;
  directory.n_entries = in.u16();
  directory.size = in.u32();
  directory.offset = in.u32();
  if (at < kLocatorBytes) return directory;
  in.seek(at - kLocatorBytes);
  if (in.u32() != kEnd64Locator) return directory;
  in.take(4);
  const uint64_t at64 = in.u64();
  if (at64 > file.size()) fail_malformed("zip: its 64-bit end record lies outside the file");
  in.seek(at64);
  if (in.u32() != kEnd64) fail_malformed("zip: no 64-bit end record where its locator points");
  in.take(28);
  directory.n_entries = in.u64();
  directory.size = in.u64();
  directory.offset = in.u64();
  return directory;
}

// Sizes and offset of 0xffffffff stand in the zip64 field, in this order, each only when asked for.
void read_zip64(Bytes extra, ZipArchive::Entry* entry) {
  ByteReader fields(extra, "zip extra field");
  while (fields.remaining() >= 4) {
    const uint16_t id = fields.u16();
    ByteReader field(fields.take(fields.u16()), "zip64 field");
    if (id != kZip64Field) continue;
    for (uint64_t* value : {&entry->size, &entry->packed_size, &entry->header_offset}) {
      if (*value == kIn64) *value = field.u64();
    }
    return;
  }
}

void check_crc(Bytes content, uint32_t expected) {
  if (zip_crc32(content) != expected) fail_malformed("wrong checksum");
}

}  // namespace

ZipArchive::ZipArchive(Bytes file) : file_(file) {
  const Directory directory = read_end(file);
  if (directory.offset > file.size() || directory.size > file.size() - directory.offset) {
    fail_malformed("zip: its directory lies outside the file");
  }
  if (directory.n_entries > directory.size / kDirectoryHeaderBytes) {
    fail_malformed("zip: ", directory.n_entries, " entries in a directory of ", directory.size, " bytes");
  }
  ByteReader in(file.subspan(directory.offset, directory.size), "zip directory");
  for (uint64_t i = 0; i < directory.n_entries; ++i) {
    if (in.u32() != kDirectoryHeader) fail_malformed("zip: entry ", i, " of the directory has no signature");
    Entry entry;
    in.take(4);
    const uint16_t flags = in.u16();
    entry.method = in.u16();
    in.take(4);
    entry.crc32 = in.u32();
    entry.packed_size = in.u32();
    entry.size = in.u32();
    const uint16_t name_bytes = in.u16();
    const uint16_t extra_bytes = in.u16();
    const uint16_t comment_bytes = in.u16();
    in.take(8);
    entry.header_offset = in.u32();
    entry.name = as_text(in.take(name_bytes));
    read_zip64(in.take(extra_bytes), &entry);
    in.take(comment_bytes);
    if ((flags & 1) != 0) fail_unsupported("zip: entry ", quoted(entry.name), " is encrypted");
    entries_.push_back(std::move(entry));
  }
}

const ZipArchive::Entry* ZipArchive::find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Bytes ZipArchive::packed(const Entry& entry) const {
  ByteReader in(file_, "zip entry");
  if (entry.header_offset > file_.size()) fail_malformed("zip: entry ", quoted(entry.name), " lies outside the file");
  in.seek(entry.header_offset);
  if (in.u32() != kLocalHeader) fail_malformed("zip: entry ", quoted(entry.name), " has no header where it should be");
  in.take(22);
  const uint16_t name_bytes = in.u16();
  const uint16_t extra_bytes = in.u16();
  in.take(name_bytes);
  in.take(extra_bytes);
  if (entry.packed_size > in.remaining()) {
    fail_malformed("zip: entry ", quoted(entry.name), " ends behind the file's ", file_.size(), " bytes");
  }
  return in.take(entry.packed_size);
}

std::string ZipArchive::read(const Entry& entry, uint64_t max_size) const {
  if (entry.size > max_size) {
    fail_unsupported("zip: entry ", quoted(entry.name), " holds ", entry.size, " bytes; the limit is ", max_size);
  }
  const Bytes bytes = packed(entry);
  std::string content;
  try {
    if (entry.method == kStored) {
      if (entry.size != bytes.size()) fail_malformed("stored with ", bytes.size(), " bytes for ", entry.size);
      content = as_text(bytes);
    } else if (entry.method == kDeflated) {
      content = inflate(bytes, entry.size, true);
    } else {
      fail_unsupported("compression method ", entry.method);
    }
    check_crc(as_bytes(content), entry.crc32);
  } catch (Error& e) {
    e.within(cat("zip: entry ", quoted(entry.name)));
    throw;
  }
  return content;
}

std::string ZipArchive::head(const Entry& entry, size_t n) const {
  const Bytes bytes = packed(entry);
  if (entry.method != kDeflated) return std::string(as_text(bytes.first(std::min(n, bytes.size()))));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  std::string out(n, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size(), 1u << 30));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(n);
  ::inflate(&stream, Z_NO_FLUSH);  // damage is read()'s to find
  out.resize(n - stream.avail_out);
  inflateEnd(&stream);
  return out;
}

Bytes ZipArchive::stored(const Entry& entry) const {
  const Bytes bytes = packed(entry);
  try {
    if (entry.method != kStored) fail_unsupported("compression method ", entry.method, "; it must be stored as it is");
    if (entry.size != bytes.size()) fail_malformed("stored with ", bytes.size(), " bytes for ", entry.size);
    check_crc(bytes, entry.crc32);
  } catch (Error& e) {
    e.within(cat("zip: entry ", quoted(entry.name)));
    throw;
  }
  return bytes;
}

std::string inflate(Bytes packed, uint64_t size, bool raw) {
  if (size / kMaxInflation > packed.size()) {
    fail_malformed("deflate: ", packed.size(), " bytes cannot expand to ", size);
  }
  z_stream stream{};
  if (inflateInit2(&stream, raw ? -MAX_WBITS : MAX_WBITS) != Z_OK) throw std::bad_alloc();
  struct Guard {
    z_stream* stream;
    ~Guard() { inflateEnd(stream); }
  } guard{&stream};
  std::string out(size, '\0');
  char spare = 0;  // room behind the end, so that data that goes on is noticed
  size_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    constexpr size_t kStep = 1u << 30;
    const size_t room = std::min(kStep, out.size() - written);
    const size_t given = std::min(kStep, packed.size() - read);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? out.data() + written : &spare);
    stream.avail_out = static_cast<uInt>(std::max<size_t>(room, 1));
    const uInt avail_out = stream.avail_out;
    status = ::inflate(&stream, Z_NO_FLUSH);
    read += given - stream.avail_in;
    const size_t made = avail_out - stream.avail_out;
    if (made > room) fail_malformed("deflate: more than the ", size, " bytes announced");
    written += made;
  }
  if (status != Z_STREAM_END || written != size) {
    fail_malformed("deflate: ", stream.msg != nullptr ? stream.msg : "the data ends early", " after ", written, " of ",
                   size, " bytes");
  }
  return out;
}

}  // namespace dnn
