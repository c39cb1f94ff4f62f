// The container: tensors, constants and operators of subgraph 0; see tflite.h.
#include "formats/tflite/tflite.h"

#include <algorithm>
#include <map>

#include "formats/tflite/import.h"
#include "formats/tflite/metadata.h"
#include "formats/tflite/versions.h"

namespace dnn::tflite {
namespace {

// A FlatBuffer may be nested this deep, and name this many tables; more is damage.
constexpr int kMaxDepth = 64, kMaxTables = 1 << 24;

class Reader {
 public:
  explicit Reader(const ModelSource& source) {
    source_.bytes = source.bytes;
    source_.owner = source.owner;
    source_.ignored = source.ignored;
  }

  Graph read() {
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(source_.bytes.data()), source_.bytes.size(),
                                   kMaxDepth, kMaxTables);
    if (!VerifyModelBuffer(verifier)) fail_malformed("not a TFLite FlatBuffer, or damaged");
    source_.model = GetModel(source_.bytes.data());
    const Model& model = *source_.model;
    check_fields(source_, model, "Model",
                 {"version", "operator_codes", "subgraphs", "description", "buffers", "metadata_buffer", "metadata",
                  "signature_defs"},
                 "the file");
    if (model.version() != 3) fail_unsupported("schema version ", model.version(), "; 3 is read");
    if (model.subgraphs() == nullptr || model.subgraphs()->size() == 0) fail_malformed("the file holds no graph");
    if (model.subgraphs()->size() > 1)
      fail_unsupported(model.subgraphs()->size(), " subgraphs: control flow is not read");
    source_.subgraph = model.subgraphs()->Get(0);
    Graph& graph = source_.draft.graph;
    graph.name = text(source_.subgraph->name());
    graph.producer = "tflite";
    if (!text(model.description()).empty()) graph.producer += ": " + text(model.description());
    read_metadata();
    read_tensors();
    read_inputs();
    if (source_.subgraph->operators() != nullptr) {
      for (const Operator* op : *source_.subgraph->operators()) read_operator(*op);
    }
    read_outputs();
    return source_.draft.finish();
  }

 private:
  const Tensor& tensor(int32_t index) const {
    const auto* tensors = source_.subgraph->tensors();
    if (tensors == nullptr || index < 0 || static_cast<size_t>(index) >= tensors->size())
      fail_malformed("there is no tensor ", index);
    return *tensors->Get(static_cast<flatbuffers::uoffset_t>(index));
  }

  // The bytes of a constant; empty where the tensor is computed.
  Bytes content(const Tensor& tensor) const {
    const auto* buffers = source_.model->buffers();
    if (buffers == nullptr || tensor.buffer() >= buffers->size())
      fail_malformed("tensor '", text(tensor.name()), "': there is no buffer ", tensor.buffer());
    const Buffer& buffer = *buffers->Get(tensor.buffer());
    if (buffer.offset() > 1) {
      if (buffer.offset() > source_.bytes.size() || buffer.size() > source_.bytes.size() - buffer.offset())
        fail_malformed("tensor '", text(tensor.name()), "': its bytes lie behind the end of the file");
      return source_.bytes.subspan(buffer.offset(), buffer.size());
    }
    if (buffer.data() == nullptr) return {};
    return {reinterpret_cast<const std::byte*>(buffer.data()->Data()), buffer.data()->size()};
  }

  dnn::Tensor load(const Tensor& tensor, Bytes bytes) const {
    const DType dtype = dtype_of(tensor.type());
    const std::string name = text(tensor.name());
    if (tensor.sparsity() != nullptr) fail_unsupported("tensor '", name, "': sparse weights are not read");
    if (dtype_bits(dtype) != static_cast<int>(8 * dtype_size(dtype)))
      fail_unsupported("tensor '", name, "': packed ", dtype_name(dtype), " is not read");
    Shape shape;
    for (int32_t extent : numbers(tensor.shape())) shape.push_back(extent);
    const int64_t n = element_count(shape);
    if (n > static_cast<int64_t>(bytes.size()) || static_cast<size_t>(n) * dtype_size(dtype) != bytes.size())
      fail_malformed("tensor '", name, "': ", bytes.size(), " bytes for ", dtype_name(dtype), shape_text(shape));
    if (reinterpret_cast<uintptr_t>(bytes.data()) % dtype_size(dtype) == 0)
      return dnn::Tensor::view(dtype, shape, bytes, source_.owner);
    dnn::Tensor copy(dtype, shape);
    if (!bytes.empty()) std::memcpy(copy.mutable_bytes(), bytes.data(), bytes.size());
    return copy;
  }

