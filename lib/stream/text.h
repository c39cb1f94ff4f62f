// Streams for people and for jq: records as readable text, and JSON lines read back.
#pragma once
#include <optional>
#include <string>

#include "base/io.h"
#include "stream/records.h"

namespace dnn::stream {

// Lines without the last newline; control characters escaped, tensors as shape, range and mean.
std::string record_to_text(const Record& record);

// "1 socket, 8 cores, 16 processors, 1 NUMA node, L2 1024 KiB x8 for 2 processors each, ..."; nothing of what is not known.
std::string topology_text(const Topology& topology);

// The records of JSON lines. Empty lines and unknown types are skipped. Throws Malformed with the line's number.
class LineReader {
 public:
  // The source must outlive the reader.
  LineReader(ByteSource& source, std::string name) : source_(source), name_(std::move(name)) {}
  std::optional<Record> next();

 private:
  bool next_line(std::string* line);

  ByteSource& source_;
  std::string name_;
  std::string buffer_;
  size_t used_ = 0;
  bool ended_ = false;
  int64_t line_i_ = 0;
};

}  // namespace dnn::stream
