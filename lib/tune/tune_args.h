// The options of dnn-compile that say which schedules a package is compiled with: searched now, or found earlier.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "tune/tune.h"

namespace dnn::tune {

struct TuneArgs {
  std::optional<double> seconds;  // of a search now; none: the schedules of search.log alone
  TuneOptions search;

  bool any() const { return seconds || !search.log.empty(); }
};

// Declares --tune, --tuning-log, --tuner, --trials, --early-stop, --threads and --seed.
void declare_tune(cli::Args& args, TuneArgs* o);

// Throws Usage for options that are `given` and change nothing, for a device that has no schedules, for more seconds than a clock counts,
// and for a log that is the model or the package.
void check_tune(const TuneArgs& o, const std::vector<std::string>& given, const DeviceSpec& device,
                const std::string& model, const std::string& output);

// Sets the schedules that `model` is compiled with on `device`, from the log and from a search now. A search shows its progress and
// result, and ends early by a first interrupt; without --tuning-log it keeps one beside the package, where `output` is a file.
void use_schedules(const TuneArgs& o, const std::string& model, const std::string& output, const DeviceSpec& device,
                   OpenOptions* open);

}  // namespace dnn::tune
