// The frames of dnn-serve on hostile bytes: only Malformed and Unsupported may escape, and no length takes memory that no byte pays for.
#include "fuzz/fuzz.h"
#include "remote/frame.h"
#include "remote/handshake.h"
#include "remote/tensors.h"

DNN_FUZZ(frames) {
  using namespace dnn;
  MemorySource source(dnn::fuzz::as_input(data, size));
  StringSink sink;
  remote::Frames frames(source, sink, "fuzz");
  return dnn::fuzz::refuse_or_accept([&] {
    while (const std::optional<remote::Message> message = frames.receive(uint64_t{64} << 20)) {
      frames.send(message->map, {message->payload});
      const auto types = message->map.find("tensors");
      if (types == message->map.end()) continue;
      const std::vector<Tensor> tensors = remote::tensors_of(*types, message->payload);
      if (remote::tensors_of(remote::types_of(tensors), message->payload).size() != tensors.size()) __builtin_trap();
    }
  });
}
