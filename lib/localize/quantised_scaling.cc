// Telling scaled channels from integers; see quantised_scaling.h.
#include "localize/quantised_scaling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "convert/surgery.h"
#include "localize/factor_bounds.h"
#include "localize/hard_functions.h"
#include "localize/quantised_rows.h"
#include "ops/op.h"
#include "ops/weights.h"
#include "passes/pass.h"

namespace dnn {
namespace {

constexpr double kFine = 8;                                  // steps from which an integer tells of a ratio
constexpr size_t kMostRatios = 512;                          // that a median is of
constexpr double kSameFactor = 0.05, kSameBiasFactor = 0.2;  // logarithms of factors that are taken for one
constexpr double kErrors = 3;                                // and so many times what rounding has them off by
constexpr double kLeastError = 1e-3;                         // what a factor may be off by, however narrow its interval
constexpr double kVague = 0.01;                              // an error with which a bias tells better
constexpr double kNoWitness = 0.3;                           // an error of rounding that leaves nothing to tell by
constexpr double kScaled = 0.05;                             // the logarithm of a factor that is none of rounding
constexpr double kInputs = 100;                              // how large a layer's inputs may be in the mean
constexpr double kBiasSteps = 64;                            // from which a bias tells of a ratio
constexpr double kLargestInteger = 127, kSameInteger = 1;    // of a row with a scale of its own
constexpr double kByLargest = 0.8;                           // that have such a scale
constexpr double kNearlyHalf = 1.3;                          // half steps: rounding, by a factor that is off a little
constexpr double kFewestTelling = 32;                        // integers, of which one or two are no share
constexpr double kAsMuch = 0.05, kMostUnexplained = 0.34;    // shares of integers
constexpr double kFewUnexplained = 0.1, kManyUnexplained = 0.5;
constexpr size_t kTrustedPart = 8;  // of a value's channels
constexpr int kRobustSweeps = 6, kFineSweeps = 6, kBoundRounds = 3;

// Reads what both networks hold of their layers.
class SideReader {
 public:
  SideReader(const Graph& folded, const Graph& target)
      : folded_(folded), target_(target), uses_(target), folded_uses_(folded) {}

  std::vector<BothWeights> read(const QuantisedMatch& match) {
    for (const QuantisedLayer& layer : match.layers) read_layer(layer);
    for (const auto& [theirs, ours] : match.values) read_norm(theirs, ours);
    return std::move(sides_);
  }

 private:
  void read_layer(const QuantisedLayer& layer) {
    const Node &ours = folded_.node(layer.source), &theirs = target_.node(layer.target);
    const Tensor *weights = folded_.constant(ours.input(1)), *plain = target_.constant(theirs.input(1));
    // The columns of a grouped ConvTranspose are of each group's inputs alone.
    if (weights == nullptr || (ours.op == "ConvTranspose" && int_attribute(ours, "group") > 1)) return;
    const auto held = quantised_constant(target_, uses_, layer.target, 1);
    if (!held && plain == nullptr) return;
    const auto from = weight_rows(ours, weights->shape(), to_doubles(*weights));
    const auto to = held ? weight_rows(theirs, held->shape, held->numbers)
                         : weight_rows(theirs, plain->shape(), to_doubles(*plain));
    if (!from || !to || from->n != to->n || from->width != to->width) return;
    BothWeights both;
    both.source = layer.source;
    both.target = layer.target;
    both.n = from->n;
    both.width = from->width;
    both.depthwise = is_depthwise(folded_, ours);
    if (is_convolution(ours) && !both.depthwise) both.taps = both.width / static_cast<size_t>(weights->dim(1));
    both.ours = from->numbers;
    both.theirs = to->numbers;
    both.steps.assign(both.theirs.size(), 0);
    both.at_end.assign(both.theirs.size(), false);
    for (size_t place = 0; held && place < both.theirs.size(); ++place) {
      both.steps[place] = held->steps[to->elements[place]];
      both.at_end[place] = held->at_end[to->elements[place]];
    }
    // A whole step, so that weights rounded adaptively are no sign of a factor.
    both.off = held ? !judge_rows(*from, *to, *held, true).wrong.empty() : differ(both);
    read_bias(layer, &both);
    sides_.push_back(std::move(both));
  }

