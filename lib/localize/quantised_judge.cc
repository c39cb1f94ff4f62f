// Holding a quantised network to its source; see quantised_judge.h.
#include "localize/quantised_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

#include "localize/parameters.h"
#include "localize/quantised_ground.h"
#include "localize/used_range.h"
#include "localize/words.h"
#include "ops/op.h"
#include "ops/weights.h"

namespace dnn {
namespace {

constexpr double kAdaptiveShare = 0.5;
constexpr double kMostChannels = 0.75;  // whose ranges tell of a value whose channels were scaled
constexpr size_t kFewestProducts = 3;   // biases from which a scale is held to be its input's times its weights'
// Other ranges from which a quantiser's are held to be symmetric: one may be by chance.
constexpr size_t kFewestRanges = 2;
constexpr double kFits = 1.05;          // of a range: how far inputs like those that a quantiser saw go
constexpr double kLeastUsual = 0.5;     // of a range: less is none that was chosen for inputs like these
constexpr double kCorrected = 0.5;      // of what rounding takes in the mean, in the biases of most layers
constexpr double kErrsOtherwise = 1.5;  // times what another scale leaves
constexpr double kErrsMore = 4;         // times what another zero point leaves
constexpr double kOutlier = 1.6;        // of a range: no quantiser leaves so much out on inputs like those that it saw

class WeightJudge : public JudgeGround {
 public:
  using JudgeGround::JudgeGround;

 protected:
  void read_layers() {
    size_t n_rows = 0, n_adaptive = 0;
    for (const QuantisedLayer& layer : verdict_.match.layers) {
      auto rows = held_rows(source_, target_, uses_, layer);
      if (!rows) continue;
      HeldLayer held;
      static_cast<HeldRows&>(held) = std::move(*rows);
      held.layer = &layer;
      held.judged = judge_rows(held.ours, held.theirs, held.weights, false);
      n_rows += held.theirs.n;
      n_adaptive += held.judged.n_adaptive;
      layers_.push_back(std::move(held));
    }
    verdict_.adaptive = static_cast<double>(n_adaptive) > kAdaptiveShare * static_cast<double>(n_rows);
    if (!verdict_.adaptive) return;
    for (HeldLayer& held : layers_) held.judged = judge_rows(held.ours, held.theirs, held.weights, true);
  }

  QuantisedFault fault_of(const HeldLayer& held, NodeId node) const {
    QuantisedFault fault;
    fault.node = node;
    fault.layer = held.layer->target;
    fault.source = held.layer->source;
    return fault;
  }

  void set_fold(Edit* edit) const {
    edit->folded = of_.fold != QuantisedSource::Fold::None;
    edit->all_folded = of_.fold == QuantisedSource::Fold::All;
  }
  Edit edit_of(const HeldLayer& held, NodeId node, size_t input, std::string_view key) const {
    Edit edit;
    edit.kind = Edit::Kind::Quantised;
    edit.source = first_made(source_, held.layer->source);
    edit.target = first_made(target_, node);
    set_fold(&edit);
    edit.input = input;
    edit.key = key;
    const auto scales = of_.scaled.layers.find(held.layer->source);
    if (scales == of_.scaled.layers.end() || edit.key != "integers") return edit;
    edit.divided = scales->second.rows;
    if (input == 1) edit.multiplied = scales->second.columns;
    return edit;
  }

  // ---------------------------------------------------------------------------------------- weights

