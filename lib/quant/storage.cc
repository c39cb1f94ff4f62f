// Weights of 16 bits; see storage.h.
#include "quant/storage.h"

#include <algorithm>

#include "convert/surgery.h"
#include "ops/op.h"

namespace dnn::quant {
namespace {

constexpr int64_t kLarge = 1024;  // elements, as TFLite's converter has it

}  // namespace

int64_t store_weights(Graph& graph, DType dtype) {
  const Uses uses(graph);
  const std::vector<NodeId> order = graph.order();
  std::vector<NodeId> casts;
  const int n_values = graph.value_count();
  for (ValueId v = 0; v < n_values; ++v) {
    const Tensor* real = graph.constant(v);
    const std::vector<NodeId>& readers = uses.readers[v];
    if (real == nullptr || real->dtype() != DType::Float32 || readers.empty()) continue;
    bool weights = real->size() >= kLarge, captured = false;
    for (NodeId id : readers) {
      const Node& reader = graph.node(id);
      weights = weights || (has_trait(reader, Trait::Weighted) && reader.input(1) == v);
      captured = captured || std::find(reader.inputs.begin(), reader.inputs.end(), v) == reader.inputs.end();
    }
    if (!weights || captured) continue;
    const std::string name = graph.value(v).name;
    Tensor stored = convert(within_range(*real, dtype).value_or(*real), dtype);
    Type type(*real);
    const ValueId kept =
        graph.add_constant(graph.unused_value_name(cat(name, ".", dtype_name(dtype))), std::move(stored));
    const ValueId wide = graph.add_value(graph.unused_value_name(name + ".widened"), std::move(type));
    Node cast;
    cast.op = "Cast";
    cast.name = graph.value(wide).name + "_Cast";
    cast.inputs = {kept};
    cast.outputs = {wide};
    cast.attributes["to"] = static_cast<int64_t>(DType::Float32);
    casts.push_back(graph.add_node(std::move(cast)));
    for (NodeId reader : readers) {
      for (ValueId& input : graph.node(reader).inputs) input = input == v ? wide : input;
    }
    if (!graph.is_output(v)) graph.value(v).constant.reset();
  }
  const auto n_casts = static_cast<int64_t>(casts.size());
  casts.insert(casts.end(), order.begin(), order.end());
  graph.set_order(std::move(casts));
  sort_nodes(graph);
  return n_casts;
}

}  // namespace dnn::quant
