// Making placed packages (package/placed.h), and opening them as one session.
#pragma once
#include <memory>
#include <vector>

#include "package/placed.h"
#include "place/executor.h"
#include "place/open.h"

namespace dnn::place {

// The graph that plans cut: types inferred, arithmetic on shapes computed, so that no part waits for it, and nodes left out that nothing
// reads. Throws Unsupported where a shape stays open.
Graph ready_to_place(const Graph& graph);

// The package of `ready`, of which `source` was made. `keep_source`: each segment keeps its model's weights, too. Throws as open_parallel()
// does.
Package make_placed(const Graph& source, const Graph& ready, const std::vector<Part>& parts, const Routing& routing,
                    const CompileOptions& options, bool keep_source = false);

// The plan of one way in a placed package; its segments have no graphs.
Plan plan_of(const Package& package, size_t way = 0);

// In one line: its segments, their devices, and what is copied between these.
std::string placed_line(const Package& package);

struct PlacedOptions {
  DeviceOptions connection;  // for parts on other machines, as for dnn-infer
  size_t in_flight = 1;      // inferences on their way at once; 0: as many as the package has lanes for
};

// A placed package as a session: it runs as one on any device does, and its bits are those of its segments, each alone on its device.
class PlacedSession : public Session {
 public:
  // Opens all parts. Throws as open_session() does, with the part and the segment in front; Usage for more inferences at once than a package
  // of several ways has lanes for.
  PlacedSession(std::shared_ptr<const Package> package, const PlacedOptions& options);

  std::string isa() const override;
  int threads() const override;
  std::vector<int> pinned_to() const override;
  std::map<std::string, std::string> facts() const override;
  bool is_emulated() const override;
  std::string latency_contains() const override;
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override;
  size_t most_in_flight() const override { return in_flight_; }
  void submit(const std::vector<Tensor>& inputs) override;
  std::vector<Tensor> collect() override;
  // With several on their way: from submit() to the last output.
  std::optional<int64_t> latency_ns() const override;
  // Segment by segment, with the values that each of them shows.
  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) override;
  // While on, run() keeps when segments ran.
  void enable_profile(bool on) override { profiling_ = on; }

  const ParallelSession& parallel() const { return *parallel_; }
  // The times of each run of the first way while the profile was on, by segment.
  const std::vector<std::vector<SegmentTime>>& runs() const { return runs_; }
  // "C=cpu@0,D=cpu@1": what a header calls the device.
  std::string device() const;

 private:
  // The first lane of each way.
  std::vector<const Lane*> first_lanes() const;

  std::unique_ptr<ParallelSession> parallel_;
  size_t in_flight_ = 1;
  bool profiling_ = false;
  std::vector<std::vector<SegmentTime>> runs_;
};

// The session of a package on its parts where it is placed, else on `device`, which is connected by the options. Throws as open_session()
// does.
std::unique_ptr<Session> open_where_placed(DeviceSpec* device, std::shared_ptr<const Package> package,
                                           const DeviceOptions& options, size_t in_flight = 1);

}  // namespace dnn::place