  void judge_weights(HeldLayer* held) {
    held->weights_right = held->judged.wrong.empty();
    verdict_.weights[held->layer->target] = held->weights_right;
    if (held->weights_right) return;
    QuantisedFault fault = fault_of(*held, held->weights.dequantize);
    fault.times = held->judged.times;
    const WeightDiagnosis found = diagnose_weights(
        *held, {held->judged, verdict_.adaptive, element_errors_of(*held), scales_by_bias(*held), row_biases(*held)},
        target_);
    fault.what = found.what;
    fault.fix = found.fix;
    Edit edit = edit_of(*held, held->weights.dequantize, 1, found.key);
    edit.numbers = found.numbers;
    edit.rows = found.key == "order" ? found.order.rows : found.rows;
    edit.perm = found.order.perm;
    if (edit.key == "order") edit.numbers.assign(found.order.reversed.begin(), found.order.reversed.end());
    fault.edits.push_back(std::move(edit));
    const auto input = input_scale(*held);
    if (found.key == "scale" && input && is_product(*held, bias_over_input(*held))) {
      for (size_t row = 0; row < held->theirs.n; ++row)
        held->weight_steps.push_back(static_cast<double>(
            static_cast<float>(found.numbers[held->weights.groups[held->theirs.elements[row * held->theirs.width]]])));
      fault.edits.push_back(product_edit(*held, input->scale));
    }
    verdict_.faults.push_back(std::move(fault));
  }
  // The scale of a layer's integer bias becomes that of an input times the weights'.
  Edit product_edit(const HeldLayer& held, double input) const {
    const auto bias = quantised_constant(target_, uses_, held.layer->target, 2);
    Edit edit = edit_of(held, bias->dequantize, 2, "scale");
    edit.numbers = products(held, input);
    if (bias->n_scales != edit.numbers.size()) edit.numbers.resize(1);
    return edit;
  }
  // By row, where the bias has the product of the scales that are there.
  std::vector<RowBias> row_biases(const HeldLayer& held) const {
    if (!is_product(held, bias_over_input(held))) return {};
    const auto bias = quantised_constant(target_, uses_, held.layer->target, 2);
    std::vector<RowBias> rows;
    for (size_t c = 0; c < bias->numbers.size(); ++c)
      rows.push_back({c < held.layer->bias.size() ? held.layer->bias[c] : 0, bias->numbers[c], bias->steps[c]});
    return rows;
  }
  // Errors of the factors that rows were scaled by; empty where none were.
  const std::vector<double>& errors_of(const HeldLayer& held) const {
    static const std::vector<double> none;
    const auto scales = of_.scaled.layers.find(held.layer->source);
    return scales == of_.scaled.layers.end() ? none : scales->second.errors;
  }

  std::vector<double> element_errors_of(const HeldLayer& held) const {
    const auto scales = of_.scaled.layers.find(held.layer->source);
    return scales == of_.scaled.layers.end()
               ? std::vector<double>()
               : element_errors(source_.node(held.layer->source), held.ours, scales->second);
  }
  // By row: the scale of weights that the integer bias was made for, where this network's biases have the scales of such products.
  std::vector<double> scales_by_bias(const HeldLayer& held) const {
    std::vector<double> scales = bias_over_input(held);
    const size_t n_others = n_biases_ - (scales.empty() ? 0 : 1),
                 n_held = n_products_ - (is_product(held, scales) ? 1 : 0);
    return n_held * 2 >= n_others ? scales : std::vector<double>();
  }
  void count_products() {
    for (const HeldLayer& held : layers_) {
      const std::vector<double> scales = bias_over_input(held);
      n_biases_ += scales.empty() ? 0 : 1;
      n_products_ += is_product(held, scales) ? 1 : 0;
    }
  }

  size_t n_biases_ = 0, n_products_ = 0;  // integer biases, and those whose scales are their input's times the weights'
};

// Weights and biases.
class LayerJudge : public WeightJudge {
 public:
  using WeightJudge::WeightJudge;

 protected:
  void judge_layers() {
    read_layers();
    count_products();
    for (HeldLayer& held : layers_) judge_weights(&held);
    for (HeldLayer& held : layers_) judge_bias(&held);
    settle_biases();
  }

 private:
  // Quantisers may let a bias make up for what rounding its layer's weights takes in the mean. Where this network's do, a bias that is made
  // anew has to.
  bool corrects_biases() const {
    std::vector<double> shares;
    for (const HeldLayer& held : layers_) {
      if (!held.weights_right || !held.bias_right || held.lost.empty()) continue;
      double product = 0, squares = 0;
      for (size_t c = 0; c < held.lost.size(); ++c) {
        product += (held.bias[c] - held.source_bias[c]) * held.lost[c];
        squares += held.lost[c] * held.lost[c];
      }
      if (squares > 0) shares.push_back(product / squares);
    }
    std::sort(shares.begin(), shares.end());
    return !shares.empty() && shares[shares.size() / 2] >= kCorrected;
  }

