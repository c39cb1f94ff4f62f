// Localizer: two runs of the same samples, compared layer by layer; which layers diverge, and which of them makes it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/error.h"
#include "base/threads.h"
#include "devices/device.h"
#include "infer/sample_source.h"
#include "localize/activation_maps.h"
#include "localize/align.h"
#include "localize/findings.h"
#include "localize/judged.h"
#include "localize/label_ranking.h"
#include "localize/layer_statistics.h"
#include "localize/lineup.h"
#include "localize/not_finite.h"
#include "localize/own_error.h"
#include "localize/parameters.h"
#include "localize/quantised_pair.h"
#include "localize/reduce_findings.h"
#include "localize/small_floats.h"
#include "stream/stream.h"
#include "tensor/compare.h"

namespace dnn {

// A lined-up layer over all samples. Errors are relative: ||source - target|| / ||source|| over all elements.
struct LayerResult {
  size_t source = 0, target = 0;  // indices into the report's layers
  LayerPair::By by = LayerPair::By::Name;
  bool transposed = false;  // the target holds it in another axis order
  bool recomputed = false;  // on a side that fused it away: not what that side's run went on with
  int64_t n_samples = 0;
  double max_abs = 0;      // infinite where one side alone is NaN or infinite
  double largest = 0;      // largest finite |element| of the source
  double error = 0;        // infinite against an all-zero source
  double input_error = 0;  // the largest of the nearest lined-up layers that it is computed from
  double added = 0;        // what error has above input_error; 0 when it has less
  bool diverges = false;   // max_abs above the tolerance
  bool makes = false;      // it diverges and none of the layers behind input_error does
  // Whether the layer errs more on samples whose label differs: Mann-Whitney's test of its errors, sample by sample, p corrected
  // for all layers (Holm), and the rank-biserial correlation. None where the labels are all the same, or all others.
  std::optional<double> label_p, label_effect;
  std::optional<LayerStatistics> statistics;  // where measured
  std::vector<std::optional<double>>
      sample_errors;  // `error` of each of LocalizeReport::shown_samples alone; none: not lined up there
};

// A sample whose errors are kept layer by layer.
struct ShownSample {
  std::string name;  // its path
  bool relabelled = false;
};

// How many errors of single samples a report holds: layers times samples.
inline constexpr size_t kMostSampleErrors = size_t{1} << 14;

struct LocalizeReport {
  std::vector<Layer> source, target;  // all layers of both, in execution order
  std::vector<LayerResult> layers;    // the lined-up ones, in the source's execution order
  std::optional<size_t> first;        // of layers: the first that diverges
  int64_t n_samples = 0;
  NotJudged not_judged;      // of the samples that were given
  int64_t n_relabelled = 0;  // samples whose first lined-up output has its largest element elsewhere
  int64_t n_diverging = 0;
  int64_t n_withdrawn =
      0;  // lined up by order only, unlike each other while all that follows agrees: not the same value
  int64_t n_parameters = 0;                      // compared
  std::vector<ParameterDifference> differences;  // of nodes' parameters and attributes, in the source's order
  std::optional<LabelRanking> label_ranking;     // where asked for, of layers
  std::vector<std::string> sample_names;         // with it: all samples, in the order in which they ran
  std::vector<ShownSample> shown_samples;        // all, or as many as kMostSampleErrors lets, evenly spread
  std::vector<Finding> findings;                 // where own errors were measured
  std::optional<Residual> residual;              // with them
  std::optional<bool> ran_out;                   // of time, where that was limited: samples or segments were left out

  // Where NaN and infinities begin, each network on its own activations.
  std::vector<NotFiniteOrigin> source_not_finite, target_not_finite;

  std::optional<QuantisationReport>
      quantisation;  // of a float source and its quantisation, which was compared as float_of() it

  std::optional<SmallFloats>
      small_floats;  // of a float32 source and its float16 or bfloat16, which was compared as widened() it

  std::optional<std::vector<ReducedFinding>> reduced;  // where asked for
  std::vector<ShownMaps> maps;  // where asked for: of findings, or of the first layer that diverges

