// Answers of an adapter, or of a user's program, to a run: hostile bytes in place of its stream. Only Malformed, Unsupported and
// Environment (it ended) may escape, and an output that is taken has the model's type.
#include <filesystem>

#include "base/file.h"
#include "devices/device.h"
#include "fuzz/fuzz.h"
#include "package/package.h"

namespace {

using namespace dnn;

const char* const kServed = R"(graph "net" {
  opset 17
  input x: float32[1,3]
  y: float32[1,3] = Add(x, x) @sum
  output y
})";

std::shared_ptr<const Package> served_package() {
  static const auto the_package = std::make_shared<const Package>(interpreted_package(parse_graph(kServed)));
  return the_package;
}

}  // namespace

DNN_FUZZ(dialogue) {
  static const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  const std::string said = folder.path() + "/said";
  write_file(said, {reinterpret_cast<const char*>(data), size});
  DeviceOptions options;
  options.model_file = "model";
  return fuzz::refuse_or_accept([&] {
    try {
      const auto session = open_session("exec:cat " + said, served_package(), options);
      for (int i = 0; i < 2; ++i) {
        const std::vector<Tensor> outputs = session->run({Tensor::of<float>({1, 3}, {1, 2, 3})});
        if (outputs.size() != 1 || outputs[0].shape() != Shape{1, 3} || outputs[0].dtype() != DType::Float32)
          __builtin_trap();
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Environment) throw;
    }
  });
}
