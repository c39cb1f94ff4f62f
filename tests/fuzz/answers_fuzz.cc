// Answers of a hostile dnn-serve to a client that lists its devices, uploads a package, traces and profiles it: whatever they are, the client
// says what is wrong, and takes no memory that no byte pays for.
#include <algorithm>

#include "base/transport.h"
#include "compile/compile.h"
#include "devices/remote.h"
#include "fuzz/fuzz.h"

namespace {

using namespace dnn;

constexpr const char* kAsked = R"(graph "net" {
 opset 17
 input x: float32[1,4]
 y: float32[1,4] = Relu(x) @relu
 z: float32[1,4] = Neg(y) @neg
 output z
}
)";

class Server : public Transport {
 public:
  explicit Server(Bytes says) : says_(says) {}
  void limit(double, const std::string&) override {}
  size_t read(std::byte* to, size_t n) override {
    n = std::min(n, says_.size());
    std::copy_n(says_.begin(), n, to);
    says_ = says_.subspan(n);
    return n;
  }
  void write(Bytes) override {}
  std::string ending() override { return "ended"; }

 private:
  Bytes says_;
};

const std::shared_ptr<const Package>& asked_package() {
  static const std::shared_ptr<const Package> made = [] {
    CompileOptions options;
    options.device = "reference";
    options.opt = 0;
    return std::make_shared<const Package>(compile(parse_graph(kAsked), options));
  }();
  return made;
}

}  // namespace

DNN_FUZZ(answers) {
  const auto is_device = [](const std::string&) { return true; };
  std::string device;
  const remote::Address address = *remote::parse_address("unix:fuzz/reference", is_device, &device);
  try {
    auto host = std::make_shared<RemoteHost>(address, device, DeviceOptions(),
                                             [&] { return std::make_unique<Server>(dnn::fuzz::as_input(data, size)); });
    host->stay();
    host->list();
    const auto session = open_remote(host, device, asked_package(), {});
    session->enable_profile(true);
    const std::vector<Tensor> inputs = {Tensor(DType::Float32, {1, 4})};
    session->trace(inputs, [](const Graph& graph, ValueId id, const Tensor&) { graph.value(id); });
    session->run(inputs);
    session->profile();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal && std::string_view(error.what()).find("unix:fuzz: ") != 0) throw;
  }
  return 0;
}
