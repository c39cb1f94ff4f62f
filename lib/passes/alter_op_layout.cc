// alter-op-layout: memory layouts for the whole graph at once. Values around convolutions and poolings get their channels
// blocked by 16 (one vector), and the zero border that the convolutions reading them pad with; kernels index logically,
// so nothing else changes. A padded convolution's graph input is first copied into a bordered value.
#include <algorithm>
#include <set>

#include "graph/locate.h"
#include "loops/layout.h"
#include "ops/border.h"
#include "ops/lowering.h"
#include "ops/quantization.h"
#include "ops/window.h"
#include "ops/winograd.h"
#include "passes/channel_block.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

constexpr int64_t kBlock = kChannelBlock;
constexpr int64_t kLeastBlockedChannels = 8;  // below, blocks would be mostly padding
constexpr int64_t kBytes = 4;                 // in a block of fewer channels of 8 bits: what a dot product takes

bool is_quantized(const Node& node) { return node.domain == kInternalDomain && node.op == "QuantizedConv"; }
// It makes weights, or numbers for each channel, of the planes that it reads.
bool sums_planes(const Node& node) {
  return is_internal(node, "ConvWeightGradient") || is_internal(node, "WinogradWeightGradient") ||
         is_internal(node, "ChannelSums") || is_internal(node, "ChannelMoments");
}
bool is_gradient(const Node& node) {
  return sums_planes(node) || is_internal(node, "ConvInputGradient") || is_internal(node, "MaxPoolGradient");
}

bool spatial(const Node& node) {
  static const std::set<std::string, std::less<>> names = {"MaxPool",       "AveragePool",  "GlobalAveragePool",
                                                           "GlobalMaxPool", "LRN",          "BatchNormalization",
                                                           "Resize",        "ConvTranspose"};
  return is_convolution(node) || (node.domain.empty() && names.count(node.op) != 0) || is_winograd(node) ||
         is_quantized(node) || is_gradient(node) || (node.domain == kInternalDomain && node.op == "QuantizedAverage");
}

bool channel_concat(const Graph& graph, const Node& node) {
  return is_op(node, "Concat") && graph.value(node.outputs[0]).type.fixed() &&
         graph.value(node.outputs[0]).type.shape->size() == 4 &&
         (node.attribute_int("axis", 0) == 1 || node.attribute_int("axis", 0) == -3);
}

bool channel_split(const Graph& graph, const Node& node) {
  if (!is_op(node, "Split")) return false;
  const Type& type = graph.value(node.inputs[0]).type;
  return type.fixed() && type.shape->size() == 4 &&
         (node.attribute_int("axis", 0) == 1 || node.attribute_int("axis", 0) == -3);
}

class Chooser {
 public:
  explicit Chooser(const Graph& graph) : graph_(graph), uses_(graph) {}

