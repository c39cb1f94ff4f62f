// Evaluation: the records of any number of runs in, one report out: every metric of each run and of each pair of runs.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "metrics/confusion.h"
#include "metrics/groups.h"
#include "metrics/metric.h"

namespace dnn::metrics {

struct RunReport {
  stream::Header header;
  std::vector<std::string> shards;  // of the run, in their order: "0/3"; none of a run that is whole
  int64_t n_missing_shards = 0;     // of those that the run was divided into
  int64_t n_samples = 0, n_predictions = 0;
  int64_t n_judged = 0;                        // predictions whose sample has a truth
  Confusion confusion;                         // of best labels, over the judged predictions
  std::map<int64_t, std::string> label_names;  // as far as the stream says them; with keep_details() only
  std::vector<stream::Usage> usage;            // likewise
  Values values;
  std::map<std::string, double> own_values;  // of users' programs, by name; none that two shards of the run were given
};

// Says which shards of its run are missing; "" where none is. The values are then those of a part of the samples.
std::string shard_note(const RunReport& run);

// Two runs' best labels for a sample, where they differ.
struct Disagreement {
  std::string sample;
  int64_t base_label = 0, other_label = 0;
};

struct PairReport {
  size_t base = 0,
         other = 0;      // in Report::runs; base is what `other` is held against, or the baseline, else the earlier
  int64_t n_common = 0;  // samples that both runs hold
  Values values;
  std::vector<Disagreement> disagreements;
  // The sample whose outputs exceed `tolerance` by the largest factor: its largest difference, and what was allowed.
  std::string worst_sample;
  double worst_difference = 0, worst_allowed = 0;
  std::string note;  // why something could not be compared
};

struct Report {
  std::vector<RunReport> runs;
  std::vector<PairReport> pairs;  // every two runs
  size_t baseline = 0;            // the run that models are held against; see families.h
  std::vector<size_t> own_run;    // by run: the run that the other runs of its model are held against
  std::vector<size_t> alike;      // by run: the first run that gives the same best label for each of the same samples
  Values values;                  // of all runs together
  Grouping by;                    // its fields are none where no groups were asked for
};

// What an output element may differ by: atol + rtol * (the sample's largest element in the reference output).
struct Tolerance {
  double atol = 0, rtol = 0;
};

// Memory: at most 64 bytes a prediction, with five labels, and full outputs where the streams hold them, up to a limit: a file has the rest.
class Evaluation {
 public:
  // Pairs name the samples on which they disagree only where that is wanted: of many runs there are millions.
  explicit Evaluation(Tolerance tolerance = {}, bool name_disagreements = true, size_t output_bytes = size_t{1} << 30);
  ~Evaluation();
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Runs that agree in these fields (see check_field) are a group; runs and pairs are then reported group by group. Before any
  // add().
  void group_by(const std::vector<std::string>& fields);

  // Chooses the run that the others are held against, as choose_baselines() takes it. Before finish().
  void set_baseline(std::string text) { baseline_ = std::move(text); }

  // RunReports hold label names and usage too. Before any add().
  void keep_details() { details_ = true; }

  // Takes the records of streams in their order. A header opens a run, or continues one that it is another shard of.
  // Throws Malformed for a prediction before any header.
  void add(stream::Record record);
  // The run that records now belong to, as Report::runs will have it.
  size_t current_run() const;
  // What a user's program says of the run that add() is at.
  void add_value(const std::string& name, double value);
  Report finish();

  // After finish(), by the numbers of Report::runs: what was kept of a run's predictions, and of the samples that two have in common.
  using VisitOne = std::function<void(const std::string& path, const Outcome& outcome)>;
  void for_each(size_t run, const VisitOne& visit) const;
  using VisitCommon = std::function<void(const std::string& path, const Outcome& base, const Outcome& other)>;
  void for_each_common(size_t base, size_t other, const VisitCommon& visit) const;
  bool labels_comparable(size_t base, size_t other) const;

 private:
  struct RunState;
  class Samples;
  class SampleIds;
  void open(stream::Header header);
  void find_pool();
  void sort_by_group();
  Grouping finish_groups(const Report& report);
  Outputs outputs_of(const RunState& run, size_t prediction) const;
  std::vector<std::pair<size_t, size_t>> common_samples(size_t base, size_t other,
                                                        std::vector<uint32_t>* outcome_of) const;
  // `outcome_of` has a place for each key of all runs, none of them in use before and after.
  PairReport meet(size_t base, size_t other, std::vector<uint32_t>* outcome_of) const;

  static std::string align_note(const RunState& base, const RunState& other);
  std::vector<std::string_view> below_common_folder(const class Predictions& predictions) const;

  Tolerance tolerance_;
  bool name_disagreements_;
  bool details_ = false;
  Shelf shelf_;
  std::unique_ptr<Samples> samples_;
  std::vector<std::unique_ptr<RunState>> runs_;
  std::vector<std::string> group_fields_;
  std::string baseline_;
  std::vector<std::unique_ptr<Pool>> pools_;
  RunState* current_ = nullptr;
};

}  // namespace dnn::metrics
