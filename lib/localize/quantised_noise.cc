// Noise of a target's quantisers in its source; see quantised_noise.h.
#include "localize/quantised_noise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "infer/trace.h"
#include "localize/quantised_cost.h"
#include "localize/quantised_layers.h"
#include "localize/used_range.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr double kUsual = 0.9;  // of the scales: on inputs unlike those of its calibration many of them take more
constexpr double kCoarser = 4;  // times what the plainest quantiser leaves: no choice of another one

// A value of the source that is quantised, and by which scale.
struct RoundedValue {
  ValueId value = kNoValue;
  QuantisedScale scale;
  DType dtype = DType::Int8;
};

// The range of what an operator makes, whatever it is given: quantisers take it, too.
std::pair<double, double> known_range(const Node& node) {
  static const std::set<std::string, std::less<>> kOps = {"Softmax", "Sigmoid", "HardSigmoid"};
  return {node.op == "Tanh" ? -1 : 0, node.op == "Tanh" || kOps.count(node.op) != 0 ? 1 : 0};
}

class RoundedSource {
 public:
  RoundedSource(const QuantisedPair& pair, const SourceRanges& ranges)
      : pair_(pair), ranges_(ranges), target_(pair.written()), uses_(target_), graph_(pair.as_quantised()) {}

  Graph run() {
    for (const QuantisedLayer& layer : pair_.verdict().match.layers) {
      round_weights(layer);
      take_bias(layer);
    }
    std::vector<RoundedValue> roundings;
    for (NodeId id : target_.order()) {
      if (const auto rounding = rounding_of(id)) roundings.push_back(*rounding);
    }
    settle(&roundings);
    std::set<ValueId> done;
    for (const RoundedValue& rounding : roundings) {
      if (done.insert(rounding.value).second) round_value(rounding);
    }
    sort_nodes(graph_);
    infer_types(graph_);
    return std::move(graph_);
  }

 private:
  std::optional<ValueId> partner_of(ValueId value) const {
    const auto there = pair_.verdict().match.values.find(value);
    return there == pair_.verdict().match.values.end() ? std::nullopt : std::optional(there->second);
  }

  // The value that a node of the target rounds: a quantiser's input, a network's input of integers, and what is quantised while it runs.
  std::optional<RoundedValue> rounding_of(NodeId id) const {
    const Node& node = target_.node(id);
    if (node.inputs.empty() || node.input(0) == kNoValue || target_.constant(node.input(0)) != nullptr)
      return std::nullopt;
    const auto value = partner_of(node.input(0));
    if (!value) return std::nullopt;
    if (node.domain == kInternalDomain && node.op == "DynamicFakeQuantize") {
      const auto range = ranges_.find(graph_.value(*value).name);
      if (range == ranges_.end()) return std::nullopt;
      return RoundedValue{*value, scale_for(range->second.low, range->second.high, DType::Int8), DType::Int8};
    }
    const bool from_outside = node.op == "DequantizeLinear" && target_.is_input(node.input(0));
    if (node.op != "QuantizeLinear" && !from_outside) return std::nullopt;
    const auto scale = scale_of(target_, node);
    const ValueId integers = from_outside ? node.input(0) : node.output(0);
    if (!scale || !(scale->scale > 0)) return std::nullopt;
    const auto clamp = pair_.verdict().match.clamps.find(id);
    const ValueId at = clamp == pair_.verdict().match.clamps.end() ? *value : graph_.node(clamp->second).output(0);
    return RoundedValue{at, *scale, target_.value(integers).type.dtype};
  }