  // Beside the network's other biases: numbers that are made anew, or only put in order.
  void settle_biases() {
    const bool corrected = corrects_biases();
    for (HeldLayer& held : layers_) {
      if (!held.weights_right || held.bias.empty()) continue;
      std::vector<const HeldBias*> others;
      for (const HeldLayer& other : layers_) {
        if (&other != &held && other.weights_right && other.bias_right && !other.bias.empty()) others.push_back(&other);
      }
      const SettledBias settled = settle_bias(held, others, corrected);
      auto fault = std::find_if(verdict_.faults.begin(), verdict_.faults.end(), [&](const QuantisedFault& f) {
        return f.node == held.bias_node && !f.edits.empty() && f.edits[0].input == 2 && f.edits[0].key == "integers";
      });
      if (fault != verdict_.faults.end()) {
        Edit& edit = fault->edits[0];
        if (corrected) edit.numbers = held.lost;
        if (edit.rows.size() < held.bias.size() && !settled.wrong.empty()) edit.rows = settled.wrong;
        if (!settled.order.empty()) put_in_order(held, settled, &*fault);
      } else if (held.bias_right && settled.sure) {
        held.bias_right = verdict_.biases[held.layer->target] = false;
        QuantisedFault missed = fault_of(held, held.bias_node);
        missed.times = settled.times;
        put_in_order(held, settled, &missed);
        verdict_.faults.push_back(std::move(missed));
      }
    }
  }
  void put_in_order(const HeldLayer& held, const SettledBias& settled, QuantisedFault* fault) const {
    fault->what = cat("bias: ", settled.wrong.size(), " of ", held.bias.size(), " numbers in another order");
    fault->fix = "put the numbers that are there in the source's order";
    BiasDiagnosis found;
    found.key = "order";
    found.rows = settled.order;
    const auto quantised = quantised_constant(target_, uses_, held.layer->target, 2);
    fault->edits.clear();
    if (std::optional<Edit> edit = bias_edit(held, held.bias_node, found, quantised)) fault->edits.push_back(*edit);
  }

  // How far a bias may be off, by channel.
  std::vector<double> allowed_of(const HeldLayer& held, const std::vector<double>& ours,
                                 const std::vector<double>& steps, const SourceRange& input) const {
    const auto scale = input_scale(held);
    double largest = 0;
    for (double x : ours) largest = std::max(largest, std::abs(x));
    const std::vector<double>& errors = errors_of(held);
    std::vector<double> allowed;
    for (size_t c = 0; c < ours.size(); ++c) {
      // A layer whose weights are wrong says nothing of what its bias makes up for.
      allowed.push_back(
          steps[c] * 0.501 + 1e-5 * largest +
          made_up(held, target_.node(held.layer->target), c, input, scale ? scale->scale : 0, !held.weights_right));
      if (!errors.empty()) allowed[c] += errors[c] * std::abs(ours[c]);
    }
    return allowed;
  }

  // The edit that mends a bias, which the node `at` makes. One in float is copied, which one that was divided cannot be: nothing then.
  std::optional<Edit> bias_edit(const HeldLayer& held, NodeId at, const BiasDiagnosis& found,
                                const std::optional<QuantisedConstant>& quantised) const {
    Edit edit = edit_of(held, at, 2, quantised ? found.key : "integers");
    if (quantised) {
      edit.numbers = found.numbers;
      edit.rows = found.rows;
      if (edit.key == "scale" && quantised->n_scales != edit.numbers.size()) edit.numbers.resize(1);
      return edit;
    }
    if (!edit.divided.empty()) return std::nullopt;
    edit = Edit();
    edit.source = first_made(source_, held.layer->source);
    edit.target = first_made(target_, held.layer->target);
    edit.input = 2;
    set_fold(&edit);
    return edit;
  }

  // A bias whose scale is the product of scales, one of which is wrong, means what its integers do by the right ones.
  void mean_by_right_scales(HeldLayer* held, const std::vector<double>& ours, QuantisedConstant* bias) const {
    const auto input = input_scale(*held);
    const NodeId maker = quantiser_behind(target_.node(held->layer->target).input(0));
    if (!input || !is_product(*held, bias_over_input(*held)) || bias->numbers.size() != ours.size()) return;
    if (held->weights_right && maker >= 0) {
      const double factor = scale_of(target_, target_.node(maker)).value_or(*input).scale / input->scale;
      if (std::abs(factor - 1) > kSameScale && nearer_by(factor, ours, *bias)) held->input_factor = factor;
    }
    if (held->input_factor == 1 && held->weight_steps.empty()) return;
    const std::vector<double> right = products(*held, input->scale * held->input_factor);
    for (size_t c = 0; c < right.size(); ++c) {
      bias->numbers[c] *= right[c] / bias->steps[c];
      bias->steps[c] = right[c];
    }
  }

  // The fault of a bias: a scale that is no product, or numbers that are off by more than is allowed.
  BiasDiagnosis diagnosis_of(const HeldLayer& held, const std::vector<double>& ours, const std::vector<double>& theirs,
                             const std::vector<double>& steps, const std::vector<double>& allowed,
                             const std::optional<QuantisedConstant>& quantised) const {
    const auto scale = input_scale(held);
    BiasDiagnosis found;
    if (quantised && scale && held.weights_right)
      found = diagnose_bias_scale(ours, *quantised, products(held, scale->scale * held.input_factor));
    if (found.what.empty()) found = diagnose_bias(ours, theirs, steps, allowed);
    if (found.what.empty() || !scale || found.numbers.empty()) return found;
    // The product that it should be, where that is what the estimate means.
    const std::vector<double> wanted = products(held, scale->scale * held.input_factor);
    for (size_t c = 0; c < found.numbers.size(); ++c) {
      if (std::abs(found.numbers[c] / wanted[c] - 1) < 0.1) found.numbers[c] = wanted[c];
    }
    return found;
  }

