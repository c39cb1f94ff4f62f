// Kenning's messages on hostile bytes, of both wires: only Malformed and Unsupported may escape, and what is taken is sent again alike.
#include "remote/kenning.h"

#include "fuzz/fuzz.h"

DNN_FUZZ(kenning) {
  using namespace dnn;
  namespace kenning = remote::kenning;
  if (size == 0) return 0;
  const auto wire = data[0] % 2 == 0 ? kenning::Wire::Seed : kenning::Wire::Header12;
  MemorySource source(dnn::fuzz::as_input(data + 1, size - 1));
  StringSink nowhere;
  kenning::Messages messages(source, nowhere, wire, "fuzz");
  return dnn::fuzz::refuse_or_accept([&] {
    while (const std::optional<kenning::Message> message = messages.receive(uint64_t{64} << 20)) {
      StringSink sent;
      MemorySource none{Bytes()};
      kenning::Messages(none, sent, wire, "fuzz").send(message->type, message->flow, message->flags, message->payload);
      MemorySource again(as_bytes(sent.text()));
      kenning::Messages back(again, nowhere, wire, "fuzz");
      const std::optional<kenning::Message> copy = back.receive(uint64_t{64} << 20);
      if (!copy || copy->type != message->type || copy->payload.size() != message->payload.size()) __builtin_trap();
    }
  });
}
