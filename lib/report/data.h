// Data: what a report is made of, gathered from streams and from the JSON of dnn-localize.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/evaluation.h"

namespace dnn::report {

// One of Data::evaluation's runs, beyond what is stated there.
struct Run {
  std::string letter, name;         // "A"; "resnet18 -O3 cpu": what tells it from the others
  std::string model;                // file name without its ending
  std::string classes;              // runs with the same text here have comparable labels
  std::vector<float> latencies_ms;  // in the order of the stream
  std::string full() const { return letter + " " + name; }
};

// The classes that some runs listed for a sample, in this order; the scores are the first of these runs'.
struct TopList {
  struct Entry {
    int64_t label = 0;
    double score = 0;
  };
  std::string classes;           // Run::classes
  std::optional<int64_t> truth;  // among these
  std::vector<Entry> entries;
  std::vector<uint32_t> runs;
};

struct SampleLists {
  std::string path;  // as it is shown
  std::string file;  // as the stream says it
  std::vector<TopList> lists;
};

// What dnn-localize --json said.
struct Localization {
  struct Layer {
    std::string name, op;  // of the source
    std::string source_value, target_value, target_node;
    double error = 0, added = 0, max_abs = 0;
    bool diverges = false, makes = false;
  };
  std::string source, target;
  int64_t n_samples = 0, n_diverging = 0;
  std::vector<Layer> layers;
  std::optional<Layer> first;
  struct Where {
    std::vector<std::string> nodes, values;
  };
  struct Finding {
    std::string what, fix;
    Where source, target;
  };
  std::vector<Finding> findings;  // the most upstream of the most severe first
  struct Parameter {
    std::string layer, text;
  };
  std::vector<Parameter> parameters;
  // Of some samples, each layer's error alone: by layer and sample, nullopt where it was not lined up.
  struct Sample {
    std::string name;
    bool relabelled = false;
  };
  std::vector<Sample> samples;
  std::vector<std::vector<std::optional<double>>> sample_errors;
  int64_t n_samples_left_out = 0;
  // Channels of a layer in which the two differ most, on one sample.
  struct Channel {
    int64_t channel = 0;
    double max_abs = 0;                                             // of the difference
    std::vector<std::optional<double>> source, target, difference;  // row by row; nullopt: not finite
  };
  struct Maps {
    std::string layer, sample;
    std::string what;       // of the finding; "": of the first layer that diverges
    bool isolated = false;  // a finding: the target's is computed from the source's activations
    int64_t n_channels = 0, height = 0, width = 0;
    size_t rows = 0, columns = 0;
    std::vector<Channel> channels;
  };
  std::vector<Maps> maps;
};
Localization parse_localization(const std::string& json);  // throws Malformed

// What dnn-branch eval said of a network: how long it takes on several devices at once, and on each device alone.
struct Branched {
  struct Way {
    std::string device;
    double median_us = 0, p95_us = 0;
  };
  struct Segment {
    std::string nodes, part;
    bool merges = false;
    double begin_us = 0, us = 0;  // of one inference
  };
  std::string name;
  Way at_once;
  std::vector<Way> alone;       // each device, and all processors as one
  std::string best;             // of `alone`
  std::optional<double> ratio;  // of the best one's time to that of all at once; none for one device
  double bound_us = 0;
  std::vector<Segment> segments;
};
// Whether a JSON object is of dnn-branch eval; and its results. Throws Malformed.
bool is_branched(const std::string& json);
std::vector<Branched> parse_branched(const std::string& json);

struct Data {
  metrics::Report evaluation;
  std::vector<Run> runs;
  std::vector<SampleLists> samples;  // in the order in which they came
  std::vector<Localization> localizations;
  std::vector<Branched> branched;
  std::vector<std::string> warnings;  // what was cut off, what could not be read

  // The name that a class has in the streams, else its number.
  std::string class_name(const std::string& classes, int64_t label) const;
  std::map<std::string, std::map<int64_t, std::string>> class_names;
};

// Takes the records of streams as metrics::Evaluation does, which it feeds. Memory: Evaluation's, and some 16 bytes a prediction.
class Collector {
 public:
  // Paths are shown by their base names, or, with `full_paths`, as the streams say them.
  explicit Collector(bool full_paths = false) : evaluation_({}, false), full_paths_(full_paths) {
    evaluation_.keep_details();
  }
  // As metrics::choose_baselines() takes it.
  void set_baseline(std::string text) { evaluation_.set_baseline(std::move(text)); }
  void add(stream::Record record);
  Data finish();

 private:
  static constexpr size_t kListed = 5;

  void open_run();
  uint32_t number_of(const std::string& path);
  void note(const stream::Sample& sample);
  void note(const stream::Prediction& prediction);
  void merge_folders();
  void shorten_paths();

  metrics::Evaluation evaluation_;
  bool full_paths_;
  Data data_;
  size_t run_ = 0;
  int64_t label_offset_ = 0;
  struct Seen {
    uint32_t number;
    std::optional<int64_t> truth;
  };
  std::map<int64_t, Seen> span_;  // samples of the span that is open
  std::map<std::string, uint32_t, std::less<>> numbers_;
  std::vector<std::vector<bool>> listed_;  // by run and sample
};

}  // namespace dnn::report