  void judge_bias(HeldLayer* held) {
    const Node& node = target_.node(held->layer->target);
    verdict_.biases[held->layer->target] = true;
    if (node.op == "MatMul" || node.input(2) == kNoValue) {
      verdict_.biases[held->layer->target] = false;
      return;
    }
    std::vector<double> theirs, steps;
    NodeId at = held->layer->target;
    auto quantised = quantised_constant(target_, uses_, held->layer->target, 2);
    std::vector<double> ours = held->layer->bias;
    if (quantised) {
      if (ours.empty()) ours.assign(quantised->numbers.size(), 0);
      mean_by_right_scales(held, ours, &*quantised);
      theirs = quantised->numbers;
      steps = quantised->steps;
      at = quantised->dequantize;
    } else if (const Tensor* plain = target_.constant(node.input(2)); plain != nullptr && is_float(plain->dtype())) {
      theirs = to_doubles(*plain);
      steps.assign(theirs.size(), 0);
    } else {
      return;
    }
    if (ours.empty()) ours.assign(theirs.size(), 0);
    const auto ranged = ranges_.find(source_.value(source_.node(held->layer->source).input(0)).name);
    const SourceRange* input = ranged == ranges_.end() ? range_of(node.input(0)) : &ranged->second;
    if (ours.size() != theirs.size() || ours.size() != held->ours.n || input == nullptr) {
      verdict_.biases[held->layer->target] = false;
      return;
    }
    const std::vector<double> allowed = allowed_of(*held, ours, steps, *input);
    const BiasDiagnosis found = diagnosis_of(*held, ours, theirs, steps, allowed, quantised);
    held->bias = theirs;
    held->source_bias = ours;
    held->bias_steps = steps;
    held->bias_node = at;
    held->allowed = allowed;
    held->lost = lost_by_rounding(*held, node, *input);
    if (found.what.empty()) return;
    held->bias_right = verdict_.biases[held->layer->target] = false;
    QuantisedFault fault = fault_of(*held, at);
    fault.times = found.times;
    fault.what = found.what;
    fault.fix = found.fix;
    if (std::optional<Edit> edit = bias_edit(*held, at, found, quantised)) fault.edits.push_back(std::move(*edit));
    verdict_.faults.push_back(std::move(fault));
  }
};

// Ranges of activations, beside each other.
class RangeJudge : public LayerJudge {
 public:
  using LayerJudge::LayerJudge;

 protected:
  void keep_range(NodeId id, const QuantisedScale& own, const SourceRange& range, const std::vector<NodeId>& readers) {
    const auto there = verdict_.match.values.find(target_.node(id).output(0));
    const ValueId value = there->second;
    // Factors of channels were made of what calibration saw of them: of a few, other inputs show a multiple.
    const auto [low, high] =
        scaled_.count(value) != 0 ? range.of_channels(kMostChannels) : std::pair(range.low, range.high);
    UsedRange used = {id, &range, own, std::min(range.low, 0.0), std::max(range.high, 0.0), readers};
    used.of_all = used.beyond();
    used.low = std::min(low, 0.0);
    used.high = std::max(high, 0.0);
    const Uses& uses = source_uses_;
    const std::vector<NodeId>& behind = uses.readers[value];
    if (behind.size() == 1 && !source_.is_output(value)) {
      if (const auto bounds = clamp_bounds(source_, source_.node(behind[0]))) {
        used.low = std::clamp(used.low, bounds->first, bounds->second);
        used.high = std::clamp(used.high, bounds->first, bounds->second);
        used.bounds = *bounds;
      }
    }
    const NodeId maker = uses.producer[value];
    static const std::set<std::string, std::less<>> kBounded = {"Softmax", "Sigmoid", "Tanh", "HardSigmoid",
                                                                "LogSoftmax"};
    used.bounded = maker >= 0 && kBounded.count(source_.node(maker).op) != 0;
    used.shared = joins_integers(target_.node(id).output(0));
    for (const UsedRange& other : used_) {
      if (same(other.own, own)) used.shared = used_[&other - used_.data()].shared = true;
    }
    used_.push_back(std::move(used));
  }

