// The search; see tune.h.
#include "tune/tune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/json_text.h"
#include "devices/device.h"
#include "devices/remote.h"
#include "graph/tensor_text.h"
#include "tune/log.h"

namespace dnn::tune {
namespace {

using Clock = std::chrono::steady_clock;
using codegen::ScheduleParameters;
using codegen::Workload;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The processor that the network runs on.
std::string cpu_of(const DeviceSpec& device) {
  if (!device.is_remote()) return cpu_name();
  const std::map<std::string, std::string>& machine = device.remote()->facts().machine.host;
  const auto name = machine.find("cpu");
  return name == machine.end() ? "" : name->second;
}

// A package that runs, and by kernel the least time that its steps took in any run, added up.
class Timed {
 public:
  Timed(Package package, const DeviceSpec& device, const DeviceOptions& options)
      : session_(open_session(device, std::make_shared<Package>(std::move(package)), options)) {}

  Session& session() { return *session_; }

  void run(const std::vector<Tensor>& inputs) {
    session_->enable_profile(true);
    session_->run(inputs);
    const std::vector<StepProfile> now = session_->profile();
    if (least_.empty()) least_.assign(now.size(), 0), before_.assign(now.size(), 0);
    for (size_t i = 0; i < now.size(); ++i) {
      const int64_t took = now[i].time_ns - before_[i];
      least_[i] = least_[i] == 0 ? took : std::min(least_[i], took);
      before_[i] = now[i].time_ns;
    }
  }

  // Forgets what it measured.
  void restart() { std::fill(least_.begin(), least_.end(), 0); }

  double total() const { return static_cast<double>(std::accumulate(least_.begin(), least_.end(), int64_t{0})); }

  std::map<std::string, double> by_kernel() const {
    std::map<std::string, double> result;
    const Variant& variant = session_->variant();
    for (size_t i = 0; i < least_.size(); ++i) {
      if (const int32_t kernel = variant.steps[i].kernel; kernel >= 0)
        result[variant.kernels[kernel].name] += static_cast<double>(std::max<int64_t>(1, least_[i]));
    }
    return result;
  }

 private:
  std::unique_ptr<Session> session_;
  std::vector<int64_t> before_, least_;  // by step
};

// Both in turns, the first of each pair taking turns, too; at least `runs` times each, and `seconds` in all.
template <class Run>
void in_turns(int runs, double seconds, const Run& run) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < runs || seconds_since(start) < seconds; ++i) {
    run(i % 2 == 0);
    run(i % 2 != 0);
  }
}

