// Pairing nodes; see pair_nodes.h.
#include "localize/pair_nodes.h"

#include <algorithm>

namespace dnn {

std::vector<std::pair<NodeId, NodeId>> pair_nodes(const Graph& source, const std::vector<NodeId>& a,
                                                  const Graph& target, const std::vector<NodeId>& b) {
  constexpr size_t kMost = 400;
  std::vector<std::pair<NodeId, NodeId>> pairs;
  if (a.size() > kMost || b.size() > kMost) return pairs;
  const auto same = [&](size_t i, size_t j) {
    const Node &x = source.node(a[i]), &y = target.node(b[j]);
    return x.op == y.op && x.domain == y.domain;
  };
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = std::max({common[i + 1][j], common[i][j + 1], same(i, j) ? common[i + 1][j + 1] + 1 : 0});
  }
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && same(i, j) && common[i][j] == common[i + 1][j + 1] + 1) {
      pairs.emplace_back(a[i++], b[j++]);
    } else if (j >= b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      pairs.emplace_back(a[i++], -1);
    } else {
      pairs.emplace_back(-1, b[j++]);
    }
  }
  return pairs;
}

}  // namespace dnn