  void read_bias(const QuantisedLayer& layer, BothWeights* both) const {
    const Node& theirs = target_.node(layer.target);
    if (theirs.op == "MatMul" || theirs.input(2) == kNoValue || layer.bias.size() != both->n) return;
    if (const auto held = quantised_constant(target_, uses_, layer.target, 2)) {
      both->target_bias = held->numbers;
      both->bias_steps = held->steps;
    } else if (const Tensor* plain = target_.constant(theirs.input(2)); plain != nullptr && is_float(plain->dtype())) {
      both->target_bias = to_doubles(*plain);
      both->bias_steps.assign(both->n, 0);
    }
    both->bias = layer.bias;
    if (both->target_bias.size() != both->n || both->bias_steps.size() != both->n) both->target_bias.clear();
  }

  // A LayerNormalization multiplies channels, and stays in float.
  void read_norm(ValueId theirs_value, ValueId ours_value) {
    const NodeId theirs = uses_.producer[theirs_value], ours = folded_uses_.producer[ours_value];
    if (theirs < 0 || ours < 0 || target_.node(theirs).op != "LayerNormalization" ||
        folded_.node(ours).op != "LayerNormalization")
      return;
    const Tensor *from = folded_.constant(folded_.node(ours).input(1)),
                 *to = target_.constant(target_.node(theirs).input(1));
    if (from == nullptr || to == nullptr || from->size() != to->size()) return;
    BothWeights both;
    both.source = ours;
    both.target = theirs;
    both.n = from->size();
    both.width = 1;
    both.depthwise = true;
    both.ours = to_doubles(*from);
    both.theirs = to_doubles(*to);
    both.steps.assign(both.n, 0);
    both.at_end.assign(both.n, false);
    both.off = differ(both);
    const Tensor *shift = folded_.constant(folded_.node(ours).input(2)),
                 *shifted = target_.constant(target_.node(theirs).input(2));
    if (shift != nullptr && shifted != nullptr && shift->size() == from->size() && shifted->size() == from->size()) {
      both.bias = to_doubles(*shift);
      both.target_bias = to_doubles(*shifted);
      both.bias_steps.assign(both.n, 0);
    }
    sides_.push_back(std::move(both));
  }

  static bool differ(const BothWeights& both) {
    for (size_t i = 0; i < both.ours.size(); ++i) {
      if (std::abs(both.ours[i] - both.theirs[i]) > 10 * kFloatError * std::abs(both.ours[i])) return true;
    }
    return false;
  }

  const Graph &folded_, &target_;
  const Uses uses_, folded_uses_;
  std::vector<BothWeights> sides_;
};

double median(std::vector<double>* numbers) {
  const auto middle = numbers->begin() + static_cast<std::ptrdiff_t>(numbers->size() / 2);
  std::nth_element(numbers->begin(), middle, numbers->end());
  return *middle;
}

// The factors of a channel that are compatible with rounding.
struct Interval {
  double low = 0, high = std::numeric_limits<double>::infinity();
  bool bounded() const { return low > 0 && std::isfinite(high); }
};

// Both networks' layers with what each of them says of a channel's factor.
class ScaleWitnesses {
 public:
  explicit ScaleWitnesses(std::vector<BothWeights> sides) : sides_(std::move(sides)) {}

 protected:
  struct Value {
    ValueBetween between;
    size_t maker = 0;
    std::vector<size_t> readers;
    std::vector<double> factors, errors;
    std::vector<bool> agreed;   // by channel: two witnesses say the same
    std::vector<bool> by_bias;  // the weights tell too little
    std::vector<bool> kept;     // so, or by a scale
    // In so many channels the bias says what the layer in front says and not what those behind say, or the reverse, that the others are wrong
    // as a whole.
    bool front_trusted = false, behind_trusted = false;
    bool live = true;
  };

  double in_factor(const BothWeights& both, size_t place) const {
    return both.in < 0 ? 1 : values_[both.in].factors[both.column(place)];
  }
  double out_factor(const BothWeights& both, size_t place) const {
    return both.out < 0 ? 1 : values_[both.out].factors[place / both.width];
  }

