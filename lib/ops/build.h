// GraphBuilder: the one way to wire nodes. It adds a node by operator, inputs and attributes, names its values uniquely, and
// infers their types at once, so that the next node can ask for them. NewGraph builds a graph; a PatchSink lets the same
// calls build a rewrite, and a reader's draft (formats/draft.h) an import.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/names.h"
#include "graph/patch.h"

namespace dnn {

// Where a builder puts what it makes.
class GraphSink {
 public:
  virtual ~GraphSink() = default;
  // A value called `wanted`, or like it where that is taken.
  virtual ValueId add_value(const std::string& wanted) = 0;
  virtual ValueId add_constant(const std::string& wanted, Tensor tensor) = 0;
  virtual void add_node(Node node) = 0;
  virtual const Value& value(ValueId id) const = 0;
  virtual void set_type(ValueId id, Type type) = 0;
  // False: types stay unknown until the sink itself infers them.
  virtual bool infers() const { return true; }
};

class GraphBuilder {
 public:
  // `name`: nodes get it, values names made from it. Empty: they are called after the operator.
  GraphBuilder(GraphSink& sink, std::string name) : sink_(sink), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // A new node of one output. Malformed or Unsupported where it contradicts its operator's schema or inputs' types.
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {});
  std::vector<ValueId> emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                 size_t outputs);
  // Any node. Its outputs are `node.outputs` where there are any, else new values called `outputs`; "" leaves one out.
  std::vector<ValueId> add(Node node, const std::vector<std::string>& outputs);

  ValueId list(const std::vector<int64_t>& values);       // a constant int64[n]
  ValueId number(float value);                            // a constant float32 scalar
  ValueId number(double value, DType dtype);              // the same of another type
  ValueId store(const std::string& what, Tensor tensor);  // a constant called NAME/what
  ValueId transpose(ValueId v, const std::vector<int64_t>& perm);
  ValueId to_dtype(ValueId v, DType dtype);

  const Type& type(ValueId v) const { return sink_.value(v).type; }
  DType dtype(ValueId v) const { return type(v).dtype; }
  Shape shape(ValueId v) const { return type(v).fixed_shape(); }  // Unsupported unless every extent is fixed
  // The value where it is a constant or follows from types (the limit of infer_types() holds), else null.
  const Tensor* known(ValueId v) const;

 private:
  void infer(const Node& node);

  GraphSink& sink_;
  std::string name_;
  std::map<ValueId, Tensor> known_;
};

// A graph under construction.
class NewGraph : private GraphSink, public GraphBuilder {
 public:
  NewGraph() : GraphBuilder(static_cast<GraphSink&>(*this), "") {}
  // Goes on at the end of a graph; its types are inferred first.
  explicit NewGraph(Graph graph);
  NewGraph(const NewGraph&) = delete;
  NewGraph& operator=(const NewGraph&) = delete;

  ValueId input(const std::string& name, Type type);
  // A graph output. The value gets `name` where one is given; an input, a constant and an output go through an Identity then.
  void output(ValueId v, const std::string& name = "");
  // Calls the value `wanted`, or like it where that is taken.
  void rename(ValueId v, const std::string& wanted);
  const Graph& graph() const { return graph_; }
  Graph& graph() { return graph_; }
  // Verified; without nodes that nothing reads. The builder is empty afterwards.
  Graph finish();

 private:
  ValueId add_value(const std::string& wanted) override;
  ValueId add_constant(const std::string& wanted, Tensor tensor) override;
  void add_node(Node node) override { graph_.add_node(std::move(node)); }
  const Value& value(ValueId id) const override { return graph_.value(id); }
  void set_type(ValueId id, Type type) override { graph_.value(id).type = std::move(type); }

  Graph graph_;
  UniqueNames names_;
};

// A patch of `graph` as a builder's target; both outlive it.
class PatchSink : public GraphSink {
 public:
  PatchSink(const Graph& graph, Patch& patch) : graph_(graph), patch_(patch) {}
  ValueId add_value(const std::string& wanted) override { return patch_.add_value(wanted, {}); }
  ValueId add_constant(const std::string& wanted, Tensor tensor) override {
    return patch_.add_constant(wanted, std::move(tensor));
  }
  void add_node(Node node) override { patch_.add_node(std::move(node)); }
  const Value& value(ValueId id) const override { return patch_.owns(id) ? patch_.own_value(id) : graph_.value(id); }
  // What an existing value is, the graph knows.
  void set_type(ValueId id, Type type) override {
    if (patch_.owns(id)) patch_.own_value(id).type = std::move(type);
  }

 private:
  const Graph& graph_;
  Patch& patch_;
};

}  // namespace dnn