  static QuantisedScale scale_for(double low, double high, DType dtype) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
    const int bits = dtype_bits(dtype);
    const bool sign = dtype_class(dtype) == DTypeClass::Signed;
    QuantisedScale made;
    made.least = sign ? -std::ldexp(1.0, bits - 1) : 0;
    made.most = made.least + std::ldexp(1.0, bits) - 1;
    made.scale = std::max((high - low) / (made.most - made.least), 1e-30);
    made.zero_point = std::clamp(std::nearbyint(made.least - low / made.scale), made.least, made.most);
    return made;
  }

  // The source's range at the values that have this one's scale; nullopt where that is not known.
  struct Used {
    double low = 0, high = 0, own = 0, least = 0;  // mean squares of what the scale takes, and the source's range would
  };
  std::optional<Used> used_by(const std::vector<RoundedValue>& all, const RoundedValue& rounding,
                              const Uses& uses) const {
    Used used;
    std::vector<const SourceRange*> ranges;
    for (const RoundedValue& other : all) {
      if (other.scale.scale != rounding.scale.scale || other.scale.zero_point != rounding.scale.zero_point) continue;
      const auto range = ranges_.find(graph_.value(other.value).name);
      if (range == ranges_.end()) return std::nullopt;
      const NodeId maker = uses.producer[other.value];
      const auto known = maker < 0 ? std::pair(0.0, 0.0) : known_range(graph_.node(maker));
      used.low = std::min({used.low, range->second.low, known.first});
      used.high = std::max({used.high, range->second.high, known.second});
      ranges.push_back(&range->second);
    }
    if (!(used.high > used.low)) return std::nullopt;
    const QuantisedScale plain = scale_for(used.low, used.high, rounding.dtype);
    for (const SourceRange* range : ranges) {
      used.own += range_error(rounding.scale, *range, used.low, used.high);
      used.least += range_error(plain, *range, used.low, used.high);
    }
    return used.least > 0 ? std::optional(used) : std::nullopt;
  }

  // A scale stays that can have been chosen: one that takes not much more from the source's numbers than their own range would, beside
  // what the network's others take. Where inputs are not like those that it was calibrated on, all of them take more.
  void settle(std::vector<RoundedValue>* roundings) const {
    const Uses uses(graph_);
    std::vector<std::optional<Used>> all;
    std::vector<double> times;
    for (const RoundedValue& rounding : *roundings) {
      all.push_back(used_by(*roundings, rounding, uses));
      if (all.back()) times.push_back(std::sqrt(all.back()->own / all.back()->least));
    }
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    const auto place = static_cast<size_t>(kUsual * static_cast<double>(times.size() - 1));
    const double usual = std::max(1.0, times[place]), most = kCoarser * usual;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i] || all[i]->own <= most * most * all[i]->least) continue;
      (*roundings)[i].scale = scale_for(usual * all[i]->low, usual * all[i]->high, (*roundings)[i].dtype);
    }
  }

  // Readers of the value read it rounded; nodes of the graph as it was.
  void round_value(const RoundedValue& r) {
    const std::string name = graph_.value(r.value).name;
    const ValueId scale = graph_.add_constant(graph_.unused_value_name(name + "_scale"),
                                              Tensor::scalar(static_cast<float>(r.scale.scale)));
    const ValueId zero = graph_.add_constant(graph_.unused_value_name(name + "_zero"),
                                             convert(Tensor::of<double>({}, {r.scale.zero_point}), r.dtype));
    const std::vector<NodeId> before = graph_.order();
    const ValueId integers = graph_.add_value(graph_.unused_value_name(name + "_integers"));
    const ValueId rounded = graph_.add_value(graph_.unused_value_name(name + "_rounded"));
    for (NodeId id : before) {
      for (ValueId& v : graph_.node(id).inputs) v = v == r.value ? rounded : v;
    }
    for (ValueId& v : graph_.outputs) v = v == r.value ? rounded : v;
    const auto add = [&](const char* op, ValueId in, ValueId out) {
      Node node;
      node.op = op;
      node.inputs = {in, scale, zero};
      node.outputs = {out};
      graph_.add_node(std::move(node));
    };
    add("QuantizeLinear", r.value, integers);
    add("DequantizeLinear", integers, rounded);
  }

  // The numbers that the integers are, where they are the source's to a step that can have been chosen; else such a step's.
  void round_weights(const QuantisedLayer& layer) {
    const auto held = held_rows(pair_.as_quantised(), target_, uses_, layer);
    if (!held) return;
    const Node& ours = graph_.node(layer.source);
    const Tensor before = *graph_.constant(ours.input(1));
    const Tensor* integers = target_.constant(target_.node(held->weights.dequantize).input(0));
    const double most = std::ldexp(1.0, dtype_bits(integers->dtype()) - 1) - 1;
    std::vector<double> largest(held->weights.n_scales, 0), numbers = to_doubles(before);
    const auto place_of = [&](size_t place) { return held->theirs.elements[place]; };
    for (size_t place = 0; place < held->ours.numbers.size(); ++place) {
      double& group = largest[held->weights.groups[place_of(place)]];
      group = std::max(group, std::abs(held->ours.numbers[place]));
    }
    for (size_t place = 0; place < held->ours.numbers.size(); ++place) {
      const size_t element = place_of(place);
      const double own = held->weights.steps[element], number = held->ours.numbers[place],
                   step = std::min(own, kCoarser * largest[held->weights.groups[element]] / most);
      const double there = held->weights.numbers[element];
      const bool right = step == own && std::abs(there - number) <= own;
      if (right) numbers[held->ours.elements[place]] = there;
      if (!right && step > 0) numbers[held->ours.elements[place]] = std::nearbyint(number / step) * step;
    }
    set_constant(graph_, layer.source, 1, convert(Tensor::of<double>(before.shape(), numbers), before.dtype()),
                 graph_.value(ours.input(1)).name);
  }

  // A bias may make up for what rounding the weights takes in the mean.
  void take_bias(const QuantisedLayer& layer) {
    const auto right = pair_.verdict().biases.find(layer.target);
    const Node &ours = graph_.node(layer.source), &theirs = target_.node(layer.target);
    if (right == pair_.verdict().biases.end() || !right->second || ours.op == "MatMul" || theirs.op == "MatMul") return;
    const Tensor* before = graph_.constant(ours.input(2));
    if ((before == nullptr) != layer.bias.empty() || theirs.input(2) == kNoValue) return;
    const auto held = quantised_constant(target_, uses_, layer.target, 2);
    const Tensor* plain = target_.constant(theirs.input(2));
    if (!held && plain == nullptr) return;
    const std::vector<double> numbers = held ? held->numbers : to_doubles(*plain);
    const auto n = static_cast<int64_t>(numbers.size());
    if (before != nullptr && before->size() != n) return;
    set_constant(graph_, layer.source, 2,
                 convert(Tensor::of<double>(before == nullptr ? Shape{n} : before->shape(), numbers), DType::Float32),
                 before == nullptr ? graph_.unused_value_name("bias") : graph_.value(ours.input(2)).name);
  }

  const QuantisedPair& pair_;
  const SourceRanges& ranges_;
  const Graph& target_;
  const Uses uses_;
  Graph graph_;
};

