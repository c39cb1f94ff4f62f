// The stream reader on hostile bytes: only Malformed and Unsupported may escape, and what it reads can be written.
#include <cstdlib>

#include "fuzz/fuzz.h"
#include "stream/stream.h"
#include "stream/text.h"

DNN_FUZZ(stream) {
  using namespace dnn;
  MemorySource source(dnn::fuzz::as_input(data, size));
  stream::Reader reader(source, "fuzz");
  StringSink sink;
  stream::Writer writer(sink, 64);
  return dnn::fuzz::refuse_or_accept([&] {
    while (const std::optional<stream::Record> record = reader.next()) {
      writer.write(*record);
      stream::record_to_text(*record);
      const std::string line = stream::record_to_json(*record);
      const std::optional<stream::Record> back = stream::record_from_json(line);
      if (!back || stream::record_to_json(*back) != line) std::abort();
    }
  });
}
