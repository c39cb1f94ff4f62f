// Options of a search for schedules; see tune_args.h.
#include "tune/tune_args.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/console.h"
#include "cli/signals.h"
#include "compile/compile_args.h"

namespace dnn::tune {

void declare_tune(cli::Args& args, TuneArgs* o) {
  args.optional_value(&o->seconds, "--tune", "SECONDS", "300", "search this processor's best schedules; bare: 300 s",
                      0);
  args.option(&o->search.log, "--tuning-log", "FILE",
              "schedules that were found; --tune goes on from it and adds to it (default there: OUTPUT.tuning.jsonl)");
  std::vector<std::string> names;
  for (const Tuner& tuner : tuners()) names.emplace_back(tuner.name);
  args.choice(&o->search.tuner, "--tuner", names, "how to search");
  args.option(&o->search.trials, "--trials", "N", "schedules of a kernel to try at most; 0: while there is time", 0);
  args.option(&o->search.early_stop, "--early-stop", "N", "let a kernel be after N trials without gain; 0: never", 0);
  args.threads(&o->search.threads);
  args.seed(&o->search.seed);
}

void check_tune(const TuneArgs& o, const std::vector<std::string>& given, const DeviceSpec& device,
                const std::string& model, const std::string& output) {
  constexpr double kMostSeconds = 1e7;
  if (o.seconds && *o.seconds > kMostSeconds) fail_usage("--tune: more than ", kMostSeconds, " seconds");
  const std::string& log = o.search.log;
  for (const std::string* path : {&model, &output}) {
    std::error_code ignored;
    if (!log.empty() && (log == *path || std::filesystem::equivalent(log, *path, ignored)))
      fail_usage("--tuning-log ", log, " is the model or the package");
  }
  if (log == "-") fail_usage("--tuning-log wants a file");
  for (const char* name : {"--tuner", "--trials", "--early-stop", "--threads", "--seed"}) {
    if (!o.seconds && std::find(given.begin(), given.end(), name) != given.end())
      fail_usage(name, " is for a search: with --tune");
  }
  if (o.any() && !builds_here(device.kind())) fail_usage("schedules are searched for --device cpu alone");
}

void use_schedules(const TuneArgs& o, const std::string& model, const std::string& output, const DeviceSpec& device,
                   OpenOptions* open) {
  TuneOptions search = o.search;
  search.device = device;
  search.model = std::filesystem::path(model).filename().string();
  search.note = cli::note;
  search.warn = cli::warn;
  std::optional<cli::Progress> bar;
  if (o.seconds) {
    search.seconds = *o.seconds;
    if (search.log.empty() && !output.empty() && output != "-") search.log = output + ".tuning.jsonl";
    cli::note_first_interrupt();
    search.stop = cli::interrupted;
    bar.emplace("tuning", static_cast<int64_t>(search.seconds));
    search.progress = [&](double seconds) { bar->advance(std::lround(seconds)); };
  }
  std::optional<Tuned> tuned;
  open->compile.schedules = schedules_for(model, *open, search, o.seconds.has_value(), &tuned);
  bar.reset();
  if (tuned) cli::show_unless_quiet(to_text(*tuned));
}

}  // namespace dnn::tune