  // Integers that are joined with others, as by a Concat, have one scale, which all of them have to fit.
  bool joins_integers(ValueId integers) const {
    std::vector<ValueId> open = {integers};
    for (size_t i = 0; i < open.size(); ++i) {
      for (NodeId id : uses_.readers[open[i]]) {
        const Node& reader = target_.node(id);
        if (reader.op == "DequantizeLinear" || reader.output(0) == kNoValue) continue;
        size_t n = 0;
        for (ValueId v : reader.inputs) n += v != kNoValue && has_dtype_of(v, integers) ? 1 : 0;
        if (n > 1) return true;
        if (has_dtype_of(reader.output(0), integers)) open.push_back(reader.output(0));
      }
    }
    return false;
  }
  bool has_dtype_of(ValueId value, ValueId other) const {
    return target_.value(value).type.dtype == target_.value(other).type.dtype;
  }

  // A range is judged beside the network's others, which one quantiser chose in one way on inputs like these.
  void judge_ranges() {
    for (size_t i = 0; i < used_.size(); ++i) {
      const UsedRange& used = used_[i];
      // A value that is 0 on all inputs says nothing of a range.
      const bool silent = used.range->low == 0 && used.range->high == 0;
      if (used.bounded || used.shared || silent) continue;
      double others = 1, others_in_half = 1;
      bool symmetric = true;
      std::set<double> scales;
      for (size_t j = 0; j < used_.size(); ++j) {
        if (j == i || used_[j].bounded) continue;
        // A single other one may be wrong as well.
        for (double beyond : {used_[j].beyond(), used_[j].of_all})
          others = beyond < kOutlier ? std::max(others, beyond) : others;
        if (used_[j].beyond() < kOutlier) others_in_half = std::max(others_in_half, used_[j].beyond_in_half());
        symmetric = symmetric && is_symmetric(used_[j].own);
        scales.insert(used_[j].own.scale);
      }
      // Where the others do not fit these inputs either, or there are hardly any, the quantiser may have seen few inputs.
      const bool fits = scales.size() >= kFewestRanges && others < kFits;
      symmetric = symmetric && scales.size() >= kFewestRanges;
      const double usual = std::max(1.15, others_in_half) * 1.1;
      const auto moved = [&](const UsedRange& how) {
        // A zero point at the end, where the source has nothing to the other side.
        const bool one_sided = how.low >= 0 && how.own.low() < -0.02 * how.own.high() && !is_symmetric(how.own);
        return (symmetric && is_off_centre(how)) || one_sided ||
               (is_moved(how, fits ? UsedRange::kMoved : UsedRange::kMovedOfFew) && !is_symmetric(how.own));
      };
      if (moved(used) && moved(used.uncut())) {
        report_zero_point(used, symmetric);
      } else if (used.beyond_in_half() > usual * 1.25) {
        report_scale(used, "less than the source has there");
      } else if (used.of_all < 0.3 && used.of_all > 0 && used.of_all * 2 < least_used(i)) {
        // A range has to hold what is largest in any channel.
        report_scale(used, "far more than the source has there");
      }
    }
  }
  // A range that ends early on one side may be its quantiser's choice, which leaves out what is rare: then another zero point would err as
  // much.
  static bool is_moved(const UsedRange& used, double part) {
    if (!used.is_moved(part)) return false;
    QuantisedScale other = used.own;
    other.zero_point = used.centred_zero();
    const auto error = [&](const QuantisedScale& own) { return range_error(own, *used.range, used.low, used.high); };
    return error(used.own) > kErrsMore * error(other);
  }
  static double centre(const QuantisedScale& own) { return std::ceil((own.least + own.most) / 2); }
  static bool is_symmetric(const QuantisedScale& own) { return own.zero_point == centre(own); }
  // The zero point is not in the middle, and what the source has would suit the middle better. Ranges of a quantiser that leaves no room
  // to either side may be symmetric by chance, the others of a small network as well.
  static bool is_off_centre(const UsedRange& used) {
    if (is_symmetric(used.own)) return false;
    QuantisedScale other = used.own;
    other.zero_point = centre(used.own);
    return range_error(used.own, *used.range, used.low, used.high) >
           range_error(other, *used.range, used.low, used.high);
  }
  double least_used(size_t but) const {
    double least = 1;
    for (size_t j = 0; j < used_.size(); ++j) {
      if (j != but && !used_[j].bounded && !used_[j].shared) least = std::min(least, used_[j].of_all);
    }
    return least;
  }
  // How far the source goes in the network's other ranges, of the range: what their quantiser leaves beyond inputs like these, or cuts off.
  double usually_used(const UsedRange& but) const {
    std::vector<double> parts;
    for (const UsedRange& used : used_) {
      if (&used != &but && !used.bounded && used.of_all > kLeastUsual && used.of_all < kOutlier)
        parts.push_back(used.of_all);
    }
    if (parts.empty()) return 1;
    std::sort(parts.begin(), parts.end());
    return parts[parts.size() / 2];
  }

