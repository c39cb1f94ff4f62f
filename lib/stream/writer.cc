// Writer; see stream.h.
#include <algorithm>

#include "stream/record_map.h"
#include "stream/stream.h"

namespace dnn::stream {
namespace {

void put_record(ByteSink& sink, const Json& map) {
  std::string bytes;
  msgpack_encode(map, &bytes);
  if (bytes.size() > kMaxRecordBytes) {
    fail_unsupported("a ", text_at(map, "type"), " record of ", bytes.size(), " bytes: the limit is ", kMaxRecordBytes);
  }
  sink.write(as_bytes(bytes));
}

}  // namespace

Writer::Writer(ByteSink& sink, size_t tensor_chunk_bytes) : sink_(sink), chunk_bytes_(tensor_chunk_bytes) {}

// A tensor in as many records as it needs. `attach` names the record type that the tensor goes back into.
void Writer::write_tensor(const TensorRecord& record, std::string_view attach) {
  Json map = record_to_map(record);
  if (!attach.empty()) map["attach"] = std::string(attach);
  const Bytes all = record.tensor.dtype() == DType::String ? Bytes() : record.tensor.bytes();
  if (all.size() <= chunk_bytes_) return put_record(sink_, map);
  map.erase("data");
  for (size_t offset = 0; offset < all.size(); offset += chunk_bytes_) {
    const Bytes part = all.subspan(offset, std::min(chunk_bytes_, all.size() - offset));
    const auto* data = reinterpret_cast<const uint8_t*>(part.data());
    map["offset"] = offset;
    map["total"] = all.size();
    map["data"] = Json::binary(std::vector<uint8_t>(data, data + part.size()));
    put_record(sink_, map);
  }
}

void Writer::write(const Record& record) {
  if (std::holds_alternative<Header>(record)) {
    counts_.clear();
  } else if (std::holds_alternative<End>(record)) {
    put_record(sink_, record_to_map(End{counts_}));
    counts_.clear();
    return;
  } else {
    ++counts_[std::string(record_type(record))];
  }
  if (const auto* tensor = std::get_if<TensorRecord>(&record)) return write_tensor(*tensor, {});
  if (const auto* sample = std::get_if<Sample>(&record)) {
    if (sample->tensor.defined() && sample->tensor.size_bytes() > chunk_bytes_) {
      write_tensor({"", "", sample->id, "", Role::Input, false, sample->tensor}, "sample");
      return put_record(sink_, record_to_map(Sample{sample->id, sample->path, sample->truth, {}}));
    }
  }
  if (const auto* prediction = std::get_if<Prediction>(&record)) {
    size_t n_bytes = 0;
    for (const auto& [name, tensor] : prediction->outputs) n_bytes += tensor.size_bytes();
    if (n_bytes > chunk_bytes_) {
      Prediction bare = *prediction;
      bare.outputs.clear();
      for (const auto& [name, tensor] : prediction->outputs) {
        write_tensor({"", name, prediction->sample, "", Role::Output, false, tensor}, "prediction");
      }
      return put_record(sink_, record_to_map(bare));
    }
  }
  put_record(sink_, record_to_map(record));
}

}  // namespace dnn::stream
