// Pairing quantisers by the integers that they make, and holding the target's to the source's; see rounding_ties.h.
#include "convert/rounding_ties.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "base/counted.h"
#include "base/threads.h"
#include "convert/certificate.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "ops/quantization.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// A place where numbers become integers. Integers are compared less their zero point, so that int8 and uint8 are alike.
struct RoundingPlace {
  ValueId integers = kNoValue;
  ValueId rounded = kNoValue;  // real numbers, in steps of `step`; kNoValue: an operator on integers does not show them
  std::string name;
  double scale = 0;  // 0: not known
  double step = 1;
  double zero = 0, low = -INFINITY, high = INFINITY;  // low and high: less the zero point
};

// Elements of the source in the target's order.
enum class ElementOrder : uint8_t { Same, ChannelsLast, ChannelsFirst };

struct PairedPlaces {
  std::optional<size_t> source;  // none: there is none on the same grid, of the same size
  ElementOrder order = ElementOrder::Same;
};

using Integers = std::vector<float>;

std::optional<double> single_number(const Graph& graph, ValueId v) {
  const Tensor* constant = graph.constant(v);
  if (constant == nullptr || constant->size() != 1) return std::nullopt;
  return to_doubles(*constant)[0];
}

// By value: whether it depends on what the network is given.
std::vector<bool> computed_values(const Graph& graph) {
  std::vector<bool> computed(graph.value_count(), false);
  for (ValueId v : graph.inputs) computed[v] = true;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto is_computed = [&](ValueId v) { return v != kNoValue && computed[v]; };
    if (!std::any_of(node.inputs.begin(), node.inputs.end(), is_computed)) continue;
    for (ValueId v : node.outputs) {
      if (v != kNoValue) computed[v] = true;
    }
  }
  return computed;
}

// The input that holds the scale of the integers that an operator makes; its zero point is the next. 0: another operator.
size_t scale_input(const Node& node) {
  if (!node.domain.empty()) return 0;
  if (node.op == "QuantizeLinear") return 1;
  return node.op == "QLinearConv" || node.op == "QLinearMatMul" ? 6 : 0;
}

std::optional<RoundingPlace> stated_place(const Graph& graph, const Node& node) {
  const size_t at = scale_input(node);
  const DType dtype = graph.value(node.outputs[0]).type.dtype;
  const std::optional<double> scale = single_number(graph, node.input(at));
  if (!scale || !(*scale > 0) || !is_integer(dtype) || dtype_bits(dtype) > 16) return std::nullopt;
  RoundingPlace place;
  place.integers = node.outputs[0];
  if (at == 1) place.rounded = node.inputs[0];
  place.scale = place.step = *scale;
  place.zero = single_number(graph, node.input(at + 1)).value_or(0);
  place.low = static_cast<double>(integer_lowest(dtype)) - place.zero;
  place.high = static_cast<double>(integer_highest(dtype)) - place.zero;
  return place;
}

// dnn.QuantizedAverage has its grid in attributes.
std::optional<RoundingPlace> average_place(const Node& node) {
  RoundingPlace place;
  place.integers = node.outputs[0];
  place.scale = node.attribute_float("scale", 0);
  place.zero = static_cast<double>(node.attribute_int("zero_point", 0));
  place.low = static_cast<double>(node.attribute_int("low", 0)) - place.zero;
  place.high = static_cast<double>(node.attribute_int("high", 0)) - place.zero;
  if (place.scale <= 0) return std::nullopt;
  return place;
}

// Takes in what follows Round, for formats without quantised operators: the zero point, bounds, the integers' type.
bool take_in(const Graph& graph, const Node& node, RoundingPlace* place) {
  const bool first = node.input(0) == place->integers;
  if (node.op == "Cast") {
    if (!is_integer(graph.value(node.outputs[0]).type.dtype)) return false;
  } else if (node.op == "Clip" && first) {
    const auto bound = [&](size_t i, double without) {
      return node.input(i) == kNoValue ? without : single_number(graph, node.input(i)).value_or(without) - place->zero;
    };
    place->low = std::max(place->low, bound(1, -INFINITY));
    place->high = std::min(place->high, bound(2, INFINITY));
  } else if (node.op == "Add" || (node.op == "Sub" && first)) {
    const std::optional<double> moved = single_number(graph, node.input(first ? 1 : 0));
    if (!moved) return false;
    place->zero += node.op == "Add" ? *moved : -*moved;
  } else {
    return false;
  }
  place->integers = node.outputs[0];
  return true;
}