  std::vector<Patch> run() {
    for (NodeId id : graph_.order()) spread(id);
    for (bool again = true; again;) {  // element-wise operands share their result's layout
      const size_t before = blocked_.size();
      for (NodeId id : graph_.order()) share(id);
      again = blocked_.size() != before;
    }
    for (NodeId id : graph_.order()) copies_of(id);
    for (NodeId id : graph_.order()) pad_rows(id);
    for (auto id = graph_.order().rbegin(); id != graph_.order().rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (channel_concat(graph_, node)) pass_border_on(*id, node.outputs[0], node.inputs);
    }
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (channel_split(graph_, node)) pass_border_on(id, node.inputs[0], node.outputs);
    }
    Patch patch(graph_, "layouts");
    for (ValueId v : blocked_) layouts_[v].block(1, kBlock);
    for (ValueId v : in_fours_) layouts_[v].block(1, kBytes);
    bool changed = false;
    for (auto& [v, layout] : layouts_) {
      if (graph_.value(v).layout == layout.text()) continue;
      patch.set_layout(v, layout.text());
      changed = true;
    }
    if (changed) copies_.insert(copies_.begin(), std::move(patch));
    return std::move(copies_);
  }

 private:
  // A value, of floats or bytes, that a kernel makes and only kernels read or the device unpacks.
  bool is_made_by_kernel(ValueId v) const {
    if (v == kNoValue || graph_.is_output(v) || graph_.is_input(v) || graph_.constant(v) != nullptr) return false;
    const Type& type = graph_.value(v).type;
    const NodeId producer = uses_.producer[v];
    return type.fixed() && (has_vectors(type.dtype) || is_byte(type.dtype)) && producer >= 0 && lowers(producer);
  }
  bool may_change(ValueId v) const { return is_made_by_kernel(v) && graph_.value(v).type.shape->size() == 4; }

  // Rows of what a product of bytes reads and makes get room for whole vectors.
  void pad_rows(NodeId id) {
    const Node& node = graph_.node(id);
    const Head anchor = head_of(node);
    if (!is_internal(*anchor.node, "QuantizedMatMul")) return;
    for (const ValueId v : {anchor.inputs[0], node.outputs[0]}) {
      if (!is_made_by_kernel(v) || blocked_.count(v) + in_fours_.count(v) + layouts_.count(v) > 0) continue;
      const auto last = static_cast<int>(graph_.value(v).type.shape->size()) - 1;
      if ((*graph_.value(v).type.shape)[last].size % kBlock != 0) layouts_[v].block(last, kBlock);
    }
  }

  bool lowers(NodeId id) const {
    auto [entry, fresh] = lowers_.try_emplace(id, false);
    if (fresh) entry->second = can_lower(graph_, graph_.node(id));
    return entry->second;
  }

  void block(ValueId v) {
    if (may_change(v) && (*graph_.value(v).type.shape)[1].size >= kLeastBlockedChannels && layouts_.count(v) == 0)
      blocked_.insert(v);
  }

  void spread(NodeId id) {
    const Node& node = graph_.node(id);
    const Head anchor = head_of(node);
    const bool concat = channel_concat(graph_, *anchor.node) || channel_concat(graph_, node);
    if (channel_split(graph_, node)) {
      for (ValueId v : node.outputs) {
        if (v != kNoValue && uses_.readers[v].empty())
          block(v);  // as those that are read, so that all lie in the input
      }
    }
    if (!spatial(*anchor.node) && !concat) return;
    if (!anchor.inputs.empty()) block(anchor.inputs[0]);
    if (is_convolution(*anchor.node)) computed_weights(anchor);
    if (is_winograd(*anchor.node)) computed_matrices(anchor.inputs[1]);
    if (sums_planes(*anchor.node)) {
      if (anchor.inputs.size() > 1 && anchor.inputs[1] != kNoValue) block(anchor.inputs[1]);
      return;
    }
    if (is_internal(*anchor.node, "MaxPoolGradient")) {
      for (ValueId v : anchor.inputs) block(v);
    }
    if (concat) {
      for (ValueId v : node.inputs) block(v);
    }
    block(node.outputs[0]);
    if (is_quantized(*anchor.node) && may_change(anchor.inputs[0]) && blocked_.count(anchor.inputs[0]) == 0 &&
        layouts_.count(anchor.inputs[0]) == 0)
      in_fours_.insert(anchor.inputs[0]);
  }

  // Weights that are no constants, which a schedule would pack: the filters of a block side by side.
  void computed_weights(const Head& conv) {
    const ValueId w = conv.inputs[1];
    if (!may_change(w) || conv.node->attribute_int("group", 1) != 1) return;
    const Shape shape = graph_.value(w).type.fixed_shape();
    if (shape[0] >= kLeastBlockedChannels && shape[2] * shape[3] == 1) layouts_[w].block(0, kBlock);
  }

  // Matrices that are no constants: the columns of a panel side by side, and its rows one after the other.
  void computed_matrices(ValueId u) {
    if (graph_.constant(u) != nullptr || graph_.is_input(u) || graph_.is_output(u)) return;
    layouts_[u]
        .block(2, graph_.value(u).type.fixed_shape()[2] % (2 * kBlock) == 0 ? 2 * kBlock : kBlock)
        .order({0, 2, 1});
  }

  void share(NodeId id) {
    const Node& node = graph_.node(id);
    const OpDef* op = find_op(node.domain, node.op);
    const bool fused = is_fused(node);
    if (op == nullptr || (op->element == nullptr && !fused) || sums_planes(*head_of(node).node)) return;
    if (fused && !spatial(*head_of(node).node)) {
      const Node& head = *head_of(node).node;
      const OpDef* first = find_op(head.domain, head.op);
      if (first == nullptr || first->element == nullptr) return;
    }
    const ValueId y = node.outputs[0];
    bool any = blocked_.count(y) != 0;
    for (ValueId v : node.inputs) any = any || (v != kNoValue && blocked_.count(v) != 0 && same_channels(v, y));
    if (!any) return;
    block(y);
    for (ValueId v : node.inputs) {
      if (v != kNoValue && may_change(v) && same_channels(v, y)) block(v);
    }
  }

  bool same_channels(ValueId a, ValueId b) const {
    const auto &x = graph_.value(a).type.shape, &y = graph_.value(b).type.shape;
    return x && y && x->size() == 4 && y->size() == 4 && (*x)[1] == (*y)[1];
  }

  // Elements that a convolution reads below and above its input, by spatial axis; false for other nodes.
  bool border_of(const Node& node, const Shape& x, const Type& weights, int64_t low[2], int64_t high[2]) const {
    if (is_winograd(node) || is_internal(node, "WinogradWeightGradient")) {
      const std::vector<int64_t> pads = node.attribute_ints("pads", {0, 0, 0, 0});
      const winograd::Form form = winograd::form_of(node);
      for (size_t i = 0; i < 2; ++i) {
        const winograd::Axis& axis = i == 0 ? form.rows : form.columns;
        const int64_t outputs = (x[i + 2] + pads[i] + pads[i + 2] - axis.taps) / axis.stride + 1;
        const int64_t last = (axis.tiles(outputs) - 1) * axis.out * axis.stride + axis.in - 1 - pads[i];
        low[i] = std::max<int64_t>(0, pads[i]);
        high[i] = std::max<int64_t>(0, last - (x[i + 2] - 1));
      }
      return true;
    }
    const bool inputs = is_internal(node, "ConvInputGradient"), taps = is_internal(node, "ConvWeightGradient");
    if ((!is_convolution(node) && !is_quantized(node) && !inputs && !taps) || !weights.fixed()) return false;
    const Shape ws = weights.fixed_shape();
    const std::vector<int64_t> kernel =
        taps ? node.attribute_ints("kernel_shape", {}) : std::vector<int64_t>{ws[2], ws[3]};
    const std::vector<int64_t> plane =
        inputs ? node.attribute_ints("input_shape", {}) : std::vector<int64_t>{x[2], x[3]};
    const Window window = Window::of(node, plane, kernel);
    for (size_t i = 0; inputs && i < 2; ++i) {
      // The outputs that read input 0 by the last tap, and the last input by the first.
      const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] - window.pad_begin[i];
      low[i] = std::max<int64_t>(0, reach / window.strides[i]);
      high[i] = std::max<int64_t>(0, (plane[i] - 1 + window.pad_begin[i]) / window.strides[i] - (x[i + 2] - 1));
    }
    if (inputs) return true;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t last = (window.output[i] - 1) * window.strides[i] + (window.kernel[i] - 1) * window.dilations[i] -
                           window.pad_begin[i];
      low[i] = std::max<int64_t>(0, window.pad_begin[i]);
      high[i] = std::max<int64_t>(0, last - (x[i + 2] - 1));
    }
    return true;
  }

  // A kernel may want another layout than its value has: a border around what it reads, weights in blocks. Where the value may not
  // change, a copy of it stands before the reader.
  void copies_of(NodeId id) {
    const Node& node = graph_.node(id);
    const Head anchor = head_of(node);
    if (!lowers(id)) return;
    std::vector<std::pair<ValueId, loops::Layout>> wanted;
    if (anchor.inputs.size() > 1 && anchor.inputs[1] != kNoValue) borders(anchor, &wanted);
    weights(anchor, &wanted);
    if (wanted.empty()) return;
    const auto& [first, its] = wanted[0];
    Patch patch(graph_, cat(its.has_halo() ? "border of " : "layout of ", graph_.value(first).name, " for ",
                            label_in(graph_, node)));
    Node reader = node;
    reader.sources = sources_of(node);
    for (const auto& [v, layout] : wanted) {
      const bool border = layout.has_halo();
      const ValueId copy =
          patch.add_value(graph_.value(v).name + (border ? ".bordered" : ".blocked"), graph_.value(v).type);
      patch.set_layout(copy, layout.text());
      Node identity;
      identity.op = "Identity";
      identity.name = node.name + (border ? ".border" : ".weights");
      identity.inputs = {v};
      identity.outputs = {copy};
      std::replace(reader.inputs.begin(), reader.inputs.end(), v, copy);
      patch.add_node(std::move(identity));
    }
    patch.add_node(std::move(reader));
    patch.remove_node(id);
    copies_.push_back(std::move(patch));  // stands where the reader does
  }

  // Values that are blocks of channels of `whole`, by a Concat or a Split, get its border. They lie in it then, and the node is no step
  // (codegen/parts.h). Not bytes, whose border is filled as the value's own readers say.
  void pass_border_on(NodeId id, ValueId whole, const std::vector<ValueId>& parts) {
    const auto its = layouts_.find(whole);
    if (its == layouts_.end() || !its->second.has_halo() || blocked_.count(whole) == 0) return;
    if (is_byte(graph_.value(whole).type.dtype)) return;
    for (ValueId v : parts) {
      const bool made_here = v != kNoValue && uses_.producer[v] == id;
      if (v == kNoValue || blocked_.count(v) == 0 || layouts_.count(v) != 0) return;
      if ((!made_here && only_reader(graph_, uses_, v) != id) || (*graph_.value(v).type.shape)[1].size % kBlock != 0)
        return;
    }
    const loops::Layout layout = its->second;
    for (ValueId v : parts) layouts_[v] = layout;
  }

  void borders(const Head& anchor, std::vector<std::pair<ValueId, loops::Layout>>* wanted) {
    const ValueId x = anchor.inputs[0];
    const Type& type = graph_.value(x).type;
    if (!type.fixed() || type.shape->size() != 4) return;
    const Shape xs = type.fixed_shape();
    int64_t low[2], high[2];
    if (!border_of(*anchor.node, xs, graph_.value(anchor.inputs[1]).type, low, high)) return;
    if (low[0] == 0 && low[1] == 0 && high[0] == 0 && high[1] == 0) return;
    if (is_byte(type.dtype) && !dnn::border_of(graph_, uses_, x)) return;
    if (may_change(x)) {
      layouts_[x].halo(2, low[0], high[0]).halo(3, low[1], high[1]);
    } else if (graph_.is_input(x) && graph_.value(x).type.dtype != DType::Undefined) {
      loops::Layout layout;
      if (xs[1] >= kLeastBlockedChannels || is_byte(type.dtype))
        layout.block(1, xs[1] >= kLeastBlockedChannels ? kBlock : kBytes);
      layout.halo(2, low[0], high[0]).halo(3, low[1], high[1]);
      wanted->emplace_back(x, layout);
    }
  }

  // Weights that change from run to run, as a schedule packs constants: the filters of a vector side by side, and within them the
  // channels of a block.
  void weights(const Head& anchor, std::vector<std::pair<ValueId, loops::Layout>>* wanted) {
    const bool matrices = is_internal(*anchor.node, "WinogradWeights");
    const bool back =
        matrices ? anchor.node->attribute_int("back", 0) != 0 : is_internal(*anchor.node, "ConvInputGradient");
    if (!is_convolution(*anchor.node) && !back && !matrices) return;
    const ValueId w = anchor.inputs[matrices ? 0 : 1];
    const Type& type = graph_.value(w).type;
    if (graph_.constant(w) != nullptr || layouts_.count(w) != 0 || blocked_.count(w) != 0 || !type.fixed() ||
        type.shape->size() != 4 || !has_vectors(type.dtype))
      return;
    const Shape shape = type.fixed_shape();
    const int64_t group = anchor.node->attribute_int("group", 1);
    loops::Layout layout;
    if (group == 1) {
      const int filters = back ? 1 : 0, channels = 1 - filters;
      const int64_t m = shape[filters], c = shape[channels];
      if (c >= kBlock) layout.block(channels, kBlock);
      if (m >= kLeastBlockedChannels) layout.block(filters, m % (2 * kBlock) == 0 && !matrices ? 2 * kBlock : kBlock);
      if (back) layout.order({1, 0, 2, 3});
    } else if (shape[0] == group && shape[1] == 1 && group >= kLeastBlockedChannels) {
      layout.block(0, kBlock);
    }
    if (!layout.row_major()) wanted->emplace_back(w, layout);
  }

  const Graph& graph_;
  Uses uses_;
  std::set<ValueId> blocked_, in_fours_;
  std::map<ValueId, loops::Layout> layouts_;
  mutable std::map<NodeId, bool> lowers_;
  std::vector<Patch> copies_;  // of what may not change
};

}  // namespace

// A GPU's threads that stand side by side take positions side by side, which are so in a row-major tensor, and a border costs a launch.
std::vector<Patch> alter_op_layout(const Graph& graph, const PassContext& context) {
  if (context.target.isa->gpu) return {};
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    if (!graph.value(v).layout.empty()) return {};  // chosen once, for all
  }
  return Chooser(graph).run();
}

}  // namespace dnn
