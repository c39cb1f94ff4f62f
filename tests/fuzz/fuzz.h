// What every fuzz target shares: hostile bytes may be refused, as malformed or unsupported, and nothing else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "formats/format.h"
#include "graph/text.h"

// Begins the function of target `name`, which runs `size` bytes at `data`: libFuzzer's own one in a program of preset fuzz, one of
// many of fuzz_replay elsewhere.
#ifdef DNN_LIBFUZZER
#define DNN_FUZZ(name) extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
#else
#define DNN_FUZZ(name) int fuzz_##name(const uint8_t* data, size_t size)
#endif

namespace dnn::fuzz {

inline Bytes as_input(const uint8_t* data, size_t size) { return {reinterpret_cast<const std::byte*>(data), size}; }

// A model of these bytes in memory of their own, aligned as a mapped file is, so that what is read over their end is seen.
inline ModelSource as_model(Bytes bytes) {
  const auto file = std::make_shared<Tensor>(DType::UInt8, Shape{static_cast<int64_t>(bytes.size())});
  if (!bytes.empty()) std::memcpy(file->mutable_bytes(), bytes.data(), bytes.size());
  ModelSource source;
  source.path = "-";
  source.bytes = file->bytes();
  source.owner = file;
  return source;
}

// Runs `read`; any other exception than those two kinds of Error ends the process.
template <class Read>
int refuse_or_accept(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Malformed && error.kind() != ErrorKind::Unsupported) throw;
  }
  return 0;
}

// What is read prints, and parses back to the same text.
inline void expect_text_round_trip(const Graph& graph) {
  const TextOptions whole = {.inline_elements = 32, .inline_all = true};
  const std::string text = to_text(graph, whole);
  if (to_text(parse_graph(text), whole) != text) __builtin_trap();
}

}  // namespace dnn::fuzz
