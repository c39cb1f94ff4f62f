// Telling the order of integers; see quantised_order.h.
#include "localize/quantised_order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "localize/quantised_rows.h"

namespace dnn {
namespace {

constexpr double kMostError = 0.02;  // of a number: a factor that is off by more tells nothing of an order
constexpr double kMostOff = 0.02;    // of the integers: what a factor that is told coarsely has a step off
constexpr double kStep = 1;          // that it has them off by at most
constexpr size_t kMostOrderedAxes = 5, kMostOrderedRows = 4096, kFewestNumbers = 4;

class OrderSearch {
 public:
  OrderSearch(const HeldRows& held, const std::vector<size_t>& wrong, const std::vector<double>& errors, bool adaptive)
      : held_(held), wrong_(wrong), errors_(errors), half_(kHalfStep * (adaptive ? 2 : 1)) {
    const WeightRows& ours = held.ours;
    for (size_t row = 0; row < ours.n; ++row) largest_.push_back(largest_weight(ours, row));
  }

  std::optional<IntegerOrder> run() const {
    if (auto rows = by_rows()) return rows;
    return by_axes();
  }

 private:
  // How many steps an integer at one place is off as our number at another, beyond what rounding explains: 0 where it explains it.
  double steps_off(size_t place, size_t from_element) const {
    const QuantisedConstant& weights = held_.weights;
    const double step = weights.steps[held_.theirs.elements[place]], w = held_.ours.numbers[place];
    if (!(step > 0) || !(weights.steps[from_element] > 0)) return w == 0 ? 0 : 2 * kStep;
    const double t = weights.numbers[from_element] / weights.steps[from_element] * step, d = std::abs(t - w);
    const double slack = kFoldedError * largest_[place / held_.ours.width] +
                         (errors_.empty() ? 0 : std::min(errors_[place], kMostError) * std::abs(w));
    if (d <= half_ * step + slack || clipped(weights, from_element, w, t)) return 0;
    return (d - slack) / step - half_;
  }

  // Holds if nearly all places of `n` from `first` hold what is at `from`.
  template <class From>
  bool fits(size_t first, size_t n, const From& from) const {
    const double most = kMostOff * static_cast<double>(n);
    double n_off = 0;
    for (size_t place = first; place < first + n; ++place) {
      const double off = steps_off(place, from(place));
      if (off == 0) continue;
      ++n_off;
      if (off > kStep || n_off > most) return false;
    }
    return true;
  }

  std::optional<IntegerOrder> by_rows() const {
    const WeightRows &ours = held_.ours, &theirs = held_.theirs;
    if (wrong_.size() < 2 || wrong_.size() > kMostOrderedRows || ours.width < kFewestNumbers) return std::nullopt;
    IntegerOrder order;
    order.rows.resize(ours.n);
    std::iota(order.rows.begin(), order.rows.end(), size_t{0});
    std::vector<size_t> left = wrong_;
    for (size_t row : wrong_) {
      const auto found = std::find_if(left.begin(), left.end(), [&](size_t other) {
        return fits(row * ours.width, ours.width,
                    [&](size_t place) { return theirs.elements[other * ours.width + place % ours.width]; });
      });
      if (found == left.end()) return std::nullopt;
      order.rows[row] = *found;
      left.erase(found);
    }
    if (std::is_sorted(order.rows.begin(), order.rows.end())) return std::nullopt;
    return order;
  }

  std::optional<IntegerOrder> by_axes() const {
    const Shape& shape = held_.weights.shape;
    if (shape.size() > kMostOrderedAxes || held_.weights.numbers.size() < 2 * kFewestNumbers) return std::nullopt;
    IntegerOrder order;
    order.perm.resize(shape.size());
    std::iota(order.perm.begin(), order.perm.end(), size_t{0});
    do {
      bool same_extents = true;
      for (size_t i = 0; i < shape.size(); ++i) same_extents = same_extents && shape[order.perm[i]] == shape[i];
      if (!same_extents) continue;
      if (auto found = by_reversing(order)) return found;
    } while (std::next_permutation(order.perm.begin(), order.perm.end()));
    return std::nullopt;
  }

  // Fewest axes first.
  std::optional<IntegerOrder> by_reversing(const IntegerOrder& turned) const {
    const Shape& shape = held_.weights.shape;
    const bool is_turned = !std::is_sorted(turned.perm.begin(), turned.perm.end());
    std::vector<unsigned> sets(size_t{1} << shape.size());
    std::iota(sets.begin(), sets.end(), 0U);
    std::stable_sort(sets.begin(), sets.end(),
                     [](unsigned a, unsigned b) { return std::popcount(a) < std::popcount(b); });
    for (unsigned set : sets) {
      IntegerOrder order;
      if (is_turned) order.perm = turned.perm;
      bool tells = is_turned || set != 0;
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        if ((set >> axis & 1U) == 0) continue;
        order.reversed.push_back(axis);
        tells = tells && shape[axis] > 1;
      }
      if (!tells) continue;
      const std::vector<size_t> from = elements_in_order(order, shape, held_.theirs);
      if (std::is_sorted(from.begin(), from.end())) continue;  // axes of one element
      if (fits(0, held_.ours.numbers.size(), [&](size_t place) { return from[held_.theirs.elements[place]]; }))
        return order;
    }
    return std::nullopt;
  }

  const HeldRows& held_;
  const std::vector<size_t>& wrong_;
  const std::vector<double>& errors_;
  const double half_;
  std::vector<double> largest_;  // by row of ours
};

}  // namespace

std::string IntegerOrder::text() const {
  if (!rows.empty()) return "rows in another order";
  const bool kernel = reversed.size() > 1 && reversed.front() >= 2;
  const std::string turned = kernel                               ? "kernel rotated by 180 degrees"
                             : reversed == std::vector<size_t>{1} ? "channels reversed"
                             : reversed.empty()                   ? ""
                             : reversed.size() == 1               ? cat("axis ", reversed[0], " reversed")
                                                                  : cat(reversed.size(), " axes reversed");
  return perm.empty() ? turned : turned.empty() ? "axes permuted" : "axes permuted, " + turned;
}

std::vector<size_t> elements_in_order(const IntegerOrder& order, const Shape& shape, const WeightRows& rows) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  std::vector<size_t> from(static_cast<size_t>(element_count(shape)));
  for (size_t to = 0; to < from.size(); ++to) {
    size_t at = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      size_t i = to / strides[axis] % shape[axis];
      if (std::find(order.reversed.begin(), order.reversed.end(), axis) != order.reversed.end())
        i = shape[axis] - 1 - i;
      at += i * strides[order.perm.empty() ? axis : order.perm[axis]];
    }
    from[to] = at;
  }
  if (order.rows.empty()) return from;
  const std::vector<size_t> turned = from;
  for (size_t place = 0; place < rows.elements.size(); ++place)
    from[rows.elements[place]] =
        turned[rows.elements[order.rows[place / rows.width] * rows.width + place % rows.width]];
  return from;
}

std::optional<IntegerOrder> order_of(const HeldRows& held, const std::vector<size_t>& wrong,
                                     const std::vector<double>& errors, bool adaptive) {
  return OrderSearch(held, wrong, errors, adaptive).run();
}

}  // namespace dnn