Latency latency_of(std::vector<double> ms) {
  Latency result;
  std::sort(ms.begin(), ms.end());
  const auto n = static_cast<double>(ms.size());
  result.runs = static_cast<int64_t>(ms.size());
  result.min = ms.front();
  result.max = ms.back();
  result.median = (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2;
  result.mean = std::accumulate(ms.begin(), ms.end(), 0.0) / n;
  double squares = 0;
  for (double x : ms) squares += (x - result.mean) * (x - result.mean);
  result.std = ms.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return result;
}

// A schedule to try, and the text of the kernel that it makes.
struct Candidate {
  Point point;
  std::string text;
};

// Of one kernel, beside its Search.
struct KernelState {
  Workload workload;
  std::map<std::string, double> costs;   // by text, of what was measured
  int64_t measured = 0, since_gain = 0;  // trials, and those since the last that gained
  bool over = false;
};

class Tuning {
 public:
  Tuning(const Graph& graph, const CompileOptions& compile_options, const TuneOptions& options)
      : start_(Clock::now()),
        graph_(graph),
        compile_(compile_options),
        options_(options),
        tuner_(find_tuner(options.tuner)),
        objects_(std::filesystem::temp_directory_path().string()),
        random_(options.seed) {
    compile_.emit = nullptr;
    compile_.on_passes = nullptr;
    compile_.on_workload = nullptr;
    compile_.schedules.clear();
    compile_.processor = processor_of(compile_);
    compile_.isas = {isa_to_tune()};
    compile_.build.cache_folder = objects_.path();  // kernels that lose are not for the user's cache
    device_.threads = options.threads;
  }

  Tuned run() {
    result_.isa = compile_.isas[0];
    compile_.on_workload = [this](const Workload& workload) { add(workload); };
    Timed defaults(compile(graph_, compile_), options_.device, device_);
    compile_.on_workload = nullptr;
    result_.threads = defaults.session().threads();
    refuse_emulated(defaults.session(), options_.device);
    for (const Step& step : defaults.session().variant().steps) {
      if (step.kernel >= 0) ++launches_[defaults.session().variant().kernels[step.kernel].name];
    }
    result_.kernels = searches_.size();
    for (const Type& type : defaults.session().package().input_types)
      inputs_.push_back(random_tensor(type.dtype, type.fixed_shape(), options_.seed));
    defaults.session().run(inputs_);
    resume();
    Log log(options_.log);
    double spent = 0, longest = 0;
    while (seconds_since(start_) + longest < (1 - kLastShare) * options_.seconds) {
      const Clock::time_point began = Clock::now();
      if (stopped() || !round(defaults, log)) break;
      longest = std::max(longest, seconds_since(began));
      if (options_.progress) options_.progress(seconds_since(start_) - spent);
      spent = seconds_since(start_);
    }
    settle(defaults, log);
    result_.seconds = seconds_since(start_);
    log.add(summary());
    return std::move(result_);
  }

 private:
  static constexpr double kLastShare = 0.15;  // of the time, for measuring the result
  static constexpr double kGain = 0.99;       // of the default's time, from which on a schedule is worth keeping

  std::string isa_to_tune() const {
    const std::vector<std::string> here =
        options_.device.is_remote() ? options_.device.remote()->facts().isas : supported_isas(compile_.element);
    if (compile_.isas.empty()) return here.back();
    for (size_t i = here.size(); i-- > 0;) {
      if (std::find(compile_.isas.begin(), compile_.isas.end(), here[i]) != compile_.isas.end()) return here[i];
    }
    fail_environment("this processor runs none of ", join(compile_.isas), ", so that they cannot be tuned here");
  }

  void add(const Workload& workload) {
    Search search;
    search.pattern = workload.kernel.substr(0, workload.kernel.rfind('_'));
    if (search.pattern != "conv" && search.pattern != "matmul") return;  // no other schedule has parameters
    search.space = whole_space();
    search.tried.insert(search.space.start());
    search.trials.push_back({search.space.start(), 1});
    searches_.push_back(std::move(search));
    kernels_.push_back({workload, {{workload.text({}), 1}}});
  }

  // Takes over what an earlier search on this machine measured.
  void resume() {
    const std::string cpu = cpu_of(options_.device);
    int64_t known = 0;
    std::vector<Record> records;
    if (std::error_code ignored; !options_.log.empty() && std::filesystem::exists(options_.log, ignored))
      records = read_log(options_.log, options_.warn);
    for (const Record& r : records) {
      if (r.choice || r.cpu != cpu || r.isa != result_.isa || r.opt != compile_.opt || r.threads != result_.threads)
        continue;
      for (size_t w = 0; w < searches_.size(); ++w) {
        if (kernels_[w].workload.kernel != r.kernel) continue;
        const std::optional<Point> point = searches_[w].space.point_of(r.parameters);
        if (!point || !searches_[w].tried.insert(*point).second) continue;
        learn(w, {*point, kernels_[w].workload.text(r.parameters)}, r.latency_ns / r.default_ns);
        ++known;
      }
    }
    if (known > 0) options_.note(cat(options_.log, ": goes on from ", counted(known, "trial")));
  }

  void learn(size_t w, const Candidate& candidate, double cost) {
    KernelState& kernel = kernels_[w];
    ++kernel.measured;
    kernel.since_gain = cost < searches_[w].best()->cost ? 0 : kernel.since_gain + 1;
    kernel.costs[candidate.text] = cost;
    searches_[w].trials.push_back({candidate.point, cost});
  }

  // One whose kernel is new; none when the search is over. Those that make a kernel that was measured cost as much.
  std::optional<Candidate> propose(size_t w) {
    constexpr int kMost = 40;
    KernelState& kernel = kernels_[w];
    if (kernel.over || (options_.trials > 0 && kernel.measured >= options_.trials)) return std::nullopt;
    if (options_.early_stop > 0 && kernel.since_gain >= options_.early_stop) return std::nullopt;
    for (int i = 0; i < kMost; ++i) {
      const std::optional<Point> point = tuner_.propose(searches_, w, random_);
      if (!point) break;
      searches_[w].tried.insert(*point);
      const std::string text = kernel.workload.text(searches_[w].space.at(*point));
      const auto known = kernel.costs.find(text);
      if (known == kernel.costs.end()) return Candidate{*point, text};
      searches_[w].trials.push_back({*point, known->second});
    }
    kernel.over = true;  // there seems to be nothing else
    return std::nullopt;
  }

  bool stopped() const { return options_.stop && options_.stop(); }

  Timed compiled(const codegen::Schedules& schedules) {
    CompileOptions with = compile_;
    with.schedules = schedules;
    return Timed(compile(graph_, with), options_.device, device_);
  }

  // Goes on for a while where the defaults are slower than they were in a quieter time.
  void compare(Timed& defaults, Timed& other, int runs, double seconds) {
    constexpr int kMost = 5;
    constexpr double kQuiet = 1.03;
    other.session().run(inputs_);
    defaults.restart();
    for (int i = 0; i < kMost; ++i) {
      in_turns(runs, seconds, [&](bool first) { (first ? defaults : other).run(inputs_); });
      const double total = defaults.total();
      least_total_ = least_total_ == 0 ? total : std::min(least_total_, total);
      if (total <= kQuiet * least_total_) return;
    }
  }

  // One new schedule for each kernel whose search goes on; false when there is none left.
  bool round(Timed& defaults, Log& log) {
    constexpr int kRuns = 6;
    constexpr double kSeconds = 0.4;
    std::map<size_t, Candidate> proposed;
    codegen::Schedules schedules;
    for (size_t w = 0; w < searches_.size(); ++w) {
      if (const std::optional<Candidate> candidate = propose(w)) {
        proposed[w] = *candidate;
        schedules[result_.isa][kernels_[w].workload.kernel] = searches_[w].space.at(candidate->point);
      }
    }
    if (proposed.empty()) return false;
    std::optional<Timed> made;
    try {
      made.emplace(compiled(schedules));
    } catch (const Error&) {
      if (stopped()) return false;  // what stopped us stopped the compiler, too
      throw;
    }
    Timed& candidate = *made;
    compare(defaults, candidate, kRuns, kSeconds);
    std::map<std::string, double> before = defaults.by_kernel(), after = candidate.by_kernel();
    for (const auto& [w, next] : proposed) {
      const Record r = record(w, searches_[w].space.at(next.point), before, after);
      learn(w, next, r.latency_ns / r.default_ns);
      log.add(to_line(r));
      ++result_.trials;
    }
    size_t gains = 0;
    for (const Search& search : searches_) gains += search.best()->cost < kGain ? 1 : 0;
    options_.note(cat("tuning: ", static_cast<int64_t>(seconds_since(start_)), " s, ", proposed.size(), " of ",
                      counted(searches_.size(), "kernel"), " tried, ", gains, " faster so far"));
    return true;
  }

  Record record(size_t w, const ScheduleParameters& parameters, std::map<std::string, double>& before,
                std::map<std::string, double>& after) const {
    Record r;
    r.cpu = cpu_of(options_.device);
    r.isa = result_.isa;
    r.opt = compile_.opt;
    r.threads = result_.threads;
    r.kernel = kernels_[w].workload.kernel;
    r.what = kernels_[w].workload.what;
    r.parameters = parameters;
    r.default_ns = before[r.kernel];
    r.latency_ns = after[r.kernel];
    r.gflops = kernels_[w].workload.flops * launches_.at(r.kernel) / r.latency_ns;
    return r;
  }

  // Keeps what gains in runs of its own, where the whole gains, too.
  void settle(Timed& defaults, Log& log) {
    constexpr int kRuns = 12;
    constexpr double kMostShare = 20;
    const double share = stopped() ? 0 : std::min(kMostShare, kLastShare * options_.seconds / 6);
    std::map<std::string, ScheduleParameters> best;
    for (size_t w = 0; w < searches_.size(); ++w) {
      const Trial& trial = *searches_[w].best();
      if (trial.cost < kGain) best[kernels_[w].workload.kernel] = searches_[w].space.at(trial.point);
    }
    const size_t found = best.size();
    auto tuned = std::make_unique<Timed>(compiled({{result_.isa, best}}));
    compare(defaults, *tuned, kRuns, best.empty() ? 0 : share);
    std::map<std::string, double> before = defaults.by_kernel(), after = tuned->by_kernel();
    std::erase_if(best, [&](const auto& kept) { return after[kept.first] >= kGain * before[kept.first]; });
    if (best.size() < found) tuned = std::make_unique<Timed>(compiled({{result_.isa, best}}));
    measure_whole(defaults, *tuned, kRuns, share);
    if (best.empty() ||
        result_.after.median >= result_.before.median) {  // kernels that gain each, and yet take from each other
      best.clear();
      result_.after = result_.before;
    }
    for (size_t w = 0; w < searches_.size(); ++w) {
      const std::string& kernel = kernels_[w].workload.kernel;
      if (best.count(kernel) == 0) after[kernel] = before[kernel];
      Record r = record(w, best.count(kernel) != 0 ? best[kernel] : ScheduleParameters{}, before, after);
      r.choice = true;
      log.add(to_line(r));
    }
    if (!best.empty()) result_.schedules[result_.isa] = best;
  }

  // The latency of both, in turns and without a clock around each step.
  void measure_whole(Timed& defaults, Timed& tuned, int runs, double seconds) {
    std::vector<double> ms[2];
    for (Timed* timed : {&defaults, &tuned}) {
      timed->session().enable_profile(false);
      timed->session().run(inputs_);
    }
    in_turns(runs, seconds, [&](bool first) {
      const Clock::time_point began = Clock::now();
      Session& session = (first ? defaults : tuned).session();
      session.run(inputs_);
      const std::optional<int64_t> there_ns = session.latency_ns();
      ms[first ? 0 : 1].push_back(there_ns ? 1e-6 * static_cast<double>(*there_ns) : 1e3 * seconds_since(began));
    });
    result_.before = latency_of(ms[0]);
    result_.after = latency_of(ms[1]);
  }

  std::string summary() const {
    using Json = nlohmann::ordered_json;
    const auto latency = [](const Latency& l) {
      return Json{{"mean_ms", l.mean}, {"median_ms", l.median}, {"max_ms", l.max},
                  {"min_ms", l.min},   {"std_ms", l.std},       {"runs", l.runs}};
    };
    const Json json = {{"type", "summary"},
                       {"model", options_.model},
                       {"cpu", cpu_of(options_.device)},
                       {"isa", result_.isa},
                       {"opt", compile_.opt},
                       {"threads", result_.threads},
                       {"tuner", tuner_.name},
                       {"seconds", result_.seconds},
                       {"trials", result_.trials},
                       {"kernels", result_.kernels},
                       {"before", latency(result_.before)},
                       {"after", latency(result_.after)}};
    return json_text(json);
  }

  Clock::time_point start_;
  const Graph& graph_;
  CompileOptions compile_;
  const TuneOptions& options_;
  const Tuner& tuner_;
  TemporaryFolder objects_;
  DeviceOptions device_;
  std::mt19937_64 random_;
  std::vector<Search> searches_;
  std::vector<KernelState> kernels_;        // by search
  std::map<std::string, double> launches_;  // by kernel, in one inference
  std::vector<Tensor> inputs_;
  double least_total_ = 0;  // of all steps with the defaults, in ns
  Tuned result_;
};

}  // namespace

