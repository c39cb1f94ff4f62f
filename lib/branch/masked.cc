// mask_network(): the operators of slice.h, on all channels and with masks in place of slices.
#include "branch/masked.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "branch/slice.h"
#include "graph/locate.h"
#include "ops/build.h"
#include "ops/gradient.h"
#include "ops/op.h"

namespace dnn::branch {
namespace {

// A tensor of all channels, of which a child has some.
struct Layer {
  ValueId value = kNoValue;
  ValueId mask = kNoValue;  // 1 or 0 for each channel, to multiply by; kNoValue: it has all
};

// A value of the source: one tensor, or where branches are merged one of each. What is read of it is made once.
struct Layers {
  std::vector<Layer> all;
  ValueId mean = kNoValue, first = kNoValue;

  bool is_whole() const { return all.size() == 1 && all[0].mask == kNoValue; }
  bool is_partial() const { return all.size() == 1 && all[0].mask != kNoValue; }
};

std::vector<ValueId> masks_of(const Layers& layers) {
  std::vector<ValueId> masks;
  for (const Layer& layer : layers.all) masks.push_back(layer.mask);
  return masks;
}

class Masker {
 public:
  Masker(const Graph& source, const SourceStages& stages, size_t branches)
      : source_(source), stages_(stages), branches_(branches) {}

  MaskedNetwork run() {
    const ValueId in = source_.inputs[0];
    layers_[in] = {{{target_.input(source_.value(in).name, source_.value(in).type), kNoValue}}};
    for (ValueId v = 0; v < source_.value_count(); ++v) {
      if (const Tensor* tensor = source_.constant(v)) constants_[v] = target_.store(source_.value(v).name, *tensor);
    }
    copy(stages_.stem, "st_");
    for (size_t s = 0; s < stages_.stages.size(); ++s) stage(s);
    in_branch_ = false;
    copy(stages_.head, "head_");
    for (ValueId v : source_.outputs) target_.output(whole(v), source_.value(v).name);
    result_.graph = target_.finish();
    return std::move(result_);
  }

 private:
  // ---- masks
  ValueId add_input(const MaskInput& input) {
    std::vector<Dim> shape;
    if (input.channels > 0) shape = {1, input.channels, 1, 1};
    const std::string what = input.channels == 0 ? cat("block", input.block) : cat("channels", input.channels);
    result_.inputs.push_back(input);
    return target_.input(cat("mask/s", input.stage + 1, "/", input.branch, "/", what),
                         Type(DType::Float32, std::move(shape)));
  }

  // The mask of layers with so many channels, in the branch that is being copied.
  ValueId channel_mask(int64_t channels) {
    if (!in_branch_) return kNoValue;
    ValueId& mask = masks_.try_emplace({stage_, branch_, channels}, kNoValue).first->second;
    if (mask == kNoValue) mask = add_input({stage_, branch_, channels, 0});
    return mask;
  }

  ValueId ones(int64_t channels, bool are_zeros) {
    ValueId& made = constant_masks_.try_emplace({channels, are_zeros}, kNoValue).first->second;
    if (made != kNoValue) return made;
    Tensor tensor(DType::Float32, {1, channels, 1, 1});
    std::fill_n(tensor.mutable_data<float>(), channels, are_zeros ? 0.0F : 1.0F);
    target_.set_name("mask");
    return made = target_.store(are_zeros ? "none" : "all", std::move(tensor));
  }

  // ---- what is read of a value
  ValueId product(ValueId a, ValueId b) { return target_.emit("Mul", {a, b}); }
  ValueId sum(ValueId a, ValueId b) { return a == kNoValue ? b : target_.emit("Add", {a, b}); }

