// Ways to run a network, timed in turns; see measure.h.
#include "place/measure.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <span>
#include <thread>

#include "base/affinity.h"

namespace dnn::place {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Runs are alike where hardly any takes so much longer than the fastest.
constexpr double kAlike = 1.25;
// Where they are not, each sample is an average over ten scheduler ticks at 250 Hz.
constexpr int kSamples = 7;
constexpr double kSampleUs = 40e3;

}  // namespace

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
  const PinnedThread pinned(way.processors);
  const Clock::time_point start = Clock::now();
  way.outputs = way.run();
  if (timed) way.us.push_back(us_since(start));
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

TypicalTime typical_time(const Way& way, int64_t warmup, int64_t runs) {
  const PinnedThread pinned(way.processors);
  for (int64_t i = 0; i < warmup; ++i) way.run();
  std::vector<double> us;
  for (int64_t i = 0; i < runs; ++i) {
    const Clock::time_point start = Clock::now();
    way.run();
    us.push_back(us_since(start));
  }
  const Latency single = latency_of(std::move(us));
  if (single.p95 <= kAlike * single.min) return {single.median, true};
  std::vector<double> averages;
  for (int i = 0; i < kSamples; ++i) {
    const Clock::time_point start = Clock::now();
    double sum = 0;
    int64_t count = 0;
    for (; sum < kSampleUs; ++count) {
      way.run();
      sum = us_since(start);
    }
    averages.push_back(sum / static_cast<double>(count));
  }
  return {latency_of(std::move(averages)).median, false};
}

double line_round_trip_ns(int one, int other) {
  constexpr int kBatches = 5, kTrips = 100;
  alignas(64) std::atomic<int> ball{0};  // odd: on its way to the other processor
  const auto wait_for = [&](int value) {
    while (ball.load(std::memory_order_acquire) != value) {
    }
  };
  const PinnedThread here(std::span<const int>(&one, 1));
  std::thread partner;
  {
    const PinnedThread there(std::span<const int>(&other, 1));  // where what it starts stays
    partner = std::thread([&] {
      for (int trip = 0; trip < kBatches * kTrips; ++trip) {
        wait_for(2 * trip + 1);
        ball.store(2 * trip + 2, std::memory_order_release);
      }
    });
  }
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kBatches; ++i) {
    const Clock::time_point start = Clock::now();
    for (int trip = i * kTrips; trip < (i + 1) * kTrips; ++trip) {
      ball.store(2 * trip + 1, std::memory_order_release);
      wait_for(2 * trip + 2);
    }
    best = std::min(best, us_since(start) * 1e3 / kTrips);
  }
  partner.join();
  return best;
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
