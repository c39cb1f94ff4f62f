// Small TFLite files for tests: tensors and operators of one subgraph, written with the schema's own builder.
#pragma once
#include <schemas/tflite_generated.h>

#include <functional>
#include <string>
#include <vector>

#include "formats/tflite/import.h"
#include "formats/tflite/tflite.h"
#include "graph/text.h"

namespace dnn::tflite {

inline std::string bytes_of(const Graph& graph) { return to_files(graph)[0].bytes.text(); }
inline Graph graph_of(const std::string& body) { return parse_graph("graph \"g\" {\n  opset 21\n" + body + "\n}\n"); }

struct TensorSpec {
  std::string name;
  std::vector<int32_t> shape;
  TensorType type = TensorType::FLOAT32;
  std::string bytes = {};  // a constant's; empty: computed
  std::vector<float> scale = {};
  std::vector<int64_t> zero_point = {};
  int32_t axis = 0;
  std::vector<int32_t> signature = {};
};

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

class FileBuilder {
 public:
  int32_t tensor(const TensorSpec& spec) {
    buffers_.push_back(CreateBuffer(
        fbb_, spec.bytes.empty()
                  ? 0
                  : fbb_.CreateVector(reinterpret_cast<const uint8_t*>(spec.bytes.data()), spec.bytes.size())));
    flatbuffers::Offset<Quantization> quantization;
    if (!spec.scale.empty()) {
      quantization = CreateQuantization(fbb_, 0, 0, fbb_.CreateVector(spec.scale), fbb_.CreateVector(spec.zero_point),
                                        0, 0, spec.axis);
    }
    const auto signature = spec.signature.empty() ? 0 : fbb_.CreateVector(spec.signature);
    tensors_.push_back(CreateTensor(fbb_, fbb_.CreateVector(spec.shape), spec.type,
                                    static_cast<uint32_t>(buffers_.size()), fbb_.CreateString(spec.name), quantization,
                                    false, 0, signature));
    return static_cast<int32_t>(tensors_.size()) - 1;
  }

  // `options` makes the table; null: the operator has none.
  void op(int code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
          const std::function<flatbuffers::uoffset_t(flatbuffers::FlatBufferBuilder&)>& options = {}) {
    codes_.push_back(CreateOperatorCode(fbb_, static_cast<int8_t>(std::min(code, 127)),
                                        code == 32 ? fbb_.CreateString("Unheard") : 0, 1, code));
    const flatbuffers::Offset<AnyTable> table(options ? options(fbb_) : 0);
    uint8_t kind = 0;
    for (const OpRow& row : op_rows()) kind = options && row.code == code ? static_cast<uint8_t>(row.options) : kind;
    ops_.push_back(CreateOperator(fbb_, static_cast<uint32_t>(codes_.size()) - 1, fbb_.CreateVector(inputs),
                                  fbb_.CreateVector(outputs), kind, table));
  }

  std::string finish(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
    const auto subgraph =
        CreateSubGraph(fbb_, fbb_.CreateVector(tensors_), fbb_.CreateVector(inputs), fbb_.CreateVector(outputs),
                       fbb_.CreateVector(ops_), fbb_.CreateString("main"));
    std::vector<flatbuffers::Offset<Buffer>> buffers = {CreateBuffer(fbb_)};
    buffers.insert(buffers.end(), buffers_.begin(), buffers_.end());
    FinishModelBuffer(fbb_, CreateModel(fbb_, 3, fbb_.CreateVector(codes_), fbb_.CreateVector(std::vector{subgraph}),
                                        fbb_.CreateString("test"), fbb_.CreateVector(buffers)));
    return {reinterpret_cast<const char*>(fbb_.GetBufferPointer()), fbb_.GetSize()};
  }

 private:
  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<Buffer>> buffers_;
  std::vector<flatbuffers::Offset<Tensor>> tensors_;
  std::vector<flatbuffers::Offset<OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<Operator>> ops_;
};

// Reads a copy of the bytes, exactly as long, which the graph keeps alive.
inline Graph read_bytes(const std::string& file) {
  auto copy = std::make_shared<std::vector<std::byte>>(file.size());
  std::memcpy(copy->data(), file.data(), file.size());
  ModelSource source;
  source.path = "test.tflite";
  source.bytes = {copy->data(), copy->size()};
  source.owner = copy;
  return read(source);
}

}  // namespace dnn::tflite
