// GraphDefs and SavedModels built in tests.
#pragma once
#include <schemas/tensorflow.pb.h>

#include <string>
#include <vector>

#include "formats/tensorflow/export.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/tensorflow/tensorflow.h"

namespace dnn::tensorflow {

inline NodeBuilder node(const std::string& op, const std::string& name, const std::vector<Edge>& inputs = {}) {
  NodeBuilder builder(op, name);
  builder.in(inputs);
  return builder;
}

inline void set_tensor(TensorProto* proto, const Tensor& value) {
  proto->set_dtype(type_of(value.dtype()));
  for (int64_t extent : value.shape()) proto->mutable_tensor_shape()->add_dim()->set_size(extent);
  proto->mutable_tensor_shape();
  if (value.dtype() == DType::String) {
    for (const std::string& text : value.strings()) proto->add_string_val(text);
  } else {
    proto->set_tensor_content(value.bytes().data(), value.size_bytes());
  }
}

inline NodeBuilder constant(const std::string& name, const Tensor& value) {
  NodeBuilder builder = node("Const", name);
  builder.type("dtype", type_of(value.dtype()));
  set_tensor(builder.attr("value").mutable_tensor(), value);
  return builder;
}

inline NodeBuilder ints(const std::string& name, const std::vector<int32_t>& values) {
  return constant(name, Tensor::of<int32_t>({static_cast<int64_t>(values.size())}, values));
}

inline NodeBuilder placeholder(const std::string& name, const std::vector<int64_t>& shape, DataType type = DT_FLOAT) {
  NodeBuilder builder = node("Placeholder", name);
  builder.type("dtype", type);
  TensorShapeProto& proto = *builder.attr("shape").mutable_shape();
  for (int64_t extent : shape) proto.add_dim()->set_size(extent);
  return builder;
}

// Numbers between -1.2 and 1.6 that do not repeat soon.
inline Tensor ramp(const Shape& shape, int64_t step = 29) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((static_cast<int64_t>(i) * step + 5) % 31) / 11 - 1.2f;
  return Tensor::of<float>(shape, values);
}

inline GraphDef graph_def(std::vector<NodeBuilder> nodes) {
  GraphDef graph;
  for (NodeBuilder& builder : nodes) *graph.add_node() = builder.def();
  return graph;
}

inline Graph read_graph(const GraphDef& graph) {
  const ModelSource source = model_in_memory("model.pb", {{"", graph.SerializeAsString()}});
  EXPECT_TRUE(graphdef::sniff(source));
  return graphdef::read(source);
}

inline Graph read_nodes(std::vector<NodeBuilder> nodes) { return read_graph(graph_def(std::move(nodes))); }

}  // namespace dnn::tensorflow
