// Usage of the other machine that a run is on, whose dnn-serve measures it.
#pragma once
#include <chrono>
#include <memory>

#include "devices/remote.h"
#include "usage/source.h"

namespace dnn {

class RemoteUsage : public usage::Source {
 public:
  // Records are taken over there every so many milliseconds. What was measured goes with the connection, so that a run that
  // is measured ends with it. Throws what the server refuses.
  RemoteUsage(std::shared_ptr<RemoteHost> host, int interval_ms);

  void start() override;
  void stop() override;
  // Fetches them once in a while: each time costs a round trip.
  std::vector<stream::Usage> take() override;
  Cost cost() const override { return cost_; }
  std::string energy_text() const override { return energy_; }
  std::string gpus_text() const override { return gpus_; }

 private:
  using Clock = std::chrono::steady_clock;
  const std::shared_ptr<RemoteHost> host_;
  std::string energy_, gpus_;
  Cost cost_;
  Clock::time_point fetched_;
  bool runs_ = false, ended_ = false;
};

// Usage of the machine that a session is on, a record each so many milliseconds: of `host`, or of this machine where that is null.
std::unique_ptr<usage::Source> usage_of(const Session& session, std::shared_ptr<RemoteHost> host, int interval_ms);

}  // namespace dnn