  // Whether all that the networks' outputs differ by is rounding: there are own errors, of every output's segment too, none
  // is wrong, the inputs are the same and the outputs no further apart than rounding grows to.
  bool explained = false;
  bool outputs_lined_up = true;  // each output of the one with one of the other; of models alone
  bool agree() const { return findings.empty() && outputs_lined_up && (!first || explained); }
};

class Localizer {
 public:
  // The source models behind the records, which must outlive this; null where there are traces only.
  Localizer(const Graph* source, const Graph* target) : source_graph_(source), target_graph_(target) {}
  // Also measures, sample by sample, what each part of the target adds by itself; `own` must outlive this, and be of both graphs.
  void measure_own(OwnErrors* own) { own_ = own; }
  // Pairs that a user gives, before the first sample; of source models only.
  void give(std::vector<GivenPair> pairs) { given_ = std::move(pairs); }
  // Compares layers on these threads; must outlive this.
  void share(ThreadPool* pool) { pool_ = pool; }
  // Also measures LayerResult::statistics; before the first sample.
  void measure_statistics() { measures_statistics_ = true; }
  // Also ranks layers by labels, on draws of samples.
  void rank_labels(const LabelSampling& sampling) { sampling_ = sampling; }
  // Also keeps maps of the first layer that diverges, as finish() will be told; before the first sample.
  void show_first(const ParameterTolerance& tolerance) { shown_tolerance_ = tolerance; }
  // The values of one sample, by its name, on both sides. The first lines the layers up; values of other shapes later on are left out.
  void add(const std::vector<stream::TensorRecord>& source, std::vector<stream::TensorRecord> target,
           const std::string& name = "");
  // Throws Negative when nothing could be compared.
  LocalizeReport finish(const ParameterTolerance& tolerance);

 private:
  struct Sum {
    LayerPair pair;
    AxisOrder order;
    LayerResult result;
    double difference_squares = 0, reference_squares = 0;
    SampleErrors errors = {};
  };
  std::optional<Distance> compare_pair(Sum* sum, const Tensor& a, const Tensor& b) const;
  void find_inputs(const std::vector<LayerResult>& layers, size_t layer_i, std::vector<size_t>* found) const;
  void withdraw(std::vector<LayerResult>* layers);
  void relate_inputs(LocalizeReport* report) const;
  void compare_graphs(const ParameterTolerance& tolerance, LocalizeReport* report) const;
  void take_findings(LocalizeReport* report) const;
  void line_up_own();
  const Sum& sum_of(const LayerResult& layer) const;
  void test_labels(std::vector<LayerResult>* layers) const;
  void show_samples(LocalizeReport* report) const;
  void leave_withdrawn();

  const Graph *source_graph_, *target_graph_;
  OwnErrors* own_ = nullptr;
  ThreadPool* pool_ = nullptr;
  std::vector<Layer> source_, target_;
  std::vector<AlignedPair> aligned_;
  std::vector<GivenPair> given_;
  std::vector<std::pair<size_t, Joint>> joints_;  // by the source's layer
  std::vector<Sum> sums_;
  std::vector<std::string> names_;  // by sample
  std::vector<bool> relabelled_;    // by sample
  bool measures_statistics_ = false;
  std::optional<LabelSampling> sampling_;
  std::optional<ParameterTolerance> shown_tolerance_;
  struct First {
    size_t source = 0;  // layer
    std::string sample;
    std::optional<ActivationMaps> maps;
  };
  std::optional<First> first_;
  NotFinite source_not_finite_, target_not_finite_;
  int64_t n_samples_ = 0, n_withdrawn_ = 0;
};

// Two sessions on their samples, which must be the same ones in the same order. A sample that one side cannot read is
// skipped and told to `warn`; `done` is called after each. After the first, none is begun when the deadline is over. Returns
// how many were not compared.
NotJudged compare_sessions(Session& source, SampleSource& source_samples, Session& target, SampleSource& target_samples,
                           Localizer* localizer, const std::function<void(const std::string&)>& warn,
                           const std::function<void()>& done, const Deadline& deadline = {});

// Two streams of dnn-infer --trace. Samples are the same when their paths and their places among those of that path
// are; only those of one side alone are held in memory. Returns what ended a stream early, after all that arrived was
// used. Throws Malformed for a stream without any tensor.
std::optional<Error> compare_traces(stream::Reader& source, stream::Reader& target, Localizer* localizer);

}  // namespace dnn