  // The places in a layer's rows that a channel of the value that it makes, or reads, is in.
  template <class Visit>
  static void places(const BothWeights& both, bool makes, size_t channel, const Visit& visit) {
    if (makes || both.depthwise) {
      for (size_t i = 0; i < both.width; ++i) visit(channel * both.width + i);
      return;
    }
    for (size_t row = 0; row < both.n; ++row) {
      for (size_t k = 0; k < both.taps; ++k) visit(row * both.width + channel * both.taps + k);
    }
  }

  // The logarithm of a channel's factor, and what rounding may have it off by.
  struct Said {
    double factor = 0, error = 0;
  };
  using Witness = std::optional<Said>;

  // By a layer's weights: of integers that tell, the median, which one wrong number does not move; of small ones the least squares.
  Witness by_weights(const BothWeights& both, bool makes, size_t channel) const {
    std::vector<double> ratios;
    double product = 0, squares = 0, noise = 0;
    places(both, makes, channel, [&](size_t place) {
      const double a = std::abs(both.ours[place]) * (makes ? in_factor(both, place) : 1 / out_factor(both, place));
      const double t = both.ours[place] < 0 ? -both.theirs[place] : both.theirs[place], step = both.steps[place];
      if (a == 0) return;
      product += a * t;
      squares += a * a;
      noise += a * a * step * step / 12;
      if (t > 0 && t >= kFine * step && ratios.size() < kMostRatios) ratios.push_back(makes ? a / t : t / a);
    });
    if (!(product > 0)) return std::nullopt;
    const double error = std::sqrt(noise) / product;
    if (error > kNoWitness) return std::nullopt;
    if (!ratios.empty()) return Said{std::log(median(&ratios)), error};
    return Said{std::log(makes ? squares / product : product / squares), error};
  }

  Witness by_bias(const BothWeights& both, size_t channel) const {
    if (both.target_bias.empty() || both.bias.size() != both.n) return std::nullopt;
    const double ours = both.bias[channel], theirs = both.target_bias[channel];
    if (!(ours * theirs > 0) || std::abs(theirs) < kBiasSteps * both.bias_steps[channel]) return std::nullopt;
    // It may make up for the row's own error: of a row of next to nothing, for next to nothing.
    double steps = both.bias_steps[channel];
    places(both, true, channel, [&](size_t place) { steps += both.steps[place]; });
    return Said{std::log(ours / theirs), std::min(kSameBiasFactor / kErrors, kInputs * steps / std::abs(theirs))};
  }

  // By the scale of a row in front, which its largest number gives: it outlives integers that are wrong.
  Witness by_scale(const BothWeights& both, size_t channel) const {
    const size_t first = channel * both.width;
    if (!by_largest_ || !is_by_largest(both, channel)) return std::nullopt;
    double largest = 0;
    for (size_t place = first; place < first + both.width; ++place)
      largest = std::max(largest, std::abs(both.ours[place]) * in_factor(both, place));
    if (largest == 0) return std::nullopt;
    return Said{std::log(largest / (kLargestInteger * both.steps[first])), kSameInteger / kLargestInteger};
  }
  static bool is_by_largest(const BothWeights& both, size_t row) {
    double largest = 0;
    for (size_t place = row * both.width; place < (row + 1) * both.width; ++place)
      largest = std::max(largest, both.steps[place] > 0 ? std::abs(both.theirs[place]) / both.steps[place] : 0);
    return std::abs(largest - kLargestInteger) <= kSameInteger;
  }
  // True where the quantiser gave rows the scales of their largest numbers.
  bool rows_by_largest() const {
    size_t n = 0, n_rows = 0;
    for (const BothWeights& both : sides_) {
      for (size_t row = 0; row < both.n; ++row) n += is_by_largest(both, row) ? 1 : 0;
      n_rows += both.n;
    }
    return static_cast<double>(n) > kByLargest * static_cast<double>(n_rows);
  }

  static bool alike(const Witness& a, const Witness& b) {
    return a && b && std::abs(a->factor - b->factor) <= kSameFactor + kErrors * (a->error + b->error);
  }

