// Builds ONNX files field by field for the reader's tests.
#pragma once
#include <schemas/onnx.pb.h>

#include <string>
#include <vector>

#include "formats/onnx/onnx.h"

namespace dnn::onnx {

struct ModelBuilder {
  ModelProto model;
  ModelBuilder(int ir_version, int opset) {
    model.set_ir_version(ir_version);
    if (opset > 0) model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("g");
  }
  GraphProto& graph() { return *model.mutable_graph(); }

  static void set_type(ValueInfoProto* info, const std::string& name, int type, const std::vector<int64_t>& dims) {
    info->set_name(name);
    TypeProto::Tensor* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t dim : dims) tensor->mutable_shape()->add_dim()->set_dim_value(dim);
  }
  void input(const std::string& name, int type, const std::vector<int64_t>& dims) {
    set_type(graph().add_input(), name, type, dims);
  }
  void output(const std::string& name, int type, const std::vector<int64_t>& dims) {
    set_type(graph().add_output(), name, type, dims);
  }

  static NodeProto* fill(NodeProto* node, const std::string& op, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
    node->set_op_type(op);
    for (const std::string& name : inputs) node->add_input(name);
    for (const std::string& name : outputs) node->add_output(name);
    return node;
  }
  NodeProto* node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
    return fill(graph().add_node(), op, inputs, outputs);
  }
  static AttributeProto* attribute(NodeProto* node, const std::string& name) {
    AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    return attribute;
  }
  TensorProto* initializer(const std::string& name, int type, const std::vector<int64_t>& dims) {
    TensorProto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (int64_t dim : dims) tensor->add_dims(dim);
    return tensor;
  }

  std::string bytes() const { return model.SerializeAsString(); }
  Graph read(const std::string& path = "-") const {
    const std::string text = bytes();
    ModelSource source;
    source.path = path;
    source.bytes = as_bytes(text);
    return onnx::read(source);
  }
  // The reader's complaint; its kind in front.
  std::string complaint() const {
    try {
      read();
    } catch (const Error& error) {
      return std::to_string(error.exit_code()) + " " + error.what();
    }
    return "";
  }
};

}  // namespace dnn::onnx
