// The reference device: the interpreter, in the model's own dtypes; reference:f64 runs a package widened to float64.
#include "devices/device.h"

namespace dnn {
namespace {

class ReferenceSession : public Session {
 public:
  explicit ReferenceSession(std::shared_ptr<const Package> package) : Session(std::move(package)) {}
  std::string isa() const override { return "reference"; }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override { return interpret(package_->graph, inputs); }
  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) override {
    return interpret(package_->graph, inputs, observe);
  }
};

}  // namespace

std::unique_ptr<Session> reference_open(std::shared_ptr<const Package> package, const std::string&,
                                        const DeviceOptions&) {
  return std::make_unique<ReferenceSession>(std::move(package));
}

std::vector<std::string> reference_list(const DeviceOptions&) {
  return {"reference\tthe interpreter (float32; reference:f64 in float64)"};
}

}  // namespace dnn
