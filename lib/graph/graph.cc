// Graph; see graph.h.
#include "graph/graph.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace dnn {

Type::Type(const Tensor& tensor) : dtype(tensor.dtype()) {
  shape.emplace();
  for (int64_t extent : tensor.shape()) shape->emplace_back(extent);
}

bool Type::fixed() const {
  return dtype != DType::Undefined && shape &&
         std::all_of(shape->begin(), shape->end(), [](const Dim& d) { return d.fixed(); });
}

Shape Type::fixed_shape() const {
  if (!fixed()) fail_unsupported("shape ", text(), " is not fixed; give it with --shape");
  Shape result;
  for (const Dim& dim : *shape) result.push_back(dim.size);
  return result;
}

std::string Type::text() const {
  std::string out(dtype == DType::Undefined ? "?" : dtype_name(dtype));
  if (!shape) return out + "?";
  std::vector<std::string> dims;
  for (const Dim& dim : *shape) {
    dims.push_back(dim.fixed() ? std::to_string(dim.size) : dim.symbol.empty() ? "?" : dim.symbol);
  }
  return out + "[" + join(dims, ",") + "]";
}

namespace {
template <class T>
T attribute_or(const Node& node, std::string_view key, T fallback, std::string_view kind) {
  auto found = node.attributes.find(std::string(key));
  if (found == node.attributes.end()) return fallback;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  fail_malformed(node.label(), ": attribute '", key, "' is not ", kind);
}
}  // namespace

int64_t Node::attribute_int(std::string_view key, int64_t fallback) const {
  return attribute_or<int64_t>(*this, key, fallback, "an integer");
}
float Node::attribute_float(std::string_view key, float fallback) const {
  return attribute_or<float>(*this, key, fallback, "a float");
}
std::string Node::attribute_string(std::string_view key, std::string_view fallback) const {
  return attribute_or<std::string>(*this, key, std::string(fallback), "a string");
}
std::vector<int64_t> Node::attribute_ints(std::string_view key, std::vector<int64_t> fallback) const {
  return attribute_or<std::vector<int64_t>>(*this, key, std::move(fallback), "a list of integers");
}
std::vector<float> Node::attribute_floats(std::string_view key, std::vector<float> fallback) const {
  return attribute_or<std::vector<float>>(*this, key, std::move(fallback), "a list of floats");
}

std::string Node::label() const {
  // Domains that only say an order of axes (kChannelsLastDomain, kFlexibleDomain) are in no model of anyone's.
  const bool is_foreign = !domain.empty() && domain != "nhwc" && domain != "axis";
  const std::string type = (is_foreign ? domain + "." : "") + op;
  return name.empty() ? "unnamed node (" + type + ")" : "node '" + name + "' (" + type + ")";
}

Value& Graph::left_out() {
  thread_local Value empty;
  empty = Value();
  return empty;
}

ValueId Graph::add_value(Value value) {
  values_.push_back(std::move(value));
  return static_cast<ValueId>(values_.size()) - 1;
}

ValueId Graph::add_constant(std::string constant_name, Tensor tensor) {
  Type type(tensor);
  return add_value(Value{std::move(constant_name), std::move(type), std::move(tensor), {}, {}, {}});
}

NodeId Graph::add_node(Node node) {
  nodes_.push_back(std::move(node));
  alive_.push_back(true);
  order_.push_back(static_cast<NodeId>(nodes_.size()) - 1);
  return order_.back();
}

NodeId Graph::insert_node_before(NodeId position, Node node) {
  nodes_.push_back(std::move(node));
  alive_.push_back(true);
  const NodeId id = static_cast<NodeId>(nodes_.size()) - 1;
  order_.insert(std::find(order_.begin(), order_.end(), position), id);
  return id;
}

void Graph::remove_node(NodeId id) {
  alive_[id] = false;
  order_.erase(std::remove(order_.begin(), order_.end(), id), order_.end());
}

ValueId Graph::find_value(std::string_view value_name) const {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].name == value_name) return static_cast<ValueId>(i);
  }
  return kNoValue;
}

std::string Graph::unused_value_name(std::string_view wanted) const {
  std::string candidate(wanted);
  for (int n = 1; find_value(candidate) != kNoValue; ++n) candidate = cat(wanted, "_", n);
  return candidate;
}

bool Graph::is_input(ValueId id) const { return std::find(inputs.begin(), inputs.end(), id) != inputs.end(); }
bool Graph::is_output(ValueId id) const { return std::find(outputs.begin(), outputs.end(), id) != outputs.end(); }

std::vector<ValueId> captured_values(const Graph& graph, const Node& node) {
  std::vector<ValueId> captured;
  for (const auto& [key, attribute] : node.attributes) {
    const auto* subgraph = std::get_if<std::shared_ptr<const Graph>>(&attribute);
    if (subgraph == nullptr) continue;
    for (ValueId inner : (*subgraph)->captures) {
      const ValueId outer = graph.find_value((*subgraph)->value(inner).name);
      if (outer != kNoValue) captured.push_back(outer);
    }
  }
  return captured;
}