RoundingPlace round_place(const Graph& graph, const Uses& uses, const Node& node) {
  RoundingPlace place;
  place.rounded = node.inputs[0];
  place.integers = node.outputs[0];
  const NodeId maker = uses.producer[place.rounded];
  if (maker >= 0 && graph.node(maker).domain.empty()) {
    const Node& scaled = graph.node(maker);
    const std::optional<double> by = single_number(graph, scaled.input(1));
    if (scaled.op == "Div" && by && *by > 0) place.scale = *by;
    if (scaled.op == "Mul" && by && *by > 0) place.scale = 1 / *by;
  }
  for (;;) {
    const std::vector<NodeId>& readers = uses.readers[place.integers];
    if (readers.size() != 1 || graph.is_output(place.integers)) break;
    const Node& next = graph.node(readers[0]);
    if (!next.domain.empty() || !take_in(graph, next, &place)) break;
  }
  return place;
}

std::vector<RoundingPlace> rounding_places(const Graph& graph) {
  std::vector<RoundingPlace> places;
  const Uses uses(graph);
  const std::vector<bool> computed = computed_values(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.outputs.empty() || node.output(0) == kNoValue || !computed[node.outputs[0]]) continue;
    std::optional<RoundingPlace> place;
    if (scale_input(node) != 0) {
      place = stated_place(graph, node);
    } else if (node.domain == kInternalDomain && node.op == "QuantizedAverage") {
      place = average_place(node);
    } else if (node.domain.empty() && node.op == "Round") {
      place = round_place(graph, uses, node);
    }
    if (!place) continue;
    place->name = graph.value(place->integers).name;
    places.push_back(*place);
  }
  return places;
}

Integers integers_at(const RoundingPlace& place, const Tensor& value) {
  const std::vector<double> values = to_doubles(value);
  Integers integers(values.size());
  std::transform(values.begin(), values.end(), integers.begin(),
                 [&](double x) { return static_cast<float>(x - place.zero); });
  return integers;
}

// A run of one probe.
struct Traced {
  std::vector<Integers> integers;  // by place
  std::vector<Shape> shapes;
  std::vector<Tensor> outputs;
};

Traced traced(const Graph& graph, const std::vector<RoundingPlace>& places, const std::vector<Tensor>& inputs,
              ThreadPool* pool) {
  Traced trace;
  trace.integers.resize(places.size());
  trace.shapes.resize(places.size());
  std::multimap<ValueId, size_t> by_value;
  for (size_t i = 0; i < places.size(); ++i) by_value.emplace(places[i].integers, i);
  std::vector<Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i)
    given.push_back(convert(inputs[i], graph.value(graph.inputs[i]).type.dtype));
  const auto observe = [&](const Graph& of, ValueId id, const Tensor& value) {
    if (&of != &graph) return;
    const auto [begin, end] = by_value.equal_range(id);
    for (auto it = begin; it != end; ++it) {
      trace.integers[it->second] = integers_at(places[it->second], value);
      trace.shapes[it->second] = value.shape();
    }
  };
  trace.outputs = interpret(graph, given, observe, {}, pool);
  return trace;
}

// By element of the target: which of the source's it is.
std::vector<size_t> elements_in(ElementOrder order, const Shape& shape) {
  size_t n = 1;
  for (int64_t extent : shape) n *= extent;
  std::vector<size_t> from(n);
  if (order == ElementOrder::Same || shape.size() < 3) {
    for (size_t i = 0; i < n; ++i) from[i] = i;
    return from;
  }
  const size_t batch = shape[0], channels = order == ElementOrder::ChannelsLast ? shape[1] : shape.back();
  const size_t plane = n / std::max<size_t>(1, batch * channels);
  const size_t rows = order == ElementOrder::ChannelsLast ? plane : channels;  // of the target's matrix
  const size_t columns = order == ElementOrder::ChannelsLast ? channels : plane;
  size_t at = 0;
  for (size_t b = 0; b < batch; ++b) {
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) from[at++] = b * rows * columns + c * rows + r;
    }
  }
  return from;
}

Integers reordered(const Integers& source, ElementOrder order, const Shape& shape) {
  if (order == ElementOrder::Same) return source;
  const std::vector<size_t> from = elements_in(order, shape);
  Integers result(source.size());
  for (size_t i = 0; i < from.size(); ++i) result[i] = source[from[i]];
  return result;
}

