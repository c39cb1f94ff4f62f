// Rewrite: one ai.onnx node on its way between operator versions, with the nodes that come to stand around it. The steps
// between versions are functions over it (rows of versions.def), run upwards by upgrade.cc and downwards by downgrade.cc.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"

namespace dnn::onnx {

// A graph with those around it, where captured values have their constants and types.
struct Enclosing {
  const Graph& graph;
  const Enclosing* outer;
};

class Rewrite {
 public:
  // `learn_types`, where given, is called once when the type of a value is asked for and not known.
  Rewrite(Graph& graph, const Enclosing* outer, std::unordered_set<std::string>& names, Node subject,
          std::function<void()> learn_types = nullptr);

  Node node;                        // the node itself
  std::vector<Node> before, after;  // written in the IR's opset
  bool replaced = false;            // `node` is another operator now, written in the IR's opset

  // What is known of values.
  DType dtype(ValueId id) const;  // Undefined when unknown
  int rank(ValueId id) const;     // -1 when unknown
  int rank_like_output() const;   // of input 0 of an operator whose output 0 has the same rank
  const Type& type(ValueId id) const;
  const Tensor* constant(ValueId id) const;  // null when it has no constant value
  bool is_read(ValueId id) const;            // by another node, a subgraph, or as an output of the graph
  // The constant integers of input `i`; refuses the node when they are computed at run time.
  std::vector<int64_t> constant_ints(size_t i, std::string_view what) const;

  // New values, named after the node's first output.
  ValueId add_constant(std::string_view hint, Tensor tensor);
  ValueId add_ints(std::string_view hint, const std::vector<int64_t>& values);
  // A float constant of that rank (all extents 1) in the dtype of `like`; refuses the node when that is unknown.
  ValueId add_float(std::string_view hint, double value, ValueId like);
  ValueId add_value(std::string_view hint, Type type = {});

  // A node in front; its new output.
  ValueId add_before(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}, Type type = {});
  // Makes the node's first output a new value, returned; a node after must make the old one, also returned.
  std::pair<ValueId, ValueId> detach_output(std::string_view hint);
  void add_after(std::string_view op, std::vector<ValueId> inputs, ValueId output, Attributes attributes = {});
  // Turns the node into another operator of the IR's opset with the same outputs.
  void become(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});

  void set_input(size_t i, ValueId id);  // grows the list with left-out inputs
  bool has_input(size_t i) const { return node.input(i) != kNoValue; }
  // The attribute, removed; nothing when it is absent. Another type than T refuses the node.
  template <class T>
  std::optional<T> take(const std::string& key);
  void drop(const std::string& key) { node.attributes.erase(key); }

  // "node 'conv1' (Conv)"; by its output where it has no name.
  std::string label() const;
  // Throws Unsupported / Malformed with the label.
  template <class... T>
  [[noreturn]] void refuse(const T&... reason) const {
    fail_unsupported(label(), ": ", reason...);
  }
  template <class... T>
  [[noreturn]] void malformed(const T&... reason) const {
    fail_malformed(label(), ": ", reason...);
  }

 private:
  Graph& graph_;
  const Enclosing* outer_;
  std::unordered_set<std::string>& names_;
  std::string stem_;
  mutable std::function<void()> learn_types_;
};

template <class T>
std::optional<T> Rewrite::take(const std::string& key) {
  const auto found = node.attributes.find(key);
  if (found == node.attributes.end()) return {};
  T* value = std::get_if<T>(&found->second);
  if (value == nullptr) malformed("attribute '", key, "' has the wrong type");
  std::optional<T> result(std::move(*value));
  node.attributes.erase(found);
  return result;
}

using Step = void (*)(Rewrite& rewrite);
struct Version {
  int opset;
  Step up;    // from the version before to this one
  Step down;  // from this one to the version before
};
// The versions of an operator in rising order; null for an operator that no opset of ai.onnx has.
const std::vector<Version>* versions_of(std::string_view op);
// Throws Unsupported when an operand has a type that only versions above `opset` take.
void check_types(const Rewrite& rewrite, int opset);

// Every value name of a graph.
std::unordered_set<std::string> value_names(const Graph& graph);

}  // namespace dnn::onnx
