// Metrics: values that are stated of one run, or of one run against another. Each lives in one file and has its rows
// in metrics.def: fed observations one by one, it states its values at the end. A value that is not defined (no truth,
// no outputs) is left out, never stated as 0.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/ranking.h"
#include "stream/records.h"

namespace dnn::metrics {

enum class Scope : uint8_t { Run, Pair };
enum class Better : uint8_t { Higher, Lower };

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

// A prediction with its labels in terms of its run's label set.
struct Outcome {
  Ranking labels;  // class - label_offset, best first; a background class is negative
  std::optional<int64_t> truth;
  int64_t label_offset = 0;  // class number in the outputs, less its label
  std::vector<std::pair<std::string, Tensor>> outputs;
  std::optional<int64_t> latency_ns;  // of the batch
  int64_t batch = 1;
};

class RunMetric {
 public:
  virtual ~RunMetric() = default;
  virtual void add(const Outcome& outcome) = 0;
  virtual void result(Values* values) const = 0;
};

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
  virtual void add(const Meeting& meeting) = 0;
  virtual void result(Values* values) const = 0;
};

// One of each metric of metrics.def.
std::vector<std::unique_ptr<RunMetric>> make_run_metrics();
std::vector<std::unique_ptr<PairMetric>> make_pair_metrics();

}  // namespace dnn::metrics