bool same_grid(const RoundingPlace& a, const RoundingPlace& b) {
  constexpr double kScales = 1e-6;  // a reciprocal in float32, and its product
  const bool scales = a.scale == 0 || b.scale == 0 || std::abs(a.scale - b.scale) <= kScales * a.scale;
  return scales && a.low == b.low && a.high == b.high;
}

// Wrong pairs are no danger: what a target makes has to be its pair's integers, whichever that is.
PairedPlaces paired_place(const RoundingPlace& target, const Integers& theirs,
                          const std::vector<RoundingPlace>& sources, const Traced& trace) {
  PairedPlaces best;
  double least = INFINITY;
  for (size_t s = 0; s < sources.size(); ++s) {
    if (!same_grid(sources[s], target) || trace.integers[s].size() != theirs.size()) continue;
    for (ElementOrder order : {ElementOrder::Same, ElementOrder::ChannelsLast, ElementOrder::ChannelsFirst}) {
      if (order != ElementOrder::Same && trace.shapes[s].size() < 3) continue;
      const Integers ours = reordered(trace.integers[s], order, trace.shapes[s]);
      double apart = 0;
      for (size_t i = 0; i < ours.size(); ++i) apart += std::abs(static_cast<double>(ours[i]) - theirs[i]);
      if (!best.source || apart < least) best = {s, order}, least = apart;
    }
  }
  return best;
}

// The target with the integers of each paired place given to it, behind its own inputs. Behind its own outputs it tells what each place
// makes and what that rounds.
Graph cut_at(const std::vector<RoundingPlace>& places, const std::vector<PairedPlaces>& pairs, Graph target) {
  std::map<ValueId, ValueId> given;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!pairs[i].source) continue;
    const ValueId v = places[i].integers;
    given[v] = target.add_value(target.unused_value_name(places[i].name + ".given"), target.value(v).type);
    target.inputs.push_back(given[v]);
  }
  const auto redirect = [&](ValueId v) {
    const auto found = given.find(v);
    return found == given.end() ? v : found->second;
  };
  for (ValueId& v : target.outputs) v = redirect(v);
  for (NodeId id : target.order()) {
    for (ValueId& v : target.node(id).inputs) v = redirect(v);
  }
  for (const RoundingPlace& place : places) {
    target.outputs.push_back(place.integers);
    target.outputs.push_back(redirect(place.rounded));
  }
  return target;
}

Tensor as_integers(const Integers& integers, const RoundingPlace& place, const Type& type) {
  std::vector<double> values(integers.begin(), integers.end());
  for (double& x : values) x += place.zero;
  return convert(Tensor::of<double>(type.fixed_shape(), values), type.dtype);
}

// A place of the target on one probe, with the source's integers in front of it; in steps, less the zero point.
struct Rounding {
  // `single` is what is rounded, `wide` the same in float64.
  Rounding(const RoundingPlace& at, const Tensor& integers, const Tensor& single, const Tensor& wide)
      : place(at), made(integers_at(at, integers)), exact(to_doubles(wide)) {
    constexpr double kTimes = 4, kRoundings = 8.0 / (1 << 24), kMost = 0.125;
    const std::vector<double> rounded = to_doubles(single);
    double measured = 0, largest = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      exact[i] /= at.step;
      if (!std::isfinite(exact[i])) continue;
      largest = std::max(largest, std::abs(exact[i]));
      const bool within = exact[i] >= at.low - 1 && exact[i] <= at.high + 1;
      if (within) measured = std::max(measured, std::abs(exact[i] - rounded[i] / at.step));
    }
    noise = std::min(kMost, kTimes * measured + kRoundings * largest);
  }

  const RoundingPlace& place;
  Integers made;
  std::vector<double> exact;
  // How near a tie a number has to be: float32 is off by what is measured, and by the rounding of constants, which float64 shares.
  double noise = 0;
};

// An integer that fell to the other side in the target; the source's own number has to be at that tie, too.
struct FallenInteger {
  size_t place, element;  // of the source
  double middle, noise;   // in steps, less the zero point
};

