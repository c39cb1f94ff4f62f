// Walking a GraphDef from its outputs back: constants, variables, calls of functions (inlined) and switches are followed here,
// every other node goes to its row of ops.def.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/tensorflow/import.h"

namespace dnn::tensorflow {

struct Variable {
  std::string name;
  std::string key;           // in the bundle
  ValueId value = kNoValue;  // once it is read
};

// What a model has beside its graph.
struct Surroundings {
  std::map<std::string, ValueId> inputs;  // by Placeholder
  std::vector<Variable> variables;
  std::map<std::string, int> variable_of;  // by the node that is the handle or the variable itself
  std::map<std::string, std::vector<int>>
      captured;  // by function: variables that its last arguments are; -1: the argument
  std::function<Tensor(const std::string& key)> load;
};

// A graph or the body of a function, by name.
class Body {
 public:
  Body(google::protobuf::RepeatedPtrField<NodeDef>* nodes, bool function);

  // "node:k" or "node:output:k" taken apart.
  struct Ref {
    int node = -1;  // -1: there is none of that name, an argument perhaps
    std::string name, output;
    int64_t index = 0;
  };
  Ref parse(const std::string& text) const;
  NodeDef& node(int i) const { return *nodes_->Mutable(i); }
  bool is_function() const { return function_; }

 private:
  google::protobuf::RepeatedPtrField<NodeDef>* nodes_;
  bool function_;
  std::map<std::string, int> index_;
};

class Walk {
 public:
  Walk(Source& source, Surroundings& around, GraphDef& graph);

  const Body& graph() const { return graph_; }
  // What flows out of the graph's nodes; all outputs of a node where the text names none.
  std::vector<Item> evaluate(const std::vector<std::string>& refs);
  std::vector<Item> all_outputs(const std::string& node);

 private:
  struct Result {
    std::vector<Item> outputs;
    Item otherwise;  // dead or with a reason: all outputs are that
  };
  struct Scope {
    const Body& body;
    std::map<std::string, Item> arguments;
    std::map<int, Result> results;
    int depth = 0;
  };

  std::vector<Item> evaluate(Scope& scope, const std::vector<std::string>& refs);
  void settle(Scope& scope, int node);
  Item item(Scope& scope, const std::string& ref);
  Result import(Scope& scope, NodeDef& node);
  Result imported(Scope& scope, NodeDef& node, std::vector<Item> inputs);
  bool structural(Scope& scope, NodeDef& node, const NodeFields& fields, std::vector<Item>& inputs, Result* result);
  bool choice(const Item& item) const;
  std::optional<Item> placeholder(const Scope& scope, const NodeDef& node, const NodeFields& fields) const;
  Item variable(const NodeDef& node);
  Result switched(const std::vector<Item>& inputs) const;
  Result with_controls(Scope& scope, const NodeDef& node, Result result);
  void check_run(const Body& body, std::vector<int> nodes);
  void check_effect(const NodeDef& node) const;
  void check_function(const std::string& name, const Scope* scope);
  Result call(Scope& scope, const std::string& function, std::vector<Item> inputs);
  Item constant(NodeDef& node);
  Item read_variable(const Item& handle);
  int64_t output_base(const NodeDef& node, const std::string& output) const;

  Source& source_;
  Surroundings& around_;
  Body graph_;
  Scope top_;
  std::map<std::string, FunctionDef*> functions_;
  std::map<std::string, Body> bodies_;
  std::map<const NodeDef*, ValueId> constants_;
  std::map<const Body*, std::set<int>> run_;     // nodes that check_run() has seen
  std::map<const Body*, std::string> refusals_;  // why a node that one waits for may not run
  std::map<std::string, std::string> checked_;   // functions: why one may not run, or ""
  int64_t budget_;
};

}  // namespace dnn::tensorflow