  QuantisedFault range_fault(const UsedRange& used, const std::string& what) const {
    QuantisedFault fault = activation_fault(used.quantizer, target_.node(used.quantizer).output(0));
    fault.what = cat(what, ": ", words::number(used.own.low()), " to ", words::number(used.own.high()),
                     ", where the source has ", words::number(used.low), " to ", words::number(used.high));
    fault.fix = "choose the range anew";
    return fault;
  }

  void report_zero_point(const UsedRange& used, bool symmetric) {
    QuantisedFault fault = range_fault(used, cat("zero point ", words::number(used.own.zero_point)));
    const double zero = symmetric ? std::ceil((used.own.least + used.own.most) / 2) : used.centred_zero();
    if (zero == used.own.zero_point) return;
    fault.times = std::max(2.0, 4 * used.beyond());
    fault.edits.push_back(scale_edit(used.quantizer, "zero point", zero));
    for (NodeId reader : used.readers) fault.edits.push_back(scale_edit(reader, "zero point", zero));
    verdict_.ranges.push_back(std::move(fault));
  }

  void report_scale(const UsedRange& used, const char* how) {
    QuantisedFault fault = range_fault(used, cat("the range is ", how));
    const double scale = used.own.scale * std::max(used.of_all / usually_used(used), 1e-6);
    fault.times = std::max(2.0, used.beyond() > 1 ? 4 * used.beyond() : 1 / used.of_all);
    fault.edits.push_back(scale_edit(used.quantizer, "scale", scale));
    for (NodeId reader : used.readers) fault.edits.push_back(scale_edit(reader, "scale", scale));
    verdict_.ranges.push_back(std::move(fault));
  }

  std::vector<UsedRange> used_;
};

// Quantisers of activations, and all of it.
class PairJudge : public RangeJudge {
 public:
  using RangeJudge::RangeJudge;

  QuantisedVerdict run() {
    verdict_.match = match_quantised(source_, target_);
    judge_layers();
    for (NodeId id : target_.order()) {
      if (target_.node(id).op == "QuantizeLinear") judge_activation(id);
    }
    for (HeldLayer& held : layers_) judge_product(held);
    judge_ranges();
    std::stable_sort(verdict_.ranges.begin(), verdict_.ranges.end(),
                     [](const QuantisedFault& a, const QuantisedFault& b) { return a.times > b.times; });
    std::stable_sort(verdict_.faults.begin(), verdict_.faults.end(),
                     [](const QuantisedFault& a, const QuantisedFault& b) { return a.times > b.times; });
    verdict_.n_layers = static_cast<int64_t>(layers_.size());
    return std::move(verdict_);
  }

