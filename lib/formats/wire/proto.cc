// Parsing protobuf messages; see proto.h.
#include "formats/wire/proto.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <climits>
#include <memory>

namespace dnn {
namespace {

constexpr size_t kLeaveFrom = size_t{4} << 10;  // bytes of a field from which on it is not copied
constexpr int kMaxMessageDepth = 100;           // protobuf's own

void append_varint(std::string* out, uint64_t number) {
  for (; number >= 128; number >>= 7) *out += static_cast<char>(number | 128);
  *out += static_cast<char>(number);
}

std::string varint(uint64_t number) {
  std::string text;
  append_varint(&text, number);
  return text;
}

// Finds the long fields of a message, and what stands in place of them and of the lengths around them.
class Scan {
 public:
  struct Edit {
    size_t begin, end;  // of the file
    std::string text;
  };

  Scan(Bytes file, const std::vector<ProtoStep>& steps) : file_(file), steps_(steps) {}

  // Whether [begin, end) can be that message; `size` is what it becomes.
  bool message(int kind, size_t begin, size_t end, int depth, uint64_t* size) {
    if (depth > kMaxMessageDepth) return false;
    int groups = 0;
    *size = end - begin;
    for (size_t at = begin; at < end;) {
      const size_t field = at;
      uint64_t tag = 0, length = 0;
      size_t head = 0;  // where the length stands
      if (!read(&at, end, &tag) || tag < 8 || tag > UINT32_MAX || tag >> 3 == kPlaceField) return false;
      switch (tag & 7) {
        case 0:
          if (!read(&at, end, &length)) return false;
          continue;
        case 1: length = 8; break;
        case 2:
          head = at;
          if (!read(&at, end, &length)) return false;
          break;
        case 3: ++groups; continue;
        case 4:
          if (--groups < 0) return false;
          continue;
        case 5: length = 4; break;
        default: return false;
      }
      if (length > end - at) return false;
      if ((tag & 7) == 2 && groups == 0) {
        const ProtoStep* step = find(kind, static_cast<int>(tag >> 3));
        if (step != nullptr && step->to == kLong) {
          leave(field, at, length, size);
        } else if (step != nullptr && !submessage(*step, head, at, length, depth, size)) {
          return false;
        }
      }
      at += length;
    }
    return groups == 0;
  }

  const std::vector<Edit>& edits() const { return edits_; }

 private:
  bool read(size_t* at, size_t end, uint64_t* number) const {
    *number = 0;
    for (int shift = 0; shift < 70 && *at < end; shift += 7) {
      const auto byte = static_cast<uint8_t>(file_[(*at)++]);
      *number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  const ProtoStep* find(int kind, int field) const {
    for (const ProtoStep& step : steps_) {
      if (step.message == kind && step.field == field) return &step;
    }
    return nullptr;
  }

  void leave(size_t field, size_t at, uint64_t length, uint64_t* size) {
    if (length < kLeaveFrom) return;
    std::string text = varint(uint64_t{kPlaceField} << 3 | 2) + varint(16);
    const uint64_t place[] = {at, length};
    text.append(reinterpret_cast<const char*>(place), sizeof place);
    *size -= at + length - field - text.size();
    edits_.push_back({field, at + length, std::move(text)});
  }

  bool submessage(const ProtoStep& step, size_t head, size_t at, uint64_t length, int depth, uint64_t* size) {
    const size_t mine = edits_.size();
    uint64_t shorter = 0;
    edits_.push_back({head, at, ""});
    if (!message(step.to, at, at + length, depth + 1, &shorter)) return false;
    if (shorter == length) {
      edits_.resize(mine);
      return true;
    }
    edits_[mine].text = varint(shorter);
    *size -= length - shorter + (at - head) - edits_[mine].text.size();
    return true;
  }

  const Bytes file_;
  const std::vector<ProtoStep>& steps_;
  std::vector<Edit> edits_;
};

}  // namespace

bool parse_message(Bytes bytes, google::protobuf::MessageLite* message) {
  const google::protobuf::LogSilencer silence;
  return bytes.size() <= INT_MAX && message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool parse_message(Bytes bytes, const std::vector<ProtoStep>& steps, google::protobuf::MessageLite* message) {
  namespace io = google::protobuf::io;
  if (bytes.size() > INT_MAX) return false;
  Scan scan(bytes, steps);
  uint64_t size = 0;
  if (!scan.message(0, 0, bytes.size(), 0, &size)) return false;
  std::vector<std::unique_ptr<io::ZeroCopyInputStream>> parts;
  const auto part = [&](const void* data, size_t n) {
    if (n > 0) parts.push_back(std::make_unique<io::ArrayInputStream>(data, static_cast<int>(n)));
  };
  size_t at = 0;
  for (const Scan::Edit& edit : scan.edits()) {
    part(bytes.data() + at, edit.begin - at);
    part(edit.text.data(), edit.text.size());
    at = edit.end;
  }
  part(bytes.data() + at, bytes.size() - at);
  std::vector<io::ZeroCopyInputStream*> streams;
  for (const std::unique_ptr<io::ZeroCopyInputStream>& stream : parts) streams.push_back(stream.get());
  io::ConcatenatingInputStream whole(streams.data(), static_cast<int>(streams.size()));
  const google::protobuf::LogSilencer silence;
  return message->ParseFromZeroCopyStream(&whole);
}

Bytes bytes_at(const std::string& place, Bytes file) {
  uint64_t at[2] = {};
  if (place.size() != sizeof at) fail_malformed("a field that no writer makes");
  std::memcpy(at, place.data(), sizeof at);
  if (at[0] > file.size() || at[1] > file.size() - at[0]) fail_malformed("a field that no writer makes");
  return file.subspan(at[0], at[1]);
}

}  // namespace dnn