  // For layers that mix channels: those that are there, shared ones as the mean of their branches, others 0.
  ValueId mean(ValueId source) {
    if (const auto constant = constants_.find(source); constant != constants_.end()) return constant->second;
    Layers& x = layers_.at(source);
    if (x.is_whole()) return x.all[0].value;
    if (x.mean != kNoValue) return x.mean;
    if (x.is_partial()) return x.mean = product(x.all[0].value, x.all[0].mask);
    ValueId count = kNoValue, total = kNoValue;
    for (const Layer& layer : x.all) count = sum(count, layer.mask);
    const ValueId one = target_.number(1.0F);
    const ValueId share = target_.emit("Div", {one, target_.emit("Max", {count, one})});
    for (const Layer& layer : x.all) total = sum(total, product(layer.value, product(layer.mask, share)));
    return x.mean = total;
  }

  // For operators that take a channel from one place: all channels, each from the first branch that holds it.
  ValueId whole(ValueId source) {
    if (const auto constant = constants_.find(source); constant != constants_.end()) return constant->second;
    Layers& x = layers_.at(source);
    if (x.is_whole()) return x.all[0].value;
    if (x.is_partial()) fail_unsupported("it wants all channels, of which a branch has some");
    if (x.first != kNoValue) return x.first;
    const ValueId one = target_.number(1.0F);
    ValueId left = kNoValue, total = kNoValue;
    for (const Layer& layer : x.all) {
      const ValueId taken = left == kNoValue ? layer.mask : product(layer.mask, left);
      total = sum(total, product(layer.value, taken));
      const ValueId others = target_.emit("Sub", {one, layer.mask});
      left = left == kNoValue ? others : product(left, others);
    }
    return x.first = total;
  }

  // ---- nodes
  void copy(const std::vector<NodeId>& nodes, const std::string& prefix) {
    prefix_ = prefix;
    for (NodeId id : nodes) {
      const Node& node = source_.node(id);
      target_.set_name(prefix + (node.name.empty() ? node.op : node.name));
      try {
        copy_node(node);
      } catch (Error& e) {
        throw e.within(label_in(source_, node));
      }
    }
  }

  void copy_node(const Node& node) {
    switch (channel_role(source_, node)) {
      case ChannelRole::Convolution: return convolution(node);
      case ChannelRole::Product: return with_all(node, mean(node.inputs[0]));
      case ChannelRole::Norm:
      case ChannelRole::Keeps: return each(node);
      case ChannelRole::Joins: return concatenation(node);
      case ChannelRole::Elements: return element_wise(node);
      case ChannelRole::Flattens: return flattening(node);
      case ChannelRole::Whole: return with_all(node, kNoValue);
    }
  }

  int64_t channels(ValueId source) const { return (*source_.value(source).type.shape)[1].size; }
  size_t rank(ValueId source) const { return source_.value(source).type.shape->size(); }

  std::vector<ValueId> add(const Node& node, std::vector<ValueId> inputs) {
    Node copy = node;
    copy.name = target_.name();
    copy.inputs = std::move(inputs);
    copy.outputs.clear();
    std::vector<std::string> names;
    for (ValueId v : node.outputs) names.push_back(v == kNoValue ? "" : prefix_ + source_.value(v).name);
    return target_.add(std::move(copy), names);
  }

  void convolution(const Node& node) {
    const int64_t groups = node.attribute_int("group", 1), made = channels(node.outputs[0]);
    ValueId x = kNoValue;
    if (groups == 1) {
      x = mean(node.inputs[0]);
    } else {
      if (in_branch_ && channels(node.inputs[0]) != made)
        fail_unsupported("a convolution of groups that changes the number of channels");
      const Layers& in = layers_.at(node.inputs[0]);
      if (in.is_partial() && in.all[0].mask != channel_mask(made))
        fail_unsupported("a convolution of groups of channels that were put behind one another");
      x = in.is_partial() ? in.all[0].value : whole(node.inputs[0]);
    }
    std::vector<ValueId> inputs = {x};
    for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(whole_or_none(node.inputs[i]));
    layers_[node.outputs[0]] = {{{add(node, inputs)[0], channel_mask(made)}}};
  }

  ValueId whole_or_none(ValueId source) { return source == kNoValue ? kNoValue : whole(source); }

