// Ways to run a network, timed in turns; see measure.h.
#include "place/measure.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/affinity.h"

namespace dnn::place {

Latency latency_of(std::vector<double> us) {
  std::sort(us.begin(), us.end());
  const auto at = [&](double q) {
    const double place = q * static_cast<double>(us.size() - 1);
    const size_t low = place;
    const size_t high = std::min(low + 1, us.size() - 1);
    return us[low] + (us[high] - us[low]) * (place - static_cast<double>(low));
  };
  return {at(0.5), us.front(), at(0.95), std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size())};
}

void run_once(Way& way, bool timed) {
  using Clock = std::chrono::steady_clock;
  const PinnedThread pinned(way.processors);
  const Clock::time_point start = Clock::now();
  way.outputs = way.run();
  if (timed) way.us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
}

void run_in_turns(std::vector<Way>& ways, int64_t warmup, int64_t runs) {
  for (Way& way : ways) {
    for (int64_t i = 0; i < warmup; ++i) run_once(way, false);
  }
  const int64_t turns = std::min<int64_t>(kTurns, runs);
  for (int64_t turn = 0; turn < turns; ++turn) {
    for (Way& way : ways) {
      run_once(way, false);
      for (int64_t i = runs * turn / turns; i < runs * (turn + 1) / turns; ++i) run_once(way, true);
    }
  }
}

std::vector<Tensor> inputs_for(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (ValueId v : graph.inputs) {
    const Type& type = graph.value(v).type;
    Tensor pattern(DType::Float32, type.fixed_shape());
    const bool counts = !is_float(type.dtype);
    for (int64_t i = 0; i < pattern.size(); ++i) {
      const auto step = static_cast<float>(i % 23);
      pattern.mutable_data<float>()[i] = counts ? step : step / 11 - 1;
    }
    inputs.push_back(type.dtype == DType::Float32 ? std::move(pattern) : convert(pattern, type.dtype));
  }
  return inputs;
}

}  // namespace dnn::place
