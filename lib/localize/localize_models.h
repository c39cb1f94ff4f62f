// Two model files compared layer by layer, as a command line asks for it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infer/setup.h"
#include "localize/localize.h"

namespace dnn {

struct OutputNoise;

// A network ready to run sample by sample.
struct OpenedNetwork {
  // `folders` has cache and key places and log sinks; `level` is a model's where `network` has none. Throws Usage for a batch
  // that is fixed or another level than was asked for, and what reading, compiling and opening the device throw.
  OpenedNetwork(const std::string& path, const NetworkOptions& network, const OpenOptions& folders, int threads,
                const char* level);

  std::shared_ptr<const Package> package;
  std::unique_ptr<Session> session;
  BatchPlan plan;
};

struct LocalizeRequest {
  std::string source, target;       // model files or packages
  std::vector<std::string> inputs;  // as for open_samples()
  std::string fill;                 // in their place, as SourceOptions::fill, with its seed; "": none
  uint64_t seed = 0;
  std::string preprocess;
  std::string target_preprocess;   // "NAME KEY=VALUE ..."; "": the source's
  bool stored_preprocess = false;  // of the target: what the model itself says, in place of the above
  NetworkOptions network;          // device, level (default 0) and extents of both; arithmetic of the target
  std::string source_arithmetic;   // of the source, as --arithmetic; "": onnx
  OpenOptions folders;             // cache and key places, log sinks
  int threads = 0;
  ParameterTolerance tolerance;
  bool statistics = false;                      // also of each layer
  bool maps = false;                            // also activations of the findings, see LocalizeReport::maps
  Deadline deadline;                            // when to end with what was found
  std::vector<GivenPair> alignment;             // see align()
  std::function<bool(int64_t place)> takes;     // which samples, by their place from 0; empty: all
  size_t keep = 0;                              // samples whose activations are kept, for OwnErrors::try_target()
  bool keep_showing = false;                    // and others, see OwnErrorOptions::keep_showing
  std::optional<LabelSampling> label_sampling;  // where layers are to be ranked by labels, too
  std::string reduce;                           // folder in which findings are written, see reduce_findings.h; "": none
  int64_t reduce_most = 0;                      // so many of them; 0: all
  std::function<void(int64_t n_samples)> begin;  // of samples, 0: not known; may be empty
  std::function<void()> done;                    // after each sample; may be empty
};

// How many samples a request's `fill` makes: several, so that some can be held back, where they are not all the same.
inline constexpr int64_t kFilledSamples = 4;

// Some of another source's samples, by their place.
class TakenSamples : public SampleSource {
 public:
  // `takes` empty: all.
  TakenSamples(std::unique_ptr<SampleSource> source, std::function<bool(int64_t place)> takes);
  std::optional<Load> next() override;
  std::optional<int64_t> count() const override;
  std::vector<stream::Header> provenance() const override { return source_->provenance(); }

 private:
  std::unique_ptr<SampleSource> source_;
  std::function<bool(int64_t)> takes_;
  int64_t place_ = 0;
};

// One of the two networks, with the samples as it wants them.
struct ComparedNetwork : OpenedNetwork {
  ComparedNetwork(const LocalizeRequest& request, const NetworkOptions& network, const std::string& path,
                  const std::string& preprocess);
  // Runs this graph in place of what was read, on the same samples from their beginning.
  void replace(const LocalizeRequest& request, const NetworkOptions& network, const std::string& preprocess,
               const Graph& other);
  std::unique_ptr<SampleSource> samples;
  Graph graph;  // as it was read, typed; in TFLite's arithmetic where that is asked for
};

// The spec of the target's preprocessing that a request says; "": what the model says.
std::string target_preprocess_of(const LocalizeRequest& request);

// Both, and what is known of their layers once run() is over.
class ModelComparison {
 public:
  // Throws Usage, and what reading and compiling throw.
  explicit ModelComparison(const LocalizeRequest& request);
  // Once. Throws Negative where nothing could be lined up, and what running throws.
  LocalizeReport run();
  const Graph& source() const { return source_.graph; }
  const Graph& target() const { return target_.graph; }
  const OwnErrors& own() const { return own_; }
  // As edits find it: as it was read, with quantisers in place of operators on integers.
  const Graph& written() const { return quantised_ ? quantised_->written() : written_ ? *written_ : target_.graph; }
  // Where the target is a quantisation of the source; target() is what it was made of, then.
  const QuantisedPair* quantised() const { return quantised_.get(); }
  // Of such a pair: how far the target's outputs are from the source's, and what its quantisers explain of that, on all samples.
  OutputNoise noise() const;

 private:
  void add_maps(LocalizeReport* report) const;
  ComparedNetwork open_source(const Graph* instead) const;
  ComparedNetwork open_target();
  void widen_target(ComparedNetwork* target);
  void add_quantisation(LocalizeReport* report);

  LocalizeRequest request_;
  ComparedNetwork source_;
  std::unique_ptr<QuantisedPair> quantised_;
  std::optional<SmallFloats> small_floats_;
  std::optional<Graph> written_;  // of a target in smaller floats, which target_ is the float32 network of
  ComparedNetwork target_;
  ThreadPool pool_;
  OwnErrors own_;
};

// Whether it is compiled without passes, so that what the graphs mean is all that runs.
bool runs_as_written(const NetworkOptions& network);

}  // namespace dnn
