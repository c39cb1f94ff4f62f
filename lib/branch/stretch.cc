// stretch(): copies a network's stages branch by branch, and joins these behind each stage.
#include "branch/stretch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "branch/config.h"
#include "branch/slice.h"
#include "branch/yaml.h"
#include "ops/op.h"
#include "ops/weights.h"

namespace dnn::branch {
namespace {

void check(const SourceStages& stages, const StretchPlan& plan) {
  if (plan.stages.size() != stages.stages.size())
    fail_usage("the plan has ", plan.stages.size(), " stages, the network ", stages.stages.size());
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const auto depth = static_cast<int64_t>(stages.stages[s].blocks.size());
    double width = 0;
    for (const BranchShape& branch : plan.stages[s]) {
      if (branch.depth < least_depth(stages.stages[s]) || branch.depth > depth)
        fail_usage("stage ", s + 1, ": a branch of ", branch.depth, " blocks; the network has ", depth, ", and ",
                   least_depth(stages.stages[s]), " of them are no residual blocks, which stay");
      width += branch.width;
    }
    if (width < 0.999) fail_usage("stage ", s + 1, ": the branches' WIDTHS sum up to less than 1");
  }
}

class Stretcher {
 public:
  Stretcher(const Graph& source, const SourceStages& stages, const StretchPlan& plan, ChannelOrders orders)
      : source_(source), stages_(stages), plan_(plan), orders_(std::move(orders)), copier_(source, target_) {}

  Graph network() {
    const ValueId in = source_.inputs[0];
    const Value& image = source_.value(in);
    copier_.pieces[in] = {target_.input(image.name, image.type), all_channels((*image.type.shape)[1].size)};
    const auto all_of = [&](const Node& layer, int64_t channels) { return ordered(layer, all_channels(channels)); };
    copier_.copy(stages_.stem, cat("st_", plan_.main_device, "_"), all_of);
    for (size_t s = 0; s < plan_.stages.size(); ++s) stage(s);
    copier_.copy(stages_.head, cat("head_", plan_.main_device, "_"), all_of);
    for (ValueId v : source_.outputs) target_.output(copier_.whole(v), source_.value(v).name);
    Graph graph = target_.finish();
    graph.name = source_.name;
    graph.metadata = source_.metadata;
    return graph;
  }

  // The branch alone, from the tensor that the stages before it merge.
  Graph branch_alone(size_t index, size_t only) {
    const SourceStage& stage = stages_.stages[index];
    std::vector<int64_t> channels = all_channels((*source_.value(stage.in()).type.shape)[1].size);
    if (index > 0) {
      // The tensor that the stage before merges, without making it.
      channels.clear();
      const Units units(source_, stages_.stages[index - 1]);
      for (size_t b = 0; b < plan_.stages[index - 1].size(); ++b) {
        const std::vector<int64_t> share =
            share_of(stages_.stages[index - 1].channels, plan_.stages[index - 1], b, units);
        channels.insert(channels.end(), share.begin(), share.end());
      }
    }
    const Shape shape = source_.value(stage.in()).type.fixed_shape();
    const auto wide = static_cast<int64_t>(channels.size());
    const ValueId in = target_.input("merged", Type(DType::Float32, {shape[0], wide, shape[2], shape[3]}));
    const Piece out = branch(index, only, {in, channels});
    target_.output(out.value == in ? target_.emit("Identity", {in}) : out.value);
    return target_.finish();
  }

 private:
  // The layer's channels at these positions of its order.
  std::vector<int64_t> ordered(const Node& layer, std::vector<int64_t> positions) const {
    const auto order = orders_.find(layer.outputs[0]);
    if (order != orders_.end()) {
      for (int64_t& position : positions) position = order->second[position];
    }
    return positions;
  }

  Piece branch(size_t s, size_t b, const Piece& merged) {
    const SourceStage& stage = stages_.stages[s];
    const BranchShape& shape = plan_.stages[s][b];
    const Units units(source_, stage);
    const std::vector<bool> dropped = dropped_blocks(stage, shape.depth);
    copier_.pieces[stage.in()] = merged;
    for (size_t i = 0; i < stage.blocks.size(); ++i) {
      const SourceBlock& block = stage.blocks[i];
      if (dropped[i]) {
        copier_.pieces[block.out] = copier_.pieces.at(block.in);
      } else {
        copier_.copy(block.nodes, cat("s", s + 1, "_", shape.device, "_"), [&](const Node& layer, int64_t channels) {
          if (!is_convolution(layer)) return all_channels(channels);
          return ordered(layer, share_of(channels, plan_.stages[s], b, units));
        });
      }
    }
    return copier_.pieces.at(stage.out());
  }