  // A node that makes all channels. `x`: in place of its first input.
  void with_all(const Node& node, ValueId x) {
    std::vector<ValueId> inputs;
    for (ValueId v : node.inputs) inputs.push_back(inputs.empty() && x != kNoValue ? x : whole_or_none(v));
    const std::vector<ValueId> outputs = add(node, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != kNoValue) layers_[node.outputs[i]] = {{{outputs[i], kNoValue}}};
    }
  }

  // On each layer alone.
  void each(const Node& node) {
    Layers made;
    for (const Layer& layer : layers_.at(node.inputs[0]).all) {
      std::vector<ValueId> inputs = {layer.value};
      for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(whole_or_none(node.inputs[i]));
      made.all.push_back({add(node, inputs)[0], layer.mask});
    }
    layers_[node.outputs[0]] = std::move(made);
  }

  void concatenation(const Node& node) {
    size_t most = 1;
    bool whole_ones = true;
    for (ValueId v : node.inputs) {
      const auto found = layers_.find(v);
      if (found == layers_.end()) return with_all(node, kNoValue);
      most = std::max(most, found->second.all.size());
      whole_ones = whole_ones && found->second.is_whole();
    }
    if (whole_ones) return with_all(node, kNoValue);
    Layers made;
    for (size_t i = 0; i < most; ++i) {
      std::vector<ValueId> values, masks;
      for (ValueId v : node.inputs) {
        const std::vector<Layer>& from = layers_.at(v).all;
        const bool there = i < from.size();
        const Layer& layer = from[there ? i : 0];
        values.push_back(layer.value);
        masks.push_back(there && layer.mask != kNoValue ? layer.mask : ones(channels(v), !there));
      }
      target_.set_name(prefix_ + (node.name.empty() ? node.op : node.name));
      made.all.push_back({add(node, values)[0], target_.emit("Concat", masks, {{"axis", int64_t{1}}})});
    }
    layers_[node.outputs[0]] = std::move(made);
  }

  // Operands get the channels of the one that has fewest.
  void element_wise(const Node& node) {
    const int64_t wide = channels(node.outputs[0]);
    const auto is_full = [&](ValueId v) {
      return v != kNoValue && layers_.count(v) != 0 && rank(v) == rank(node.outputs[0]) && channels(v) == wide;
    };
    const Layers* least = nullptr;
    const auto order = [](const Layers& x) { return x.is_partial() ? 0 : x.is_whole() ? 1 : 2; };
    for (ValueId v : node.inputs) {
      if (is_full(v) && (least == nullptr || order(layers_.at(v)) < order(*least))) least = &layers_.at(v);
    }
    if (least == nullptr) return with_all(node, kNoValue);
    const std::vector<ValueId> masks = masks_of(*least);
    for (ValueId v : node.inputs) {
      if (is_full(v) && order(layers_.at(v)) == order(*least) && masks_of(layers_.at(v)) != masks)
        fail_unsupported("its operands have different channels of a branch");
    }
    Layers made;
    for (size_t i = 0; i < masks.size(); ++i) {
      std::vector<ValueId> inputs;
      for (ValueId v : node.inputs) {
        const bool alike = is_full(v) && masks_of(layers_.at(v)) == masks;
        inputs.push_back(alike ? layers_.at(v).all[i].value : whole_or_none(v));
      }
      made.all.push_back({add(node, inputs)[0], masks[i]});
    }
    layers_[node.outputs[0]] = std::move(made);
  }

  void flattening(const Node& node) {
    const Shape in = source_.value(node.inputs[0]).type.fixed_shape();
    const int64_t pixels = in[2] * in[3], wide = in[1];
    Layers made;
    for (const Layer& layer : layers_.at(node.inputs[0]).all) {
      const ValueId flat = add(node, inputs_behind(node, layer.value))[0];
      const ValueId mask =
          layer.mask == kNoValue
              ? kNoValue
              : reshape_to(target_, expand_to(target_, layer.mask, {1, wide, in[2], in[3]}), {1, wide * pixels});
      made.all.push_back({flat, mask});
    }
    layers_[node.outputs[0]] = std::move(made);
  }

