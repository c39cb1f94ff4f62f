// Messages of Kenning (antmicro/kenning), as its versions put them on a wire. docs/reference/kenning.md has both layouts.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/io.h"

namespace dnn::remote::kenning {

// Seed: that of 2021 and 2022, a length and a type of 16 bits. Header12: that of 0.8.2, a header of 12 bytes.
enum class Wire : uint8_t { Seed, Header12 };

enum Type : uint64_t {
  kOk = 0,  // of Seed alone, as is the next; later versions have a ping and a status there
  kError = 1,
  kPing = 0,
  kStatus = 1,
  kData = 2,
  kModel = 3,
  kProcess = 4,
  kOutput = 5,
  kStats = 6,
  kIoSpec = 7,
  kTraceData = 8,
  kOptimizers = 9,
  kOptimizeModel = 10,
  kRuntime = 11,
  kUnoptimizedModel = 12,
  kLogs = 13,
};

enum class Flow : uint8_t { Request = 0, Retransmit = 1, Acknowledge = 2, Transmission = 3 };

enum Flag : uint16_t {
  kSuccess = 1,
  kFail = 2,
  kIsHost = 4,
  kHasPayload = 8,
  kFirst = 16,
  kLast = 32,
  kIsKenning = 64,
  kIsZephyr = 128
};

inline constexpr size_t kHead = 12;  // bytes of Header12
inline constexpr size_t kNetworkPiece = (size_t{1} << 20) - kHead;

struct Message {
  uint64_t type = 0;
  Flow flow = Flow::Request;  // of Header12, as are the flags
  uint16_t flags = 0;
  Bytes payload;         // until the next message is received
  bool damaged = false;  // its checksum is wrong, where that is looked at
};

// Settings that differ between a network and a serial line.
struct Manner {
  size_t piece = kNetworkPiece;  // as much of a payload as goes in one message
  bool checked = false;          // look at checksums but 0, which says that there is none
};

// A request without payload in the twelve bytes of its head; nullopt for anything else.
std::optional<Message> parse_short(Bytes head);

class Messages {
 public:
  // `name` stands in errors. Source and sink must outlive it.
  Messages(ByteSource& source, ByteSink& sink, Wire wire, std::string name, Manner manner = {});

  Wire wire() const { return wire_; }
  // As in Frames: told before each wait, and again for each MiB of a long message.
  void on_wait(std::function<void(bool begins)> told) { told_ = std::move(told); }

  // In pieces where Kenning would cut it. kHasPayload, kFirst and kLast of `flags` are set here.
  void send(uint64_t type, Flow flow, uint16_t flags, Bytes payload);
  // The next message, whole; nullopt where the other side has closed before one began. Throws Malformed for what is no message, above the
  // limit, or cut off. On a network a checksum is not looked at: Kenning itself sends 0.
  std::optional<Message> receive(uint64_t most_payload);

 private:
  bool read_head(std::byte* to, size_t n);
  void read_payload(size_t n);
  std::optional<Message> receive_seed(uint64_t most_payload);
  std::optional<Message> receive_header12(uint64_t most_payload);

  ByteSource& source_;
  ByteSink& sink_;
  const Wire wire_;
  const std::string name_;
  const Manner manner_;
  std::function<void(bool)> told_;
  std::vector<std::byte> payload_, out_;
};

}  // namespace dnn::remote::kenning
