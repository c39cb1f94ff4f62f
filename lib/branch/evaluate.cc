// evaluate(): measures configuration after configuration, the ways to run each in turns so that a disturbance meets them alike.
#include "branch/evaluate.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/affinity.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/rows.h"
#include "branch/network.h"
#include "branch/stretch.h"
#include "formats/format.h"
#include "infer/sample_source.h"
#include "infer/setup.h"
#include "usage/meter.h"

namespace dnn::branch {
namespace {

using place::open_alone;
using place::options_for;
using place::Way;
using place::with_one_sample;

constexpr const char* kHeader = "cfg,latency,energy";

// The parts that a network has work for, in the order of its devices' letters. Throws Usage.
std::vector<Part> parts_for(const std::string& name, const std::string& letters, const std::vector<Part>& parts) {
  std::vector<Part> chosen;
  if (letters.empty())
    fail_usage(name, ": no node is called after a device; make branches with dnn-branch MODEL --devices LIST -o OUT");
  for (const char letter : letters) {
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.letter == letter; });
    if (part == parts.end())
      fail_usage(name, " has work for ", letter, " (", find_processor(std::string(1, letter))->name,
                 "), which --devices does not give; add ", letter, "=DEVICE");
    chosen.push_back(*part);
  }
  return chosen;
}

Graph read_one_sample(const std::string& path) { return with_one_sample(read_model(path)); }

// Letters of the devices that a file's network has work for.
std::string letters_of(const std::string& path, const std::function<void(const std::string&)>& warn) {
  if (!is_config(path)) return letters_named(read_one_sample(path));
  std::string letters;
  for (const std::string& device : read_config(path, warn).devices()) letters += find_processor(device)->letter;
  return letters;
}

// Inputs of one sample: an image, or random numbers.
std::vector<Tensor> sample_for(const Package& package, const EvaluateRequest& request) {
  const BatchPlan plan = plan_batch(package);
  SourceOptions source;
  source.seed = request.seed;
  if (request.image.empty()) {
    source.fill = "random";
  } else {
    source.inputs = {request.image};
    source.preprocess = choose_preprocess(package, plan, request.preprocess, {}, false);
  }
  const auto samples = open_samples(source, plan);
  const std::optional<SampleSource::Load> load = samples->next();
  if (!load) fail_usage(request.image, " holds no image");
  LoadedSample sample = (*load)();
  if (sample.error) throw *sample.error;
  return sample.inputs;
}

bool identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return x.identical(y); });
}

class Measurement {
 public:
  // `alone` runs on single devices.
  Measurement(const EvaluateRequest& request, const Graph& graph, const Graph& alone, const std::vector<Part>& parts)
      : request_(request), graph_(alone), parts_(parts), session_(open_parallel(graph, parts, request.compile)) {
    for (const Part& part : parts_) alone_.push_back(open(part));
    const std::vector<Part> joined = place::joined_parts(parts_);
    if (!joined.empty()) all_ = joined[0];
    if (all_) together_ = open(*all_);
    inputs_ = sample_for(alone_[0]->package(), request_);
  }

  void measure(EvaluateResult& result) {
    // First of all, so that wrong images end it before minutes of runs.
    if (!request_.data.empty())
      result.accuracy = judge(*session_, alone_[0]->package(), request_.data, request_.preprocess, request_.warn);
    std::vector<Way> ways;
    ways.push_back({[&] { return session_->run(inputs_); }, session_->callers_processors()});
    for (size_t p = 0; p < parts_.size(); ++p)
      ways.push_back(
          {[&, p] { return place::on_part(parts_[p], [&] { return alone_[p]->run(inputs_); }); }, parts_[p].cores});
    if (all_) ways.push_back({[&] { return together_->run(inputs_); }, all_->cores});
    for (Way& way : ways) {
      for (int64_t i = 0; i < request_.warmup; ++i) run_once(way, false);
    }
    usage::EnergyMeter energy(usage::Roots{});
    double energy_mj = 0;
    std::vector<std::vector<place::SegmentTime>> runs_of_branches;
    bool readable = energy.read().has_value();
    const int64_t turns = std::min<int64_t>(place::kTurns, request_.runs);
    for (int64_t turn = 0; turn < turns; ++turn) {
      if (all_) result.line_ns.push_back(place::line_round_trip_ns(all_->cores[0], all_->cores[1]));
      const int64_t runs = request_.runs * (turn + 1) / turns - request_.runs * turn / turns;
      for (Way& way : ways) {
        run_once(way, false);  // brings its weights back into the caches
        const bool branches = &way == ways.data();
        const std::optional<double> before = branches ? energy.read() : std::nullopt;
        for (int64_t i = 0; i < runs; ++i) {
          run_once(way, true);
          if (branches) runs_of_branches.push_back(session_->times());
        }
        const std::optional<double> after = branches ? energy.read() : std::nullopt;
        if (before && after) energy_mj += *after - *before;
        if (branches) readable = readable && before && after;
      }
    }
    result.latency = latency_of(ways[0].us);
    const double energy_uj = energy_mj * 1e3 / static_cast<double>(request_.runs);
    if (readable && energy_uj > 0) result.energy_uj = energy_uj;
    result.energy_contains = energy.text();
    result.runs = place::report_runs(*session_, runs_of_branches);
    const auto baseline = [&](const std::string& name, const Way& way) {
      return Baseline{name, latency_of(way.us), identical(way.outputs, ways[0].outputs)};
    };
    for (size_t p = 0; p < parts_.size(); ++p) result.alone.push_back(baseline(parts_[p].label(), ways[1 + p]));
    if (all_) result.together = baseline(all_->text, ways.back());
  }

