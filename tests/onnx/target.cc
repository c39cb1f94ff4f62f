// The devices that conformance cases run on; see target.h.
#include "onnx/target.h"

#include "base/error.h"
#include "interp/interpreter.h"

namespace dnn::conformance {
namespace {

class Reference : public Target {
 public:
  void load(const std::vector<const Graph*>& graphs) override { graphs_ = graphs; }
  std::vector<Tensor> run(size_t graph_i, const std::vector<Tensor>& inputs) override {
    return interpret(*graphs_[graph_i], inputs);
  }

 private:
  std::vector<const Graph*> graphs_;
};

}  // namespace

std::unique_ptr<Target> open_loops();

std::unique_ptr<Target> open_target(const std::string& device) {
  if (device == "reference") return std::make_unique<Reference>();
  if (device == "loops") return open_loops();
  fail_usage("no device ", quoted(device), " here; there are: reference, loops");
}

}  // namespace dnn::conformance
