// Tells what is wrong with rows of weights; see quantised_rows.h.
#include "localize/quantised_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "localize/parameters.h"
#include "localize/words.h"

namespace dnn {
namespace {

constexpr double kMostClipped = 2;  // of the last number that there is: what a quantiser of weights leaves out
constexpr double kOtherFactor = 0.01;
constexpr double kStepsOfLost = 4;   // a bias that was no rounding to 0
constexpr size_t kFewestLost = 3;    // of which no chance has made 0
constexpr double kLastDigit = 1e-6;  // by which a quotient of float32 may be off
constexpr double kClearly = 0.25;    // of squares of what a bias is off by, which chance does not leave
constexpr double kLeastTimes = 1.0 + 1e-9;
constexpr double kNearer = 0.7;      // of squares of what a bias's numbers are off by, with other scales
constexpr double kPerOctave = 1000;  // times what quantising explains: an exact relation that does not hold

size_t element_at(const WeightRows& rows, size_t row, size_t i) { return rows.elements[row * rows.width + i]; }

// The rows that share a scale.
using Group = std::vector<size_t>;

// The scale with which the integers of a group, less `zero`, stand for these weights best, and whether they do.
struct Fit {
  double scale = 0;
  bool fits = false;
};

// Rows by the scales that they share, and what may be said of these.
class RowGroups {
 public:
  RowGroups(const HeldRows& held, const RowsEvidence& evidence, const Graph& target)
      : held_(held),
        ours_(held.ours),
        theirs_(held.theirs),
        weights_(held.weights),
        evidence_(evidence),
        node_(target.node(held.weights.dequantize)),
        graph_(target) {
    scales_ = to_doubles(*graph_.constant(node_.input(1)));
    wrong_.assign(ours_.n, false);
    for (size_t row : evidence.judged.wrong) wrong_[row] = true;
  }

 protected:
  // Each row has one scale, which may be all rows'.
  bool scales_of_rows() const {
    for (size_t row = 0; row < theirs_.n; ++row) {
      for (size_t i = 1; i < theirs_.width; ++i) {
        if (weights_.groups[element_at(theirs_, row, i)] != weights_.groups[element_at(theirs_, row, 0)]) return false;
      }
    }
    return true;
  }
  size_t group_of(size_t row) const { return weights_.groups[element_at(theirs_, row, 0)]; }
  std::vector<Group> groups() const {
    std::vector<Group> found(weights_.n_scales);
    for (size_t row = 0; row < theirs_.n; ++row) found[group_of(row)].push_back(row);
    return found;
  }
  double integer(size_t row, size_t i) const {
    const double step = weights_.steps[element_at(theirs_, row, i)];
    return step == 0 ? 0 : std::nearbyint(theirs_.at(row, i) / step);
  }

  // Other rows of the source stand in for these where `from` says so.
  Fit fit(const Group& rows, const std::function<size_t(size_t)>& from = {}) const {
    double product = 0, squares = 0;
    for (size_t row : rows) {
      for (size_t i = 0; i < theirs_.width; ++i) {
        const double q = integer(row, i);
        product += q * ours_.at(from ? from(row) : row, i);
        squares += q * q;
      }
    }
    Fit best;
    if (squares == 0 || product == 0) return best;
    best.scale = product / squares;
    // Half a step, and what the estimate may be off by at the largest integers.
    best.fits = best.scale > 0 && stands_for(rows, best.scale, kHalfStep + 127 / std::sqrt(squares), from);
    return best;
  }
  bool stands_for(const Group& rows, double scale, double steps, const std::function<size_t(size_t)>& from) const {
    for (size_t row : rows) {
      const size_t source = from ? from(row) : row;
      for (size_t i = 0; i < theirs_.width; ++i) {
        const double w = ours_.at(source, i), t = integer(row, i) * scale;
        if (std::abs(t - w) <= steps * scale + slack(source, i) || clipped(weights_, element_at(theirs_, row, i), w, t))
          continue;
        return false;
      }
    }
    return true;
  }

  // The source's number may be off: it was folded in float32, and scaled by a factor that is not known to the last digit.
  double slack(size_t row, size_t i) const {
    const double error = evidence_.errors.empty() ? 0 : evidence_.errors[row * ours_.width + i];
    return kFoldedError * largest_weight(ours_, row) + error * std::abs(ours_.at(row, i));
  }

