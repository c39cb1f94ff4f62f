// Frames: what a tool and a dnn-serve say to each other; docs/reference/serve.md has the layout.
//
// A message is a msgpack map and a payload of raw bytes, cut into frames of at most 1 MiB of payload. The head of each frame says
// how much follows, which is held to limits before memory is taken for it. Frames are numbered in each direction; once both sides
// have a secret, each ends with a tag (base/keyed_tag.h) over all of it, so that frames that were changed, replayed, left out or
// exchanged are refused.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/io.h"
#include "base/keyed_tag.h"
#include "stream/msgpack.h"

namespace dnn::remote {

using stream::Json;

inline constexpr int kProtocol = 1;
inline constexpr size_t kFrameHead = 32;
inline constexpr size_t kMaxMap = size_t{1} << 20;           // bytes of a message's map
inline constexpr size_t kMaxFramePayload = size_t{1} << 20;  // bytes of a frame's payload

// The connection is gone, where a message was due or within one. What was asked may be asked again over another.
class ConnectionEnded : public Error {
 public:
  using Error::Error;
};

struct Message {
  Json map;
  Bytes payload;  // until the next message is received
};

template <class T>
void put_at(std::vector<std::byte>& to, size_t at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) to[at + i] = static_cast<std::byte>(value >> (8 * i));
}

class Frames {
 public:
  // `name` stands in errors. Source and sink must outlive it.
  Frames(ByteSource& source, ByteSink& sink, std::string name);

  // Called before each wait: true for a message that the other side may take its time to begin, false within one.
  void on_wait(std::function<void(bool begins)> told) { told_ = std::move(told); }

  // Throws what the sink throws, and Unsupported for a map above kMaxMap.
  void send(const Json& map, const std::vector<Bytes>& payload = {});
  // The next message; nullopt where the other side has closed before one began. Throws Malformed for what is no frame, above a
  // limit, not in its order, or cut off (ConnectionEnded); nothing of a frame is looked at before its tag holds.
  std::optional<Message> receive(uint64_t most_payload, size_t most_map = kMaxMap);

  // From now on frames are tagged, both ways. `serves`: which side this is.
  void authenticate(Bytes secret, bool serves);

 private:
  struct Head;
  size_t read(std::byte* to, size_t n);
  void read_all(std::byte* to, size_t n);
  std::optional<Head> read_head();
  void read_rest(const Head& head);
  void send_frame(std::string_view map, const std::vector<Bytes>& parts, size_t payload, uint64_t rest);

  ByteSource& source_;
  ByteSink& sink_;
  const std::string name_;
  std::function<void(bool)> told_;
  uint64_t sent_ = 0, received_ = 0;
  std::optional<KeyedTags> in_tags_, out_tags_;
  std::vector<std::byte> in_, out_, whole_;
};

}  // namespace dnn::remote
