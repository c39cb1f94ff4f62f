// Fuzz target: SavedModels, packed into one file: the length of saved_model.pb (four bytes), it, then the shard of its variables,
// which the bundle lists under the names "0" to "7"; object i of TensorFlow 2 is variable i modulo 8. Only Malformed and Unsupported may escape.
#include <schemas/tensorflow.pb.h>

#include "base/crc.h"
#include "formats/tensorflow/tensorflow.h"
#include "formats/wire/table.h"
#include "fuzz/fuzz.h"

namespace {

// The graph of objects, which is stored as a text: length, checksum of the length, content.
dnn::tensorflow::BundleEntryProto add_objects(std::string* shard) {
  dnn::tensorflow::TrackableObjectGraph graph;
  for (int i = 0; i < 32; ++i) {
    dnn::tensorflow::TrackableObjectGraph::SerializedTensor& value = *graph.add_nodes()->add_attributes();
    value.set_name("VARIABLE_VALUE");
    value.set_checkpoint_key(std::to_string(i % 8));
  }
  const std::string content = graph.SerializeAsString();
  const auto length = static_cast<uint32_t>(content.size());
  std::string text = {static_cast<char>((length & 0x7f) | 0x80), static_cast<char>(length >> 7)};
  const std::string_view width(reinterpret_cast<const char*>(&length), 4);
  uint32_t crc = dnn::crc32c(dnn::as_bytes(width));
  const uint32_t sum = dnn::masked_crc32c(crc);
  text.append(reinterpret_cast<const char*>(&sum), 4);
  crc = dnn::crc32c(dnn::as_bytes(text.substr(2)), crc);
  text += content;
  dnn::tensorflow::BundleEntryProto entry;
  entry.set_dtype(dnn::tensorflow::DT_STRING);
  entry.mutable_shape();
  entry.set_offset(static_cast<int64_t>(shard->size()));
  entry.set_size(static_cast<int64_t>(text.size()));
  entry.set_crc32c(dnn::masked_crc32c(dnn::crc32c(dnn::as_bytes(content), crc)));
  *shard += text;
  return entry;
}

std::string index_of(std::string& shard) {
  dnn::tensorflow::BundleHeaderProto header;
  header.set_num_shards(1);
  std::map<std::string, std::string> entries = {{"", header.SerializeAsString()}};
  for (size_t i = 0; i < 8; ++i) {  // float32[4 * i] each
    dnn::tensorflow::BundleEntryProto entry;
    entry.set_dtype(dnn::tensorflow::DT_FLOAT);
    entry.mutable_shape()->add_dim()->set_size(static_cast<int64_t>(4 * i));
    entry.set_size(static_cast<int64_t>(16 * i));
    if (16 * i > shard.size()) break;
    entry.set_crc32c(dnn::masked_crc32c(dnn::crc32c(dnn::as_bytes(shard).first(16 * i))));
    entries[std::to_string(i)] = entry.SerializeAsString();
  }
  entries["_CHECKPOINTABLE_OBJECT_GRAPH"] = add_objects(&shard).SerializeAsString();
  return dnn::write_table(entries);
}

}  // namespace

DNN_FUZZ(savedmodel) {
  uint32_t length = 0;
  if (size < 4) return 0;
  std::memcpy(&length, data, 4);
  const std::string all(reinterpret_cast<const char*>(data) + 4, size - 4);
  std::string shard = all.substr(std::min<size_t>(length, all.size()));
  const std::string index = index_of(shard);
  return dnn::fuzz::refuse_or_accept([&] {
    dnn::savedmodel::read(dnn::model_in_memory("-", {{"/saved_model.pb", all.substr(0, length)},
                                                     {"/variables/variables.index", index},
                                                     {"/variables/variables.data-00000-of-00001", shard}}));
  });
}