  // A scale that a quantiser would have computed from the largest weight, where its integers are these; else the estimate.
  double exact_scale(const Group& rows, double estimate) const {
    double largest = 0;
    for (size_t row : rows) largest = std::max(largest, largest_weight(ours_, row));
    for (double most : {127.0, 127.5, 128.0, 63.0, 7.0, 7.5, 8.0}) {
      const double scale = static_cast<double>(static_cast<float>(largest / most));
      bool all = scale > 0;
      for (size_t row : rows) {
        for (size_t i = 0; i < theirs_.width && all; ++i)
          all = std::abs(ours_.at(row, i) / scale - integer(row, i)) <= kHalfStep ||
                clipped(weights_, element_at(theirs_, row, i), ours_.at(row, i), integer(row, i) * scale);
      }
      if (all && std::abs(scale / estimate - 1) < 0.02) return scale;
    }
    return estimate;
  }

  bool is_wrong(const Group& rows) const {
    return std::any_of(rows.begin(), rows.end(), [&](size_t row) { return wrong_[row]; });
  }
  // The scale that a group's biases were made for.
  std::optional<double> scale_of_bias(const Group& rows) const {
    if (evidence_.scales.empty() || rows.empty()) return std::nullopt;
    const double scale = evidence_.scales[rows[0]];
    const bool same = std::all_of(rows.begin(), rows.end(), [&](size_t row) {
      return std::abs(evidence_.scales[row] / scale - 1) <= kSameScale;
    });
    return same ? std::optional(scale) : std::nullopt;
  }
  // By those that biases were made for, most of the groups that are wrong are right.
  bool biases_give_scales(const std::vector<Group>& all) const {
    size_t n_wrong = 0, n_given = 0;
    for (const Group& group : all) {
      if (!is_wrong(group)) continue;
      ++n_wrong;
      const auto given = scale_of_bias(group);
      n_given += given && stands_for(group, *given, kHalfStep, {}) ? 1 : 0;
    }
    return n_given * 2 > n_wrong;
  }
  // Where biases were made for the scales that are there, or the largest weight gives each of them, the integers are not right.
  bool scales_are_right(const std::vector<Group>& all) const {
    size_t n_wrong = 0, n_right = 0;
    for (size_t g = 0; g < all.size(); ++g) {
      if (!is_wrong(all[g])) continue;
      ++n_wrong;
      const auto given = scale_of_bias(all[g]);
      const bool agrees = given ? std::abs(*given / scales_[g] - 1) <= kSameScale : natural(all[g], scales_[g]);
      n_right += agrees && !wrong_with_bias(all[g], scales_[g]) ? 1 : 0;
    }
    return n_right == n_wrong;
  }
  // A scale that the bias's is a product of goes wrong together with that. The bias's integers say which scale they were made for; where
  // they are too small, the largest weight does.
  bool wrong_with_bias(const Group& rows, double scale) const {
    if (evidence_.biases.empty()) return false;
    const Fit best = fit(rows);
    if (!best.fits) return false;
    double as_it_is = 0, by_fit = 0, steps = 0;
    for (size_t row : rows) {
      const RowBias& bias = evidence_.biases[row];
      as_it_is += std::pow(bias.theirs - bias.ours, 2);
      by_fit += std::pow(bias.theirs * best.scale / scale - bias.ours, 2);
      steps += bias.step * bias.step;
    }
    if (by_fit < kClearly * as_it_is && kClearly * as_it_is > steps) return true;
    if (as_it_is < kClearly * by_fit && kClearly * by_fit > steps) return false;
    return natural(rows, best.scale) && !natural(rows, scale);
  }

  bool natural(const Group& rows, double scale) const {
    double largest = 0;
    for (size_t row : rows) largest = std::max(largest, largest_weight(ours_, row));
    return largest > 0 && std::abs(largest / scale - 127.5) < 1;
  }

  const HeldRows& held_;
  const WeightRows &ours_, &theirs_;
  const QuantisedConstant& weights_;
  const RowsEvidence& evidence_;
  const Node& node_;
  const Graph& graph_;
  std::vector<double> scales_;
  std::vector<bool> wrong_;
};

class Diagnosis : public RowGroups {
 public:
  using RowGroups::RowGroups;

  WeightDiagnosis run() {
    if (scales_of_rows()) {
      if (by_axis() || by_scale() || by_zero_point()) return std::move(found_);
    } else if (by_axis()) {
      return std::move(found_);
    }
    by_rows();
    return std::move(found_);
  }

