// The reference device: the interpreter, in the model's own dtypes; reference:f64 runs a package widened to float64.
#include <algorithm>

#include "base/threads.h"
#include "devices/device.h"

namespace dnn {
namespace {

class ReferenceSession : public Session {
 public:
  ReferenceSession(std::shared_ptr<const Package> package, const DeviceOptions& options)
      : Session(std::move(package)), processors_(options.processors), pool_(options.threads, processors_) {}
  std::string isa() const override { return "reference"; }
  int threads() const override { return pool_.size(); }
  std::vector<int> pinned_to() const override { return processors_; }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    const TensorBudget budget = run_budget(inputs);
    return trace(inputs, {});
  }
  std::vector<Tensor> trace(const std::vector<Tensor>& given, const Observer& observe) override {
    const std::vector<Tensor> inputs = with_state(given);
    std::vector<Tensor> outputs = interpret(*variant_->graph, inputs, observe, {}, &pool_);
    keep_state(inputs, outputs);
    return outputs;
  }
  // What follows runs again from the inputs, less what is computed for the other values alone.
  std::vector<Tensor> fork(const std::vector<Tensor>& held, const Fork& observe) override {
    const std::vector<Tensor> inputs = with_state(held);
    const Resume resume = [&](const Instead& instead) {
      Graph rest = *variant_->graph;
      std::vector<Tensor> given = inputs;
      for (const auto& [id, tensor] : instead) {
        for (NodeId node : rest.order()) {
          for (ValueId& made : rest.node(node).outputs) {
            if (made == id) made = rest.add_value(rest.unused_value_name(rest.value(id).name));
          }
        }
        const auto input = std::find(rest.inputs.begin(), rest.inputs.end(), id);
        if (input != rest.inputs.end()) {
          given[input - rest.inputs.begin()] = tensor;
        } else {
          rest.inputs.push_back(id);
          given.push_back(tensor);
        }
      }
      remove_dead_nodes(rest);
      return interpret(rest, given, {}, {}, &pool_);
    };
    return trace(inputs, [&](const Graph& graph, ValueId id, const Tensor& value) {
      if (&graph == variant_->graph.get()) observe(id, value, resume);
    });
  }

 private:
  const std::vector<int> processors_;
  ThreadPool pool_;
};

}  // namespace

std::unique_ptr<Session> reference_open(std::shared_ptr<const Package> package, const std::string&,
                                        const DeviceOptions& options) {
  return std::make_unique<ReferenceSession>(std::move(package), options);
}

std::vector<std::string> reference_list(const DeviceOptions&) {
  return {"reference\tthe interpreter (float32; reference:f64 in float64)"};
}

}  // namespace dnn
