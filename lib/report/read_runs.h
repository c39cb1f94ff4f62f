// The inputs of dnn-eval and dnn-report: streams of runs, and JSON that stands for runs or for what other tools found.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "report/data.h"
#include "stream/records.h"

namespace dnn::report {

// Hands on each record of the stream at `path` ("-" is standard input), or of a file of Kenning's measurements; JSON of another kind goes to
// `other`. Returns what ends a stream early, damage or a cut, so that all that arrived can be used first. Throws what reading, `take` and
// `other` throw, of JSON with the path in front.
std::optional<Error> read_runs(const std::string& path, const std::function<void(stream::Record)>& take,
                               const std::function<void(const std::string& json)>& other);

// How a report shows and compares what it reads.
struct GatherOptions {
  bool full_paths = false;  // paths as the streams say them; else base names
  std::string baseline;     // as metrics::choose_baselines() takes it
};

// The data of a report on these files, in their order; what ended streams early is added to `cut_off`, and said in its warnings.
Data gather(const std::vector<std::string>& paths, const GatherOptions& options, std::vector<Error>* cut_off);

}  // namespace dnn::report
