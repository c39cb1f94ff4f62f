// The devices that conformance cases run on; see target.h.
#include "onnx/target.h"

#include "base/error.h"
#include "interp/interpreter.h"

namespace dnn::conformance {
namespace {

class Reference : public Target {
 public:
  void load(const std::vector<Job>& jobs) override { jobs_ = &jobs; }
  std::vector<Tensor> run(size_t job_i, const std::vector<Tensor>& inputs) override {
    return interpret(*(*jobs_)[job_i].graph, inputs);
  }

 private:
  const std::vector<Job>* jobs_ = nullptr;
};

}  // namespace

std::unique_ptr<Target> open_loops();
std::unique_ptr<Target> open_cpu(int opt);

std::unique_ptr<Target> open_target(const std::string& device) {
  if (device == "reference") return std::make_unique<Reference>();
  if (device == "loops") return open_loops();
  for (int opt = 0; opt <= 4; ++opt) {
    if (device == cat("cpu-O", opt)) return open_cpu(opt);
  }
  fail_usage("no device ", quoted(device), " here; there are: reference, loops, cpu-O0 to cpu-O4");
}

}  // namespace dnn::conformance
