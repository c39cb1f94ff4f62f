// Training for integers; see quantize.h.
#include "train/quantize.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "convert/certificate.h"
#include "ops/build.h"
#include "quant/quantize.h"
#include "quant/report.h"
#include "quant/state.h"

namespace dnn::train {
namespace {

int64_t lowest_of(const quant::Affine& affine) { return std::llround(affine.lowest() / double{affine.scale}); }
int64_t highest_of(const quant::Affine& affine) { return std::llround(affine.highest() / double{affine.scale}); }

// `prepared` once more, with the roundings in it.
class Rounded {
 public:
  Rounded(const Graph& prepared, const quant::Rounding& rounding)
      : old_(prepared), rounding_(rounding), net_(empty(prepared)) {}

  Graph run() {
    for (ValueId v : old_.inputs) round(v, kNoMaker);
    for (NodeId id : old_.order()) add(id);
    for (ValueId v : old_.outputs) net_.graph().outputs.push_back(v);
    return net_.finish();
  }

 private:
  static constexpr NodeId kNoMaker = -1;

  static Graph empty(const Graph& prepared) {
    Graph graph = prepared;
    graph.outputs.clear();
    for (NodeId id : std::vector<NodeId>(graph.order())) graph.remove_node(id);
    return graph;
  }

  bool on_integers(NodeId id) const { return id != kNoMaker && rounding_.plan.quantized[id]; }
  int group_of(ValueId v) const { return v == kNoValue ? -1 : rounding_.plan.group[v]; }

  ValueId fake(const std::string& name, ValueId x, ValueId scale, int64_t low, int64_t high, ValueId y = kNoValue) {
    Node node;
    node.op = "FakeQuantize";
    node.domain = kInternalDomain;
    node.name = name + ".rounding";
    node.inputs = {x, scale};
    node.attributes = {{"low", low}, {"high", high}};
    if (y != kNoValue) node.outputs = {y};
    return net_.add(std::move(node),
                    y == kNoValue ? std::vector<std::string>{name + ".rounded"} : std::vector<std::string>())[0];
  }

  ValueId scale_of(const std::string& name, const quant::Affine& affine) {
    net_.set_name(name);
    return net_.store("scale", Tensor::scalar(affine.scale));
  }

  // A value that no quantised node makes: those who compute on integers read it rounded.
  void round(ValueId v, NodeId maker) {
    const int group = group_of(v);
    if (group < 0 || on_integers(maker)) return;
    const quant::Affine& affine = rounding_.quantizers.groups[group];
    const std::string name = old_.value(v).name;
    read_[v] = fake(name, v, scale_of(name, affine), lowest_of(affine), highest_of(affine));
  }

  void add(NodeId id) {
    Node node = old_.node(id);
    for (size_t i = 0; i < rounding_.plan.weights.size(); ++i) {
      if (rounding_.plan.weights[i].node == id) node.inputs[1] = weights(node, rounding_.plan.weights[i].axis);
    }
    std::vector<ValueId> made = node.outputs;
    if (on_integers(id)) {
      for (ValueId& v : node.inputs) {
        if (const auto found = read_.find(v); found != read_.end()) v = found->second;
      }
      for (ValueId& v : node.outputs) {
        if (group_of(v) >= 0)
          v = net_.graph().add_value(net_.graph().unused_value_name(old_.value(v).name + ".real"), old_.value(v).type);
      }
    }
    const std::vector<ValueId> real = node.outputs;
    net_.add(std::move(node), {});
    for (size_t i = 0; i < made.size(); ++i) {
      if (made[i] == kNoValue) continue;
      if (real[i] == made[i]) {
        round(made[i], id);
        continue;
      }
      const quant::Affine& affine = rounding_.quantizers.groups[group_of(made[i])];
      const std::string name = old_.value(made[i]).name;
      fake(name, real[i], scale_of(name, affine), lowest_of(affine), highest_of(affine), made[i]);
    }
  }

