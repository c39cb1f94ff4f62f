// Parts: some nodes of a model as a model of their own, given what the interpreter makes of its inputs in the whole.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace dnn {

struct Part {
  Graph
      graph;  // its inputs are what the nodes read and do not make; its outputs what none of them reads, and the model's
  std::vector<Tensor> inputs;
  std::vector<ValueId> input_ids, output_ids;  // in the model
};

class Parts {
 public:
  // Interprets the model, whose types get inferred. Throws what the interpreter throws.
  Parts(Graph model, const std::vector<Tensor>& inputs);

  const Graph& model() const { return model_; }
  // By ValueId; undefined: a constant, or nothing made it.
  const std::vector<Tensor>& values() const { return values_; }

  // These nodes, given `values`; nothing where one that they read is not known or is text, or where there are none. With `for_others`
  // what the model's other nodes read is an output, too.
  std::optional<Part> of(const std::vector<NodeId>& nodes, const std::vector<Tensor>& values, bool for_others) const;
  std::optional<Part> of(const std::vector<NodeId>& nodes) const { return of(nodes, values_, false); }

 private:
  Graph model_;
  std::vector<Tensor> values_;
};

}  // namespace dnn