Uses::Uses(const Graph& graph) : producer(graph.value_count(), -1), readers(graph.value_count()) {
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    auto read = [&](ValueId value) {
      if (value == kNoValue) return;
      auto& list = readers[value];
      if (list.empty() || list.back() != id) list.push_back(id);
    };
    for (ValueId value : node.inputs) read(value);
    for (ValueId value : captured_values(graph, node)) read(value);
    for (ValueId value : node.outputs) {
      if (value != kNoValue) producer[value] = id;
    }
  }
}

void verify(const Graph& graph) {
  const int n = graph.value_count();
  std::unordered_set<std::string_view> names;
  std::vector<bool> known(n, false);
  auto check_id = [&](ValueId id, const std::string& where) {
    if (id < 0 || id >= n) fail_malformed(where, ": value id ", id, " is out of range");
  };
  for (ValueId id : graph.inputs) check_id(id, "graph input");
  for (ValueId id : graph.captures) check_id(id, "graph capture");
  for (ValueId id : graph.inputs) known[id] = true;
  for (ValueId id : graph.captures) known[id] = true;
  std::vector<bool> used(n, false);
  for (ValueId id = 0; id < n; ++id) {
    const Value& value = graph.value(id);
    if (value.constant) {
      known[id] = true;
      if (value.type.dtype != value.constant->dtype() || !(value.type == Type(*value.constant))) {
        fail_malformed("constant '", value.name, "': declared ", value.type.text(), ", holds ",
                       Type(*value.constant).text());
      }
    }
  }
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    for (ValueId value : node.inputs) {
      if (value == kNoValue) continue;
      check_id(value, node.label());
      used[value] = true;
      if (!known[value]) {
        fail_malformed(node.label(), ": input '", graph.value(value).name, "' is not produced before it");
      }
    }
    for (ValueId value : node.outputs) {
      if (value == kNoValue) continue;
      check_id(value, node.label());
      used[value] = true;
      if (known[value]) {
        fail_malformed(node.label(), ": output '", graph.value(value).name, "' is produced twice");
      }
      known[value] = true;
    }
    for (const auto& [key, attribute] : node.attributes) {
      if (const auto* subgraph = std::get_if<std::shared_ptr<const Graph>>(&attribute)) verify(**subgraph);
    }
  }
  for (ValueId id : graph.outputs) {
    check_id(id, "graph output");
    used[id] = true;
    if (!known[id]) fail_malformed("graph output '", graph.value(id).name, "' is not produced");
  }
  for (ValueId id = 0; id < n; ++id) {
    if (!used[id] && !known[id]) continue;  // left over by a removed node
    if (!names.insert(graph.value(id).name).second) {
      fail_malformed("two values are named '", graph.value(id).name, "'");
    }
  }
}

void set_constant(Graph& graph, NodeId node, size_t input, Tensor tensor, std::string_view name) {
  std::vector<ValueId>& inputs = graph.node(node).inputs;
  if (inputs.size() <= input) inputs.resize(input + 1, kNoValue);
  const ValueId old = inputs[input];
  const Uses uses(graph);
  if (old != kNoValue && graph.constant(old) != nullptr && uses.readers[old].size() == 1 &&
      std::count(inputs.begin(), inputs.end(), old) == 1 && !graph.is_output(old)) {
    graph.value(old).type = Type(tensor);
    graph.value(old).constant = std::move(tensor);
    return;
  }
  inputs[input] = graph.add_constant(graph.unused_value_name(name), std::move(tensor));
}

void sort_nodes(Graph& graph) {
  const Uses uses(graph);
  std::vector<NodeId> sorted;
  std::vector<int> state(graph.node_slots(), 0);  // 0 new, 1 waiting for its inputs, 2 placed
  std::vector<NodeId> stack;
  for (NodeId root : graph.order()) {
    stack.push_back(root);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      int& mark = state[id];
      if (mark == 2) {
        stack.pop_back();
        continue;
      }
      const bool revisit = mark == 1;
      mark = 1;
      bool ready = true;
      auto need = [&](ValueId value) {
        if (value == kNoValue) return;
        const NodeId before = uses.producer[value];
        if (before < 0 || state[before] == 2) return;
        if (revisit || state[before] == 1) fail_malformed(graph.node(id).label(), ": lies on a cycle");
        stack.push_back(before);
        ready = false;
      };
      for (ValueId value : graph.node(id).inputs) need(value);
      for (ValueId value : captured_values(graph, graph.node(id))) need(value);
      if (!ready) continue;
      mark = 2;
      sorted.push_back(id);
      stack.pop_back();
    }
  }
  graph.set_order(std::move(sorted));
}

int remove_dead_nodes(Graph& graph) {
  std::vector<bool> needed(graph.value_count(), false);
  for (ValueId id : graph.outputs) needed[id] = true;
  std::vector<NodeId> dead;
  const std::vector<NodeId> order = graph.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = graph.node(*it);
    const bool live =
        std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return v != kNoValue && needed[v]; });
    if (!live) {
      dead.push_back(*it);
      continue;
    }
    for (ValueId value : node.inputs) {
      if (value != kNoValue) needed[value] = true;
    }
    for (ValueId value : captured_values(graph, node)) needed[value] = true;
  }
  for (NodeId id : dead) graph.remove_node(id);
  return static_cast<int>(dead.size());
}

}  // namespace dnn