 private:
  bool by_scale() {
    std::vector<double> right = scales_;
    std::vector<size_t> changed;
    double low = 0, high = 0;
    const std::vector<Group> all = groups();
    if (scales_are_right(all)) return false;
    const bool by_biases = biases_give_scales(all);
    for (size_t g = 0; g < all.size(); ++g) {
      const auto given = by_biases ? scale_of_bias(all[g]) : std::nullopt;
      if (given && std::abs(*given / scales_[g] - 1) > kLastDigit) right[g] = *given;
      if (given ? std::abs(*given / scales_[g] - 1) <= kSameScale : !is_wrong(all[g])) continue;
      const Fit best = given ? Fit{*given, true} : fit(all[g]);
      if (!best.fits) return false;
      if (!given) right[g] = exact_scale(all[g], best.scale);
      const double factor = scales_[g] / right[g];
      low = changed.empty() ? factor : std::min(low, factor);
      high = std::max(high, factor);
      changed.push_back(g);
    }
    if (changed.empty()) return false;
    std::vector<double> given = scales_, wanted = right;
    std::sort(given.begin(), given.end());
    std::sort(wanted.begin(), wanted.end());
    bool order = changed.size() > 1;
    for (size_t i = 0; i < given.size(); ++i) order = order && std::abs(given[i] / wanted[i] - 1) < 0.01;
    const std::string which = all.size() == 1 ? "scale"
                              : changed.size() == 1
                                  ? cat("scale of channel ", changed[0])
                                  : cat("scales of ", changed.size(), " of ", all.size(), " channels");
    found_.what =
        order ? cat("weights: scales of ", changed.size(), " channels in another order")
              : cat("weights: ", which, " ", words::number(low),
                    high > low * 1.01 ? cat(" to ", words::number(high)) : "", " times what the source's weights want");
    found_.fix = "set the scale that the source's weights want";
    found_.key = "scale";
    found_.numbers = std::move(right);
    return true;
  }

  bool by_zero_point() {
    const Tensor* zero = graph_.constant(node_.input(2));
    std::vector<double> right = zero == nullptr ? std::vector<double>{0} : to_doubles(*zero);
    const std::vector<Group> all = groups();
    if (right.size() != all.size()) return false;
    double moved = 0;
    size_t changed = 0;
    for (size_t g = 0; g < all.size(); ++g) {
      if (!is_wrong(all[g])) continue;
      double sum = 0, n = 0;
      for (size_t row : all[g]) {
        for (size_t i = 0; i < ours_.width; ++i) sum += theirs_.at(row, i) - ours_.at(row, i);
        n += static_cast<double>(ours_.width);
      }
      const double steps = std::nearbyint(sum / n / scales_[g]);
      if (steps == 0) return false;
      for (size_t row : all[g]) {
        for (size_t i = 0; i < ours_.width; ++i) {
          const double d = theirs_.at(row, i) - steps * scales_[g] - ours_.at(row, i);
          if (std::abs(d) > kHalfStep * scales_[g] + slack(row, i)) return false;
        }
      }
      right[g] += steps;
      moved = steps;
      ++changed;
    }
    if (changed == 0) return false;
    found_.what =
        cat("weights: zero point ", words::number(std::abs(moved)), std::abs(moved) == 1 ? " step" : " steps", " too ",
            moved > 0 ? "low" : "high", all.size() == 1 ? "" : cat(" in ", changed, " of ", all.size(), " channels"));
    found_.fix = "set the zero point that the source's weights want";
    found_.key = "zero point";
    found_.numbers = std::move(right);
    return true;
  }

  // The scales along another axis of the integers, where that makes all right.
  bool by_axis() {
    const Tensor& integers = *graph_.constant(node_.input(0));
    if (weights_.n_scales < 2 || !weights_.places.empty()) return false;
    const int64_t rank = integers.rank();
    const int64_t given = node_.attribute_int("axis", 1);
    const int64_t now = given < 0 ? given + rank : given;
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (axis == now || integers.dim(static_cast<int>(axis)) != static_cast<int64_t>(scales_.size())) continue;
      const size_t stride = row_major_strides(integers.shape())[axis];
      bool all = true;
      for (size_t row = 0; row < theirs_.n && all; ++row) {
        for (size_t i = 0; i < theirs_.width && all; ++i) {
          const size_t at = element_at(theirs_, row, i);
          const double scale = scales_[at / stride % scales_.size()], w = ours_.at(row, i), t = integer(row, i) * scale;
          all = std::abs(t - w) <= kHalfStep * scale + slack(row, i) || clipped(weights_, at, w, t);
        }
      }
      if (!all) continue;
      found_.what = cat("weights: scales along axis ", now, ", and not along axis ", axis);
      found_.fix = "set the axis that the scales are of";
      found_.key = "axis";
      found_.numbers = {static_cast<double>(axis)};
      return true;
    }
    return false;
  }

