// safetensors: 8 bytes of length, a JSON header of that many bytes, then the tensors; see weights.h.
#include <algorithm>
#include <array>

#include "formats/torch/json.h"
#include "formats/torch/weights.h"

namespace dnn::safetensors {
namespace {

using torch::Json;

struct DTypeRow {
  std::string_view name;
  DType dtype;
};
constexpr std::array<DTypeRow, 15> kDTypes = {{{"F32", DType::Float32},
                                               {"F16", DType::Float16},
                                               {"BF16", DType::BFloat16},
                                               {"F64", DType::Float64},
                                               {"I64", DType::Int64},
                                               {"I32", DType::Int32},
                                               {"I16", DType::Int16},
                                               {"I8", DType::Int8},
                                               {"U8", DType::UInt8},
                                               {"U16", DType::UInt16},
                                               {"U32", DType::UInt32},
                                               {"U64", DType::UInt64},
                                               {"BOOL", DType::Bool},
                                               {"F8_E4M3", DType::Float8E4M3FN},
                                               {"F8_E5M2", DType::Float8E5M2}}};

Tensor load(const Json& entry, Bytes data, const std::shared_ptr<const void>& owner) {
  const std::string& name = torch::text(torch::member(entry, "dtype"), "a dtype");
  const auto* row = std::find_if(kDTypes.begin(), kDTypes.end(), [&](const DTypeRow& r) { return r.name == name; });
  if (row == kDTypes.end()) fail_unsupported("dtype ", name, " is not read");
  Shape shape;
  for (const Json& extent : torch::array(torch::member(entry, "shape"), "a shape"))
    shape.push_back(torch::integer(extent, "an extent"));
  const Json& offsets = torch::array(torch::member(entry, "data_offsets"), "data_offsets");
  if (offsets.size() != 2) fail_malformed(offsets.size(), " data_offsets, 2 expected");
  const int64_t begin = torch::integer(offsets[0], "an offset"), end = torch::integer(offsets[1], "an offset");
  if (begin < 0 || end < begin || static_cast<uint64_t>(end) > data.size())
    fail_malformed("bytes ", begin, " to ", end, " of ", data.size());
  const Bytes bytes = data.subspan(begin, end - begin);
  const int64_t n = element_count(shape);
  if (n > end - begin || static_cast<size_t>(n) * dtype_size(row->dtype) != bytes.size())
    fail_malformed(bytes.size(), " bytes for ", dtype_name(row->dtype), shape_text(shape));
  if (reinterpret_cast<uintptr_t>(bytes.data()) % dtype_size(row->dtype) == 0)
    return Tensor::view(row->dtype, shape, bytes, owner);
  Tensor copy(row->dtype, shape);
  if (!bytes.empty()) std::memcpy(copy.mutable_bytes(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace

bool sniff(const ModelSource& source) {
  if (source.bytes.size() < 10) return false;
  ByteReader in(source.bytes, "safetensors");
  const uint64_t n = in.u64();
  return n >= 2 && n <= in.remaining() && static_cast<char>(in.u8()) == '{';
}

Graph read(const ModelSource& source) {
  ByteReader in(source.bytes, "safetensors");
  const std::string_view header = as_text(in.take(in.u64()));
  const Bytes data = in.take(in.remaining());
  const Json json = torch::parse_json(header, "safetensors header");
  Graph graph;
  graph.producer = "safetensors";
  // In the order of the file's bytes, which is the order that they were saved in.
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) fail_malformed("__metadata__ is no object");
      for (const auto& [key, value] : entry.items()) graph.metadata.emplace_back(key, torch::text(value, "metadata"));
      continue;
    }
    const Json* offsets = torch::find_member(entry, "data_offsets");
    order.emplace_back(
        offsets != nullptr && offsets->is_array() && !offsets->empty() && (*offsets)[0].is_number_integer()
            ? (*offsets)[0].get<int64_t>()
            : 0,
        name);
  }
  std::sort(order.begin(), order.end());
  size_t copied = 0;
  for (const auto& [offset, name] : order) {
    try {
      Tensor tensor = load(json[name], data, source.owner);
      copied += tensor.size_bytes();
      if (copied > data.size()) fail_malformed("its tensors overlap");
      torch::add_weight(graph, name, std::move(tensor));
    } catch (Error& e) {
      throw e.within(dnn::quoted(name));
    }
  }
  if (order.empty()) fail_malformed("the file holds no tensors");
  verify(graph);
  return graph;
}

}  // namespace dnn::safetensors
