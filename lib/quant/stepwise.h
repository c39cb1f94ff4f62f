// Stepwise: a float32 network run layer by layer, so that a number changed on the way costs only what follows from it.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "devices/device.h"
#include "quant/quantize.h"

namespace dnn::quant {

// Other weights, and a bias, that may stand in for a layer's.
struct Alternative {
  Tensor weights;
  std::optional<Tensor> bias;  // none: the layer's own
};
// By index into Plan::weights.
using Alternatives = std::map<size_t, Alternative>;
// Rounded weights as the integers stand for them, with corrected biases.
Alternatives alternatives_of(const Rounding& rounding);

class Stepwise {
 public:
  using Values = std::vector<Tensor>;  // by ValueId; undefined where no step makes it

  // `graph` has every extent fixed and its types inferred, and must outlive the object. Each layer is one step, each other node too.
  // Of the alternatives nothing is kept that they hold.
  Stepwise(const Graph& graph, const std::vector<Layer>& layers, const Alternatives& alternatives,
           const CalibrateOptions& options);

  // The steps' code for one thread.
  class Worker {
   public:
    // All values that pass between steps.
    Values run(const std::vector<Tensor>& inputs);
    // The network's outputs where `value` is `instead` and all else is as in `base`.
    std::vector<Tensor> rerun(const Values& base, ValueId value, const Tensor& instead);
    // The result of layer `layer` on its inputs in `base`, with its alternative weights, which it must have.
    Tensor with_alternative(const Values& base, size_t layer);

   private:
    friend class Stepwise;
    const Stepwise* of_ = nullptr;
    std::vector<std::unique_ptr<Session>> steps_, others_;
  };
  Worker worker() const;

 private:
  struct Step {
    std::vector<ValueId> inputs, outputs;
    std::shared_ptr<const Package> package, other;  // other: null for a step without alternative weights
  };
  const Tensor* constant(ValueId v) const;
  Step step_of(const std::vector<NodeId>& nodes, const Uses& uses) const;
  Graph cut_out(const std::vector<NodeId>& nodes, const Step& step) const;

  const Graph& graph_;
  std::map<ValueId, Tensor> computed_;  // values that nodes make of constants alone
  std::vector<Step> steps_;             // in the graph's order
  std::vector<size_t> step_of_layer_;
};

}  // namespace dnn::quant
