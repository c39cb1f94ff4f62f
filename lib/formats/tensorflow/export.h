// What writing one IR node as TensorFlow nodes needs: its values as edges, and steps to add nodes.
#pragma once
#include <schemas/tensorflow.pb.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/content.h"
#include "graph/graph.h"
#include "layout/settle.h"

namespace dnn::tensorflow {

using Edge = std::string;  // "node" or "node:k"

// A node while it is made.
class NodeBuilder {
 public:
  NodeBuilder(const std::string& op, const std::string& name) {
    def_.set_op(op);
    def_.set_name(name);
  }
  NodeBuilder& in(const Edge& edge) {
    def_.add_input(edge);
    return *this;
  }
  NodeBuilder& in(const std::vector<Edge>& edges) {
    for (const Edge& edge : edges) def_.add_input(edge);
    return *this;
  }
  NodeBuilder& type(const std::string& key, DataType value) {
    attr(key).set_type(value);
    return *this;
  }
  NodeBuilder& flag(const std::string& key, bool value) {
    attr(key).set_b(value);
    return *this;
  }
  NodeBuilder& integer(const std::string& key, int64_t value) {
    attr(key).set_i(value);
    return *this;
  }
  NodeBuilder& number(const std::string& key, float value) {
    attr(key).set_f(value);
    return *this;
  }
  NodeBuilder& text(const std::string& key, const std::string& value) {
    attr(key).set_s(value);
    return *this;
  }
  NodeBuilder& types(const std::string& key, const std::vector<DataType>& values) {
    AttrValue::ListValue& list = *attr(key).mutable_list();
    for (DataType v : values) list.add_type(v);
    return *this;
  }
  NodeBuilder& integers(const std::string& key, const std::vector<int64_t>& values) {
    AttrValue::ListValue& list = *attr(key).mutable_list();
    for (int64_t v : values) list.add_i(v);
    return *this;
  }
  AttrValue& attr(const std::string& key) { return (*def_.mutable_attr())[key]; }
  NodeDef& def() { return def_; }

 private:
  NodeDef def_;
};

// A graph while it is written: nodes are serialised as they come, without their weights, which are not copied.
class File {
 public:
  // `variables`: parameters become variables, for a SavedModel; else constants.
  File(const Graph& graph, bool variables);

  const Graph& graph() const { return graph_; }
  // The edge of a value that was written; constants are written when they are first asked for.
  Edge edge(ValueId v);
  void bind(ValueId v, Edge edge) { edges_[v] = std::move(edge); }
  Edge constant(const std::string& name, const Tensor& value);  // a Const of its own
  // A constant of the model in another form, as a variable where those are.
  Edge parameter(ValueId v, const Tensor& value);
  void not_trained(ValueId v) { not_trained_.insert(v); }
  Edge add(NodeBuilder node);
  // A node name like `wanted` that TensorFlow takes and no other node has; taken from now on.
  std::string free_name(const std::string& wanted);
  // The name that a value's own node gets, the same at each call.
  const std::string& name_of(ValueId v);
  // The name of the graph's output i, and whether the node that makes it has it; else an Identity at the end does.
  const std::string& output_name(size_t i) const { return output_names_[i]; }
  bool is_leaf(ValueId v) const { return leaves_.count(v) != 0; }
  // Whether a node reads it, or it is a result. A node that is written for another one's sake would be read back as a result.
  bool is_read(ValueId v) const { return v != kNoValue && read_.count(v) != 0; }

  struct Variable {
    std::string name;
    Edge read;  // the node that gives its value
    Tensor value;
    bool trainable = true;
  };
  const std::vector<Variable>& variables() const { return variables_; }
  // The serialised GraphDef.
  Content take();

 private:
  Edge add_constant(const std::string& name, const Tensor& value);
  void add(const std::string& text, const Tensor& rest);

  const Graph& graph_;
  const bool keep_variables_;
  Content out_;
  std::map<ValueId, Edge> edges_;
  std::map<ValueId, std::string> names_of_;
  std::set<std::string> names_;
  std::map<std::string, int> suffixes_;  // the last one tried, by name
  std::vector<std::string> output_names_;
  std::set<ValueId> leaves_, read_;
  std::set<ValueId> not_trained_, written_;
  std::vector<Variable> variables_;
};

// One node while it is written.
class Export {
 public:
  Export(File& file, const Node& node, const char* as) : file_(file), node_(node), as_(as) {}

  const Node& node() const { return node_; }
  const Graph& graph() const { return file_.graph(); }
  File& file() { return file_; }
  const char* as() const { return as_; }

  bool has_input(size_t i) const { return node_.input(i) != kNoValue; }
  Edge input(size_t i);
  const Tensor* constant(size_t i) const { return graph().constant(node_.input(i)); }
  // A constant input; Unsupported where it is computed.
  const Tensor& known(size_t i, const char* what) const;
  std::vector<int64_t> known_ints(size_t i, const char* what) const { return to_int64s(known(i, what)); }
  const Type& type(size_t i) const { return graph().value(node_.inputs[i]).type; }
  const Type& output_type(size_t i = 0) const { return graph().value(node_.outputs[i]).type; }
  DataType dtype(size_t i) const;
  DataType output_dtype(size_t i = 0) const;
  // Extents; -1: open. Unsupported where the rank is unknown.
  std::vector<int64_t> shape(size_t i) const;
  std::vector<int64_t> output_shape(size_t i = 0) const;

  Edge ints(const std::vector<int64_t>& values);  // a constant int32[n], or int64[n] where that is too small
  Edge integer(int64_t value);                    // a constant int32
  Edge number(double value);                      // a constant of input 0's dtype
  Edge store(const std::string& what, const Tensor& value);
  // A rearranged constant input, under its own name.
  Edge store_input(size_t i, const Tensor& value) { return file_.parameter(node_.inputs[i], value); }

  // A node on the way to the result, called after the IR's node where that is free and different.
  NodeBuilder step(const std::string& op, const std::string& what = "");
  // The node that makes the outputs.
  NodeBuilder last(const std::string& op);
  Edge add(NodeBuilder node) { return file_.add(std::move(node)); }
  // Adds the last node: its outputs, from the first on, are the IR node's.
  void finish(NodeBuilder node);

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(node_.label(), " cannot be written as TensorFlow: ", parts...);
  }

 private:
  File& file_;
  const Node& node_;
  const char* const as_;
  bool named_ = false;
};

// Attributes of the first Placeholder that begin so hold text about the model: TensorFlow leaves names that begin with _ alone.
inline constexpr const char* kMetadataPrefix = "_metadata.";

// One row per IR operator that can be written, from exports.def.
struct ExportRow {
  const char* domain;
  const char* op;
  void (*write)(Export&);
  const char* as;
};
const std::vector<ExportRow>& export_rows();

// The nodes of a graph, whose inputs are Placeholders and whose outputs nodes of their names; `outputs` gets their edges.
void write_graph(const Graph& graph, File& file, std::vector<Edge>* outputs);

}  // namespace dnn::tensorflow
