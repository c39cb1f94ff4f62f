// Shares of channels and blocks; see shares.h.
#include "branch/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "branch/slice.h"
#include "ops/op.h"

namespace dnn::branch {

Units::Units(const Graph& source, const SourceStage& stage) {
  for (const SourceBlock& block : stage.blocks) {
    for (NodeId id : block.nodes) {
      const Node& node = source.node(id);
      const int64_t groups = node.attribute_int("group", 1);
      if (!has_trait(node, Trait::Weighted) || groups == 1) continue;
      const auto& in = source.value(node.inputs[0]).type.shape;
      if (in && in->size() >= 2) groups_.emplace((*in)[1].size, (*in)[1].size / groups);
    }
  }
}

int64_t Units::operator()(int64_t channels) const {
  const auto group = groups_.find(channels);
  int64_t unit = group == groups_.end() ? 1 : group->second;
  for (int64_t wanted : {16, 8, 4, 2}) {
    const int64_t whole = std::lcm(unit, wanted);
    if (channels % whole == 0 && channels / whole >= 4) return whole;
  }
  return unit;
}

std::vector<int64_t> share_of(int64_t channels, const std::vector<BranchShape>& branches, size_t index,
                              const Units& units) {
  if (branches.size() == 1 && branches[0].width == 1) return all_channels(channels);
  const int64_t unit = units(channels);
  const auto width = [&](size_t b) {
    const auto wanted = static_cast<int64_t>(std::lround(branches[b].width * static_cast<double>(channels) /
                                                         static_cast<double>(unit))) *
                        unit;
    return std::clamp(wanted, unit, channels);
  };
  int64_t sum = 0, before = 0;
  for (size_t b = 0; b < branches.size(); ++b) {
    if (b < index) before += width(b);
    sum += width(b);
  }
  // Rounding may leave a gap: the last branch then is wider.
  int64_t begin = sum <= channels ? before : before * channels / sum / unit * unit;
  begin = std::min(begin, channels - width(index));
  const bool is_last = index + 1 == branches.size();
  const int64_t end = is_last ? channels : begin + width(index);
  std::vector<int64_t> result(end - begin);
  std::iota(result.begin(), result.end(), begin);
  return result;
}

int64_t least_depth(const SourceStage& stage) {
  int64_t depth = 0;
  for (size_t i = 0; i < stage.blocks.size(); ++i) depth += i == 0 || !stage.blocks[i].removable ? 1 : 0;
  return depth;
}

std::vector<bool> dropped_blocks(const SourceStage& stage, int64_t depth) {
  int64_t drop = static_cast<int64_t>(stage.blocks.size()) - depth;
  std::vector<bool> dropped(stage.blocks.size(), false);
  for (size_t i = stage.blocks.size(); i-- > 1 && drop > 0;) {
    if (!stage.blocks[i].removable) continue;
    dropped[i] = true;
    --drop;
  }
  return dropped;
}

}  // namespace dnn::branch
