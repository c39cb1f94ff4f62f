// The search for layers that stay in float32; see search.h.
#include "quant/search.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "convert/certificate.h"

namespace dnn::quant {
namespace {

// A layer without multiply-adds has a price too: numbers are rounded back and forth around it.
constexpr double kPriceOfLayer = 0.0005;
constexpr size_t kMostTrials = 24;

class Chooser {
 public:
  Chooser(const Graph& bound, const Sensitivity& sensitivity, const QuantizeOptions& options)
      : bound_(bound), sensitivity_(sensitivity), options_(options) {
    for (const Layer& layer : sensitivity.layers) all_ += layer.multiply_adds;
    // All multiply-adds of the network count, of what cannot be quantised too.
    double floats = 0;
    std::set<NodeId> own;
    for (const Layer& layer : sensitivity.layers) own.insert(layer.nodes.begin(), layer.nodes.end());
    for (NodeId id : bound.order()) {
      if (own.count(id) == 0) floats += multiply_adds(bound, id);
    }
    all_ += floats;
    float_ = floats;
    find_moves();
  }

  std::vector<Choice> run(double most_float) {
    std::vector<Choice> choices;
    std::vector<bool> kept(sensitivity_.layers.size(), false);
    choices.push_back(choice_of(kept));
    while (true) {
      const Choice& last = choices.back();
      double best_gain = 0;
      std::vector<bool> best;
      for (const std::vector<size_t>& move : moves_) {
        std::vector<bool> next = kept;
        for (size_t l : move) next[l] = true;
        if (next == kept) continue;
        const Choice choice = choice_of(next);
        if (choice.float_share > most_float) continue;
        const double price =
            choice.float_share - last.float_share + kPriceOfLayer * static_cast<double>(choice.layers - last.layers);
        const double gain = (last.predicted - choice.predicted) / price;
        if (gain <= best_gain) continue;
        best_gain = gain;
        best = std::move(next);
      }
      if (best.empty()) return choices;
      kept = std::move(best);
      choices.push_back(choice_of(kept));
    }
  }

 private:
  // Layers that may go together: each alone, and those that make or read the values of a quantiser.
  void find_moves() {
    std::map<NodeId, size_t> layer_of;
    for (size_t l = 0; l < sensitivity_.layers.size(); ++l) {
      moves_.push_back({l});
      for (NodeId id : sensitivity_.layers[l].nodes) layer_of[id] = l;
    }
    const Plan plan = plan_network(bound_, options_, {});
    const Uses uses(bound_);
    for (const std::vector<ValueId>& group : plan.groups) {
      std::set<size_t> around;
      const auto add = [&](NodeId id) {
        if (const auto at = layer_of.find(id); at != layer_of.end()) around.insert(at->second);
      };
      for (ValueId v : group) {
        add(uses.producer[v]);
        for (NodeId reader : uses.readers[v]) add(reader);
      }
      if (around.size() > 1) moves_.emplace_back(around.begin(), around.end());
    }
  }

  Choice choice_of(const std::vector<bool>& kept) const {
    Choice choice;
    double floats = float_;
    for (size_t l = 0; l < kept.size(); ++l) {
      if (!kept[l]) continue;
      const Layer& layer = sensitivity_.layers[l];
      choice.left_float.insert(layer.nodes.begin(), layer.nodes.end());
      choice.names.push_back(name_of(bound_, layer.nodes.front()));
      floats += layer.multiply_adds;
      ++choice.layers;
    }
    choice.float_share = all_ == 0 ? 0 : floats / all_;
    const Plan plan = plan_network(bound_, options_, choice.left_float);
    for (const Spot& spot : sensitivity_.spots) {
      const bool rounded = spot.weights ? !kept[*spot.layer] : plan.group[spot.value] >= 0;
      if (rounded) choice.predicted += spot.effect.mean_divergence();
    }
    return choice;
  }

  const Graph& bound_;
  const Sensitivity& sensitivity_;
  const QuantizeOptions& options_;
  double all_ = 0, float_ = 0;  // multiply-adds of the network, and of what cannot be quantised
  std::vector<std::vector<size_t>> moves_;
};

class Search {
 public:
  Search(const Graph& prepared, const Graph& bound, const Calibration& calibration, const QuantizeOptions& options,
         const Halves& halves, const SearchOptions& search)
      : prepared_(prepared),
        bound_(bound),
        calibration_(calibration),
        options_(options),
        halves_(halves),
        search_(search) {}

  SearchResult run(const std::function<Sensitivity()>& measure) {
    result_.max_drop = search_.max_drop;
    result_.seed = search_.seed;
    result_.searching = halves_.searching();
    result_.judging = halves_.judging();
    choices_ = {Choice()};
    tried_ = {attempt(0)};
    // Nothing has been chosen yet: all inputs judge.
    judge(trial(0));
    if (keeps(trial(0).all()) && is_sure(trial(0).all())) return finish();
    result_.searched = true;
    result_.sensitivity = measure();
    choices_ = choices_by_sensitivity(bound_, *result_.sensitivity, options_, search_.most_float);
    result_.trials[*tried_[0]].choice = choices_[0];
    tried_.resize(choices_.size());
    find();
    return finish();
  }

 private:
  std::optional<size_t> attempt(size_t k) {
    Trial trial;
    trial.choice = choices_[k];
    const Graph quantized = graph_of(trial.choice, &trial.report);
    trial.bytes = search_.size ? search_.size(quantized) : 0;
    Graph fixed = quantized;
    fix_open_extents(fixed);
    trial.search = halves_.search(fixed, &trial.median_ms);
    result_.trials.push_back(std::move(trial));
    return result_.trials.size() - 1;
  }

