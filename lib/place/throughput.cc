// find_stream_routing(); see throughput.h.
#include "place/throughput.h"

#include <algorithm>
#include <chrono>

#include "base/affinity.h"
#include "base/counted.h"
#include "base/error.h"
#include "place/blocks.h"
#include "place/costs.h"
#include "place/measure.h"
#include "place/pipeline.h"
#include "place/timeline.h"

namespace dnn::place {
namespace {

constexpr size_t kQueued = 2;        // lanes of the slowest device: one inference runs there, the next one waits
constexpr int64_t kLeastRuns = 12;   // of a turn
constexpr int64_t kRunsPerLane = 6;  // of a turn

std::string labels_of(const std::vector<Part>& parts) {
  std::vector<std::string> labels;
  for (const Part& part : parts) labels.push_back(part.label());
  return join(labels);
}

// A way that is measured: its session, and a time for each turn.
struct Measurement {
  std::unique_ptr<ParallelSession> session;
  std::vector<double> us;
};

// Microseconds for each of `runs` inferences, from the end of the first one on, so that filling the lanes does not count.
double time_stream(ParallelSession& session, const std::vector<Tensor>& inputs, int64_t runs) {
  using Clock = std::chrono::steady_clock;
  const PinnedThread pinned(session.callers_processors());
  Clock::time_point first, last;
  int64_t begun = 0;
  for (int64_t done = 0; done < runs; ++done) {
    while (begun < runs && begun - done < static_cast<int64_t>(session.most_in_flight())) {
      session.submit(inputs);
      ++begun;
    }
    session.collect();
    last = Clock::now();
    if (done == 0) first = last;
  }
  return std::chrono::duration<double, std::micro>(last - first).count() / static_cast<double>(runs - 1);
}

class StreamSearch {
 public:
  StreamSearch(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options)
      : graph_(graph), parts_(parts), options_(options), inputs_(inputs_for(graph)) {}

  FoundStream find(int64_t runs) {
    name_singles();
    if (parts_.size() > 1) name_shared();
    measure(runs);
    return std::move(found_);
  }

 private:
  std::vector<size_t> all_on(size_t part) const { return std::vector<size_t>(graph_.node_slots(), part); }

  void name_singles() {
    std::vector<Part> all = parts_;
    const std::vector<Part> joined = joined_parts(parts_);
    all.insert(all.end(), joined.begin(), joined.end());
    for (const Part& part : all) found_.singles.push_back({part.label() + " alone", {part}, {{all_on(0)}, {}}});
  }

  void name_shared() {
    const AloneSessions alone = open_each_alone(numbered(graph_), parts_, options_);
    const Measured measured = measure_costs(graph_, parts_, alone.sessions, options_);
    const std::vector<Block> blocks = find_blocks(graph_);
    std::vector<double> busy_us;
    for (size_t p = 0; p < parts_.size(); ++p) busy_us.push_back(measured.devices[p].whole_us * measured.contention[p]);
    add_dealt(busy_us);
    const Stages stages = search_stages(cost_of(blocks, measured), measured.contention);
    if (stages.devices.empty()) return;
    std::vector<Part> in_order;
    for (size_t d : stages.devices) in_order.push_back(parts_[d]);
    StreamWay way{
        cat("in stages on ", labels_of(in_order)), parts_, {{places_of(graph_, blocks, stages)}, {}}, stages.us};
    way.routing.lanes.assign(stages.devices.size() + 1, 0);
    found_.shared.push_back(std::move(way));
  }

  void add_dealt(const std::vector<double>& busy_us) {
    const std::vector<size_t> devices = deal(busy_us, kQueued);
    StreamWay way{"", parts_, {}, dealt_us(devices, busy_us)};
    std::vector<Part> used;
    std::vector<size_t> number(parts_.size(), parts_.size());  // of a part's way: the first lane's is 0
    for (size_t d : devices) {
      if (number[d] == parts_.size()) {
        number[d] = way.routing.ways.size();
        way.routing.ways.push_back(all_on(d));
        used.push_back(parts_[d]);
      }
      way.routing.lanes.push_back(number[d]);
    }
    if (used.size() < 2) return;  // the others are too slow to be given any
    way.name = cat("each whole on one of ", labels_of(used));
    found_.shared.push_back(std::move(way));
  }

  std::unique_ptr<ParallelSession> open(const StreamWay& way) {
    return open_routing(graph_, way.parts, way.routing, options_);
  }

  // In turns, so that a disturbance meets all alike. The first runs of a turn bring weights back into the caches.
  void measure(int64_t runs) {
    std::vector<StreamWay*> ways;
    for (StreamWay& way : found_.singles) ways.push_back(&way);
    for (StreamWay& way : found_.shared) ways.push_back(&way);
    std::vector<Measurement> measurements(ways.size());
    for (size_t w = 0; w < ways.size(); ++w) measurements[w].session = open(*ways[w]);
    for (int turn = 0; turn < kTurns; ++turn) {
      for (Measurement& m : measurements) {
        const auto lanes = static_cast<int64_t>(m.session->most_in_flight());
        time_stream(*m.session, inputs_, lanes + 1);
        m.us.push_back(time_stream(*m.session, inputs_, std::max({kLeastRuns, runs / kTurns, kRunsPerLane * lanes})));
      }
    }
    for (size_t w = 0; w < ways.size(); ++w) ways[w]->us = latency_of(measurements[w].us).median;
    compare();
  }

  void compare() {
    double rate = 0;
    for (size_t p = 0; p < parts_.size(); ++p) rate += 1 / found_.singles[p].us;
    found_.bound_us = 1 / rate;
    const auto fastest = [](const std::vector<StreamWay>& ways) -> size_t {
      return std::min_element(ways.begin(), ways.end(),
                              [](const StreamWay& a, const StreamWay& b) { return a.us < b.us; }) -
             ways.begin();
    };
    found_.best_single = fastest(found_.singles);
    if (found_.shared.empty()) return;
    found_.best_shared = fastest(found_.shared);
    found_.worth_it = found_.singles[found_.best_single].us >= kWorthIt * found_.shared[found_.best_shared].us;
  }

  const Graph& graph_;
  const std::vector<Part>& parts_;
  const CompileOptions& options_;
  const std::vector<Tensor> inputs_;
  FoundStream found_;
};

std::string rate_of(double us) { return cat(formatted("%.1f", us > 0 ? 1e6 / us : 0), " a second"); }

}  // namespace

FoundStream find_stream_routing(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options,
                                int64_t runs) {
  return StreamSearch(graph, parts, options).find(runs);
}

std::string found_text(const FoundStream& found) {
  std::string text;
  const StreamWay& best = found.singles[found.best_single];
  for (const StreamWay& way : found.singles) text += cat(way.name, ": ", rate_of(way.us), "\n");
  text += cat("bound sum(1/t): ", rate_of(found.bound_us), "\n");
  for (const StreamWay& way : found.shared) {
    text += cat(way.name, ", ", counted(way.routing.lanes.size(), "run"), " at once: ", rate_of(way.us), " (predicted ",
                formatted("%.1f", 1e6 / way.predicted_us), "), ", formatted("%.2f", best.us / way.us),
                " times the best single device\n");
  }
  text += found.worth_it ? cat("chosen: ", found.chosen().name, "\n")
                         : cat("not worth it: all runs on ", best.parts.front().label(), "\n");
  return text;
}

}  // namespace dnn::place