  std::vector<ValueId> inputs_behind(const Node& node, ValueId first) {
    std::vector<ValueId> inputs = {first};
    for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(whole_or_none(node.inputs[i]));
    return inputs;
  }

  // ---- stages
  void stage(size_t s) {
    const SourceStage& stage = stages_.stages[s];
    Layers out;
    for (size_t b = 0; b < branches_; ++b) {
      in_branch_ = true;
      stage_ = s;
      branch_ = b;
      const std::string prefix = cat("s", s + 1, "_", b, "_");
      for (size_t i = 0; i < stage.blocks.size(); ++i) {
        copy(stage.blocks[i].nodes, prefix);
        if (i > 0 && stage.blocks[i].removable) choose(stage.blocks[i], i);
      }
      const Layers& made = layers_.at(stage.out());
      if (!made.is_partial())
        fail_unsupported("stage ", s + 1, ": what it ends in has all channels, whatever a branch has");
      out.all.push_back(made.all[0]);
    }
    layers_[stage.out()] = std::move(out);
  }

  // The block's output, or its input where the branch lacks it.
  void choose(const SourceBlock& block, size_t index) {
    Layers &made = layers_.at(block.out), &before = layers_.at(block.in);
    if (!made.is_partial() || !before.is_partial() || made.all[0].mask != before.all[0].mask)
      fail_unsupported("block ", index + 1, " of stage ", stage_ + 1, " has other channels than what it reads");
    target_.set_name(cat(prefix_, "block", index));
    const ValueId gate = add_input({stage_, branch_, 0, index});
    const ValueId passed = target_.emit("Sub", {target_.number(1.0F), gate});
    made.all[0].value = sum(product(made.all[0].value, gate), product(before.all[0].value, passed));
    made.mean = made.first = kNoValue;
  }

  const Graph& source_;
  const SourceStages& stages_;
  const size_t branches_;
  NewGraph target_;
  MaskedNetwork result_;
  std::map<ValueId, Layers> layers_;      // by the source's values
  std::map<ValueId, ValueId> constants_;  // the same
  std::map<std::tuple<size_t, size_t, int64_t>, ValueId> masks_;
  std::map<std::pair<int64_t, bool>, ValueId> constant_masks_;
  std::string prefix_;
  bool in_branch_ = false;
  size_t stage_ = 0, branch_ = 0;
};

}  // namespace

MaskedNetwork mask_network(const Graph& source, const SourceStages& stages, size_t branches) {
  return Masker(source, stages, branches).run();
}

std::vector<Tensor> mask_values(const Graph& source, const SourceStages& stages, const ElasticRanges& ranges,
                                const std::vector<MaskInput>& inputs, const StretchPlan& child) {
  std::vector<Tensor> values;
  for (const MaskInput& input : inputs) {
    const SourceStage& stage = stages.stages[input.stage];
    const std::vector<BranchShape>& branches = child.stages[input.stage];
    const auto found = std::find_if(branches.begin(), branches.end(), [&](const BranchShape& branch) {
      return branch.device == ranges.devices[input.branch];
    });
    const bool there = found != branches.end();
    if (input.channels == 0) {
      values.push_back(Tensor::scalar(there && dropped_blocks(stage, found->depth)[input.block] ? 0.0F : 1.0F));
      continue;
    }
    Tensor mask(DType::Float32, {1, input.channels, 1, 1});
    std::fill_n(mask.mutable_data<float>(), input.channels, 0.0F);
    if (there) {
      const size_t index = found - branches.begin();
      for (int64_t c : share_of(input.channels, branches, index, Units(source, stage)))
        mask.mutable_data<float>()[c] = 1;
    }
    values.push_back(std::move(mask));
  }
  return values;
}

}  // namespace dnn::branch
