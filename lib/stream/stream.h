// Streams: sequences of records, read from hostile bytes and written whole, one msgpack map each.
//
// A run is a header, its records and an `end` with their counts; runs concatenate (`cat a.dnns b.dnns`). A run without
// its `end` is truncated: Reader hands out everything that arrived and says so afterwards. Tensors above a limit
// travel as consecutive `tensor` records with offset and total; Reader puts them together again.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/io.h"
#include "stream/records.h"

namespace dnn::stream {

inline constexpr size_t kTensorChunkBytes = size_t{1} << 24;

class Reader {
 public:
  // `name` stands in errors. The source must outlive the reader.
  Reader(ByteSource& source, std::string name);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // The next record of a known type, or nullopt at the end. Waits for bytes only while the record is incomplete.
  // Throws Malformed (damage), Unsupported (newer stream version), Environment (cannot read).
  std::optional<Record> next();

  // Whether some run lacked its `end`, or the bytes stopped within a record, or there was no run at all; final once
  // next() has returned nullopt.
  bool truncated() const { return truncated_; }
  // The Malformed error that says where and after how much.
  Error truncation() const;

 private:
  struct State;
  bool fill();
  size_t wait_for_record();
  std::optional<Record> read_record();

  ByteSource& source_;
  std::string name_;
  bool truncated_ = false;
  std::unique_ptr<State> state_;
};

class Writer {
 public:
  // The sink must outlive the writer. Each record is one write() of the sink.
  explicit Writer(ByteSink& sink, size_t tensor_chunk_bytes = kTensorChunkBytes);

  // Writes one record. A Header opens a run; an End closes it with the counts of what was written since, whatever it
  // holds.
  void write(const Record& record);
  void end() { write(End{}); }

 private:
  void write_tensor(const TensorRecord& record, std::string_view attach);

  ByteSink& sink_;
  size_t chunk_bytes_;
  std::map<std::string, int64_t> counts_;
};

// Whether a file that starts with these bytes (16 are enough) is a stream.
bool looks_like_stream(Bytes first);

}  // namespace dnn::stream