// Numbers that the source's quantisers round, in float64, behind the source's own integers; operators on integers are decomposed for it.
class SourceNumbers {
 public:
  explicit SourceNumbers(Graph source) : shown_(std::move(source)) {
    PassOptions options;
    options.changes = "only:expand-qlinear";
    run_passes(shown_, options);
    infer_types(shown_);
    places_ = rounding_places(shown_);
    std::vector<PairedPlaces> pairs(places_.size());
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i].source = i;
    cut_ = cut_at(places_, pairs, shown_);
    wide_ = widen_to_float64(cut_);
    wide_.outputs.resize(shown_.outputs.size());
  }

  // The place of the first of `fallen` that is no tie of the source's; none where all are, or where the source does not show it.
  // `trace` is of the source's `places` on this probe.
  std::optional<size_t> first_on_its_grid(const std::vector<FallenInteger>& fallen,
                                          const std::vector<RoundingPlace>& places, const Traced& trace,
                                          const std::vector<Tensor>& probe, ThreadPool* pool) const {
    std::map<std::string, size_t> by_name;
    for (size_t s = 0; s < places.size(); ++s) by_name[places[s].name] = s;
    std::vector<Tensor> given = probe;
    std::multimap<ValueId, size_t> shown;  // several may round one value
    for (size_t i = 0; i < places_.size(); ++i) {
      const auto found = by_name.find(places_[i].name);
      if (found == by_name.end()) return std::nullopt;
      given.push_back(as_integers(trace.integers[found->second], places_[i], shown_.value(places_[i].integers).type));
      if (places_[i].rounded != kNoValue) shown.emplace(cut_.outputs[shown_.outputs.size() + 2 * i + 1], i);
    }
    for (size_t i = 0; i < given.size(); ++i) given[i] = convert(given[i], wide_.value(wide_.inputs[i]).type.dtype);
    std::optional<size_t> found;
    const auto observe = [&](const Graph& of, ValueId id, const Tensor& exact) {
      if (&of != &wide_ || shown.count(id) == 0) return;
      const std::vector<double> numbers = to_doubles(exact);
      const auto [begin, end] = shown.equal_range(id);
      for (auto at = begin; at != end; ++at) {
        const RoundingPlace& place = places_[at->second];
        const size_t s = by_name.at(place.name);
        for (const FallenInteger& f : fallen) {
          if (f.place == s && std::abs(numbers[f.element] / place.step - f.middle) > f.noise) found = s;
        }
      }
    };
    interpret(wide_, given, observe, {}, pool);
    return found;
  }

 private:
  Graph shown_, cut_, wide_;
  std::vector<RoundingPlace> places_;
};

class Comparison {
 public:
  Comparison(Graph source, Graph target, int threads)
      : source_(std::move(source)),
        target_(std::move(target)),
        ours_(rounding_places(source_)),
        theirs_(rounding_places(target_)),
        numbers_(source_),
        pool_(threads) {}

  RoundingTies run(const std::vector<std::vector<Tensor>>& inputs) {
    ties_.n_quantisers = std::ssize(theirs_);
    for (const std::vector<Tensor>& probe : inputs) {
      const Traced trace = traced(source_, ours_, probe, &pool_);
      if (pairs_.empty() && !pair_all(trace, probe)) break;
      judge(trace, probe);
      if (!ties_.why_not.empty()) break;
    }
    return std::move(ties_);
  }

 private:
  bool pair_all(const Traced& trace, const std::vector<Tensor>& probe) {
    const Traced own = traced(target_, theirs_, probe, &pool_);
    for (size_t t = 0; t < theirs_.size(); ++t) {
      if (theirs_[t].rounded == kNoValue) {
        ties_.why_not = cat(quoted(theirs_[t].name),
                            " of the target is made by an operator on integers, which does not "
                            "show what it rounds");
        return false;
      }
      pairs_.push_back(paired_place(theirs_[t], own.integers[t], ours_, trace));
    }
    cut_ = cut_at(theirs_, pairs_, target_);
    wide_ = widen_to_float64(cut_);
    wide_.outputs.resize(target_.outputs.size());
    return true;
  }

