// Graph: the one intermediate representation. Nodes are ONNX operators at opset kIrOpset (domain "") plus internal ones
// (domain "dnn"); values carry dtype, shape and the names they have in the source model. Formats map into and out of it.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace dnn {

// The ai.onnx opset whose operator semantics the IR has; readers upgrade older models to it.
inline constexpr int kIrOpset = 28;
inline constexpr std::string_view kInternalDomain = "dnn";
// Metadata key of what a conversion measured (convert/certificate.h); graph_difference() leaves it out.
inline constexpr const char* kCertificateKey = "dnn-tools.certificate";

// One extent: fixed (size >= 0), a named symbol ("batch"), or unknown (size -1, no symbol).
struct Dim {
  int64_t size = -1;
  std::string symbol;
  Dim() = default;
  Dim(int64_t fixed) : size(fixed) {}  // NOLINT: implicit on purpose, extents read as numbers
  explicit Dim(std::string name) : symbol(std::move(name)) {}
  bool fixed() const { return size >= 0; }
  bool operator==(const Dim&) const = default;
};

// dtype and shape of a value; either may be unknown.
struct Type {
  DType dtype = DType::Undefined;
  std::optional<std::vector<Dim>> shape;
  Type() = default;
  Type(DType element, std::vector<Dim> dims) : dtype(element), shape(std::move(dims)) {}
  explicit Type(const Tensor& tensor);
  bool fixed() const;         // dtype known and every extent fixed
  Shape fixed_shape() const;  // throws Unsupported unless every extent is fixed
  std::string text() const;   // "float32[batch,3,224,224]", "?" for unknown parts
  bool operator==(const Type&) const = default;
};

class Graph;
using Attribute = std::variant<int64_t, float, std::string, Tensor, std::shared_ptr<const Graph>, std::vector<int64_t>,
                               std::vector<float>, std::vector<std::string>, std::vector<Tensor>>;
using Attributes = std::map<std::string, Attribute>;

using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an optional input or output that is left out

struct Value {
  std::string name;  // unique in its graph; the source model's name where it had one
  Type type;
  std::optional<Tensor> constant;    // initializer, or folded by a pass
  std::vector<std::string> aliases;  // source names of values that passes merged into this one
  std::string doc;
  std::string layout;  // memory layout that a pass chose, as loops::Layout text; "": row-major
};

struct Node {
  std::string name;    // the source model's node name; may be empty
  std::string op;      // "Relu"
  std::string domain;  // "" for ai.onnx
  std::vector<ValueId> inputs, outputs;
  Attributes attributes;
  std::vector<std::string> sources;  // names of the source nodes this one computes, in order; empty: itself
  std::string doc;

  // Attribute access with a default; a present attribute of another type throws Malformed with the node's name.
  int64_t attribute_int(std::string_view key, int64_t fallback) const;
  float attribute_float(std::string_view key, float fallback) const;
  std::string attribute_string(std::string_view key, std::string_view fallback) const;
  std::vector<int64_t> attribute_ints(std::string_view key, std::vector<int64_t> fallback = {}) const;
  std::vector<float> attribute_floats(std::string_view key, std::vector<float> fallback = {}) const;
  bool has_attribute(std::string_view key) const { return attributes.find(std::string(key)) != attributes.end(); }
  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
  ValueId output(size_t i) const { return i < outputs.size() ? outputs[i] : kNoValue; }
  // "node 'conv1' (Conv)"; "unnamed node (Conv)" where it has none: see graph/locate.h for its place then.
  std::string label() const;
};

// Ids stay valid for the life of a graph: removing a node leaves its slot empty (alive() false) and keeps its values. So do references to
// nodes and values, while others are added.
class Graph {
 public:
  std::string name, doc;
  std::vector<std::pair<std::string, std::string>> metadata;  // model-level key, text
  std::string producer;                                       // tool that wrote the source
  std::map<std::string, int64_t> source_opsets;               // domain -> version in the source file
  std::vector<ValueId> inputs, outputs;
  // In a subgraph: values of enclosing graphs that it reads, by name; they have a Value here, and no producer.
  std::vector<ValueId> captures;

  ValueId add_value(Value value);
  ValueId add_value(std::string name, Type type = {}) {
    return add_value(Value{std::move(name), std::move(type), {}, {}, {}, {}});
  }
  ValueId add_constant(std::string name, Tensor tensor);
  NodeId add_node(Node node);  // appended to the order
  NodeId insert_node_before(NodeId position, Node node);
  void remove_node(NodeId id);
  void set_order(std::vector<NodeId> order) { order_ = std::move(order); }

  // One that is left out (kNoValue) has no type and no constant; what is written to it is lost.
  const Value& value(ValueId id) const { return id < 0 ? left_out() : values_[id]; }
  Value& value(ValueId id) { return id < 0 ? left_out() : values_[id]; }
  int value_count() const { return static_cast<int>(values_.size()); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  Node& node(NodeId id) { return nodes_[id]; }
  int node_slots() const { return static_cast<int>(nodes_.size()); }
  bool alive(NodeId id) const { return alive_[id]; }
  const std::vector<NodeId>& order() const { return order_; }  // live nodes, producers before users

  const Tensor* constant(ValueId id) const {
    return id == kNoValue || !value(id).constant ? nullptr : &*value(id).constant;
  }
  // The value of that name, or kNoValue.
  ValueId find_value(std::string_view value_name) const;
  // `wanted`, or `wanted` with the first free _N suffix.
  std::string unused_value_name(std::string_view wanted) const;
  bool is_input(ValueId id) const;
  bool is_output(ValueId id) const;

 private:
  static Value& left_out();  // an empty one

  std::deque<Value> values_;
  std::deque<Node> nodes_;
  std::vector<bool> alive_;
  std::vector<NodeId> order_;
};

// Who makes and who reads each value, as of the moment of the call.
struct Uses {
  explicit Uses(const Graph& graph);
  std::vector<NodeId> producer;              // by ValueId; -1: graph input, constant or capture
  std::vector<std::vector<NodeId>> readers;  // by ValueId; nodes whose inputs or subgraphs read it, in order
};

// Values of the enclosing graph that a node's subgraph attributes capture.
std::vector<ValueId> captured_values(const Graph& graph, const Node& node);

// Throws Malformed naming the first breach: ids in range, names unique, each value made once and before its use,
// outputs made, constants' types agreeing with their tensors. Run after reading and after every pass.
void verify(const Graph& graph);

// Input `input` of a node reads `tensor` from now on: its constant becomes that where nothing else reads it; else there is a new one
// under `name`, or the first free name like it.
void set_constant(Graph& graph, NodeId node, size_t input, Tensor tensor, std::string_view name);

// Puts the nodes into dependency order, keeping the given order where it is one. Throws Malformed on a cycle.
void sort_nodes(Graph& graph);

// Removes nodes none of whose outputs is read or a graph output, repeatedly. Returns how many went.
int remove_dead_nodes(Graph& graph);

}  // namespace dnn
