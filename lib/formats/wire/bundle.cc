// Tensor bundles; see bundle.h.
#include "formats/wire/bundle.h"

#include <schemas/tensorflow.pb.h>

#include "base/crc.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/wire/proto.h"
#include "formats/wire/table.h"

namespace dnn {
namespace {

template <class Message>
Message parsed(const std::string& bytes, const std::string& key) {
  Message message;
  if (!parse_message(as_bytes(bytes), &message)) fail_malformed("variables: the entry ", quoted(key), " is damaged");
  return message;
}

// Lengths as varints, a checksum of them, the texts.
Tensor read_strings(const Shape& shape, Bytes bytes, uint32_t* crc) {
  const int64_t n = element_count(shape);
  if (n > static_cast<int64_t>(bytes.size())) fail_malformed(n, " texts in ", bytes.size(), " bytes");
  ByteReader reader(bytes, "texts");
  std::vector<uint64_t> lengths(n);
  *crc = 0;
  for (uint64_t& length : lengths) {
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = reader.u8();
      length |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) break;
    }
    const auto width = length > UINT32_MAX ? 8 : 4;
    *crc = crc32c(as_bytes({reinterpret_cast<const char*>(&length), static_cast<size_t>(width)}), *crc);
  }
  const Bytes sum = reader.take(4);
  uint32_t stored = 0;
  std::memcpy(&stored, sum.data(), 4);
  if (stored != masked_crc32c(*crc)) fail_malformed("wrong checksum of the texts' lengths");
  *crc = crc32c(sum, *crc);
  Tensor tensor(DType::String, shape);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const Bytes text = reader.take(lengths[i]);
    *crc = crc32c(text, *crc);
    tensor.mutable_strings()[i] = as_text(text);
  }
  return tensor;
}

}  // namespace

TensorBundle::TensorBundle(Bytes index, std::function<SharedBytes(int shard, int count)> shard)
    : entries_(read_table(index)), open_(std::move(shard)) {
  const auto header = entries_.find("");
  if (header == entries_.end()) fail_malformed("variables: the index has no header");
  const auto message = parsed<tensorflow::BundleHeaderProto>(header->second, "");
  if (message.endianness() != 0) fail_unsupported("variables: big-endian bytes are not read");
  count_ = message.num_shards();
  if (count_ < 0) fail_malformed("variables: ", count_, " shards");
  entries_.erase(header);
}

Bytes TensorBundle::content(int shard) {
  if (shard < 0 || shard >= count_) fail_malformed("variables: there is no shard ", shard, " of ", count_);
  auto [at, fresh] = shards_.try_emplace(shard);
  if (fresh) at->second = open_(shard, count_);
  return at->second.bytes;
}

Tensor TensorBundle::read(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) fail_malformed("variables: there is no ", quoted(key));
  const auto entry = parsed<tensorflow::BundleEntryProto>(found->second, key);
  try {
    if (entry.slices_size() > 0) fail_unsupported("it is stored in slices, which are not read");
    const DType dtype = tensorflow::dtype_of(entry.dtype());
    const Shape shape = tensorflow::fixed_shape(entry.shape());
    const Bytes whole = content(entry.shard_id());
    if (entry.offset() < 0 || entry.size() < 0 || static_cast<uint64_t>(entry.offset()) > whole.size() ||
        static_cast<uint64_t>(entry.size()) > whole.size() - static_cast<size_t>(entry.offset()))
      fail_malformed("its ", entry.size(), " bytes at ", entry.offset(), " lie behind the end of the shard");
    const Bytes bytes = whole.subspan(entry.offset(), entry.size());
    uint32_t crc = 0;
    Tensor result;
    if (dtype == DType::String) {
      result = read_strings(shape, bytes, &crc);
    } else {
      crc = crc32c(bytes);
      result = tensorflow::view_or_copy(dtype, shape, bytes, shards_.at(entry.shard_id()).owner);
    }
    if (masked_crc32c(crc) != entry.crc32c()) fail_malformed("wrong checksum");
    return result;
  } catch (Error& error) {
    throw error.within(cat("variable ", quoted(key)));
  }
}

BundleFiles write_bundle(const std::map<std::string, Tensor>& tensors) {
  BundleFiles files;
  std::map<std::string, std::string> entries;
  tensorflow::BundleHeaderProto header;
  header.set_num_shards(1);
  header.mutable_version()->set_producer(1);
  entries[""] = header.SerializeAsString();
  for (const auto& [key, tensor] : tensors) {
    DNN_CHECK(!key.empty() && tensor.dtype() != DType::String);
    tensorflow::BundleEntryProto entry;
    entry.set_dtype(tensorflow::type_of(tensor.dtype()));
    for (int64_t extent : tensor.shape()) entry.mutable_shape()->add_dim()->set_size(extent);
    entry.set_offset(static_cast<int64_t>(files.shard.size()));
    entry.set_size(static_cast<int64_t>(tensor.size_bytes()));
    const Content content = content_of(tensor);
    CrcSink<crc32c> sum;
    content.write(sum);
    entry.set_crc32c(masked_crc32c(sum.value()));
    entries[key] = entry.SerializeAsString();
    files.shard.append(content);
  }
  files.index = write_table(entries);
  return files;
}

}  // namespace dnn
