// The meanings of names in an ONNX model while it is read: values of a graph, of those around it, of a function body.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <schemas/onnx.pb.h>

#include "formats/onnx/attribute_proto.h"
#include "graph/graph.h"

namespace dnn::onnx {

// A graph while it is read: its names, and the opset that each node is written in.
struct Draft {
  Graph graph;
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, ValueId> captured;  // by the name in the enclosing graph
  std::vector<int> opsets;                            // by NodeId

  std::string unused_name(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 1; !names.insert(name).second; ++n) name = cat(wanted, "_", n);
    return name;
  }
};

// The meanings of names at one place: a graph's own, or a function body's, which lives in its caller's graph.
struct Scope {
  Draft& draft;
  Scope* parent = nullptr;  // of the enclosing graph, for captures; null at the top and in functions
  int opset = 1;
  std::string prefix;                               // of the values and nodes of an inlined function
  std::string source;                               // the source node that calls the function
  const Arguments* arguments = nullptr;             // attributes that a function body may refer to
  std::unordered_map<std::string, ValueId> values;  // kNoValue: an optional argument that the call leaves out
};

// The value of that name in this scope, new if need be; a known type is kept.
ValueId declare(Scope& scope, const std::string& name, Type type);
// The value of that name here or in an enclosing graph, captured all the way down; nothing when there is none.
std::optional<ValueId> resolve(Scope& scope, const std::string& name);
// The same for an input of a node: kNoValue for an empty name. Malformed when there is none.
ValueId resolve_input(Scope& scope, const std::string& name);
// Makes a value of the graph a constant. Malformed for an input, and for one that is a constant already.
void set_constant(Graph& graph, ValueId id, Tensor tensor);
void add_node(Scope& scope, Node node);
// The attribute that a function's call gives under that name; null where it is left out and has no default.
const AttributeProto* find_argument(const std::string& name, const Scope& scope);

}  // namespace dnn::onnx
