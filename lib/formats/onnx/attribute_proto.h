// AttributeProto to Attribute and back, for everything but graphs.
#pragma once
#include <map>
#include <string>

#include "formats/onnx/tensor_proto.h"
#include "graph/graph.h"

namespace dnn::onnx {

class AttributeProto;
using Arguments = std::map<std::string, const AttributeProto*>;  // of a function call, by name

// May take the payload of tensors out of `proto`. Throws Malformed or Unsupported with the attribute's name.
Attribute attribute_value(AttributeProto& proto, ExternalFiles& files);
// The value of a Constant node from its one attribute.
Tensor constant_of(const Node& node);
// Frees the typed fields of a tensor that has been read.
void release_payload(TensorProto& proto);

// Fills name, type and value; a graph is the caller's business.
void write_attribute(const std::string& name, const Attribute& attribute, AttributeProto* proto);

}  // namespace dnn::onnx