  std::vector<BothWeights> sides_;
  std::vector<Value> values_;
  bool by_largest_ = false;  // each row's scale is of its largest number
};

class ScaleFinder : public ScaleWitnesses {
 public:
  ScaleFinder(const Graph& folded, std::vector<BothWeights> sides)
      : ScaleWitnesses(std::move(sides)), folded_(folded) {}

  ScaledChannels run() {
    read_values();
    by_largest_ = rows_by_largest();
    for (bool again = !values_.empty(); again;) {
      estimate();
      again = drop_rejected();
    }
    // Nearer estimates contradict fewer numbers.
    for (int round = 0; round < kBoundRounds; ++round) take_bounds();
    return result();
  }

 private:
  // ------------------------------------------------------------------------------------------ what is there

  void read_values() {
    const auto side_of = [&](NodeId node) {
      return static_cast<size_t>(
          std::find_if(sides_.begin(), sides_.end(), [&](const BothWeights& s) { return s.source == node; }) -
          sides_.begin());
    };
    for (ValueBetween& between : values_between(folded_)) {
      Value value;
      value.maker = side_of(between.maker);
      if (value.maker == sides_.size() || !sides_[value.maker].off) continue;
      bool off = false, fit = true;
      for (NodeId reader : between.readers) {
        value.readers.push_back(side_of(reader));
        fit = fit && value.readers.back() < sides_.size() &&
              sides_[value.readers.back()].columns() == sides_[value.maker].n;
        off = off || (fit && sides_[value.readers.back()].off);
      }
      if (!fit || !off) continue;
      const int index = static_cast<int>(values_.size());
      sides_[value.maker].out = index;
      for (size_t reader : value.readers) sides_[reader].in = index;
      value.factors.assign(sides_[value.maker].n, 1);
      value.errors.assign(value.factors.size(), 0);
      value.agreed.assign(value.factors.size(), false);
      value.by_bias.assign(value.factors.size(), false);
      value.kept.assign(value.factors.size(), false);
      value.between = std::move(between);
      values_.push_back(std::move(value));
    }
  }

  // ------------------------------------------------------------------------------------------ what they say

  Witness by_layers_behind(const Value& value, size_t channel) const {
    Witness behind;
    for (size_t reader : value.readers) {
      const Witness one = by_weights(sides_[reader], false, channel);
      if (one && (!behind || one->error < behind->error)) behind = one;
    }
    return behind;
  }

  // A layer behind that is wrong as a whole is so in all channels, of which the bias in front may tell some.
  void choose_side(Value* value) const {
    size_t n_front = 0, n_behind = 0;
    for (size_t c = 0; c < value->factors.size(); ++c) {
      const Witness bias = by_bias(sides_[value->maker], c), behind = by_layers_behind(*value, c);
      const bool in_front = alike(by_weights(sides_[value->maker], true, c), bias), is_behind = alike(behind, bias);
      n_front += in_front && behind && !is_behind ? 1 : 0;
      n_behind += is_behind && !in_front ? 1 : 0;
    }
    const size_t most = value->factors.size() / kTrustedPart;
    value->front_trusted = n_front > n_behind && n_front > most;
    value->behind_trusted = n_behind > n_front && n_behind > most;
  }