Tuned tune(const Graph& graph, const CompileOptions& compile_options, const TuneOptions& options) {
  return Tuning(graph, compile_options, options).run();
}

codegen::Schedules schedules_for(const std::string& model_path, const OpenOptions& open, const TuneOptions& options,
                                 bool search, std::optional<Tuned>* tuned) {
  if (search) {
    const Graph graph = read_bound(model_path, open);
    try {
      *tuned = tune(graph, open.compile, options);
    } catch (Error& e) {
      if (e.kind() == ErrorKind::Unsupported) throw e.within(model_path);
      throw;
    }
  }
  const std::vector<std::string> isas =
      open.compile.isas.empty() ? default_isas(open.compile.element) : open.compile.isas;
  codegen::Schedules schedules;
  if (!options.log.empty())
    schedules = schedules_of(read_log(options.log, options.warn), isas, open.compile.opt, cpu_of(options.device));
  if (*tuned) {
    schedules.erase((*tuned)->isa);
    schedules.merge(codegen::Schedules((*tuned)->schedules));
  }
  return schedules;
}

std::string to_text(const Tuned& tuned) {
  char line[160];
  std::string text = "            mean ms  median     max     min     std    runs\n";
  for (const auto& [name, l] : {std::pair("untuned", &tuned.before), std::pair("tuned", &tuned.after)}) {
    std::snprintf(line, sizeof line, "%-10s %8.3f %7.3f %7.3f %7.3f %7.3f %7lld\n", name, l->mean, l->median, l->max,
                  l->min, l->std, static_cast<long long>(l->runs));
    text += line;
  }
  size_t changed = 0;
  for (const auto& [isa, kernels] : tuned.schedules) changed += kernels.size();
  std::snprintf(line, sizeof line, "%.3f times faster by the median; %zu of %zu kernels changed, %lld trials, %.0f s\n",
                tuned.before.median / tuned.after.median, changed, tuned.kernels, static_cast<long long>(tuned.trials),
                tuned.seconds);
  text += line;
  if (changed == 0)
    text += tuned.trials == 0 ? "no schedule was tried: give --tune more seconds\n"
                              : "nothing faster was found: the package has the schedules of a build without --tune\n";
  return text;
}

}  // namespace dnn::tune
