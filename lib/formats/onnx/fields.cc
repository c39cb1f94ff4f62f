// Fields that the ONNX reader does not take; see fields.h.
#include "formats/onnx/fields.h"

#include <schemas/onnx.pb.h>

#include "base/bytes.h"
#include "base/error.h"

namespace dnn::onnx {
namespace {

const IrrelevantFields kIrrelevant = {
    {"ModelProto", "training_info", "", "how the model is trained further: running it is its graph's part"},
    {"ModelProto", "configuration", "", "devices that the work may be shared among"},
    {"NodeProto", "device_configurations", "", "devices that the work may be shared among"},
    {"GraphProto", "quantization_annotation", "", "notes for quantisers: what is quantised, its operators say"},
    {"*", "metadata_props", "", "notes of tools"}};

// The numbers of the fields in a message's unknown part, which protobuf has parsed before.
void add_unknown(const std::string& fields, Leftovers* leftovers) {
  ByteReader reader(as_bytes(fields), "unknown fields");
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = reader.u8();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  };
  while (reader.remaining() > 0) {
    const uint64_t tag = varint();
    leftovers->add(cat("field ", tag >> 3));
    switch (tag & 7) {
      case 0: varint(); break;
      case 1: reader.take(8); break;
      case 2: reader.take(varint()); break;
      case 5: reader.take(4); break;
      default: return;  // groups, which ONNX has never used: the first one's number is enough
    }
  }
}

class Checker {
 public:
  explicit Checker(const IgnoredFields& ignored) : ignored_(ignored) {}

  void check(const ModelProto& model) const {
    Leftovers leftovers;
    if (model.training_info_size() > 0) leftovers.add("training_info");
    if (model.configuration_size() > 0) leftovers.add("configuration");
    finish(model, "ModelProto", "the model", std::move(leftovers));
    for (const FunctionProto& function : model.functions()) {
      const std::string label = cat("function '", function.name(), "'");
      Leftovers own;
      if (function.metadata_props_size() > 0) own.add("metadata_props");
      finish(function, "FunctionProto", label, std::move(own));
      for (const NodeProto& node : function.node()) check(node);
    }
    check(model.graph());
  }

 private:
  void check(const GraphProto& graph) const {
    Leftovers leftovers;
    if (graph.quantization_annotation_size() > 0) leftovers.add("quantization_annotation");
    if (graph.metadata_props_size() > 0) leftovers.add("metadata_props");
    finish(graph, "GraphProto", cat("graph '", graph.name(), "'"), std::move(leftovers));
    for (const TensorProto& tensor : graph.initializer()) check(tensor);
    for (const NodeProto& node : graph.node()) check(node);
  }

  void check(const NodeProto& node) const {
    const std::string label = node.name().empty() ? cat("unnamed node (", node.op_type(), ")")
                                                  : cat("node '", node.name(), "' (", node.op_type(), ")");
    Leftovers leftovers;
    if (node.device_configurations_size() > 0) leftovers.add("device_configurations");
    if (node.metadata_props_size() > 0) leftovers.add("metadata_props");
    finish(node, "NodeProto", label, std::move(leftovers));
    for (const AttributeProto& attribute : node.attribute()) {
      finish(attribute, "AttributeProto", cat(label, ": attribute '", attribute.name(), "'"), {});
      if (attribute.has_t()) check(attribute.t());
      if (attribute.has_g()) check(attribute.g());
    }
  }

  void check(const TensorProto& tensor) const {
    Leftovers leftovers;
    if (tensor.metadata_props_size() > 0) leftovers.add("metadata_props");
    finish(tensor, "TensorProto", cat("tensor '", tensor.name(), "'"), std::move(leftovers));
  }

  template <class Message>
  void finish(const Message& message, const char* owner, const std::string& label, Leftovers leftovers) const {
    add_unknown(message.unknown_fields(), &leftovers);
    leftovers.irrelevant(owner, kIrrelevant);
    leftovers.ignore(owner, ignored_);
    leftovers.finish(label, "the file's");
  }

  const IgnoredFields& ignored_;
};

}  // namespace

void check_fields(const ModelProto& model, const IgnoredFields& ignored) { Checker(ignored).check(model); }

}  // namespace dnn::onnx