  // Takes what two witnesses say; where all contradict each other, what the layers behind say.
  void choose(Value* value, size_t channel) const {
    const BothWeights& maker = sides_[value->maker];
    const Witness scale = by_scale(maker, channel), bias = by_bias(maker, channel),
                  behind = by_layers_behind(*value, channel);
    Witness front = by_weights(maker, true, channel);
    // Integers that contradict their own scale are wrong.
    if (!alike(front, scale) && (alike(scale, behind) || alike(scale, bias))) front = scale;
    Witness chosen = behind && !(front && value->front_trusted) ? behind : front ? front : bias;
    value->agreed[channel] = true;
    if (alike(front, behind)) {
      chosen = explains_more(*value, channel, *front, *behind) ? front : behind;
    } else if (alike(front, bias) && !(alike(behind, bias) && apart(behind, bias) < apart(front, bias))) {
      chosen = front;
    } else if (!alike(behind, bias)) {
      value->agreed[channel] = false;
    }
    if (front && behind && !alike(front, behind)) {
      if (const auto one = only_multiple(*value, channel, *front, *behind)) chosen = *one ? front : behind;
    }
    value->by_bias[channel] = chosen && bias && chosen->error > std::min(kVague, bias->error) && alike(chosen, bias);
    if (value->by_bias[channel]) chosen = bias;
    value->kept[channel] = value->by_bias[channel] || (scale && chosen && chosen->factor == scale->factor);
    if (chosen) value->factors[channel] = std::exp(chosen->factor);
  }
  // Two that are near each other may be a right one, and one of a row that is wrong by a step: then its own integers are no roundings by it.
  bool explains_more(const Value& value, size_t channel, const Said& front, const Said& behind) const {
    if (value.front_trusted || value.behind_trusted) return value.front_trusted;
    const double in_front = unexplained(sides_[value.maker], true, channel, std::exp(front.factor));
    double furthest = 0;
    for (size_t reader : value.readers)
      furthest = std::max(furthest, unexplained(sides_[reader], false, channel, std::exp(behind.factor)));
    return std::abs(in_front - furthest) < kAsMuch ? front.error < behind.error : in_front < furthest;
  }
  // Tells which of two that contradict each other counts, true for the one in front: that whose integers are roundings by it, where the
  // other's are none. A layer whose numbers are no multiple of the source's is wrong. Nothing where both are, or neither.
  std::optional<bool> only_multiple(const Value& value, size_t channel, const Said& front, const Said& behind) const {
    const double in_front = unexplained(sides_[value.maker], true, channel, std::exp(front.factor));
    double furthest = 0;
    for (size_t reader : value.readers)
      furthest = std::max(furthest, unexplained(sides_[reader], false, channel, std::exp(behind.factor)));
    if (in_front < kFewUnexplained && furthest > kManyUnexplained) return true;
    if (furthest < kFewUnexplained && in_front > kManyUnexplained) return false;
    return std::nullopt;
  }
  // The share of a channel's integers in a layer that are no roundings if this is its factor; 0 of few.
  double unexplained(const BothWeights& both, bool makes, size_t channel, double factor) const {
    double n = 0, n_off = 0;
    places(both, makes, channel, [&](size_t place) {
      const double a =
          std::abs(both.ours[place]) * (makes ? in_factor(both, place) / factor : factor / out_factor(both, place));
      const double t = std::abs(both.theirs[place]);
      ++n;
      n_off += std::abs(a - t) > kNearlyHalf * both.half(place) && !(both.at_end[place] && a > t) ? 1 : 0;
    });
    return n < kFewestTelling ? 0 : n_off / n;
  }
  static double apart(const Witness& a, const Witness& b) { return std::abs(a->factor - b->factor); }

  void estimate() {
    for (Value& value : values_) std::fill(value.factors.begin(), value.factors.end(), 1);
    for (Value& value : values_) {
      for (size_t c = 0; value.live && c < value.factors.size(); ++c) {
        if (const Witness front = by_weights(sides_[value.maker], true, c)) value.factors[c] = std::exp(front->factor);
      }
    }
    for (int sweep = 0; sweep < kRobustSweeps; ++sweep) {
      for (size_t i = 0; i < values_.size(); ++i) {
        Value& value = values_[sweep % 2 == 0 ? values_.size() - 1 - i : i];
        if (value.live) choose_side(&value);
        for (size_t c = 0; value.live && c < value.factors.size(); ++c) choose(&value, c);
      }
    }
    for (int sweep = 0; sweep < kFineSweeps; ++sweep) {
      for (Value& value : values_) {
        for (size_t c = 0; value.live && c < value.factors.size(); ++c) refine(&value, c);
      }
    }
  }

