// Types and small values of a graph while a reader builds it.
#pragma once
#include <memory>

#include "graph/graph.h"

namespace dnn {

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
