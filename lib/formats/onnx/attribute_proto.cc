// AttributeProto to Attribute and back; see attribute_proto.h.
#include "formats/onnx/attribute_proto.h"

#include <schemas/onnx.pb.h>

namespace dnn::onnx {
namespace {

// The oldest files do not say the type of an attribute; the field in use does.
AttributeProto::AttributeType type_of(const AttributeProto& proto) {
  if (proto.has_type() && proto.type() != AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_f()) return AttributeProto::FLOAT;
  if (proto.has_i()) return AttributeProto::INT;
  if (proto.has_s()) return AttributeProto::STRING;
  if (proto.has_t()) return AttributeProto::TENSOR;
  if (proto.floats_size() > 0) return AttributeProto::FLOATS;
  if (proto.strings_size() > 0) return AttributeProto::STRINGS;
  if (proto.tensors_size() > 0) return AttributeProto::TENSORS;
  return AttributeProto::INTS;
}

template <class To, class Field>
std::vector<To> list(const Field& field) {
  return std::vector<To>(field.begin(), field.end());
}

}  // namespace

Attribute attribute_value(AttributeProto& proto, ExternalFiles& files) {
  try {
    switch (type_of(proto)) {
      case AttributeProto::FLOAT: return proto.f();
      case AttributeProto::INT: return static_cast<int64_t>(proto.i());
      case AttributeProto::STRING: return proto.s();
      case AttributeProto::TENSOR: return read_tensor(*proto.mutable_t(), files);
      case AttributeProto::FLOATS: return list<float>(proto.floats());
      case AttributeProto::INTS: return list<int64_t>(proto.ints());
      case AttributeProto::STRINGS: return list<std::string>(proto.strings());
      case AttributeProto::SPARSE_TENSOR: return read_sparse_tensor(*proto.mutable_sparse_tensor(), files);
      case AttributeProto::TENSORS: {
        std::vector<Tensor> tensors;
        for (TensorProto& tensor : *proto.mutable_tensors()) tensors.push_back(read_tensor(tensor, files));
        return tensors;
      }
      case AttributeProto::GRAPH: fail_malformed("the graph is missing");
      case AttributeProto::GRAPHS: fail_unsupported("lists of graphs are not supported");
      case AttributeProto::SPARSE_TENSORS: fail_unsupported("lists of sparse tensors are not supported");
      default: fail_unsupported("types as attributes are not supported");
    }
  } catch (Error& error) {
    throw error.within("attribute '" + proto.name() + "'");
  }
}

Tensor constant_of(const Node& node) {
  if (node.attributes.size() != 1) fail_malformed(node.attributes.size(), " attributes, a constant has exactly one");
  const auto& [key, value] = *node.attributes.begin();
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  if (const auto* number = std::get_if<float>(&value)) return Tensor::scalar(*number);
  if (const auto* number = std::get_if<int64_t>(&value)) return Tensor::scalar(*number);
  if (const auto* numbers = std::get_if<std::vector<float>>(&value)) {
    return Tensor::of({static_cast<int64_t>(numbers->size())}, *numbers);
  }
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value)) {
    return Tensor::of({static_cast<int64_t>(numbers->size())}, *numbers);
  }
  std::vector<std::string> texts;
  Shape shape;
  if (const auto* text = std::get_if<std::string>(&value)) {
    texts = {*text};
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    texts = *list;
    shape = {static_cast<int64_t>(texts.size())};
  } else {
    fail_malformed("attribute '", key, "' is no constant");
  }
  Tensor tensor(DType::String, shape);
  tensor.mutable_strings() = std::move(texts);
  return tensor;
}

void release_payload(TensorProto& proto) {
  TensorProto named;
  named.set_name(proto.name());
  proto.Swap(&named);
}

void write_attribute(const std::string& name, const Attribute& attribute, AttributeProto* proto) {
  proto->set_name(name);
  struct Writer {
    AttributeProto* proto;
    void operator()(int64_t value) const {
      proto->set_type(AttributeProto::INT);
      proto->set_i(value);
    }
    void operator()(float value) const {
      proto->set_type(AttributeProto::FLOAT);
      proto->set_f(value);
    }
    void operator()(const std::string& value) const {
      proto->set_type(AttributeProto::STRING);
      proto->set_s(value);
    }
    void operator()(const Tensor& value) const {
      proto->set_type(AttributeProto::TENSOR);
      write_tensor(value, proto->mutable_t());
    }
    void operator()(const std::shared_ptr<const Graph>&) const { proto->set_type(AttributeProto::GRAPH); }
    void operator()(const std::vector<int64_t>& values) const {
      proto->set_type(AttributeProto::INTS);
      proto->mutable_ints()->Add(values.begin(), values.end());
    }
    void operator()(const std::vector<float>& values) const {
      proto->set_type(AttributeProto::FLOATS);
      proto->mutable_floats()->Add(values.begin(), values.end());
    }
    void operator()(const std::vector<std::string>& values) const {
      proto->set_type(AttributeProto::STRINGS);
      for (const std::string& value : values) proto->add_strings(value);
    }
    void operator()(const std::vector<Tensor>& values) const {
      proto->set_type(AttributeProto::TENSORS);
      for (const Tensor& value : values) write_tensor(value, proto->add_tensors());
    }
  };
  std::visit(Writer{proto}, attribute);
}

}  // namespace dnn::onnx