  // Integers may change places.
  bool same_zero_points() const {
    const Tensor* zero = graph_.constant(node_.input(2));
    const std::vector<double> zeros = zero == nullptr ? std::vector<double>{0} : to_doubles(*zero);
    return std::all_of(zeros.begin(), zeros.end(), [&](double z) { return z == zeros[0]; });
  }

  void by_rows() {
    found_.rows = evidence_.judged.wrong;
    found_.fix = "quantise the source's weights again, with the scales that are there";
    const size_t n = evidence_.judged.wrong.size();
    const std::string which = n == 1 ? cat("row ", evidence_.judged.wrong[0]) : cat(n, " of ", theirs_.n, " rows");
    // Rows that other rows' weights stand for.
    size_t swapped = 0, of_another = 0;
    for (size_t row : evidence_.judged.wrong) {
      for (size_t other = 0; other < ours_.n && ours_.n <= 4096; ++other) {
        if (other == row || !fit({row}, [&](size_t) { return other; }).fits) continue;
        ++swapped;
        of_another = other;
        break;
      }
    }
    size_t off = 0, elements = 0;
    double steps = 0;
    for (size_t row : evidence_.judged.wrong) {
      for (size_t i = 0; i < theirs_.width; ++i) {
        const double step = weights_.steps[element_at(theirs_, row, i)];
        const double d = std::abs(theirs_.at(row, i) - ours_.at(row, i)) / (step == 0 ? 1 : step);
        ++elements;
        if (d <= kHalfStep) continue;
        ++off;
        steps = std::max(steps, d);
      }
    }
    const auto order = order_of(held_, evidence_.judged.wrong, evidence_.errors, evidence_.adaptive);
    if (order && same_zero_points()) {
      found_.key = "order";
      found_.order = *order;
      found_.fix = "put the integers that are there in the source's order";
    }
    if (order && order->rows.empty()) {
      found_.what = cat("weights ", order->text());
    } else if (swapped == n && ours_.width > 1) {
      found_.what =
          n == 1 ? cat("weights: row ", evidence_.judged.wrong[0], " holds what is row ", of_another, " of the source")
                 : cat("weights: ", n, " rows in another order");
    } else if (steps <= 1.01) {
      found_.what = cat("weights: ", which, " rounded otherwise than to nearest, ", off, " of ", elements,
                        " integers by one step");
    } else {
      found_.what = cat("weights: ", which, n == 1 ? " holds" : " hold", " other numbers, ", off, " of ", elements,
                        " integers off by up to ", words::number(steps), " steps");
    }
  }

  WeightDiagnosis found_;
};

// A bias that is 0 everywhere, which nothing that it makes up for has it be.
bool is_lost(const std::vector<double>& ours, const std::vector<double>& theirs, const std::vector<double>& steps) {
  size_t n = 0;
  double largest = 0;
  for (double b : ours) largest = std::max(largest, std::abs(b));
  for (size_t c = 0; c < ours.size(); ++c) {
    if (theirs[c] != 0) return false;
    n += std::abs(ours[c]) > kStepsOfLost * steps[c] + kOtherFactor * largest ? 1 : 0;
  }
  return n >= kFewestLost;
}

}  // namespace

double largest_weight(const WeightRows& rows, size_t row) {
  double largest = 0;
  for (size_t i = 0; i < rows.width; ++i) largest = std::max(largest, std::abs(rows.at(row, i)));
  return largest;
}

bool clipped(const QuantisedConstant& weights, size_t at, double ours, double theirs) {
  return weights.at_end[at] && ours * theirs > 0 && std::abs(ours) >= std::abs(theirs) &&
         std::abs(ours) <= kMostClipped * std::abs(theirs);
}

RowsJudged judge_rows(const WeightRows& ours, const WeightRows& theirs, const QuantisedConstant& weights,
                      bool adaptive) {
  RowsJudged judged;
  for (size_t row = 0; row < ours.n; ++row) {
    const double slack = kFoldedError * largest_weight(ours, row);
    double worst = 0, in_steps = 0;
    for (size_t i = 0; i < ours.width; ++i) {
      const size_t at = element_at(theirs, row, i);
      const double w = ours.at(row, i), t = theirs.at(row, i), d = std::abs(t - w);
      if (clipped(weights, at, w, t)) continue;
      const double allowed = kHalfStep * weights.steps[at] * (adaptive ? 2 : 1) + slack;
      worst = std::max(worst, !(d > 0) ? 0 : allowed > 0 ? d / allowed : 1e9);
      if (weights.steps[at] > 0) in_steps = std::max(in_steps, d / weights.steps[at]);
    }
    judged.times = std::max(judged.times, worst);
    if (worst <= 1) continue;
    judged.wrong.push_back(row);
    judged.n_adaptive += in_steps <= 2 * kHalfStep ? 1 : 0;
  }
  return judged;
}

