// Types and small values of a graph while a reader builds it.
#pragma once
#include <memory>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// What is known of one node's outputs from its inputs.
struct InferredNode {
  std::vector<Type> types;
  std::vector<Tensor> known;  // undefined: not known
};
// `inputs` (null: left out) are the types, `known` the values where they are known. Throws Malformed where the node
// contradicts its operator or its inputs, Unsupported for attributes that it cannot have; an operator we do not have gives unknown types.
InferredNode infer_node(const Node& node, const std::vector<const Type*>& inputs,
                        const std::vector<const Tensor*>& known);

// infer_types() of a graph that grows at its end.
class TypeInference {
 public:
  explicit TypeInference(Graph& graph);
  ~TypeInference();
  TypeInference(const TypeInference&) = delete;
  TypeInference& operator=(const TypeInference&) = delete;
  // Visits the nodes that were added since the last call.
  void update();
  // The value that came to be known of it, or null; a constant's too.
  const Tensor* known(ValueId id) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dnn
