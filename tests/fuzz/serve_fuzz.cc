// Messages of a hostile client to a dnn-serve without a key: whatever it is, it is answered or refused, and nothing but Malformed and
// Unsupported ends the connection.
#include <algorithm>

#include "base/file.h"
#include "base/transport.h"
#include "fuzz/fuzz.h"
#include "infer/served.h"
#include "serve/serve.h"

namespace {

class Client : public dnn::Transport {
 public:
  explicit Client(dnn::Bytes sent) : sent_(sent) {}
  void limit(double, const std::string&) override {}
  size_t read(std::byte* to, size_t n) override {
    n = std::min(n, sent_.size());
    std::copy_n(sent_.begin(), n, to);
    sent_ = sent_.subspan(n);
    return n;
  }
  void write(dnn::Bytes) override {}
  std::string ending() override { return "ended"; }

 private:
  dnn::Bytes sent_;
};

}  // namespace

DNN_FUZZ(serve) {
  static const dnn::TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  dnn::serve::Options options;
  options.store = folder.path() + "/store";
  options.open = [](const std::string& path, const dnn::DeviceSpec& device, const std::string& isa, bool trusted) {
    return dnn::open_for_client(path, device, isa, trusted, {});
  };
  options.limits.store_bytes = 1 << 20;
  options.limits.upload_bytes = 1 << 20;
  Client client({reinterpret_cast<const std::byte*>(data), size});
  return dnn::fuzz::refuse_or_accept([&] { dnn::serve::serve_client(client, "fuzz", false, options); });
}