WeightDiagnosis diagnose_weights(const HeldRows& held, const RowsEvidence& evidence, const Graph& target) {
  return Diagnosis(held, evidence, target).run();
}

BiasDiagnosis diagnose_bias(const std::vector<double>& ours, const std::vector<double>& theirs,
                            const std::vector<double>& steps, const std::vector<double>& allowed) {
  BiasDiagnosis found;
  double product = 0, squares = 0;
  for (size_t c = 0; c < ours.size(); ++c) {
    product += ours[c] * theirs[c];
    squares += ours[c] * ours[c];
    const double d = std::abs(theirs[c] - ours[c]);
    if (d <= allowed[c]) continue;
    found.rows.push_back(c);
    found.times = std::max(found.times, allowed[c] > 0 ? d / allowed[c] : 1e9);
  }
  if (found.rows.empty() && !is_lost(ours, theirs, steps)) return found;
  const double factor = squares > 0 ? product / squares : 0;
  bool scaled = factor > 0 && std::abs(factor - 1) > kOtherFactor && found.rows.size() * 2 > ours.size();
  double left = 0, theirs_squares = 0;
  for (size_t c = 0; c < ours.size(); ++c) {
    const double d = std::abs(theirs[c] - factor * ours[c]);
    left += d * d;
    theirs_squares += theirs[c] * theirs[c];
    scaled = scaled && d <= allowed[c] * std::max(1.0, factor) + 0.02 * std::abs(factor * ours[c]);
  }
  // Numbers that are small beside what is allowed are any bias's times some factor.
  scaled = scaled && left < kClearly * theirs_squares;
  if (scaled && steps[0] > 0) {
    found.factor = factor;
    found.what = cat("bias: scale ", words::number(factor), " times what the source's bias wants");
    found.fix = "set the scale that the source's bias wants";
    found.key = "scale";
    for (double step : steps) found.numbers.push_back(step / factor);
    return found;
  }
  found.times = std::max(found.times, kLeastTimes);
  found.what = found.rows.empty() ? "bias: all numbers are 0, and the source's are not"
                                  : cat("bias: ", found.rows.size(), " of ", ours.size(),
                                        " numbers further from the source's than quantisation explains");
  // With them goes what other inputs would show.
  const bool most =
      found.rows.size() * 2 > ours.size() || std::all_of(theirs.begin(), theirs.end(), [](double b) { return b == 0; });
  found.rows.clear();
  for (size_t c = 0; c < ours.size(); ++c) {
    if (most || std::abs(theirs[c] - ours[c]) > allowed[c] / 4) found.rows.push_back(c);
  }
  found.fix = steps[0] > 0 ? "quantise the source's bias again, with the scales that are there"
                           : "copy the bias from the source";
  return found;
}

BiasDiagnosis diagnose_bias_scale(const std::vector<double>& ours, const QuantisedConstant& bias,
                                  const std::vector<double>& products) {
  BiasDiagnosis found;
  if (bias.numbers.size() != ours.size() || products.size() != ours.size()) return found;
  double as_it_is = 0, by_product = 0, low = 0, high = 0, times = 0;
  size_t n_other = 0;
  for (size_t c = 0; c < ours.size(); ++c) {
    if (!(bias.steps[c] > 0) || !(products[c] > 0)) return found;
    // One scale for all channels can be no product of theirs.
    if (bias.n_scales == 1 && std::abs(products[c] / products[0] - 1) > kSameScale) return found;
    const double factor = bias.steps[c] / products[c];
    if (std::abs(factor - 1) <= kSameScale) continue;
    low = n_other == 0 ? factor : std::min(low, factor);
    high = std::max(high, factor);
    ++n_other;
    times = std::max(times, kPerOctave * std::abs(std::log2(factor)));
    as_it_is += std::pow(bias.numbers[c] - ours[c], 2);
    by_product += std::pow(bias.numbers[c] / factor - ours[c], 2);
  }
  if (n_other == 0 || !(by_product < kNearer * as_it_is)) return found;
  found.times = times;
  found.what = cat("bias: ", n_other == ours.size() ? "scale " : cat("scales of ", n_other, " channels "),
                   words::number(low), high > low * (1 + kOtherFactor) ? cat(" to ", words::number(high)) : "",
                   " times the input's by the weights'");
  found.fix = "set the scale to the input's times the weights'";
  found.key = "scale";
  found.numbers = products;
  return found;
}

}  // namespace dnn
