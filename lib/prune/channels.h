// Channels that can be taken out of a network: which belong together, which matter least, and the network without them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quant/calibrate.h"

namespace dnn::prune {

// Channels that layers make and that are the same all the way: where one goes, all go. Sums and products of values tie those of
// their operands together; a depthwise layer keeps those of its input.
struct ChannelGroup {
  std::vector<NodeId> makers;
  int64_t channels = 0;
  bool free = false;            // false: an output of the network, or an operator that needs all, reads them
  std::vector<double> weights;  // by channel: what it matters, see ChannelGroups
  std::string name;             // of the first maker
};

class ChannelGroups {
 public:
  // `bound` as quant::bound_graph() gives it, with batch norms or without; it must outlive the object.
  explicit ChannelGroups(const Graph& bound);

  const std::vector<ChannelGroup>& groups() const { return groups_; }
  // Values whose figures by channel weigh() needs: those that layers with weights read.
  std::map<ValueId, quant::ChannelFigures> watched() const;
  // How much a channel matters: for each layer that reads it the squares of the weights on it, times the variance of its numbers, over
  // the sum of all the layer's. A batch norm behind the layer scales its weights. The mean counts nothing, as biases make up for it.
  void weigh(const std::map<ValueId, quant::ChannelFigures>& figures);

  // The channels of each group, in rising order, less the share of them that matter least; at least one stays.
  std::vector<std::vector<int64_t>> kept(const std::vector<double>& shares) const;
  // By layer that reads channels: its weights with zeros for those that go, and its bias with what they gave on average. That is what
  // taking them out does to it.
  struct Reader {
    NodeId layer = -1;
    std::vector<size_t> groups;  // whose channels it reads
    Tensor weights;
    std::optional<Tensor> bias;  // none: it has no place for one, or nothing is known of the channels
  };
  std::vector<Reader> readers(const std::vector<std::vector<int64_t>>& kept,
                              const std::map<ValueId, quant::ChannelFigures>& figures) const;
  // The network with these channels alone, and such biases.
  Graph without(const std::vector<std::vector<int64_t>>& kept,
                const std::map<ValueId, quant::ChannelFigures>& figures) const;

 private:
  // Places along axis 1 of a value: so many channels of a group, each `repeat` times in a row.
  struct Part {
    size_t group = 0;
    int64_t channels = 0, repeat = 1;
  };
  using Parts = std::vector<Part>;
  friend class ChannelFinder;

  // By place of a value: its group, and the channel there.
  std::vector<std::pair<size_t, int64_t>> places(ValueId v) const;

  std::vector<ChannelGroup> groups_;
  std::map<ValueId, Parts> parts_;
  std::map<ValueId, size_t> made_;                 // by what a layer makes: its group
  std::vector<std::pair<NodeId, ValueId>> reads_;  // layers that weigh channels, and the values that they read
  const Graph& bound_;
};

// Gives a Conv or Gemm a bias, one number for each unit, in place of its own. A layer without one that a batch norm alone reads stays
// without: the norm's mean takes the bias off.
void set_bias(Graph& graph, NodeId layer, Tensor bias);

}  // namespace dnn::prune