  // Symmetric, by the largest of each channel.
  ValueId weights(const Node& node, int64_t axis) {
    const ValueId w = node.inputs[1];
    if (const auto found = weights_.find(w); found != weights_.end()) return found->second;
    const std::string name = old_.value(w).name;
    net_.set_name(name);
    Node stop;
    stop.op = "StopGradient";
    stop.domain = kInternalDomain;
    stop.inputs = {w};
    const ValueId sizes = net_.emit("Abs", {net_.add(std::move(stop), {name + ".fixed"})[0]});
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < static_cast<int64_t>(net_.shape(w).size()); ++i) {
      if (i != axis) axes.push_back(i);
    }
    const ValueId largest = net_.emit("ReduceMax", {sizes, net_.list(axes)});
    // A channel of zeros has scale 1, as it is written.
    const double end = rounding_.quantizers.largest_weight;
    const ValueId scale = net_.emit("Div", {largest, net_.number(static_cast<float>(end))});
    const ValueId none = net_.emit("Less", {scale, net_.number(std::numeric_limits<float>::min())});
    const ValueId safe = net_.emit("Where", {none, net_.number(1.0F), scale});
    return weights_[w] = fake(name, w, safe, -static_cast<int64_t>(end), static_cast<int64_t>(end));
  }

  const Graph& old_;
  const quant::Rounding& rounding_;
  NewGraph net_;
  std::map<ValueId, ValueId> read_, weights_;
};

}  // namespace

struct FakeQuantized::State {
  Graph prepared, bound;
  quant::QuantizeOptions options;
  quant::QuantizeReport report;
  quant::Rounding rounding;
};

FakeQuantized::FakeQuantized(Graph model, const std::string& path, const Options& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.prepared = quant::prepare(std::move(model));
  s.bound = quant::bound_graph(s.prepared);
  s.options.reduce_range = options.reduce_range;
  s.options.fuses = options.for_tflite ? quant::fuses_in_tflite : quant::fuses_in_onnx;
  s.options.real_results = !options.for_tflite;
  s.options.correct_biases = false;                  // training corrects them
  s.options.method = quant::method_named("minmax");  // and moves what clipping would have cut off
  quant::Calibration calibration = quant::whole_watch_list(s.bound, s.options);
  const quant::State seen = quant::read_state(path);
  try {
    if (seen.network != quant::fingerprint(s.bound))
      fail_usage("the state is of another network; make one with dnn-quantize MODEL --calibrate IMAGES --state FILE");
    quant::take_state(s.bound, seen, &calibration);
  } catch (Error& error) {
    throw error.within(path);
  }
  s.rounding = quant::round_network(s.bound, calibration, s.options, {}, &s.report);
}

FakeQuantized::~FakeQuantized() = default;

Graph FakeQuantized::graph() const { return Rounded(state_->prepared, state_->rounding).run(); }

Graph FakeQuantized::finish(const Graph& trained) const {
  Graph prepared = state_->prepared, bound = state_->bound;
  for (ValueId v = 0; v < static_cast<ValueId>(prepared.value_count()); ++v) {
    if (prepared.constant(v) == nullptr) continue;
    const ValueId learnt = trained.find_value(prepared.value(v).name);
    const Tensor* tensor = learnt == kNoValue ? nullptr : trained.constant(learnt);
    if (tensor != nullptr) prepared.value(v).constant = bound.value(v).constant = *tensor;
  }
  quant::Rounding rounding = state_->rounding;
  for (size_t i = 0; i < rounding.weights.size(); ++i)
    rounding.weights[i] = quant::quantize_node_weights(bound, rounding.plan, i, rounding.quantizers);
  return quant::insert_rounding(prepared, rounding);
}

std::string FakeQuantized::summary() const { return quant::summary_text(state_->report); }

}  // namespace dnn::train