// Sums of squares of a signal, and of what the target and the rounded source are off by.
struct ApartSums {
  double signal = 0, apart = 0, explained = 0;
  bool finite = true;
  void add(const Tensor& source, const Tensor& rounded, const Tensor& target) {
    const std::vector<double> a = to_doubles(source), b = to_doubles(rounded), c = to_doubles(target);
    for (size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i])) continue;
      finite = finite && std::isfinite(c[i]);
      signal += a[i] * a[i];
      explained += std::isfinite(b[i]) ? (a[i] - b[i]) * (a[i] - b[i]) : 0;
      apart += std::isfinite(c[i]) ? (a[i] - c[i]) * (a[i] - c[i]) : 0;
    }
  }
  double part(double squares) const { return squares == 0 ? 0 : std::sqrt(squares / std::max(signal, 1e-300)); }
  double apart_part() const { return finite ? part(apart) : std::numeric_limits<double>::infinity(); }
  double explained_part() const { return part(explained); }
};

// A value of the source and the target's, compared over the samples.
struct Compared {
  std::string source, target;
  std::string node;  // of the target
  ApartSums sums;
};

class NoiseMeasure {
 public:
  explicit NoiseMeasure(const QuantisedPair& pair) : pair_(pair), outputs_(pair.written().outputs.size()) {
    const Graph &source = pair.as_quantised(), &target = pair.written();
    const Uses uses(target);
    for (NodeId id : target.order()) {
      const Node& node = target.node(id);
      if (node.outputs.empty() || node.op == "QuantizeLinear" || node.op == "DequantizeLinear") continue;
      const auto there = pair.verdict().match.values.find(node.output(0));
      if (there == pair.verdict().match.values.end() || !is_float(target.value(node.output(0)).type.dtype)) continue;
      const std::string made = target.value(node.output(0)).name;
      places_.push_back({source.value(there->second).name, made, node.name.empty() ? made : node.name, {}});
    }
    for (size_t i = 0; i < outputs_.size() && i < source.outputs.size(); ++i)
      in_front_.push_back(in_front_of_classes(source, source.outputs[i]));
  }

  void add_outputs(const std::vector<Tensor>& source, const std::vector<Tensor>& rounded,
                   const std::vector<Tensor>& target) {
    for (size_t i = 0; i < std::min({source.size(), rounded.size(), target.size(), outputs_.size()}); ++i)
      add(source[i], rounded[i], as_numbers(pair_.written(), i, target[i]), &outputs_[i]);
  }

