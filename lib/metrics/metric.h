// Metrics: values that are stated of one run, of one run against another, or of all runs of a report. Each lives in one file and has its rows
// in metrics.def: fed observations one by one, it states its values at the end. A value that is not defined (no truth,
// no outputs) is left out, never stated as 0.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/ranking.h"
#include "metrics/shelf.h"
#include "stream/records.h"

namespace dnn::metrics {

enum class Scope : uint8_t { Run, Pair, Report };
enum class Better : uint8_t { Higher, Lower, Neither };

struct Row {
  std::string_view key;
  Scope scope;
  std::string_view title, unit;
  Better better;
  const char* format;  // printf, for one double
  std::string_view file, text;
};
const std::vector<Row>& rows();

using Values = std::map<std::string, double, std::less<>>;  // by key

using Outputs = std::vector<std::pair<std::string, Tensor>>;

// A prediction with its labels in terms of its run's label set, as a view of what is kept elsewhere.
struct Outcome {
  Ranking labels;                  // class - label_offset, best first; a background class is negative
  std::span<const Scored> scored;  // the same with their scores, as they came; empty in a Meeting
  bool near_tie = false;           // see is_near_tie
  std::optional<int64_t> truth;
  int64_t label_offset = 0;  // class number in the outputs, less its label
  std::span<const std::pair<std::string, Tensor>> outputs;
  std::span<const Shelved> shelved;   // the same, for who wants to keep them
  const Shelf* shelf = nullptr;       // which may be asked once all predictions are there
  std::optional<int64_t> latency_ns;  // of the batch
  std::optional<int64_t> done_ns;     // since the first run began, where several were on their way at once
  int64_t batch = 1;
};

inline constexpr size_t kTop = 5;  // labels of the accuracy beside that of the first one

// True if the two best scores are so close that rounding decides between them: within 1e-4 of the larger magnitude, which is
// dnn-localize's tolerance too. False of fewer than two scores and of what is no number.
inline constexpr double kNearTie = 1e-4;
bool is_near_tie(std::span<const Scored> best_first);

class RunMetric {
 public:
  virtual ~RunMetric() = default;
  // Before the records of each header that the run has; one without shards has one.
  virtual void begin_span() {}
  virtual void add(const Outcome& outcome) = 0;
  virtual void add_usage(const stream::Usage& /*usage*/) {}
  virtual void result(Values* values) const = 0;
};

// A run's latencies, one for each of its samples that was timed (ns, the mean of repeated runs), sorted. Empty unless each sample
// was a batch of its own: the times of one batch are one measurement.
using Times = std::vector<int64_t>;

// What two runs said about the same sample; `base` is the reference.
struct Meeting {
  const Outcome& base;
  const Outcome& other;
  bool labels_comparable;
  // The outputs that correspond, cut to the labels that both models have; empty when there are none.
  const std::vector<std::pair<Tensor, Tensor>>& outputs;
};

class PairMetric {
 public:
  virtual ~PairMetric() = default;
  virtual void begin(const Times& /*base*/, const Times& /*other*/) {}  // before any add()
  virtual void add(const Meeting& meeting) = 0;
  virtual void result(Values* values) const = 0;
};

class ReportMetric {
 public:
  virtual ~ReportMetric() = default;
  virtual void add(const Times& run) = 0;  // which must outlive the metric
  virtual void result(Values* values) const = 0;
};

// One of each metric of metrics.def.
std::vector<std::unique_ptr<RunMetric>> make_run_metrics();
std::vector<std::unique_ptr<PairMetric>> make_pair_metrics();
std::vector<std::unique_ptr<ReportMetric>> make_report_metrics();

inline constexpr std::string_view kHolm = "_holm";
// The key under which Holm's correction of a test within its family is stated: KEY_holm where there is such a row, else "".
std::string_view holm_key(std::string_view key);

}  // namespace dnn::metrics