  void stage(size_t s) {
    const SourceStage& stage = stages_.stages[s];
    const Piece merged = copier_.pieces.at(stage.in());
    std::vector<ValueId> values;
    Piece out;
    for (size_t b = 0; b < plan_.stages[s].size(); ++b) {
      out = branch(s, b, merged);
      values.push_back(out.value);
      joined_.insert(joined_.end(), out.channels.begin(), out.channels.end());
    }
    if (values.size() > 1) {
      target_.set_name(cat("s", s + 1, "_", plan_.main_device, "_mp_end_concat"));
      out = {target_.emit("Concat", values, {{"axis", int64_t{1}}}), joined_};
    }
    joined_.clear();
    copier_.pieces[stage.out()] = out;
  }

  const Graph& source_;
  const SourceStages& stages_;
  const StretchPlan& plan_;
  const ChannelOrders orders_;
  NewGraph target_;
  SliceCopier copier_;
  std::vector<int64_t> joined_;
};

[[noreturn]] void fail_at(const std::string& path, const Yaml& at, const std::string& what) {
  fail_malformed(path, ":", at.line, ": ", what);
}

const Yaml& list_of(const std::string& path, const Yaml& map, const char* key) {
  const Yaml* list = map.kind == Yaml::Kind::Map ? map.find(key) : nullptr;
  if (list == nullptr || list->kind != Yaml::Kind::List || list->items.empty())
    fail_at(path, map, cat(key, " is missing, or is no list"));
  return *list;
}

double number_of(const std::string& path, const Yaml& item, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(item.text.c_str(), &end);
  if (item.kind != Yaml::Kind::Scalar || item.text.empty() || *end != 0 || !(value >= least && value <= most))
    fail_at(path, item, cat(item.shown(), " is no number from ", exact_text(least), " to ", exact_text(most)));
  return value;
}

}  // namespace

double graph_flops(const Graph& graph) {
  double sum = 0;
  for (NodeId id : graph.order()) sum += node_flops(graph, graph.node(id));
  return sum;
}

Graph stretch(const Graph& source, const SourceStages& stages, const StretchPlan& plan, const ChannelOrders& orders) {
  check(stages, plan);
  return Stretcher(source, stages, plan, orders).network();
}

Graph stretch_stage(const Graph& source, const SourceStages& stages, const StretchPlan& plan, size_t index,
                    size_t only) {
  return Stretcher(source, stages, plan, {}).branch_alone(index, only);
}

std::string plan_text(const StretchPlan& plan, const SourceStages& stages) {
  std::string text = cat("MAIN_DEVICE: ", plan.main_device, "\nSTAGES:\n");
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    std::string devices, depths, widths;
    for (const BranchShape& branch : plan.stages[s]) {
      const char* comma = devices.empty() ? "" : ", ";
      devices += cat(comma, branch.device);
      depths += cat(comma, branch.depth);
      widths += cat(comma, exact_text(branch.width));
    }
    const SourceStage& stage = stages.stages[s];
    text += cat("  # ", counted(stage.channels, "channel"), " of ", stage.height, " x ", stage.width, ", ",
                counted(stage.blocks.size(), "block"), "\n  - {DEVICES: [", devices, "], DEPTHS: [", depths,
                "], WIDTHS: [", widths, "]}\n");
  }
  return text;
}

StretchPlan read_plan(const std::string& path) {
  const Yaml tree = read_yaml(read_file(path), path);
  if (tree.kind != Yaml::Kind::Map) fail_at(path, tree, "no plan of stages, as --config-out writes it");
  for (const Yaml::Entry& entry : tree.entries) {
    if (entry.key != "MAIN_DEVICE" && entry.key != "STAGES")
      fail_malformed(path, ":", entry.line, ": ", quoted(entry.key),
                     " is no key of a plan; it has MAIN_DEVICE and STAGES");
  }
  const auto device = [&](const Yaml& item) {
    const ProcessorName* row = find_processor(item.text);
    if (item.kind != Yaml::Kind::Scalar || row == nullptr)
      fail_at(path, item, cat(item.shown(), " is no device; it is cpu, dsp or gpu"));
    return std::string(row->name);
  };
  StretchPlan plan;
  if (const Yaml* main = tree.find("MAIN_DEVICE")) plan.main_device = device(*main);
  for (const Yaml& stage : list_of(path, tree, "STAGES").items) {
    const Yaml &devices = list_of(path, stage, "DEVICES"), &depths = list_of(path, stage, "DEPTHS"),
               &widths = list_of(path, stage, "WIDTHS");
    if (depths.items.size() != devices.items.size() || widths.items.size() != devices.items.size())
      fail_at(path, stage, "DEVICES, DEPTHS and WIDTHS are not equally long");
    std::vector<BranchShape> branches;
    for (size_t b = 0; b < devices.items.size(); ++b) {
      const double depth = number_of(path, depths.items[b], 1, 1000);
      branches.push_back(
          {device(devices.items[b]), static_cast<int64_t>(depth), number_of(path, widths.items[b], 0.01, 1)});
      for (size_t other = 0; other < b; ++other) {
        if (branches[other].device == branches[b].device)
          fail_at(path, devices.items[b], cat("two branches for ", branches[b].device));
      }
    }
    plan.stages.push_back(std::move(branches));
  }
  return plan;
}

}  // namespace dnn::branch
