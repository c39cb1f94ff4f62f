// find_stages(): values that everything passes through cut a network into blocks; blocks of one height and width are a stage.
#include "branch/stages.h"

#include <algorithm>

#include "base/error.h"
#include "ops/op.h"
#include "place/blocks.h"

namespace dnn::branch {
namespace {

bool is_image(const Type& type) {
  return type.dtype == DType::Float32 && type.fixed() && type.shape->size() == 4 && (*type.shape)[0].size == 1;
}

int64_t extent(const Graph& graph, ValueId v, size_t axis) { return (*graph.value(v).type.shape)[axis].size; }

bool has_pixels(const Graph& graph, ValueId v) { return extent(graph, v, 2) * extent(graph, v, 3) > 1; }

// Blocks between the values, in order, that alone are read by what follows. The last one is behind the last such value.
std::vector<SourceBlock> find_blocks(const Graph& graph) {
  std::vector<SourceBlock> blocks;
  for (place::Run& run : place::find_runs(graph, [&](ValueId v) { return is_image(graph.value(v).type); }))
    blocks.push_back({std::move(run.nodes), run.in, run.out});
  return blocks;
}

bool has_weights(const Graph& graph, const SourceBlock& block) {
  return std::any_of(block.nodes.begin(), block.nodes.end(),
                     [&](NodeId id) { return has_trait(graph.node(id), Trait::Weighted); });
}

// True where a node of the block adds the block's input to something, and the type stays.
bool adds_its_input(const Graph& graph, const SourceBlock& block) {
  if (!(graph.value(block.in).type == graph.value(block.out).type)) return false;
  return std::any_of(block.nodes.begin(), block.nodes.end(), [&](NodeId id) {
    const Node& node = graph.node(id);
    return node.op == "Add" && std::count(node.inputs.begin(), node.inputs.end(), block.in) == 1;
  });
}

// Blocks with weights: what has none belongs to the block in front where it leaves the type as it is (an activation), else to the one
// behind (a pad, a pool).
std::vector<SourceBlock> with_weights(const Graph& graph, const std::vector<SourceBlock>& blocks) {
  std::vector<SourceBlock> result;
  std::vector<NodeId> waiting;
  for (SourceBlock block : blocks) {
    const bool weighted = has_weights(graph, block);
    if (!weighted && waiting.empty() && !result.empty() && graph.value(block.in).type == graph.value(block.out).type) {
      result.back().nodes.insert(result.back().nodes.end(), block.nodes.begin(), block.nodes.end());
      result.back().out = block.out;
      continue;
    }
    block.nodes.insert(block.nodes.begin(), waiting.begin(), waiting.end());
    block.in = result.empty() ? graph.inputs[0] : result.back().out;
    waiting.clear();
    if (!weighted) {
      waiting = block.nodes;
    } else {
      block.removable = adds_its_input(graph, block);
      result.push_back(std::move(block));
    }
  }
  if (!waiting.empty() && !result.empty()) {
    result.back().nodes.insert(result.back().nodes.end(), waiting.begin(), waiting.end());
    result.back().out = blocks.back().out;
  }
  return result;
}

// Where stages begin: at blocks that make height times width smaller than it was; up to two blocks in front of these where the value is
// narrower there, so that merged tensors are small. The first block is the stem.
std::vector<size_t> find_begins(const Graph& graph, const std::vector<SourceBlock>& blocks) {
  std::vector<size_t> begins = {1};
  const auto area_of = [&](const SourceBlock& block) {
    return extent(graph, block.out, 2) * extent(graph, block.out, 3);
  };
  int64_t area = area_of(blocks[1]);
  for (size_t i = 2; i < blocks.size(); ++i) {
    const int64_t now = area_of(blocks[i]);
    if (now >= area) continue;
    area = now;
    size_t begin = i;
    const size_t least = std::max(begins.back() + 1, i - 2);
    while (begin > least && extent(graph, blocks[begin - 1].in, 1) < extent(graph, blocks[begin].in, 1)) --begin;
    begins.push_back(begin);
  }
  return begins;
}

}  // namespace

SourceStages find_stages(const Graph& graph) {
  if (graph.inputs.size() != 1 || !is_image(graph.value(graph.inputs[0]).type))
    fail_unsupported(
        "branches are made of networks with one input float32[1, channels, height, width]; this one has ",
        graph.inputs.size() == 1 ? graph.value(graph.inputs[0]).type.text() : cat(graph.inputs.size(), " inputs"));
  std::vector<SourceBlock> blocks = find_blocks(graph);
  SourceStages result;
  while (!blocks.empty() && (blocks.back().out == kNoValue || !has_pixels(graph, blocks.back().out))) {
    result.head.insert(result.head.begin(), blocks.back().nodes.begin(), blocks.back().nodes.end());
    blocks.pop_back();
  }
  if (!blocks.empty()) blocks = with_weights(graph, blocks);
  if (blocks.size() < 2)
    fail_unsupported(
        "no stages: behind the network's first layer, there is no layer of several pixels whose value "
        "everything passes through");
  const std::vector<size_t> begins = find_begins(graph, blocks);
  result.stem = blocks[0].nodes;
  for (size_t s = 0; s < begins.size(); ++s) {
    const size_t end = s + 1 < begins.size() ? begins[s + 1] : blocks.size();
    SourceStage stage;
    for (size_t i = begins[s]; i < end; ++i) stage.blocks.push_back(std::move(blocks[i]));
    stage.channels = extent(graph, stage.out(), 1);
    stage.height = extent(graph, stage.out(), 2);
    stage.width = extent(graph, stage.out(), 3);
    result.stages.push_back(std::move(stage));
  }
  return result;
}

}  // namespace dnn::branch
