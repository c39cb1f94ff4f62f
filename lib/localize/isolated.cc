// Trying a segment of one network against another's; see isolated.h.
#include "localize/isolated.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "interp/interpreter.h"
#include "localize/side_run.h"

namespace dnn {
namespace {

// Differences beyond this many times the rounding that was measured, and the floor, are no rounding: parameters that were folded
// together have been rounded once more.
constexpr double kTimesRounding = 8;

Tensor made_in_float64(const Graph& graph, const std::vector<Tensor>& inputs) {
  return interpret(widen_to_float64(graph), in_float64(inputs))[0];
}

}  // namespace

double part_of_largest(const Distance& d) {
  return d.max_abs == 0 ? 0 : d.largest == 0 ? kInfinite : d.max_abs / d.largest;
}

double rounding_bound(double measured) { return kTimesRounding * measured + kRoundingFloor; }

double Trial::certainty() const { return !failure.empty() ? kInfinite : exact / bound; }

Trial try_isolated(const Isolated& isolated, const Tensor& expected) {
  Trial trial;
  const auto not_here = [&](std::string why) {
    trial.failure = std::move(why);
    return trial;
  };
  const auto known = [&] {
    if (isolated.source.outputs.empty()) fail_unsupported("it reads an input of the network that the other has not");
  };
  try {
    if (!expected.defined()) known();
    const Tensor reference = expected.defined() ? expected : interpret(isolated.source, isolated.source_inputs)[0];
    const Tensor made = interpret(isolated.target, isolated.target_inputs)[0];
    const std::vector<AxisOrder> orders = axis_orders(reference.shape(), made.shape());
    if (made.size() != reference.size() || orders.empty())
      return not_here(cat("it makes ", shape_text(made.shape()), " for ", shape_text(reference.shape())));
    const bool fits = std::find(orders.begin(), orders.end(), isolated.order) != orders.end();
    const AxisOrder& order = fits ? isolated.order : orders.front();
    trial.expected = reference;
    trial.got = reordered(made, order, reference.shape());
    trial.bound = rounding_bound(0);
    if (part_of_largest(compare(reference, trial.got)) <= trial.bound) return trial;
    const Tensor theirs = reordered(made_in_float64(isolated.target, isolated.target_inputs), order, reference.shape());
    known();
    const Tensor ours = made_in_float64(isolated.source, isolated.source_inputs);
    if (ours.size() != theirs.size()) return not_here("it makes something else in float64");
    trial.exact = part_of_largest(compare(ours, theirs));
    const double rounding = part_of_largest(compare(ours, reference)) + part_of_largest(compare(theirs, trial.got));
    if (!std::isfinite(rounding)) return not_here("it makes numbers that are not finite");
    trial.bound = rounding_bound(rounding);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    return not_here(e.what());
  }
  return trial;
}

}  // namespace dnn
