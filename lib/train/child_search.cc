// search_children(): latencies first, then the accuracy of those that are fast enough.
#include "train/child_search.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "branch/config.h"
#include "branch/evaluate.h"
#include "branch/make.h"
#include "convert/surgery.h"
#include "formats/format.h"
#include "ops/op.h"
#include "place/measure.h"
#include "place/open.h"
#include "train/batches.h"
#include "train/norms.h"
#include "train/random.h"
#include "train/supernet.h"

namespace dnn::train {
namespace {

constexpr int64_t kWarmUp = 5;
constexpr uint64_t kImageDraw = 1, kSearchDraw = 2;

struct Found {
  branch::StretchPlan plan;
  Graph graph;
  double us = 0, accuracy = 0;
};

// Labelled images as batches of one network's input.
class Judge {
 public:
  Judge(const ChildSearch& search, const Graph& model)
      : search_(search), pool_(0), data_(search.data, std::nullopt), held_(search.validate, data_.classes()) {
    const auto all = [](const Images& images) {
      std::vector<int64_t> indices(images.count());
      std::iota(indices.begin(), indices.end(), int64_t{0});
      return indices;
    };
    picked_ = all(data_);
    shuffle(picked_, search.seed, {kImageDraw});
    picked_.resize(std::min(picked_.size(), static_cast<size_t>(search.images)));
    const NetworkInput input = input_of(model, search.preprocess, {}, false);
    calibration_.emplace(data_, picked_, Augmentation(), 0, search.seed, pool_);
    validation_.emplace(held_, all(held_), Augmentation(), 0, search.seed, pool_);
    calibrate_ = calibration_->images(input);
    judge_ = validation_->images(input);
  }

  void recalibrate(Graph* model) {
    const std::vector<std::vector<int64_t>> batches = cut_batches(calibrate_, search_.batch);
    train::recalibrate(
        model, static_cast<int64_t>(batches.size()), [&](int64_t n) { return calibrate_.load(batches[n], 0, {}); }, 0,
        search_.compile);
  }

  Score score(const Graph& model) {
    Predictor predictor(model, 0, search_.compile);
    if (predictor.classes() != data_.classes().size())
      fail_usage("the network has ", predictor.classes(), " classes, the images ", data_.classes().size());
    Score total;
    for (const std::vector<int64_t>& samples : cut_batches(judge_, search_.batch)) {
      std::vector<int64_t> labels;
      for (int64_t i : samples) labels.push_back(judge_.labels[i]);
      total.add(score_logits(predictor.logits(judge_.load(samples, 0, {})), labels));
    }
    return total;
  }

 private:
  const ChildSearch& search_;
  ThreadPool pool_;
  const Images data_, held_;
  std::vector<int64_t> picked_;
  std::optional<DataPart> calibration_, validation_;
  Batches calibrate_, judge_;
};

std::string percent(double share) { return cat(std::round(share * 1000) / 10, " %"); }
std::string us_text(double us) { return cat(std::llround(us), " us"); }

class ChildSearcher {
 public:
  ChildSearcher(const ChildSearch& search, std::shared_ptr<const Supernet> supernet)
      : search_(search),
        supernet_(std::move(supernet)),
        inputs_(place::inputs_for(supernet_->model)),
        judge_(search, open(supernet_->model)) {}

  Found run() {
    std::optional<Found> given;
    if (!search_.plan.empty()) given = cut_out(branch::read_plan(search_.plan));
    const double accuracy = judge_.score(open(supernet_->model)).accuracy();
    const double alone = search_.parts.empty() ? 0 : alone_us();
    say(cat("the network itself: ", percent(accuracy),
            search_.parts.empty() ? "" : cat("; ", us_text(alone), " on the best single device")));
    if (given) {
      if (!search_.parts.empty()) given->us = parallel_us(given->graph);
      judge(&*given);
      return std::move(*given);
    }
    const double bound = search_.latency_us > 0 ? search_.latency_us : alone;
    return best_of(fast_enough(bound));
  }

 private:
  void say(const std::string& line) const {
    if (search_.say) search_.say(line);
  }

  static Graph open(const Graph& model) {
    Graph graph = model;
    set_batch(graph, "batch");
    infer_types(graph);
    return graph;
  }

  Found cut_out(branch::StretchPlan plan) const {
    check_child(supernet_->ranges, supernet_->stages, plan);
    Found child;
    child.graph = branch::stretch(supernet_->model, supernet_->stages, plan);
    infer_types(child.graph);
    child.plan = std::move(plan);
    return child;
  }

