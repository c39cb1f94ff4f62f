// Frames; see frame.h.
#include "remote/frame.h"

#include <algorithm>

namespace dnn::remote {
namespace {

constexpr char kFrameMagic[4] = {'D', 'N', 'S', '1'};
constexpr uint32_t kTagged = 1;  // of the flags

}  // namespace

struct Frames::Head {
  uint32_t map = 0, payload = 0;
  uint64_t rest = 0;  // bytes of the message's payload behind this frame
  bool tagged = false;
};

Frames::Frames(ByteSource& source, ByteSink& sink, std::string name)
    : source_(source), sink_(sink), name_(std::move(name)) {}

void Frames::authenticate(Bytes secret, bool serves) {
  const KeyedTags of_client(secret, "frames of a client", TagHash::Umac128),
      of_server(secret, "frames of a server", TagHash::Umac128);
  in_tags_ = serves ? of_client : of_server;
  out_tags_ = serves ? of_server : of_client;
}

void Frames::send_frame(std::string_view map, const std::vector<Bytes>& parts, size_t payload, uint64_t rest) {
  constexpr size_t kWorthACall = size_t{1} << 16;  // below, copying a payload is cheaper than sending it by itself
  const bool apart = !out_tags_ && payload >= kWorthACall;
  const size_t size = kFrameHead + map.size() + (apart ? 0 : payload);
  out_.resize(size + (out_tags_ ? sizeof(Tag) : 0));
  std::memcpy(out_.data(), kFrameMagic, sizeof kFrameMagic);
  put_at(out_, 4, static_cast<uint32_t>(map.size()));
  put_at(out_, 8, sent_++);
  put_at(out_, 16, static_cast<uint32_t>(payload));
  put_at(out_, 20, out_tags_ ? kTagged : 0u);
  put_at(out_, 24, rest);
  std::copy_n(as_bytes(map).begin(), map.size(), out_.begin() + kFrameHead);
  auto to = out_.begin() + static_cast<std::ptrdiff_t>(kFrameHead + map.size());
  for (const Bytes part : parts) {
    if (!apart) to = std::copy(part.begin(), part.end(), to);
  }
  if (out_tags_) {
    const Tag tag = (*out_tags_)(Bytes(out_).first(size));
    std::memcpy(out_.data() + size, tag.data(), tag.size());
  }
  if (told_) told_(false);
  sink_.write(out_);
  for (const Bytes part : parts) {
    if (apart) sink_.write(part);
  }
}

void Frames::send(const Json& map, const std::vector<Bytes>& payload) {
  std::string text;
  stream::msgpack_encode(map, &text);
  if (text.size() > kMaxMap) fail_unsupported(name_, ": a message of ", text.size(), " bytes, above ", kMaxMap);
  uint64_t rest = 0;
  for (const Bytes part : payload) rest += part.size();
  std::vector<Bytes> now;
  size_t now_size = 0;
  bool first = true;
  const auto flush = [&] {
    rest -= now_size;
    send_frame(first ? std::string_view(text) : std::string_view(), now, now_size, rest);
    first = false;
    now.clear();
    now_size = 0;
  };
  for (Bytes part : payload) {
    while (!part.empty()) {
      const size_t n = std::min(part.size(), kMaxFramePayload - now_size);
      now.push_back(part.first(n));
      now_size += n;
      part = part.subspan(n);
      if (now_size == kMaxFramePayload) flush();
    }
  }
  if (first || now_size > 0) flush();
}

size_t Frames::read(std::byte* to, size_t n) {
  const size_t got = source_.read(to, n);
  if (got > n) fail_internal(name_, ": a source gives more than is asked for");
  return got;
}

void Frames::read_all(std::byte* to, size_t n) {
  while (n > 0) {
    const size_t got = read(to, n);
    if (got == 0) throw ConnectionEnded(ErrorKind::Malformed, cat(name_, ": the connection ends within a frame"));
    to += got;
    n -= got;
  }
}

std::optional<Frames::Head> Frames::read_head() {
  if (in_.size() < kFrameHead) in_.resize(kFrameHead);
  const size_t got = read(in_.data(), kFrameHead);
  if (got == 0) return std::nullopt;
  if (told_) told_(false);
  read_all(in_.data() + got, kFrameHead - got);
  ByteReader reader(Bytes(in_).first(kFrameHead), "a frame");
  if (std::memcmp(reader.take(sizeof kFrameMagic).data(), kFrameMagic, sizeof kFrameMagic) != 0)
    fail_malformed(name_, ": does not speak the protocol of dnn-serve");
  Head head;
  head.map = reader.u32();
  const uint64_t number = reader.u64();
  head.payload = reader.u32();
  const uint32_t flags = reader.u32();
  head.rest = reader.u64();
  head.tagged = flags == kTagged;
  if (flags > kTagged) fail_malformed(name_, ": a frame has unknown flags ", flags);
  if (number != received_) fail_malformed(name_, ": frame ", number, " comes where ", received_, " is due");
  ++received_;
  return head;
}

// What follows the head, into in_.
void Frames::read_rest(const Head& head) {
  const size_t size = kFrameHead + head.map + head.payload;
  const size_t tag_size = head.tagged ? sizeof(Tag) : 0;
  if (in_.size() < size + tag_size) in_.resize(size + tag_size);
  read_all(in_.data() + kFrameHead, size - kFrameHead + tag_size);
  if (in_tags_.has_value() != head.tagged)
    fail_malformed(name_, head.tagged ? ": a frame is signed, and no key is known" : ": a frame is not signed");
  if (!in_tags_) return;
  Tag tag{};
  std::memcpy(tag.data(), in_.data() + size, tag.size());
  if (!in_tags_->holds(Bytes(in_).first(size), tag)) fail_malformed(name_, ": a frame is not signed with the key");
}

std::optional<Message> Frames::receive(uint64_t most_payload, size_t most_map) {
  if (told_) told_(true);
  std::optional<Head> head = read_head();
  if (!head) return std::nullopt;
  if (head->map == 0) fail_malformed(name_, ": a message has no map");
  if (head->map > most_map) fail_malformed(name_, ": a map of ", head->map, " bytes, above ", most_map);
  if (head->payload > most_payload || head->rest > most_payload - head->payload)
    fail_malformed(name_, ": a payload of ", cat(head->payload), head->rest > 0 ? cat(" and ", head->rest) : "",
                   " bytes, above ", most_payload);
  const auto check = [&](const Head& h) {
    if (h.payload > kMaxFramePayload || (h.rest > 0 && h.payload == 0))
      fail_malformed(name_, ": a frame's payload of ", h.payload, " bytes");
  };
  check(*head);
  read_rest(*head);
  Message message;
  message.map = stream::msgpack_decode(Bytes(in_).subspan(kFrameHead, head->map));
  if (!message.map.is_object()) fail_malformed(name_, ": a message is no map");
  message.payload = Bytes(in_).subspan(kFrameHead + head->map, head->payload);
  if (head->rest == 0) return message;
  whole_.assign(message.payload.begin(), message.payload.end());
  for (uint64_t rest = head->rest; rest > 0; rest = head->rest) {
    head = read_head();
    if (!head) throw ConnectionEnded(ErrorKind::Malformed, cat(name_, ": the connection ends within a message"));
    if (head->map != 0 || head->payload == 0 || head->payload > rest || head->rest != rest - head->payload)
      fail_malformed(name_, ": a frame does not go on where the one before ended");
    check(*head);
    read_rest(*head);
    const Bytes part = Bytes(in_).subspan(kFrameHead, head->payload);
    whole_.insert(whole_.end(), part.begin(), part.end());
  }
  message.payload = whole_;
  return message;
}

}  // namespace dnn::remote
