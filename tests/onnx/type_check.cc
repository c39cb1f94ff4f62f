// Type inference judged by results; see type_check.h.
#include "onnx/type_check.h"

#include "base/error.h"
#include "ops/op.h"

namespace dnn::conformance {
namespace {

constexpr int64_t kKnownLimit = 4096;  // elements of an input that may count as known

std::string contradiction(const Type& type, const Tensor& tensor) {
  bool fits = type.dtype == DType::Undefined || type.dtype == tensor.dtype();
  if (type.shape) {
    fits = fits && type.shape->size() == tensor.shape().size();
    for (size_t i = 0; fits && i < type.shape->size(); ++i)
      fits = !(*type.shape)[i].fixed() || (*type.shape)[i].size == tensor.shape()[i];
  }
  return fits ? "" : cat("is inferred as ", type.text(), ", but is ", Type(tensor).text());
}

std::string infer_and_compare(Graph graph, const DataSet& data, bool known_inputs) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (!graph.value(id).constant) graph.value(id).type = Type();
  }
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    Value& value = graph.value(graph.inputs[i]);
    value.type = Type(data.inputs[i]);
    if (known_inputs && data.inputs[i].size() <= kKnownLimit) {
      value.constant = data.inputs[i];
    } else {
      inputs.push_back(graph.inputs[i]);
    }
  }
  graph.inputs = inputs;
  try {
    infer_types(graph);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Unsupported) return "";
    return cat("inference fails: ", e.what());
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value& value = graph.value(graph.outputs[i]);
    const std::string found = contradiction(value.type, data.outputs[i]);
    if (!found.empty()) return cat("output '", value.name, "' ", found, known_inputs ? " (inputs known)" : "");
  }
  return "";
}

}  // namespace

std::string type_contradiction(const Graph& graph, const DataSet& data) {
  const std::string found = infer_and_compare(graph, data, false);
  return found.empty() ? infer_and_compare(graph, data, true) : found;
}

}  // namespace dnn::conformance