  Graph graph_of(const Choice& choice, QuantizeReport* report) const {
    return insert_rounding(prepared_, round_network(bound_, calibration_, options_, choice.left_float, report));
  }

  Trial& trial(size_t k) {
    if (!tried_[k]) tried_[k] = attempt(k);
    return result_.trials[*tried_[k]];
  }

  bool keeps(const Validation& validation) const { return validation.worst_drop() <= search_.max_drop; }

  // The expected drop and one standard error more, as where trees are cut back (Breiman et al., Classification and Regression Trees,
  // 1984, section 3.4.3). Without known classes the changed labels.
  static double likely_drop(const Validation& validation) {
    return validation.with_truth == 0 ? validation.drop() : validation.expected_drop() + validation.expected_error();
  }
  // A search is sure of a choice where few samples neither hide a loss nor make one: the count's bound is rounded up to a whole label.
  bool is_sure(const Validation& validation) const {
    const double label = validation.with_truth == 0 ? 0 : 100 / static_cast<double>(validation.with_truth);
    const double most = label == 0 ? search_.max_drop : label * std::ceil(search_.max_drop / label);
    return validation.drop() <= most + 1e-9 && likely_drop(validation) <= search_.max_drop;
  }
  // All on integers has to keep the count's bound as it is.
  bool is_sure(size_t k) {
    return is_sure(trial(k).search) && (k > 0 || (keeps(trial(0).search) && keeps(trial(0).all())));
  }

  // True where the judging half, and both halves together, keep the bound: what a person asked for, with no label on top.
  bool passes(const Trial& trial) const { return keeps(*trial.judged) && keeps(trial.all()); }

  bool is_found(const Trial& trial) const {
    if (!trial.judged) return false;
    if (!result_.searched || trial.choice.layers == 0) return keeps(trial.all()) && is_sure(trial.all());
    return is_sure(trial.search) && passes(trial);
  }

  bool holds(const Trial& trial) const {
    if (!trial.judged) return false;
    if (!result_.searched) return keeps(trial.all());
    return passes(trial) && (keeps(trial.search) || (trial.choice.layers > 0 && is_sure(trial.search)));
  }

  void judge(Trial& trial) const {
    if (trial.judged) return;
    QuantizeReport unused;
    Graph fixed = graph_of(trial.choice, &unused);
    fix_open_extents(fixed);
    trial.judged = halves_.judge(fixed);
  }

  bool over() const { return result_.trials.size() >= kMostTrials || search_.deadline.stops(); }

  // The first choice that surely keeps the bound on the half that searches: 1, 2, 4, ... and then between the last that does not and
  // the first that does. choices_.size() where none does.
  size_t first_kept() {
    size_t fails = 0, kept = choices_.size();
    if (is_sure(size_t{0})) return 0;
    for (size_t k = 1; k < choices_.size() && kept == choices_.size() && !over();) {
      (is_sure(k) ? kept : fails) = k;
      k = k + 1 < choices_.size() ? std::min(2 * k, choices_.size() - 1) : k + 1;
    }
    while (kept < choices_.size() && kept > fails + 1 && !over()) {
      const size_t middle = fails + (kept - fails) / 2;
      (is_sure(middle) ? kept : fails) = middle;
    }
    return kept;
  }

  // The other half judges it, and while that says no, choices with more layers in float32.
  void find() {
    for (size_t k = first_kept(); k < choices_.size() && !over(); k += std::max<size_t>(1, k / 4)) {
      if (!is_sure(k)) continue;
      judge(trial(k));
      if (passes(trial(k))) return;
    }
  }

  SearchResult finish() {
    // A trial that the search looked for comes first, by multiply-adds in float32; else the one that loses least.
    const auto better = [&](const Trial& a, const Trial& b) {
      const bool a_found = is_found(a), b_found = is_found(b);
      if (a_found != b_found) return a_found;
      const double a_drop = a_found ? 0 : likely_drop(a.all()), b_drop = b_found ? 0 : likely_drop(b.all());
      if (a_drop != b_drop) return a_drop < b_drop;
      return a.choice.float_share < b.choice.float_share;
    };
    std::vector<Trial>& trials = result_.trials;
    std::stable_sort(trials.begin(), trials.end(),
                     [](const Trial& a, const Trial& b) { return a.choice.layers < b.choice.layers; });
    auto best = std::min_element(trials.begin(), trials.end(), better);
    judge(*best);
    if (!holds(*best)) {
      const auto other = std::find_if(trials.begin(), trials.end(), [&](const Trial& t) { return holds(t); });
      if (other != trials.end()) best = other;
    }
    result_.best = static_cast<size_t>(best - trials.begin());
    result_.holds = holds(*best);
    return std::move(result_);
  }

  const Graph& prepared_;
  const Graph& bound_;
  const Calibration& calibration_;
  const QuantizeOptions& options_;
  const Halves& halves_;
  const SearchOptions& search_;
  std::vector<Choice> choices_;
  std::vector<std::optional<size_t>> tried_;  // by choice: index into the trials
  SearchResult result_;
};

}  // namespace

Validation Trial::all() const {
  Validation all = search;
  if (judged) all.add(*judged);
  return all;
}

std::vector<Choice> choices_by_sensitivity(const Graph& bound, const Sensitivity& sensitivity,
                                           const QuantizeOptions& options, double most_float) {
  return Chooser(bound, sensitivity, options).run(most_float);
}

SearchResult search_layers(const Graph& prepared, const Graph& bound, const Calibration& calibration,
                           const QuantizeOptions& options, const Halves& halves,
                           const std::function<Sensitivity()>& measure, const SearchOptions& search) {
  return Search(prepared, bound, calibration, options, halves, search).run(measure);
}

}  // namespace dnn::quant
