// Subgraphs; see subgraph.h.
#include "ops/subgraph.h"

#include "ops/movement.h"

namespace dnn {

const Graph& body_of(const Node& node, std::string_view key) {
  auto found = node.attributes.find(std::string(key));
  if (found != node.attributes.end()) {
    const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&found->second);
    if (graph != nullptr && *graph != nullptr) return **graph;
  }
  fail_malformed(node.label(), ": attribute '", key, "' is not a graph");
}

Type common_type(const Node& node, const Type& a, const Type& b) {
  Type type;
  if (a.dtype != DType::Undefined && b.dtype != DType::Undefined && a.dtype != b.dtype)
    fail_malformed(node.label(), ": ", a.text(), " on one way, ", b.text(), " on another");
  if (a.dtype == b.dtype) type.dtype = a.dtype;
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return type;
  type.shape = a.shape;
  for (size_t i = 0; i < a.shape->size(); ++i) {
    if ((*a.shape)[i] != (*b.shape)[i]) (*type.shape)[i] = Dim();
  }
  return type;
}

std::vector<Type> iterate_types(const InferContext& context, const Graph& body, const std::vector<Type>& before,
                                std::vector<Type>* states, const std::vector<Type>& after, size_t first_output) {
  while (true) {  // each turn forgets something, so it ends
    std::vector<Type> inputs = before;
    inputs.insert(inputs.end(), states->begin(), states->end());
    inputs.insert(inputs.end(), after.begin(), after.end());
    std::vector<Type> outputs = context.infer_graph(body, inputs);
    bool stable = true;
    for (size_t i = 0; i < states->size(); ++i) {
      const Type wider = common_type(context.node, (*states)[i], outputs[first_output + i]);
      stable = stable && wider == (*states)[i];
      (*states)[i] = wider;
    }
    if (stable) return outputs;
  }
}

std::vector<Type> output_types(const Graph& body, const std::vector<Type>& inputs) {
  Graph copy = body;
  for (size_t i = 0; i < inputs.size(); ++i) copy.value(copy.inputs[i]).type = inputs[i];
  infer_types(copy);
  std::vector<Type> types;
  for (ValueId id : copy.outputs) types.push_back(copy.value(id).type);
  return types;
}

Tensor stack(const Node& node, const std::vector<Tensor>& parts, int64_t axis, bool reversed, const Type& element) {
  Shape inner;
  if (!parts.empty()) {
    inner = parts[0].shape();
  } else if (element.shape) {
    for (const Dim& dim : *element.shape) inner.push_back(std::max<int64_t>(dim.size, 0));
  }
  const DType dtype = parts.empty() ? element.dtype : parts[0].dtype();
  if (dtype == DType::Undefined) fail_unsupported(node.label(), ": no iterations of a body whose types are unknown");
  const size_t at = checked_axes(node, {axis}, inner.size() + 1)[0];
  Shape shape = inner;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), static_cast<int64_t>(parts.size()));
  Tensor y(dtype, shape);
  int64_t outer = 1;
  for (size_t i = 0; i < at; ++i) outer *= inner[i];
  const auto n = static_cast<int64_t>(parts.size());
  for (int64_t i = 0; i < n; ++i) {
    const Tensor& part = parts[reversed ? n - 1 - i : i];
    if (part.shape() != inner || part.dtype() != dtype)
      fail_malformed(node.label(), ": one iteration gives ", Type(parts[0]).text(), ", another ", Type(part).text());
    const int64_t block = outer == 0 ? 0 : part.size() / outer;
    for (int64_t o = 0; o < outer; ++o) copy_elements(part, o * block, &y, (o * n + i) * block, block);
  }
  return y;
}

}  // namespace dnn
