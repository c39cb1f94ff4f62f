// Messages of Kenning; see kenning.h.
#include "remote/kenning.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/text.h"
#include "remote/frame.h"

namespace dnn::remote::kenning {
namespace {

constexpr size_t kSeedHead = 6;
constexpr unsigned kTypeBits = 38;
constexpr size_t kRead = size_t{1} << 20;
constexpr std::byte kChecksumBase{0x4b};  // all bytes of a message that has a checksum, joined by exclusive or

template <class T>
T get(const std::byte* from) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(from[i]) << (8 * i)));
  return value;
}

std::byte joined(Bytes bytes) {
  std::byte sum{};
  for (const std::byte b : bytes) sum ^= b;
  return sum;
}

// A head of Header12.
struct Head {
  explicit Head(const std::byte* bytes) {
    uint64_t id = 0;
    for (size_t i = 0; i < 5; ++i) id |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    type = id & ((uint64_t{1} << kTypeBits) - 1);
    flow = static_cast<Flow>(id >> kTypeBits);
    flags = get<uint16_t>(bytes + 6);
    size = (flags & kHasPayload) != 0 ? get<uint32_t>(bytes + 8) : 0;
  }
  uint64_t type;
  Flow flow;
  uint16_t flags;
  uint32_t size;
};

}  // namespace

std::optional<Message> parse_short(Bytes bytes) {
  if (bytes.size() != kHead) return std::nullopt;
  const Head head(bytes.data());
  const bool whole = (head.flags & kFirst) != 0 && (head.flags & kLast) != 0 && (head.flags & kHasPayload) == 0;
  if (!whole || head.flow != Flow::Request || get<uint32_t>(bytes.data() + 8) != 0) return std::nullopt;
  if (bytes[5] != std::byte{} && joined(bytes) != kChecksumBase) return std::nullopt;
  return Message{head.type, head.flow, head.flags, {}};
}

Messages::Messages(ByteSource& source, ByteSink& sink, Wire wire, std::string name, Manner manner)
    : source_(source), sink_(sink), wire_(wire), name_(std::move(name)), manner_(manner) {}

void Messages::send(uint64_t type, Flow flow, uint16_t flags, Bytes payload) {
  if (told_) told_(false);
  if (wire_ == Wire::Seed) {
    if (payload.size() > UINT32_MAX - 2) fail_unsupported(name_, ": a message of ", payload.size(), " bytes");
    out_.resize(kSeedHead + payload.size());
    put_at(out_, 0, static_cast<uint32_t>(payload.size() + 2));
    put_at(out_, 4, static_cast<uint16_t>(type));
    std::copy(payload.begin(), payload.end(), out_.begin() + kSeedHead);
    sink_.write(out_);
    return;
  }
  bool first = true;
  do {
    const Bytes piece = payload.first(std::min(payload.size(), manner_.piece));
    payload = payload.subspan(piece.size());
    out_.resize(kHead + piece.size());
    put_at(out_, 0, type | static_cast<uint64_t>(flow) << kTypeBits);  // five bytes, and the checksum's
    unsigned all = flags;
    if (first) all |= kFirst;
    if (payload.empty()) all |= kLast;
    if (!piece.empty()) all |= kHasPayload;
    put_at(out_, 6, static_cast<uint16_t>(all));
    put_at(out_, 8, static_cast<uint32_t>(piece.size()));
    std::copy(piece.begin(), piece.end(), out_.begin() + kHead);
    out_[5] = joined(out_) ^ kChecksumBase;
    if (!first && told_) told_(false);
    sink_.write(out_);
    first = false;
  } while (!payload.empty());
}

// False where the stream ends before it.
bool Messages::read_head(std::byte* to, size_t n) {
  size_t at = 0;
  while (at < n) {
    const size_t got = source_.read(to + at, n - at);
    if (got == 0 && at == 0) return false;
    if (got == 0) fail_malformed(name_, ": the connection ends within a message");
    if (at == 0 && told_) told_(false);
    at += got;
  }
  return true;
}

// Behind what there is.
void Messages::read_payload(size_t n) {
  while (n > 0) {
    // Memory is taken as bytes come, not as a head promises them.
    const size_t part = std::min(n, kRead), at = payload_.size();
    payload_.resize(at + part);
    if (told_) told_(false);
    for (size_t done = 0; done < part;) {
      const size_t got = source_.read(payload_.data() + at + done, part - done);
      if (got == 0) fail_malformed(name_, ": the connection ends within a message");
      done += got;
    }
    n -= part;
  }
}

std::optional<Message> Messages::receive_seed(uint64_t most_payload) {
  std::byte head[kSeedHead];
  if (!read_head(head, sizeof head)) return std::nullopt;
  const auto size = get<uint32_t>(head);
  if (size < 2) fail_malformed(name_, ": a message of ", size, " bytes has no type");
  if (size - 2 > most_payload) fail_malformed(name_, ": a payload of ", size - 2, " bytes, above ", most_payload);
  Message message;
  message.type = get<uint16_t>(head + 4);
  read_payload(size - 2);
  message.payload = payload_;
  return message;
}

std::optional<Message> Messages::receive_header12(uint64_t most_payload) {
  Message message;
  for (bool first = true;; first = false) {
    std::byte head[kHead];
    if (!read_head(head, sizeof head)) {
      if (first) return std::nullopt;
      fail_malformed(name_, ": the connection ends within a message");
    }
    const auto [type, flow, flags, size] = Head(head);
    if (((flags & kFirst) != 0) != first)
      fail_malformed(name_, first ? ": a message begins with a later piece" : ": a message ends within another");
    if (first) {
      message.type = type;
      message.flow = flow;
      message.flags = flags;
    } else if (type != message.type) {
      fail_malformed(name_, ": a piece of type ", type, " in a message of type ", message.type);
    }
    if (size > most_payload - payload_.size())
      fail_malformed(name_, ": a payload of ", payload_.size() + size, " bytes, above ", most_payload);
    // Pieces without bytes could go on for ever.
    if (!first && size == 0) fail_malformed(name_, ": an empty piece of a message");
    const size_t before = payload_.size();
    read_payload(size);
    if (manner_.checked && head[5] != std::byte{}) {
      const std::byte sum = joined(Bytes(head)) ^ joined(Bytes(payload_).subspan(before));
      message.damaged = message.damaged || sum != kChecksumBase;
    }
    if ((flags & kLast) == 0) continue;
    message.payload = payload_;
    return message;
  }
}

std::optional<Message> Messages::receive(uint64_t most_payload) {
  payload_.clear();
  if (told_) told_(true);
  return wire_ == Wire::Seed ? receive_seed(most_payload) : receive_header12(most_payload);
}

}  // namespace dnn::remote::kenning
