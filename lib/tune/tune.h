// Tuning: searches the schedules of a network's kernels by running the whole network, every kernel in its place.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compile/open.h"
#include "devices/device_spec.h"
#include "tune/tuner.h"

namespace dnn::tune {

struct TuneOptions {
  double seconds = 300;
  std::string tuner = "model";  // a row of tuners()
  int64_t trials = 0;           // of each kernel at most; 0: while there is time
  int64_t early_stop = 24;      // trials of a kernel without gain, after which it is let be; 0: never
  DeviceSpec device = "cpu";    // or one of another machine, connected: the schedules are then for that
  int threads = 0;              // as in DeviceOptions
  uint64_t seed = 0;
  std::string log;                                            // read, and appended to; "" for none
  std::string model;                                          // the model's name, for the log
  std::function<void(const std::string&message)> note, warn;  // may not be empty
  std::function<void(double seconds)> progress;               // after each round; may be empty
  std::function<bool()> stop;                                 // asked before each round; may be empty
};

// Of the whole network's latency, in ms.
struct Latency {
  double mean = 0, median = 0, max = 0, min = 0, std = 0;
  int64_t runs = 0;
};

struct Tuned {
  codegen::Schedules schedules;  // of the kernels that gain; outputs are the same bits as without
  Latency before, after;         // in runs that took turns, after the search; the same where no schedule is kept
  size_t kernels = 0;            // that have a choice
  int64_t trials = 0;            // of this search, without those that the log held
  double seconds = 0;
  std::string isa;
  int threads = 1;
};

// Searches for the best of options.isas that the device's processor has (default: the best it has). In each round every kernel whose
// search goes on gets one new schedule, all are compiled at once, and the network runs in turns with the defaults: what a
// kernel's steps take against the default's is its cost, so that what disturbs the machine disturbs both. Schedules are kept
// only where they gain again in runs of their own, and all of them only where the network's median is lower then. Throws as compile() does; Environment for a log that cannot be written.
Tuned tune(const Graph& graph, const CompileOptions& compile_options, const TuneOptions& options);

// What a compile of `open` is to use: the schedules that the log holds for its instruction sets and, of a search made now
// (`search`), those that it found; `tuned` gets its result.
codegen::Schedules schedules_for(const std::string& model_path, const OpenOptions& open, const TuneOptions& options,
                                 bool search, std::optional<Tuned>* tuned);

// A table: before and after, and the gain.
std::string to_text(const Tuned& tuned);

}  // namespace dnn::tune