  // To the middle of what rounding to nearest allows, by the layers that agree.
  void refine(Value* value, size_t channel) const {
    const Witness now = Said{std::log(value->factors[channel]), 0};
    Interval interval;
    const auto take = [&](const BothWeights& both, bool makes) {
      if (alike(by_weights(both, makes, channel), now) &&
          unexplained(both, makes, channel, value->factors[channel]) <= kMostUnexplained)
        narrow(both, makes, channel, &interval);
    };
    take(sides_[value->maker], true);
    for (size_t reader : value->readers) take(sides_[reader], false);
    value->errors[channel] = kNoWitness;
    // Bounds that cross are of a layer that is wrong.
    if (!interval.bounded() || interval.low > interval.high) return;
    value->errors[channel] = std::max(kLeastError, std::abs(std::log(interval.high / interval.low)) / 2);
    if (!value->by_bias[channel]) value->factors[channel] *= std::sqrt(interval.low * interval.high);
  }

  // Narrows what a channel's factor may be multiplied by.
  void narrow(const BothWeights& both, bool makes, size_t channel, Interval* interval) const {
    places(both, makes, channel, [&](size_t place) {
      const double a = std::abs(both.ours[place]) * in_factor(both, place) / out_factor(both, place);
      const double t = std::abs(both.theirs[place]), half = both.half(place);
      if (a == 0 || std::abs(a - t) > 2 * half) return;  // another number, or beyond the last integer
      const double most = both.at_end[place] ? std::numeric_limits<double>::infinity() : t + half;
      const double least = t - half;
      interval->low = std::max(interval->low, makes ? a / most : least / a);
      if (!makes || least > 0) interval->high = std::min(interval->high, makes ? a / least : most / a);
    });
  }

  // To what all layers together allow, so that every integer is a rounding; and what a factor may be off by then. A bias tells better where
  // the weights tell little.
  void take_bounds() {
    std::vector<std::vector<double>> factors;
    std::vector<std::vector<bool>> keep;
    for (const Value& value : values_) {
      factors.push_back(value.live ? value.factors : std::vector<double>());
      keep.push_back(value.kept);
    }
    const std::vector<SettledFactors> settled = settle_factors(sides_, factors, keep, kVague);
    for (size_t v = 0; v < values_.size(); ++v) {
      for (size_t c = 0; c < factors[v].size(); ++c) {
        values_[v].factors[c] = settled[v].factors[c];
        const double error = settled[v].errors[c];
        if (error > 0) values_[v].errors[c] = std::clamp(error, kLeastError, kNoWitness);
      }
    }
  }

  // ------------------------------------------------------------------------------------------ what counts

  // Values whose layers do not agree that they were scaled; the others are estimated again without them.
  bool drop_rejected() {
    bool dropped = false, left = false;
    for (Value& value : values_) {
      if (!value.live) continue;
      size_t agreed = 0, scaled = 0;
      for (size_t c = 0; c < value.factors.size(); ++c) {
        if (!value.agreed[c]) continue;
        ++agreed;
        scaled += std::abs(std::log(value.factors[c])) > kScaled ? 1 : 0;
      }
      value.live = agreed * 2 > value.factors.size() && scaled > 0;
      dropped = dropped || !value.live;
      left = left || value.live;
    }
    return dropped && left;
  }

  ScaledChannels result() const {
    ScaledChannels found;
    for (const Value& value : values_) {
      if (!value.live) continue;
      const BothWeights& maker = sides_[value.maker];
      found.layers[maker.source].rows = value.factors;
      found.layers[maker.source].errors = value.errors;
      for (size_t reader : value.readers) {
        found.layers[sides_[reader].source].columns = value.factors;
        found.layers[sides_[reader].source].column_errors = value.errors;
      }
      if (folded_.node(maker.source).op == "LayerNormalization") found.norms[maker.target] = maker.source;
      found.values.push_back({value.between, value.factors});
    }
    return found;
  }