 private:
  std::unique_ptr<Session> open(const Part& part) {
    std::shared_ptr<const Package>& package = packages_[part.device.text()];
    return place::on_part(part, [&] {
      if (package == nullptr) package = std::make_shared<Package>(compile(graph_, options_for(part, request_.compile)));
      return open_alone(package, part);
    });
  }

  const EvaluateRequest& request_;
  const Graph& graph_;
  const std::vector<Part> parts_;
  std::map<std::string, std::shared_ptr<const Package>> packages_;  // by device
  std::unique_ptr<ParallelSession> session_;
  std::vector<std::unique_ptr<Session>> alone_;
  std::optional<Part> all_;
  std::unique_ptr<Session> together_;
  std::vector<Tensor> inputs_;
};

void compare(EvaluateResult& result) {
  double rate = 0;
  const auto consider = [&](const Baseline& baseline) {
    if (!result.best.empty() && baseline.latency.median >= result.best_us) return;
    result.best = baseline.name;
    result.best_us = baseline.latency.median;
  };
  for (const Baseline& baseline : result.alone) {
    rate += 1 / baseline.latency.median;
    consider(baseline);
  }
  if (result.together) consider(*result.together);
  result.bound_us = 1 / rate;
  result.ratio = result.best_us / result.latency.median;
}

std::vector<std::string> files_of(const std::vector<std::string>& configs) {
  std::vector<std::string> files;
  for (const std::string& path : configs) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && (entry.path().extension() == ".yaml" || entry.path().extension() == ".yml"))
        found.push_back(entry.path().string());
    }
    if (found.empty()) fail_usage(path, " holds no .yaml file");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

// The file of a configuration's weights: in a folder the one that is called as it is. Throws Usage, also for a model.
std::string weights_of(const std::string& cfg, const std::string& weights) {
  if (!is_config(cfg)) fail_usage("--weights is for configurations; ", cfg, " is a model, which has its own");
  if (!std::filesystem::is_directory(weights)) return weights;
  const std::filesystem::path name = std::filesystem::path(cfg).stem();
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(weights)) {
    if (entry.is_regular_file() && entry.path().stem() == name) found.push_back(entry.path().string());
  }
  if (found.size() != 1)
    fail_usage("--weights ", weights, ": ", found.empty() ? "no file is" : "several files are", " called ",
               name.string(), ", as ", cfg, " is");
  return found[0];
}

// What was measured before: the CSV's text, its configurations, and the JSON's objects.
struct Earlier {
  std::string csv = cat(kHeader, "\n");
  std::set<std::string> rows;  // first fields
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
};

std::string json_path(const std::string& csv) {
  return (ends_with(csv, ".csv") ? csv.substr(0, csv.size() - 4) : csv) + ".json";
}

// What rows of one table have in common.
std::string settings_of(const EvaluateRequest& request) {
  std::vector<std::string> words;
  for (const Part& part : request.parts) words.push_back(part.entry());
  return cat("-O", request.compile.opt, " --devices ", dnn::join(words, ","), " --image-size ", request.image_size);
}

