// The devices that conformance cases run on; see target.h.
#include "onnx/target.h"

#include "base/error.h"
#include "base/text.h"
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
std::unique_ptr<Target> open_compiled(const std::string& device, int opt);

std::unique_ptr<Target> open_target(const std::string& device) {
  if (device == "reference") return std::make_unique<Reference>();
  if (device == "loops") return open_loops();
  for (int opt = 0; opt <= 4; ++opt) {
    for (const char* kind : {"cpu", "opencl", "cuda"}) {
      if (device == cat(kind, "-O", opt)) return open_compiled(kind, opt);
    }
    if (starts_with(device, "unix:") && device.ends_with(cat("-O", opt)))
      return open_compiled(device.substr(0, device.size() - 3), opt);
  }
  fail_usage("no device ", quoted(device),
             "; there are: reference, loops, cpu-O0 to cpu-O4, opencl-O0 to opencl-O4, cuda-O0 to "
             "cuda-O4, unix:PATH-O0 to unix:PATH-O4");
}

}  // namespace dnn::conformance
