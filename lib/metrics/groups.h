// Groups: runs whose headers agree in chosen fields, taken together, and how runs agree within and between groups.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "metrics/metric.h"

namespace dnn::metrics {

// A field of a header, by its place in the record's JSON form: "device", "opt", "model.sha256", "host.cpu". `model` is short
// for the model's file name, `format` for model.format, `preprocess` for its name, where it has one; `framework` is NAME of a
// device lib:NAME, exec of exec:COMMAND, else "own". Throws Usage for what no header can have.
void check_field(const std::string& field);
// Its value as text; "-" where the header does not have it.
std::string field_text(const stream::Header& header, const std::string& field);
// "-O3", "-O3 -fuse-ops"; "" of a framework that has no levels.
std::string level_text(const stream::Header& header);

// Of some pairs of runs.
struct Spread {
  double least = 0, mean = 0, greatest = 0;
};

struct GroupReport {
  std::vector<std::string> fields;  // the values of Grouping::fields
  std::vector<size_t> runs;         // in Report::runs, one after another
  int64_t n_predictions = 0, n_judged = 0;
  Values values;  // of all predictions of the group, as though one run had made them
};

// All pairs of a run of `base` with a run of `other`; within a group where the two are equal.
struct GroupPairReport {
  size_t base = 0, other = 0;  // in Grouping::groups
  size_t n_pairs = 0;
  std::map<std::string, Spread, std::less<>> values;  // by key; over the pairs that state it
};

struct Grouping {
  std::vector<std::string> fields;
  std::vector<GroupReport> groups;
  std::vector<GroupPairReport> pairs;
  Values values;  // of all groups, each as though it was one run
};

// A group while predictions come in.
class Pool {
 public:
  explicit Pool(std::vector<std::string> fields) { report_.fields = std::move(fields); }
  const std::vector<std::string>& fields() const { return report_.fields; }
  void begin_span();  // before the records of each header, which come one header after another
  void add(const Outcome& outcome);
  void add_usage(const stream::Usage& usage);
  void add_run(size_t run_i, const Times& times);
  const Times& sorted_times();
  // No interval of a share is stated: what several runs say of one image is not independent. Called once.
  GroupReport finish();

 private:
  GroupReport report_;
  std::vector<std::unique_ptr<RunMetric>> metrics_ = make_run_metrics();
  Times times_;
  bool all_timed_ = true;
};

// Adds the values of a pair of runs, whose groups these are, and gives the spreads at the end. No spread of p-values and ends of
// intervals is stated.
class PairSpreads {
 public:
  void add(size_t base_group, size_t other_group, const Values& values);
  std::vector<GroupPairReport> finish();

 private:
  struct Sums {
    size_t n_pairs = 0;
    std::map<std::string, std::pair<size_t, Spread>, std::less<>> values;  // mean: the sum
  };
  std::map<std::pair<size_t, size_t>, Sums> sums_;
};

}  // namespace dnn::metrics