  std::vector<Found> fast_enough(double bound) const {
    std::vector<Found> kept;
    std::vector<std::string> seen;
    double fastest = 0;
    for (int64_t i = 0; i < search_.children; ++i) {
      branch::StretchPlan plan = i == 0
                                     ? smallest_child(supernet_->ranges, supernet_->stages)
                                     : random_child(supernet_->ranges, supernet_->stages,
                                                    random_bits(search_.seed, {kSearchDraw, static_cast<uint64_t>(i)}));
      const std::string text = child_text(plan);
      if (std::find(seen.begin(), seen.end(), text) != seen.end()) continue;
      seen.push_back(text);
      Found child = cut_out(std::move(plan));
      child.us = parallel_us(child.graph);
      fastest = i == 0 ? child.us : std::min(fastest, child.us);
      const bool enough = child.us <= bound;
      if (!enough) say(cat(text, ": ", us_text(child.us), ", too slow"));
      if (enough) kept.push_back(std::move(child));
    }
    if (kept.empty())
      throw Error(ErrorKind::Negative,
                  cat("no child is as fast as ", us_text(bound), "; the fastest of ", seen.size(), " takes ",
                      us_text(fastest), "; pass a larger --latency, or more --children"));
    return kept;
  }

  Found best_of(std::vector<Found> children) {
    for (Found& child : children) judge(&child);
    return *std::min_element(children.begin(), children.end(), [](const Found& a, const Found& b) {
      return a.accuracy != b.accuracy ? a.accuracy > b.accuracy : a.us < b.us;
    });
  }

  void judge(Found* child) {
    child->graph = open(child->graph);
    judge_.recalibrate(&child->graph);
    child->accuracy = judge_.score(child->graph).accuracy();
    say(cat(child_text(child->plan), ": ", search_.parts.empty() ? "" : us_text(child->us) + ", ",
            percent(child->accuracy)));
  }

  // ---- latencies
  // All branches at once.
  double parallel_us(const Graph& graph) const {
    return branch::branches_us(graph, search_.parts, search_.compile, kWarmUp, search_.runs);
  }

  // The network itself on each part alone, and on all processors of the parts as one device.
  double alone_us() const {
    std::vector<branch::Part> parts = search_.parts;
    const std::vector<branch::Part> joined = place::joined_parts(parts);
    parts.insert(parts.end(), joined.begin(), joined.end());
    double best = 0;
    for (const branch::Part& part : parts) {
      const std::unique_ptr<Session> session = place::on_part(part, [&] {
        return place::open_alone(
            std::make_shared<Package>(compile(supernet_->model, place::options_for(part, search_.compile))), part);
      });
      const auto run = [&] { return place::on_part(part, [&] { return session->run(inputs_); }); };
      const double us = place::typical_us({run, part.cores}, kWarmUp, search_.runs);
      best = best == 0 ? us : std::min(best, us);
    }
    return best;
  }

  const ChildSearch& search_;
  const std::shared_ptr<const Supernet> supernet_;
  const std::vector<Tensor> inputs_;
  Judge judge_;
};

std::string take_metadata(Graph& graph, const std::string& key) {
  std::string text;
  std::erase_if(graph.metadata, [&](const auto& entry) {
    if (entry.first == key) text = entry.second;
    return entry.first == key;
  });
  return text;
}

}  // namespace

Graph search_children(const ChildSearch& search) {
  Graph model = read_model(search.supernet);
  const std::string ranges = take_metadata(model, branch::kSupernetKey), batch = open_batch(model),
                    file = std::filesystem::path(search.supernet).filename().string();
  if (ranges.empty()) fail_usage(search.supernet, " is no supernet; dnn-train --supernet RANGES makes one of a model");
  const auto supernet = make_supernet(std::move(model), branch::parse_ranges(ranges, search.supernet));
  for (const std::string& device : supernet->ranges.devices) {
    const branch::ProcessorName* row = branch::find_processor(device);
    const bool given = std::any_of(search.parts.begin(), search.parts.end(),
                                   [&](const branch::Part& part) { return part.letter == row->letter; });
    if (!given && !search.parts.empty())
      fail_usage("children have branches for ", row->letter, " (", device, "), which --devices does not give; add ",
                 row->letter, "=DEVICE");
  }
  Found child = ChildSearcher(search, supernet).run();
  if (!search.plan_out.empty())
    write_file(search.plan_out, cat("# ", file, "\n", branch::plan_text(child.plan, supernet->stages)));
  take_metadata(child.graph, branch::kBranchedKey);
  child.graph.metadata.emplace_back(branch::kBranchedKey, file);
  if (search.say) search.say(cat("chosen: ", child_text(child.plan), ", ", percent(child.accuracy)));
  set_batch(child.graph, batch.empty() ? "1" : batch);
  return std::move(child.graph);
}

}  // namespace dnn::train