  void judge(const Traced& trace, const std::vector<Tensor>& probe) {
    std::vector<Tensor> given = probe, wide;
    std::vector<Integers> expected(theirs_.size());
    for (size_t t = 0; t < theirs_.size(); ++t) {
      if (!pairs_[t].source) continue;
      const size_t s = *pairs_[t].source;
      expected[t] = reordered(trace.integers[s], pairs_[t].order, trace.shapes[s]);
      given.push_back(as_integers(expected[t], theirs_[t], cut_.value(theirs_[t].integers).type));
    }
    for (size_t i = 0; i < given.size(); ++i) {
      wide.push_back(convert(given[i], wide_.value(wide_.inputs[i]).type.dtype));
      given[i] = convert(given[i], cut_.value(cut_.inputs[i]).type.dtype);
    }
    const std::vector<Tensor> made = interpret(cut_, given, {}, {}, &pool_);
    const size_t n = trace.outputs.size();
    fallen_.clear();
    const auto observe = [&](const Graph& of, ValueId id, const Tensor& exact) {  // as they come: they are large
      if (&of != &wide_) return;
      for (size_t t = 0; t < theirs_.size() && ties_.why_not.empty(); ++t) {
        if (cut_.outputs[n + 2 * t + 1] != id) continue;
        const Rounding rounding(theirs_[t], made[n + 2 * t], made[n + 2 * t + 1], exact);
        pairs_[t].source ? hold(rounding, expected[t], trace.shapes[*pairs_[t].source], pairs_[t])
                         : hold_unpaired(rounding);
      }
    };
    interpret(wide_, wide, observe, {}, &pool_);
    if (ties_.why_not.empty() && !fallen_.empty()) hold_source(trace, probe);
    for (size_t i = 0; i < n; ++i) {
      Certificate::Output output;
      compare_outputs(trace.outputs[i], made[i], &output);
      ties_.max_relative = std::max(ties_.max_relative, output.max_relative);
    }
  }

  void hold(const Rounding& rounding, const Integers& expected, const Shape& source_shape, const PairedPlaces& pair) {
    ties_.n_integers += std::ssize(expected);
    const std::vector<size_t> from = elements_in(pair.order, source_shape);
    for (size_t i = 0; i < expected.size(); ++i) {
      const double made = rounding.made[i], wanted = expected[i];
      if (made == wanted) continue;
      const bool at_tie = std::abs(rounding.exact[i] - (made + wanted) / 2) <= rounding.noise;
      if (std::abs(made - wanted) == 1 && at_tie) {
        ++ties_.n_ties;
        fallen_.push_back({*pair.source, from[i], (made + wanted) / 2, kSourceNoise * rounding.noise});
        continue;
      }
      const double zero = rounding.place.zero;
      char figures[160];
      std::snprintf(figures, sizeof figures, " rounds %.9g to %g where the source has %g, and float32 explains %.2g",
                    rounding.exact[i] + zero, made + zero, wanted + zero, rounding.noise);
      ties_.why_not = cat("quantiser ", quoted(rounding.place.name), " of the target", figures);
      return;
    }
  }

  void hold_source(const Traced& trace, const std::vector<Tensor>& probe) {
    const std::optional<size_t> found = numbers_.first_on_its_grid(fallen_, ours_, trace, probe, &pool_);
    if (!found) return;
    ties_.why_not = cat("quantiser ", quoted(ours_[*found].name),
                        " of the source is given no number in the middle between two integers where the target is");
  }

  // A quantiser for what is on its grid already does nothing, as in front of padding.
  void hold_unpaired(const Rounding& rounding) {
    for (size_t i = 0; i < rounding.made.size(); ++i) {
      if (std::abs(rounding.exact[i] - rounding.made[i]) <= rounding.noise) continue;
      ties_.why_not = cat("no quantiser of the source has the scale, the zero point and the size of ",
                          quoted(rounding.place.name), " of the target");
      return;
    }
  }

  Graph source_, target_, cut_, wide_;
  std::vector<RoundingPlace> ours_, theirs_;
  static constexpr double kSourceNoise = 4;  // its float32 may be off by more than the target's
  std::vector<PairedPlaces> pairs_;          // by place of the target
  std::vector<FallenInteger> fallen_;        // of the probe at hand
  SourceNumbers numbers_;
  RoundingTies ties_;
  ThreadPool pool_;
};

}  // namespace

std::string RoundingTies::text() const {
  if (!why_not.empty()) return cat("rounding ties are not the reason: ", why_not);
  char apart[32];
  std::snprintf(apart, sizeof apart, "%.2g", max_relative);
  return cat("rounding ties explain ", n_ties, " of ", n_integers, " integers of ", counted(n_quantisers, "quantiser"),
             ", and from the source's integers the outputs are at most ", apart, " of the largest apart");
}

bool computes_on_integers(const Graph& graph) { return !rounding_places(graph).empty(); }

RoundingTies judge_rounding_ties(Graph source, Graph target, const std::vector<std::vector<Tensor>>& inputs,
                                 int threads) {
  for (Graph* graph : {&source, &target}) {
    infer_types(*graph);
    for (ValueId v = 0; v < graph->value_count(); ++v) {  // goes with this copy, while the caller's shares its tensors
      std::optional<Tensor>& constant = graph->value(v).constant;
      if (constant) constant = constant->arranged_copy();
    }
  }
  return Comparison(std::move(source), std::move(target), threads).run(inputs);
}

}  // namespace dnn