  // Entries that are text, and the format's own structure; others are of other tools.
  void read_metadata() {
    if (source_.model->metadata() == nullptr || source_.model->buffers() == nullptr) return;
    Bytes structure;
    for (const Metadata* entry : *source_.model->metadata()) {
      if (entry->buffer() >= source_.model->buffers()->size()) fail_malformed("metadata in buffer ", entry->buffer());
      const auto* data = source_.model->buffers()->Get(entry->buffer())->data();
      if (data == nullptr) continue;
      if (tflite::text(entry->name()) == kMetadataName) {
        structure = {reinterpret_cast<const std::byte*>(data->Data()), data->size()};
        continue;
      }
      const std::string text(reinterpret_cast<const char*>(data->Data()), data->size());
      const bool any_language = tflite::text(entry->name()) == "labels";
      const auto printable = [&](char c) {
        return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || (any_language && static_cast<uint8_t>(c) >= 0x80);
      };
      if (std::all_of(text.begin(), text.end(), printable) && is_utf8(text))
        source_.draft.graph.metadata.emplace_back(tflite::text(entry->name()), text);
    }
    if (!structure.empty()) tflite::read_metadata(structure, source_.bytes, &source_.draft.graph);
  }

  void read_tensors() {
    const size_t n = source_.subgraph->tensors() == nullptr ? 0 : source_.subgraph->tensors()->size();
    source_.values.assign(n, kNoValue);
    source_.reals.assign(n, kNoValue);
    for (size_t i = 0; i < n; ++i) {
      const Tensor& t = tensor(static_cast<int32_t>(i));
      const Bytes bytes = content(t);
      if (bytes.empty()) continue;
      const ValueId v = source_.draft.add_value(text(t.name()), Draft::Name::Given);
      source_.draft.graph.value(v).constant = load(t, bytes);
      source_.draft.graph.value(v).type = Type(*source_.draft.graph.value(v).constant);
      source_.values[i] = v;
    }
  }

  // The extents of an input: an open one is a symbol of its own, the first of them the batch.
  std::vector<Dim> extents(const Tensor& tensor) const {
    const std::vector<int32_t> shape = numbers(tensor.shape()), signature = numbers(tensor.shape_signature());
    std::vector<Dim> dims;
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool open = signature.size() == shape.size() && signature[i] < 0;
      if (shape[i] < 0) fail_malformed("input '", text(tensor.name()), "': an extent of ", shape[i]);
      if (open) {
        dims.emplace_back(i == 0 ? std::string("batch") : cat(text(tensor.name()), "_dim", i));
      } else {
        dims.emplace_back(shape[i]);
      }
    }
    return dims;
  }

  void read_inputs() {
    for (int32_t index : numbers(source_.subgraph->inputs())) {
      const Tensor& t = tensor(index);
      ValueId& v = source_.values[index];
      if (v != kNoValue) fail_malformed("input '", text(t.name()), "' is given twice, or holds a constant");
      v = source_.draft.add_value(text(t.name()), Draft::Name::Given);
      source_.draft.graph.value(v).type = Type(dtype_of(t.type()), extents(t));
      source_.draft.graph.inputs.push_back(v);
    }
  }

  void read_operator(const Operator& op) {
    const auto* codes = source_.model->operator_codes();
    if (codes == nullptr || op.opcode_index() >= codes->size())
      fail_malformed("there is no operator code ", op.opcode_index());
    const OperatorCode& code = *codes->Get(op.opcode_index());
    const int builtin = std::max<int>(code.deprecated_builtin_code(), code.builtin_code());
    const auto row =
        std::find_if(op_rows().begin(), op_rows().end(), [&](const OpRow& r) { return r.code == builtin; });
    if (row == op_rows().end()) {
      const std::string name = builtin == 32 ? "CUSTOM '" + text(code.custom_code()) + "'" : builtin_name(builtin);
      const OpRow unknown = {name.c_str(), builtin, 0, nullptr, nullptr, nullptr};
      Op(source_, op, unknown).refuse("this operator is not read");
    }
    const VersionRange versions = versions_of(builtin);
    const std::string version = std::to_string(code.version());
    Leftovers leftovers;
    if (code.version() > versions.last) leftovers.add("version");
    leftovers.ignore(row->name, source_.ignored);
    leftovers.finish(cat(row->name, " (versions to ", versions.last, " are)"), "field",
                     [&](const std::string&) { return version; });
    Op(source_, op, *row).run();
  }

  void read_outputs() {
    for (int32_t index : numbers(source_.subgraph->outputs())) {
      const Tensor& t = tensor(index);
      const ValueId v = source_.values[index];
      if (v == kNoValue) fail_malformed("output '", text(t.name()), "' is not computed");
      source_.draft.graph.outputs.push_back(v);
    }
    if (source_.draft.graph.outputs.empty()) fail_malformed("the graph has no outputs");
  }

  Source source_;
};

}  // namespace

bool sniff(const ModelSource& source) {
  return source.bytes.size() >= 8 && std::memcmp(source.bytes.data() + 4, ModelIdentifier(), 4) == 0;
}

Graph read(const ModelSource& source) { return Reader(source).read(); }

}  // namespace dnn::tflite