  const Graph& folded_;
};

// Batch norms that are in no layer become products and sums, and activations that are decomposed one operator, where the target has them so.
void write_like(const Graph& target, Graph* folded) {
  std::set<std::string, std::less<>> theirs;
  for (NodeId id : target.order()) theirs.insert(target.node(id).op);
  PassOptions options;
  options.changes = theirs.count("BatchNormalization") != 0 ? "only:recognize-activations"
                                                            : "only:simplify-inference,recognize-activations";
  // Nothing is left out, so that all values keep their names.
  options.allow = [&](const Graph&, const std::string&, const Patch& patch) {
    return std::any_of(patch.added().begin(), patch.added().end(),
                       [&](const Node& node) { return theirs.count(node.op) != 0; });
  };
  run_passes(*folded, options);
  infer_types(*folded);
}

QuantisedSource folded_as(const Graph& source, const Graph& target, QuantisedSource::Fold fold) {
  QuantisedSource made;
  made.folded = source;
  made.fold = fold;
  if (fold == QuantisedSource::Fold::All) fold_into_layers(made.folded);
  if (fold == QuantisedSource::Fold::BatchNorms) fold_batch_norms(made.folded);
  infer_types(made.folded);
  write_like(target, &made.folded);
  decompose_hard_functions(made.folded, target);
  made.scaled =
      ScaleFinder(made.folded, SideReader(made.folded, target).read(match_quantised(made.folded, target))).run();
  if (made.scaled.values.empty()) return made;
  made.equal = made.folded;
  for (const ScaledChannels::Value& value : made.scaled.values)
    scale_between(*made.equal, made.folded, value.between, value.factors);
  infer_types(*made.equal);
  return made;
}

// Layers of the target whose integers are no rounding of the source's weights.
size_t n_unexplained(const QuantisedSource& source, const Graph& target) {
  const Uses uses(target);
  const QuantisedMatch match = match_quantised(source.as_quantised(), target);
  size_t n = 0;
  for (NodeId id : target.order())
    n += has_weight_input(target.node(id)) && quantised_constant(target, uses, id, 1) ? 1 : 0;
  for (const QuantisedLayer& layer : match.layers) {
    const auto rows = held_rows(source.as_quantised(), target, uses, layer);
    if (rows && judge_rows(rows->ours, rows->theirs, rows->weights, true).wrong.empty()) --n;
  }
  return n;
}

}  // namespace

QuantisedSource quantised_source(const Graph& source, const Graph& target) {
  using Fold = QuantisedSource::Fold;
  const bool has_norms = std::any_of(target.order().begin(), target.order().end(),
                                     [&](NodeId id) { return target.node(id).op == "BatchNormalization"; });
  QuantisedSource best;
  size_t least = 0;
  for (const Fold fold : {Fold::BatchNorms, Fold::All, Fold::None}) {
    if (fold == Fold::None && !has_norms) continue;
    QuantisedSource made = folded_as(source, target, fold);
    const size_t unexplained = n_unexplained(made, target);
    if (fold != Fold::BatchNorms && unexplained >= least) continue;
    best = std::move(made);
    least = unexplained;
    if (least == 0) break;
  }
  return best;
}

namespace {

constexpr double kMostOfColumn = 0.02;  // an error of more would let any number of the column stand for another

// The column of each place in a layer's rows, of so many.
size_t column_at(const Node& layer, const WeightRows& rows, size_t n_columns, size_t place) {
  const bool by_row = is_convolution(layer) && int_attribute(layer, "group") > 1;  // a kernel for each channel
  return by_row ? place / rows.width : place % rows.width / (rows.width / n_columns);
}

}  // namespace

std::vector<double> element_scales(const Node& layer, const WeightRows& rows, const LayerScales& scales) {
  std::vector<double> factors(rows.numbers.size(), 1);
  for (size_t place = 0; place < factors.size(); ++place) {
    if (!scales.columns.empty()) factors[place] *= scales.columns[column_at(layer, rows, scales.columns.size(), place)];
    if (!scales.rows.empty()) factors[place] /= scales.rows[place / rows.width];
  }
  return factors;
}

std::vector<double> element_errors(const Node& layer, const WeightRows& rows, const LayerScales& scales) {
  std::vector<double> errors(rows.numbers.size(), 0);
  const std::vector<double>& of_columns = scales.column_errors;
  for (size_t place = 0; place < errors.size(); ++place) {
    if (!of_columns.empty())
      errors[place] += std::min(of_columns[column_at(layer, rows, of_columns.size(), place)], kMostOfColumn);
    if (!scales.errors.empty()) errors[place] += scales.errors[place / rows.width];
  }
  return errors;
}

}  // namespace dnn