  void add_values(const std::vector<stream::TensorRecord>& source, const std::vector<stream::TensorRecord>& rounded,
                  const std::vector<stream::TensorRecord>& target) {
    const auto by_name = [](const std::vector<stream::TensorRecord>& records) {
      std::map<std::string, Tensor> tensors;
      for (const stream::TensorRecord& r : records) tensors[r.name] = r.tensor;
      return tensors;
    };
    const auto a = by_name(source), b = by_name(rounded), c = by_name(target);
    for (Compared& place : places_) {
      const auto ours = a.find(place.source), ours_rounded = b.find(place.source), theirs = c.find(place.target);
      if (ours != a.end() && ours_rounded != b.end() && theirs != c.end())
        add(ours->second, ours_rounded->second, theirs->second, &place.sums);
    }
  }

  void finish(OutputNoise* noise) const {
    double most = -1;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const ApartSums& sums = judged(i);
      const double apart = sums.apart_part(), explained = sums.explained_part();
      const double times = apart == 0 ? 0 : apart / std::max(explained, 1e-12);
      if (!(times > most)) continue;
      most = times;
      noise->apart = apart;
      noise->explained = explained;
    }
    if (noise->holds()) return;
    for (const Compared& place : places_) {
      if (place.sums.signal == 0) continue;
      if (OutputNoise::is_explained(place.sums.apart_part(), place.sums.explained_part())) continue;
      noise->from = place.node;
      return;
    }
  }

 private:
  // Probabilities of classes jump where two are nearly as likely, so that few samples say little: what they are made from does not.
  static std::string in_front_of_classes(const Graph& source, ValueId output) {
    static const std::set<std::string, std::less<>> kMoves = {"Reshape", "Flatten", "Squeeze", "Identity"};
    const Uses uses(source);
    for (ValueId v = output; v != kNoValue && uses.producer[v] >= 0;) {
      const Node& node = source.node(uses.producer[v]);
      if (node.op == "Softmax" || node.op == "LogSoftmax") return source.value(node.input(0)).name;
      if (kMoves.count(node.op) == 0) break;
      v = node.input(0);
    }
    return "";
  }

  const ApartSums& judged(size_t output) const {
    const std::string& in_front = output < in_front_.size() ? in_front_[output] : "";
    for (const Compared& place : places_) {
      if (!in_front.empty() && place.source == in_front && place.sums.signal > 0) return place.sums;
    }
    return outputs_[output];
  }

  static void add(const Tensor& source, const Tensor& rounded, const Tensor& target, ApartSums* sums) {
    if (!is_float(source.dtype()) || !is_float(target.dtype()) || source.size() != target.size() ||
        source.size() != rounded.size())
      return;
    const std::vector<AxisOrder> orders = axis_orders(source.shape(), target.shape());
    if (!orders.empty()) sums->add(source, rounded, reordered(target, orders[0], source.shape()));
  }

  const QuantisedPair& pair_;
  std::vector<ApartSums> outputs_;
  std::vector<std::string> in_front_;
  std::vector<Compared> places_;
};

}  // namespace

Graph rounded_source(const QuantisedPair& pair, const SourceRanges& ranges) {
  return RoundedSource(pair, ranges).run();
}

OutputNoise output_noise(const LocalizeRequest& request, const QuantisedPair& pair, ComparedNetwork& source,
                         ComparedNetwork& as_quantised, ComparedNetwork& rounded, ComparedNetwork& target) {
  OutputNoise noise;
  NoiseMeasure measure(pair);
  try {
    while (true) {
      const auto a = source.samples->next(), b = as_quantised.samples->next(), c = rounded.samples->next(),
                 d = target.samples->next();
      if (!a || !b || !c || !d) break;
      if (noise.n_samples > 0 && request.deadline.stops()) {
        ++noise.n_left_out;
        continue;
      }
      const LoadedSample ours = (*a)(), ours_quantised = (*b)(), ours_rounded = (*c)(), theirs = (*d)();
      if (ours.error || ours_quantised.error || ours_rounded.error || theirs.error) continue;
      measure.add_outputs(source.session->run(ours.inputs), rounded.session->run(ours_rounded.inputs),
                          target.session->run(theirs.inputs));
      measure.add_values(trace_run(*as_quantised.session, ours_quantised.inputs),
                         trace_run(*rounded.session, ours_rounded.inputs), trace_run(*target.session, theirs.inputs));
      ++noise.n_samples;
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    noise.why_not = e.what();
    return noise;
  }
  measure.finish(&noise);
  return noise;
}

}  // namespace dnn
