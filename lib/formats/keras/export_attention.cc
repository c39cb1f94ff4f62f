// Attention between dense layers: MultiHeadAttention where the file can call it; in .h5, which names a layer's inputs as one list
// alone, a layer Attention per head.
#include <cmath>

#include "formats/keras/exports.h"
#include "ops/movement.h"

namespace dnn::keras {
namespace {

bool is(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

NodeId only_reader(const Plan& plan, ValueId v) {
  const std::vector<NodeId>& readers = plan.uses().readers[v];
  return readers.size() == 1 && !plan.graph().is_output(v) ? readers[0] : -1;
}

// The constant that an Add puts onto `v`, one number for each of the last axis; kNoValue: it is no such Add.
ValueId added_row(const Graph& graph, const Node& add, ValueId v, int64_t n) {
  if (!is(add, "Add") || add.inputs[0] == add.inputs[1]) return kNoValue;
  const ValueId other = add.inputs[add.inputs[0] == v ? 1 : 0];
  const Tensor* row = graph.constant(other);
  return row != nullptr && row->size() == n && row->rank() >= 1 && row->shape().back() == n ? other : kNoValue;
}

// The constant matrix that a MatMul multiplies by; null where there is none.
const Tensor* matrix_of(const Graph& graph, const Node& node) {
  const Tensor* weight = is(node, "MatMul") ? graph.constant(node.inputs[1]) : nullptr;
  return weight != nullptr && weight->rank() == 2 && graph.constant(node.inputs[0]) == nullptr ? weight : nullptr;
}

// The dense layer that makes `v` for its only reader.
bool find_dense(const Plan& plan, ValueId v, AttentionParts::Dense* dense, std::set<NodeId>* nodes) {
  const Graph& graph = plan.graph();
  if (only_reader(plan, v) < 0) return false;
  NodeId id = plan.uses().producer[v];
  if (id < 0) return false;
  if (is(graph.node(id), "Add")) {
    for (ValueId input : graph.node(id).inputs) {
      const NodeId maker = plan.uses().producer[input];
      const Tensor* weight = maker < 0 ? nullptr : matrix_of(graph, graph.node(maker));
      if (weight == nullptr || only_reader(plan, input) != id) continue;
      dense->bias = added_row(graph, graph.node(id), input, weight->dim(1));
      if (dense->bias == kNoValue) return false;
      nodes->insert(id);
      id = maker;
      break;
    }
  }
  if (matrix_of(graph, graph.node(id)) == nullptr) return false;
  dense->x = graph.node(id).inputs[0];
  dense->weight = graph.node(id).inputs[1];
  nodes->insert(id);
  return true;
}

// The dense layer that alone reads what the heads give.
void find_output(const Plan& plan, ValueId v, AttentionParts* parts) {
  const Graph& graph = plan.graph();
  const NodeId id = only_reader(plan, v);
  if (id < 0 || graph.node(id).inputs[0] != v || matrix_of(graph, graph.node(id)) == nullptr) return;
  parts->after = {id};
  parts->output.x = v;
  parts->output.weight = graph.node(id).inputs[1];
  parts->result = graph.node(id).outputs[0];
  const NodeId next = only_reader(plan, parts->result);
  if (next < 0) return;
  const int64_t n = graph.constant(parts->output.weight)->dim(1);
  parts->output.bias = added_row(graph, graph.node(next), parts->result, n);
  if (parts->output.bias == kNoValue) return;
  parts->after.push_back(next);
  parts->result = graph.node(next).outputs[0];
}

// Columns `first` to `first + n` of a matrix, or entries of a row.
Tensor columns(const Tensor& tensor, int64_t first, int64_t n) {
  const std::vector<int64_t> stride = row_major_strides(tensor.shape());
  Shape shape = tensor.shape();
  shape.back() = n;
  return pick(tensor, shape,
              [&](size_t axis, int64_t i) { return (axis + 1 == shape.size() ? first + i : i) * stride[axis]; });
}

Tensor bias_of(const Graph& graph, const AttentionParts::Dense& dense) {
  const Tensor& weight = *graph.constant(dense.weight);
  if (dense.bias != kNoValue) return graph.constant(dense.bias)->reshaped({weight.dim(1)});
  return convert(Tensor::of<double>({weight.dim(1)}, std::vector<double>(weight.dim(1))), weight.dtype());
}

Tensor times(const Tensor& tensor, double by) {
  if (by == 1) return tensor;
  std::vector<double> values = to_doubles(tensor);
  for (double& v : values) v *= by;
  return convert(Tensor::of<double>(tensor.shape(), values), tensor.dtype());
}

Type with_last(const Type& type, int64_t n) {
  std::vector<Dim> dims = type.shape.value();
  dims.back() = Dim(n);
  return {type.dtype, std::move(dims)};
}

// MultiHeadAttention(query, value, key), which divides by the root of the keys' size.
void write_layer(Export& e, const AttentionParts& parts) {
  const Graph& graph = e.graph();
  const auto& [query, key, value] = parts.inputs;
  const int64_t heads = parts.heads, size = graph.constant(query.weight)->dim(1) / heads,
                value_size = graph.constant(value.weight)->dim(1) / heads;
  const double root = 1 / std::sqrt(static_cast<double>(size));
  const bool usual = static_cast<float>(root) == static_cast<float>(parts.scale);
  const AttentionParts::Dense* const all[] = {&query, &key, &value, &parts.output};
  const bool bias = std::any_of(std::begin(all), std::end(all), [](const auto* d) { return d->bias != kNoValue; });
  std::vector<Variable> variables;
  const auto name_of = [&](ValueId v) { return v == kNoValue ? std::string() : graph.value(v).name; };
  const auto add = [&](const char* role, const AttentionParts::Dense& dense, const Shape& kernel, const Shape& row,
                       double by) {
    variables.push_back(
        {cat(role, "/kernel"), name_of(dense.weight), times(*graph.constant(dense.weight), by).reshaped(kernel)});
    if (bias)
      variables.push_back({cat(role, "/bias"), name_of(dense.bias), times(bias_of(graph, dense), by).reshaped(row)});
  };
  const auto inner = [&](const char* role, const AttentionParts::Dense& dense, int64_t n, double by) {
    add(role, dense, {graph.constant(dense.weight)->dim(0), heads, n}, {heads, n}, by);
  };
  inner("query_dense", query, size, usual ? 1 : parts.scale / root);
  inner("key_dense", key, size, 1);
  inner("value_dense", value, value_size, 1);
  const int64_t units = graph.constant(parts.output.weight)->dim(1);
  add("output_dense", parts.output, {heads, value_size, units}, {units}, 1);
  Json config = {{"num_heads", heads}, {"key_dim", size},         {"value_dim", value_size},  {"dropout", 0.0},
                 {"use_bias", bias},   {"output_shape", nullptr}, {"attention_axes", nullptr}};
  if (units != graph.constant(query.weight)->dim(0)) config["output_shape"] = units;
  Json args = Json::array();
  for (const auto* dense : {&query, &value, &key}) {
    if (dense == &key && key.x == value.x) continue;
    args.push_back(Export::tensor(e.layer_of(dense->x)));
  }
  const Type type = with_last(e.output_type(), units);
  e.result_for(parts.result,
               e.call("MultiHeadAttention", std::move(config), std::move(args), type, std::move(variables)));
  for (NodeId id : parts.after) e.absorb(id);
}

// Attention([query, value, key]) for every head by itself, with dense layers of its own.
void write_heads(Export& e, const AttentionParts& parts) {
  const Graph& graph = e.graph();
  const Tensor factor = convert(Tensor::scalar(parts.scale), e.output_type().dtype);
  std::vector<LayerId> mixed;
  int64_t value_size = 0;
  for (int64_t h = 0; h < parts.heads; ++h) {
    std::vector<LayerId> inputs;
    for (size_t i : {0, 2, 1}) {
      const AttentionParts::Dense& dense = parts.inputs[i];
      const Tensor& weight = *graph.constant(dense.weight);
      const int64_t n = weight.dim(1) / parts.heads;
      if (i == 2) value_size = n;
      std::vector<Variable> variables = {{"kernel", "", columns(weight, h * n, n)}};
      if (dense.bias != kNoValue) variables.push_back({"bias", "", columns(bias_of(graph, dense), h * n, n)});
      inputs.push_back(e.layer("Dense", {{"units", n}, {"use_bias", dense.bias != kNoValue}, {"activation", "linear"}},
                               {e.layer_of(dense.x)}, with_last(graph.value(dense.x).type, n), std::move(variables)));
    }
    // No "score_mode": Keras 3 takes the text "dot" of an .h5 file for the name of a function.
    mixed.push_back(e.layer("Attention", {{"use_scale", true}, {"dropout", 0.0}}, inputs,
                            with_last(e.output_type(), value_size), {{"scale", "", factor}}));
  }
  e.result(mixed.size() == 1 ? mixed[0] : e.layer("Concatenate", {{"axis", -1}}, mixed, e.output_type()));
}

}  // namespace

std::optional<AttentionParts> attention_parts(const Plan& plan, const Node& node) {
  if (!is(node, "Attention") || node.inputs.size() != 3 || node.outputs.size() != 1) return std::nullopt;
  const Graph& graph = plan.graph();
  AttentionParts parts;
  parts.heads = node.attribute_int("q_num_heads", 0);
  for (const char* key : {"is_causal", "softcap", "left_window_size", "right_window_size", "qk_matmul_output_mode"}) {
    if (node.has_attribute(key)) return std::nullopt;
  }
  for (size_t i = 0; i < 3; ++i) {
    const auto& shape = graph.value(node.inputs[i]).type.shape;
    if (!shape || shape->size() != 3 || !find_dense(plan, node.inputs[i], &parts.inputs[i], &parts.before))
      return std::nullopt;
  }
  const int64_t units = graph.constant(parts.inputs[0].weight)->dim(1);
  if (parts.heads < 1 || units % parts.heads != 0 || node.attribute_int("kv_num_heads", 0) != parts.heads)
    return std::nullopt;
  const int64_t size = units / parts.heads;
  const double root = 1 / std::sqrt(static_cast<double>(size));
  const double scale = node.has_attribute("scale") ? static_cast<double>(node.attribute_float("scale", 0)) : root;
  parts.scale = scale;
  find_output(plan, node.outputs[0], &parts);
  return parts;
}

void write_attention(Export& e) {
  const std::optional<AttentionParts> parts = attention_parts(e.plan(), e.node());
  if (!parts) e.refuse("its queries, keys and values are not each made by a dense layer, or it has options");
  if (e.keras3() && !parts->after.empty()) return write_layer(e, *parts);
  write_heads(e, *parts);
}

}  // namespace dnn::keras
