// State dicts and safetensors: the tensors of a module under their names.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "formats/torch/parameters.h"
#include "formats/torch/storage.h"
#include "formats/torch/weights.h"
#include "formats/torch/write.h"
#include "ops/op.h"

namespace dnn::torch {
namespace {

using Named = std::pair<std::string, Tensor>;

// Parameters and buffers of a network; all of a graph that is weights only.
std::vector<Named> state_of(const Graph& source) {
  std::vector<Named> state;
  if (source.order().empty()) {
    for (ValueId v = 0; v < source.value_count(); ++v) {
      if (const Tensor* constant = source.constant(v)) state.emplace_back(source.value(v).name, *constant);
    }
    return state;
  }
  Graph graph = source;
  infer_types(graph);
  for (Held& held : module_state(graph)) state.emplace_back(std::move(held.key), std::move(held.tensor));
  return state;
}

const char* safetensors_type(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "BOOL";
    case DType::UInt8: return "U8";
    case DType::Int8: return "I8";
    case DType::UInt16: return "U16";
    case DType::Int16: return "I16";
    case DType::UInt32: return "U32";
    case DType::Int32: return "I32";
    case DType::UInt64: return "U64";
    case DType::Int64: return "I64";
    case DType::Float16: return "F16";
    case DType::BFloat16: return "BF16";
    case DType::Float32: return "F32";
    case DType::Float64: return "F64";
    case DType::Float8E4M3FN: return "F8_E4M3";
    case DType::Float8E5M2: return "F8_E5M2";
    default: fail_unsupported("safetensors have no tensors of ", dtype_name(dtype));
  }
}

}  // namespace
}  // namespace dnn::torch

namespace dnn::statedict {

ModelFiles to_files(const Graph& graph, const WriteOptions&) {
  const std::vector<torch::Named> state = torch::state_of(graph);
  const std::string root = "archive/";
  ZipWriter zip(torch::kStorageAlignment);
  torch::StorageWriter tensors(zip, root + "data/");
  pickle::Writer pickle;
  pickle.global("collections", "OrderedDict");
  pickle.empty_tuple();
  pickle.reduce();
  pickle.mark();
  for (const auto& [name, tensor] : state) {
    pickle.string(name);
    tensors.put(pickle, tensor, false);
  }
  pickle.set_items();
  zip.add(root + "data.pkl", pickle.finish());
  zip.add(root + "byteorder", "little");
  zip.add(root + "version", "3\n");
  return torch::single_file(zip.content());
}

}  // namespace dnn::statedict

namespace dnn::safetensors {

ModelFiles to_files(const Graph& graph, const WriteOptions&) {
  std::vector<torch::Named> state = torch::state_of(graph);
  // The widest elements first, so that each tensor is aligned.
  std::stable_sort(state.begin(), state.end(), [](const torch::Named& a, const torch::Named& b) {
    return dtype_size(a.second.dtype()) > dtype_size(b.second.dtype());
  });
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
  for (const auto& [key, text] : graph.metadata) header["__metadata__"][key] = text;
  uint64_t end = 0;
  for (const auto& [name, tensor] : state) {
    const uint64_t begin = end;
    end += tensor.size_bytes();
    header[name] = {
        {"dtype", torch::safetensors_type(tensor.dtype())}, {"shape", tensor.shape()}, {"data_offsets", {begin, end}}};
  }
  std::string text = json_text(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string head;
  for (int i = 0; i < 8; ++i) head += static_cast<char>(uint64_t{text.size()} >> (8 * i) & 0xff);
  Content file(head + text);
  for (const auto& [name, tensor] : state) tensor.append_to(file);
  return torch::single_file(std::move(file));
}

}  // namespace dnn::safetensors
