// Computing features; see features.h.
#include "train/features.h"

#include <cstring>
#include <mutex>

#include "devices/device.h"

namespace dnn::train {

Tensor compute_features(const Graph& graph, int64_t count, const std::function<Tensor(int64_t i)>& load,
                        ThreadPool& pool, const CompileOptions& compile) {
  const auto package = std::make_shared<const Package>(dnn::compile(graph, compile));
  const int64_t width = package->output_types[0].fixed_shape()[1];
  Tensor features(DType::Float32, {count, width});
  float* out = features.mutable_data<float>();
  std::mutex mutex;
  std::vector<std::unique_ptr<Session>> idle;
  share_out(pool, count, [&](int64_t i) {
    std::unique_ptr<Session> session;
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        session = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (session == nullptr) session = open_session("cpu", package, {.threads = 1, .isa = {}});
    const std::vector<Tensor> made = session->run({load(i)});
    std::memcpy(out + i * width, made[0].data<float>(), made[0].size_bytes());
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(session));
  });
  return features;
}

}  // namespace dnn::train