Earlier read_earlier(const std::string& path, const std::string& settings) {
  Earlier earlier;
  if (!std::filesystem::exists(path)) return earlier;
  earlier.csv = read_regular_file(path);
  if (!starts_with(earlier.csv, kHeader))
    fail_malformed(path, ":1: not the table \"", kHeader, "\"; choose another -o, or move the file away");
  if (earlier.csv.back() != '\n') earlier.csv += '\n';
  for (const std::string& line : split(earlier.csv, '\n')) {
    const size_t end = line.rfind(',') == std::string::npos ? 0 : line.rfind(',', line.rfind(',') - 1);
    if (end != std::string::npos && end > 0) earlier.rows.insert(line.substr(0, end));
  }
  if (std::filesystem::exists(json_path(path))) {
    const nlohmann::ordered_json json = parse_ordered_json(read_regular_file(json_path(path)));
    if (!json.is_object() || !json.contains("results") || !json["results"].is_array())
      fail_malformed(json_path(path), ": not the JSON that belongs to ", path, "; move it away");
    earlier.results = json["results"];
    if (json.contains("settings") && json["settings"] != settings)
      fail_usage(path, " has rows of ", json["settings"].dump(), ", asked for are ", settings,
                 "; choose another -o, or move the file away");
  }
  return earlier;
}

}  // namespace

EvaluateResult evaluate_graph(const std::string& cfg, const Graph& graph, const Graph& alone,
                              const EvaluateRequest& request) {
  EvaluateResult result;
  result.cfg = cfg;
  const std::string letters = letters_named(graph);
  result.branched = letters.size() > 1;
  Measurement(request, graph, alone, parts_for(cfg, letters, request.parts)).measure(result);
  compare(result);
  return result;
}

EvaluateResult evaluate_config(const std::string& cfg, const EvaluateRequest& request) {
  std::optional<Graph> alone;
  if (!request.baseline.empty()) alone = read_one_sample(request.baseline);
  if (!is_config(cfg)) {
    const Graph graph = read_one_sample(cfg);
    EvaluateResult result = evaluate_graph(cfg, graph, alone ? *alone : graph, request);
    result.flops = static_cast<int64_t>(graph_flops(graph) / 2);
    for (ValueId v = 0; v < graph.value_count(); ++v)
      result.params += graph.constant(v) == nullptr ? 0 : graph.constant(v)->size();
    return result;
  }
  const Config config = read_config(cfg, request.warn);
  const int64_t size = request.image_size == 0 ? config.image_size : request.image_size;
  Graph built = build_network(config, request.seed, size);
  if (!request.weights.empty()) load_weights(built, weights_of(cfg, request.weights), request.warn);
  const Graph graph = with_one_sample(std::move(built));
  EvaluateResult result = evaluate_graph(cfg, graph, alone ? *alone : graph, request);
  result.image_size = size;
  const Counts counts = count_network(config, size);
  result.params = counts.params;
  result.flops = counts.flops;
  result.branched = config.branched();
  return result;
}

void evaluate(const EvaluateRequest& request) {
  const std::vector<std::string> files = files_of(request.configs);
  std::string used;
  for (const std::string& file : files) {
    if (!request.weights.empty()) weights_of(file, request.weights);
    const std::string letters = letters_of(file, [](const std::string&) {});
    for (const Part& part : parts_for(file, letters, request.parts)) used += part.letter;
  }
  for (const Part& part : request.parts) {
    if (used.find(part.letter) == std::string::npos) request.warn(cat("no configuration has work for ", part.label()));
  }
  const std::string settings = settings_of(request);
  Earlier earlier = read_earlier(request.output, settings);
  std::vector<EvaluateResult> results;
  size_t skipped = 0;
  for (const std::string& file : files) {
    if (!earlier.rows.insert(words::csv_field(file)).second) {
      ++skipped;
      continue;
    }
    results.push_back(evaluate_config(file, request));
    earlier.csv += csv_row(results.back()) + "\n";
    earlier.results.push_back(parse_ordered_json(result_json(results.back())));
    write_file(json_path(request.output),
               json_text(nlohmann::ordered_json{{"settings", settings}, {"results", earlier.results}}, 2) + "\n");
    write_file(request.output, earlier.csv);
    request.say(result_line(results.back()));
    if (results.back().accuracy) request.say(stats_line(results.back()));
  }
  if (skipped > 0)
    request.say(cat(skipped, " of ", files.size(), " configurations are in ", request.output, " already"));
  if (!request.timeline.empty() && !results.empty()) write_file(request.timeline, timeline_json(results));
}

std::string csv_row(const EvaluateResult& result) {
  return cat(words::csv_field(result.cfg), ",", exact_text(std::round(result.latency.median * 10) / 10), ",",
             result.energy_uj ? exact_text(std::round(*result.energy_uj * 10) / 10) : "");
}

}  // namespace dnn::branch