 private:
  // The DequantizeLinears of a quantised activation, behind operators that only move integers.
  std::vector<NodeId> dequantisers(NodeId quantizer) const {
    std::vector<NodeId> found;
    std::vector<ValueId> open = {target_.node(quantizer).output(0)};
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      for (NodeId id : uses_.readers[v]) {
        const Node& node = target_.node(id);
        if (node.op == "DequantizeLinear" && node.input(0) == v) found.push_back(id);
        if (moves_integers(node) && node.input(0) == v) open.push_back(node.output(0));
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // The scales of all integer biases but one at most are their inputs' times their weights'.
  bool are_products() const { return n_products_ + 1 >= std::max<size_t>(n_biases_, kFewestProducts); }
  // A bias whose numbers are too small to tell its scale by: where all others have the product for a scale, so has this one, and what is
  // wrong is its input's, if the source's numbers say so too.
  bool tells_by_others(const QuantisedScale& own, double scale, const SourceRange* range) const {
    if (!are_products() || range == nullptr) return false;
    QuantisedScale other = own;
    other.scale = scale;
    return range_error(own, *range, range->low, range->high) >
           kErrsOtherwise * range_error(other, *range, range->low, range->high);
  }

  // The scale that biases behind an activation were made for: bias over weights, where both are right and `tells` holds of it.
  template <class Tells>
  std::optional<double> witnessed_scale(const std::vector<NodeId>& readers, const Tells& tells_it) const {
    std::vector<double> seen;
    for (const HeldLayer& held : layers_) {
      if (!held.weights_right || !held.bias_right) continue;
      const NodeId maker = maker_of(target_.node(held.layer->target).input(0));
      if (std::find(readers.begin(), readers.end(), maker) == readers.end()) continue;
      const auto ratio = bias_ratio(held);
      const auto scale = input_scale(held);
      if (ratio && scale && tells_it(held, *scale, *ratio)) seen.push_back(*ratio);
    }
    if (seen.empty()) return std::nullopt;
    const auto [low, high] = std::minmax_element(seen.begin(), seen.end());
    return *high <= *low * (1 + kSameScale) ? std::optional(*low) : std::nullopt;
  }
  // One of a quantiser and what does not dequantise by its scale becomes the other.
  void report_disagreement(NodeId id, const std::vector<NodeId>& apart, bool own_wrong) {
    const QuantisedScale own = *scale_of(target_, target_.node(id)),
                         theirs = *scale_of(target_, target_.node(apart[0])), right = own_wrong ? theirs : own,
                         wrong = own_wrong ? own : theirs;
    QuantisedFault fault = activation_fault(own_wrong ? id : apart[0], target_.node(id).output(0));
    const bool scales = std::abs(wrong.scale / right.scale - 1) > 1e-5;
    fault.what =
        scales
            ? cat("scale ", words::number(wrong.scale), ", where ",
                  own_wrong ? "what dequantises it has " : "what quantised it has ", words::number(right.scale))
            : cat("zero point ", words::number(wrong.zero_point), ", where ",
                  own_wrong ? "what dequantises it has " : "what quantised it has ", words::number(right.zero_point));
    fault.fix = "make quantiser and dequantiser agree";
    fault.times = 1000 * std::max(std::abs(std::log2(wrong.scale / right.scale)),
                                  std::abs(wrong.zero_point - right.zero_point) / 256);
    const std::vector<NodeId> mended = own_wrong ? std::vector<NodeId>{id} : apart;
    for (NodeId m : mended) {
      if (scales) fault.edits.push_back(scale_edit(m, "scale", right.scale));
      if (wrong.zero_point != right.zero_point) fault.edits.push_back(scale_edit(m, "zero point", right.zero_point));
      for (const HeldLayer& held : layers_) {
        if (held.input_factor != 1 && maker_of(target_.node(held.layer->target).input(0)) == m)
          fault.edits.push_back(product_edit(held, right.scale));
      }
    }
    fault.beside = own_wrong ? apart : std::vector<NodeId>{id};
    fault.beside.insert(fault.beside.end(), apart.begin() + (own_wrong ? 0 : 1), apart.end());
    verdict_.faults.push_back(std::move(fault));
  }

  void judge_activation(NodeId id) {
    const Node& node = target_.node(id);
    const auto own = scale_of(target_, node);
    if (!own || target_.constant(node.input(0)) != nullptr) return;
    ++verdict_.n_activations;
    const std::vector<NodeId> readers = dequantisers(id);
    const SourceRange* range = range_of(node.output(0));
    const std::optional<double> witness =
        witnessed_scale(readers, [&](const HeldLayer& held, const QuantisedScale& scale, double ratio) {
          return tells(held, scale.scale / ratio) || tells_by_others(scale, ratio, range);
        });
    // Who does not agree with the others: a dequantiser with the quantiser, or the quantiser with what the rest says.
    std::vector<NodeId> apart;
    for (NodeId reader : readers) {
      const auto theirs = scale_of(target_, target_.node(reader));
      if (theirs && !same(*own, *theirs)) apart.push_back(reader);
    }
    if (!apart.empty()) {
      const auto theirs = *scale_of(target_, target_.node(apart[0]));
      // One of two that do not agree is the scale that a bias was made for, however small its numbers are.
      const auto of_bias = are_products() ? witnessed_scale(readers, [](const auto&...) { return true; }) : witness;
      const bool own_wrong =
          quantiser_wrong(*own, theirs, apart.size() == readers.size(), readers.size(), of_bias, range);
      report_disagreement(id, apart, own_wrong);
      return;
    }
    if (const auto clamp = verdict_.match.missing.find(id);
        clamp != verdict_.match.missing.end() && moved_from_end(id, *own, clamp->second, readers))
      return;
    if (witness && std::abs(*witness / own->scale - 1) > kSameScale) {
      QuantisedFault fault = activation_fault(id, node.output(0));
      fault.what = cat("scale ", words::number(own->scale), ", where the biases behind it were made for ",
                       words::number(*witness));
      fault.fix = "set the scale that the biases behind it were made for";
      fault.times = 1000 * std::abs(std::log2(*witness / own->scale));
      fault.edits.push_back(scale_edit(id, "scale", *witness));
      for (NodeId reader : readers) fault.edits.push_back(scale_edit(reader, "scale", *witness));
      verdict_.faults.push_back(std::move(fault));
      return;
    }
    if (range != nullptr) keep_range(id, *own, *range, readers);
  }

  // A range that would stand for an activation of the source if its zero point were at the end. That activation is nowhere else, so that
  // the zero point is wrong, or the activation is missing. In the first case the range is as wide as what the activation leaves, in
  // the other it ends where the source does without it.
  bool moved_from_end(NodeId id, const QuantisedScale& own, NodeId clamp, const std::vector<NodeId>& readers) {
    const ValueId made = source_.node(clamp).output(0), before = source_.node(clamp).input(0);
    const auto range = ranges_.find(source_.value(made).name), without = ranges_.find(source_.value(before).name);
    const auto bounds = clamp_bounds(source_, source_.node(clamp));
    if (range == ranges_.end() || !bounds || bounds->first != 0 || own.zero_point == own.least) return false;
    const double width = own.high() - own.low();
    if (!(range->second.high > 0) || range->second.high > kOutlier * width || width > bounds->second * 1.01)
      return false;
    const auto apart = [](double a, double b) {
      return a > 0 && b > 0 ? std::abs(std::log(a / b)) : std::numeric_limits<double>::infinity();
    };
    if (without != ranges_.end() &&
        apart(width, range->second.high) >=
            std::max(apart(-own.low(), -without->second.low), apart(own.high(), without->second.high)))
      return false;
    verdict_.match.clamps[id] = clamp;
    verdict_.match.values[target_.node(id).output(0)] = made;
    QuantisedFault fault = activation_fault(id, target_.node(id).output(0));
    fault.what = cat("zero point ", words::number(own.zero_point), ": ", words::number(own.low()), " to ",
                     words::number(own.high()), ", where the source has ", words::number(range->second.low), " to ",
                     words::number(range->second.high));
    fault.fix = "set the zero point to the end of the range";
    fault.times = 1000 * (own.zero_point - own.least) / 256;
    fault.edits.push_back(scale_edit(id, "zero point", own.least));
    for (NodeId reader : readers) fault.edits.push_back(scale_edit(reader, "zero point", own.least));
    verdict_.faults.push_back(std::move(fault));
    return true;
  }

  // Which of two is wrong: what the biases say, what range the source has, and how many say so.
  static bool quantiser_wrong(const QuantisedScale& own, const QuantisedScale& theirs, bool all, size_t n,
                              const std::optional<double>& witness, const SourceRange* range) {
    if (witness && std::abs(own.scale / theirs.scale - 1) > kSameScale)
      return std::abs(*witness / theirs.scale - 1) < std::abs(*witness / own.scale - 1);
    // A range of what is never below 0 begins there.
    if (range != nullptr && range->low >= 0 && own.zero_point != theirs.zero_point &&
        (own.zero_point == own.least) != (theirs.zero_point == theirs.least))
      return own.zero_point != own.least;
    if (!all) return false;
    if (range != nullptr) {
      const double with_own = range_error(own, *range, range->low, range->high),
                   with_theirs = range_error(theirs, *range, range->low, range->high);
      if (with_own > kErrsOtherwise * with_theirs) return true;
      if (with_theirs > kErrsOtherwise * with_own) return false;
    }
    return n > 1;
  }

  // A bias whose scale is no product of its input's and its weights', and whose numbers are right all the same, speaks of its
  // input's scale, which judge_activation() has looked at; here of what no quantiser of the network makes: an input.
  void judge_product(const HeldLayer& held) {
    if (!held.weights_right || !held.bias_right) return;
    const auto scale = input_scale(held);
    const auto ratio = bias_ratio(held);
    if (!scale || !ratio || std::abs(*ratio / scale->scale - 1) <= kSameScale) return;
    const NodeId maker = maker_of(target_.node(held.layer->target).input(0));
    const ValueId integers = target_.node(maker).input(0);
    if (maker_of(integers) >= 0 || !tells(held, scale->scale / *ratio)) return;
    QuantisedFault fault = activation_fault(maker, target_.node(maker).output(0));
    fault.layer = held.layer->target;
    fault.what =
        cat("scale ", words::number(scale->scale), ", where the bias behind it was made for ", words::number(*ratio));
    fault.fix = "set the scale that the biases behind it were made for";
    fault.times = 1000 * std::abs(std::log2(*ratio / scale->scale));
    fault.edits.push_back(scale_edit(maker, "scale", *ratio));
    verdict_.faults.push_back(std::move(fault));
  }
};

}  // namespace

QuantisedVerdict judge_quantised(const QuantisedSource& source, const Graph& target, const SourceRanges& ranges) {
  return PairJudge(source, target, ranges).run();
}

}  // namespace dnn
