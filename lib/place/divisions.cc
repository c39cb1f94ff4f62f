// Costs of divided chains, and the search with them; see divisions.h.
#include "place/divisions.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "passes/channel_block.h"
#include "passes/match.h"
#include "place/measure.h"

namespace dnn::place {
namespace {

// Microseconds of one slice, with its ways from and to the device `join`.
double slice_us(const ChainCost& cost, const std::vector<std::vector<CopyCost>>& copy, size_t join,
                const Slice& slice) {
  const size_t d = slice.part;
  const double share = static_cast<double>(slice.channels) / static_cast<double>(cost.channels);
  const auto back = static_cast<int64_t>(static_cast<double>(cost.bytes_out) * share);
  return copy[join][d].of(cost.bytes_in) + cost.busy_us[d] * share + copy[d][join].of(back);
}

// From now on a device takes `us` for the chain; all of it counts to the layer.
void set_chain_us(const Chain& chain, double us, std::vector<double>* node_us) {
  for (const ChainNode& node : chain.nodes) (*node_us)[node.id] = 0;
  (*node_us)[chain.nodes.front().id] = us;
}

// Nodes that run while another device works on another branch.
std::set<NodeId> nodes_beside_others(const std::vector<Block>& blocks, const std::vector<BlockChoice>& choice) {
  std::set<NodeId> result;
  for (size_t k = 0; k < blocks.size(); ++k) {
    if (!choice[k].splits()) continue;
    for (const Branch& branch : blocks[k].branches) result.insert(branch.nodes.begin(), branch.nodes.end());
  }
  return result;
}

// Bytes of the layer's input, of integers where a DequantizeLinear is in front, and of other values that the nodes behind it read.
int64_t bytes_read(const Graph& graph, const Uses& uses, const Chain& chain) {
  std::set<ValueId> values;
  const ValueId x = graph.node(chain.nodes.front().id).inputs[0];
  const NodeId maker = uses.producer[x];
  values.insert(maker >= 0 && is_op(graph.node(maker), "DequantizeLinear") ? graph.node(maker).inputs[0] : x);
  for (const ChainNode& node : chain.nodes) {
    for (const auto& [input, axis] : node.inputs) {
      const ValueId v = graph.node(node.id).inputs[input];
      if (!is_stored(graph, uses, v)) values.insert(v);
    }
  }
  int64_t bytes = 0;
  for (ValueId v : values) bytes += bytes_of(graph, v);
  return bytes;
}

}  // namespace

ChainCost chain_cost(const Graph& graph, const Chain& chain, const Measured& measured) {
  ChainCost cost;
  cost.channels = chain.channels;
  cost.bytes_in = bytes_read(graph, Uses(graph), chain);
  cost.bytes_out = bytes_of(graph, graph.node(chain.nodes.back().id).outputs[0]);
  for (const DeviceCost& device : measured.devices) {
    double alone = 0, busy = 0;
    for (const ChainNode& node : chain.nodes) {
      alone += device.node_us[node.id];
      busy += device.busy_us[node.id];
    }
    cost.alone_us.push_back(alone);
    cost.busy_us.push_back(busy);
  }
  return cost;
}

double division_us(const ChainCost& cost, const std::vector<std::vector<CopyCost>>& copy,
                   const std::vector<Slice>& slices) {
  const size_t join = slices.front().part;
  double us = 0;
  for (const Slice& slice : slices) us = std::max(us, slice_us(cost, copy, join, slice));
  return us + copy[join][join].us_per_byte * static_cast<double>(cost.bytes_out);
}

// Block by block to the device that would be done with it first. That is exact, as each device's time grows in equal steps: if a
// distribution were faster, one of its devices would have a block more than here, and would be done with that before the last one is here.
std::vector<Slice> fastest_slices(const ChainCost& cost, const std::vector<std::vector<CopyCost>>& copy, size_t join) {
  const int64_t blocks = cost.channels / kChannelBlock;
  if (blocks < 2) return {{join, cost.channels}};
  std::vector<int64_t> has(cost.busy_us.size(), 0);
  has[join] = 1;
  for (int64_t given = 1; given < blocks; ++given) {
    const auto with_one_more = [&](size_t d) { return slice_us(cost, copy, join, {d, (has[d] + 1) * kChannelBlock}); };
    size_t first = join;
    for (size_t d = 0; d < has.size(); ++d) {
      if (with_one_more(d) < with_one_more(first)) first = d;
    }
    ++has[first];
  }
  std::vector<Slice> slices = {{join, has[join] * kChannelBlock}};
  for (size_t d = 0; d < has.size(); ++d) {
    if (d != join && has[d] > 0) slices.push_back({d, has[d] * kChannelBlock});
  }
  slices.back().channels += cost.channels - blocks * kChannelBlock;
  return slices;
}

DividedSearch search_divided(const Graph& graph, const std::vector<Block>& blocks, const Measured& measured,
                             double dearer) {
  const std::vector<Chain> chains = ChannelChains(graph).all();
  Measured lowered = measured, priced = measured;
  lowered.copy = dearer_copies(measured.copy, dearer);
  std::vector<ChainCost> costs;
  std::vector<std::vector<std::vector<Slice>>> slices(chains.size());  // by chain and the device that has its input
  for (size_t c = 0; c < chains.size(); ++c) {
    costs.push_back(chain_cost(graph, chains[c], measured));
    for (size_t d = 0; d < measured.devices.size(); ++d) {
      std::vector<Slice> fastest = fastest_slices(costs[c], lowered.copy, d);
      const double us = division_us(costs[c], lowered.copy, fastest);
      const bool pays = fastest.size() > 1 && us * kWorthIt <= costs[c].alone_us[d];
      if (pays) set_chain_us(chains[c], us, &lowered.devices[d].node_us);
      slices[c].push_back(pays ? std::move(fastest) : std::vector<Slice>());
    }
  }
  const Searched searched = search_placement(cost_of(blocks, lowered));
  DividedSearch result;
  result.chains = chains.size();
  result.placement.places = places_of(graph, blocks, searched.blocks);
  const std::set<NodeId> beside_others = nodes_beside_others(blocks, searched.blocks);
  for (size_t c = 0; c < chains.size(); ++c) {
    const std::vector<ChainNode>& nodes = chains[c].nodes;
    const size_t d = result.placement.places[nodes.front().id];
    const bool together = std::all_of(nodes.begin(), nodes.end(), [&](const ChainNode& node) {
      return result.placement.places[node.id] == d && beside_others.count(node.id) == 0;
    });
    if (!together || slices[c][d].empty()) continue;
    set_chain_us(chains[c], division_us(costs[c], measured.copy, slices[c][d]), &priced.devices[d].node_us);
    result.placement.divisions.push_back({chains[c], slices[c][d]});
  }
  result.us = predicted_us(cost_of(blocks, priced), searched.blocks);
  // A chain that the search gave to two devices is not divided after all.
  result.proved = searched.proved && dearer == 1 && result.us <= searched.us * (1 + 1e-9);
  return result;
}

}  // namespace dnn::place
