// ZipWriter: APPNOTE.TXT 6.3 sections 4.3 and 4.5.3; see zip_write.h.
#include "base/zip_write.h"

#include <algorithm>

#include "base/crc.h"
#include "base/error.h"
#include "base/zip.h"

namespace dnn {
namespace {

constexpr uint64_t kMax16 = 0xffff;
constexpr uint64_t kMax32 = 0xffffffff;
constexpr uint16_t kVersion = 20, kVersion64 = 45;  // 2.0, and 4.5 that brought zip64
constexpr uint16_t kUtf8 = 0x0800;
constexpr uint16_t kFirstDay = 1 << 5 | 1;  // 1 January 1980
constexpr uint16_t kPaddingField = 0x4246;  // "FB", as PyTorch's writer names it
constexpr size_t kLocalHeaderBytes = 30;
constexpr size_t kFieldHeaderBytes = 4;

template <class T>
void put(std::string* out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) *out += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff);
}
void put16(std::string* out, uint64_t value) { put(out, static_cast<uint16_t>(std::min(value, kMax16))); }
void put32(std::string* out, uint64_t value) { put(out, static_cast<uint32_t>(std::min(value, kMax32))); }

bool large(uint64_t value) { return value >= kMax32; }

// What a local header and a line of the directory share: from the needed version to the length of the name.
void put_description(std::string* out, bool zip64, uint32_t crc, uint64_t size, size_t name_bytes) {
  put16(out, zip64 ? kVersion64 : kVersion);
  put16(out, kUtf8);
  put16(out, 0);  // stored
  put16(out, 0);  // midnight
  put16(out, kFirstDay);
  put(out, crc);
  put32(out, size);
  put32(out, size);
  put16(out, name_bytes);
}

}  // namespace

ZipWriter::ZipWriter(size_t alignment) : alignment_(alignment) { DNN_CHECK(alignment >= 1 && alignment <= 4096); }

void ZipWriter::add(std::string name, Content content) {
  if (name.size() > kMax16) fail_unsupported("zip: a name of ", name.size(), " bytes; the limit is ", kMax16);
  if (!names_.insert(name).second) fail_unsupported("zip: two entries of the name ", quoted(name));
  CrcSink<zip_crc32> sum;
  content.write(sum);
  entries_.push_back({std::move(name), std::move(content), sum.value()});
}

std::string ZipWriter::local_header(const Entry& entry, uint64_t offset) const {
  const uint64_t size = entry.content.size();
  std::string extra;
  if (large(size)) {
    put16(&extra, kZip64Field);
    put16(&extra, 16);
    put(&extra, size);
    put(&extra, size);
  }
  const uint64_t begin = offset + kLocalHeaderBytes + entry.name.size() + extra.size();
  if (begin % alignment_ != 0) {
    const uint64_t padding = (alignment_ - (begin + kFieldHeaderBytes) % alignment_) % alignment_;
    put16(&extra, kPaddingField);
    put16(&extra, padding);
    extra.append(padding, 'Z');
  }
  std::string header = "PK\x03\x04";
  put_description(&header, large(size), entry.crc32, size, entry.name.size());
  put16(&header, extra.size());
  return header + entry.name + extra;
}

std::string ZipWriter::directory(const std::vector<uint64_t>& offsets, uint64_t begin) const {
  std::string lines;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const uint64_t size = entry.content.size();
    std::string fields;  // of zip64: what 32 bits cannot say, in this order
    if (large(size)) {
      put(&fields, size);
      put(&fields, size);
    }
    if (large(offsets[i])) put(&fields, offsets[i]);
    std::string extra;
    if (!fields.empty()) {
      put16(&extra, kZip64Field);
      put16(&extra, fields.size());
      extra += fields;
    }
    lines += "PK\x01\x02";
    put16(&lines, kVersion64);
    put_description(&lines, !fields.empty(), entry.crc32, size, entry.name.size());
    put16(&lines, extra.size());
    put16(&lines, 0);  // comment
    put16(&lines, 0);  // disk
    put16(&lines, 0);  // internal attributes
    put32(&lines, 0);  // external attributes
    put32(&lines, offsets[i]);
    lines += entry.name + extra;
  }
  std::string end;
  if (entries_.size() >= kMax16 || large(begin) || large(lines.size())) {
    end += "PK\x06\x06";
    put(&end, uint64_t{44});  // bytes of this record that follow
    put16(&end, kVersion64);
    put16(&end, kVersion64);
    put32(&end, 0);
    put32(&end, 0);
    put(&end, uint64_t{entries_.size()});
    put(&end, uint64_t{entries_.size()});
    put(&end, uint64_t{lines.size()});
    put(&end, begin);
    end += "PK\x06\x07";
    put32(&end, 0);
    put(&end, begin + lines.size());
    put32(&end, 1);
  }
  end += "PK\x05\x06";
  put16(&end, 0);
  put16(&end, 0);
  put16(&end, entries_.size());
  put16(&end, entries_.size());
  put32(&end, lines.size());
  put32(&end, begin);
  put16(&end, 0);
  return lines + end;
}

Content ZipWriter::content() const {
  Content file;
  std::vector<uint64_t> offsets;
  for (const Entry& entry : entries_) {
    offsets.push_back(file.size());
    file.append(local_header(entry, file.size()));
    file.append(entry.content);
  }
  file.append(directory(offsets, file.size()));
  return file;
}

}  // namespace dnn
