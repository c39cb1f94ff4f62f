// The parts of scaled dot-product attention as models spell it out: projections, heads split, mixed and joined.
#pragma once
#include <optional>
#include <vector>

#include "graph/patch.h"
#include "layout/trial.h"

namespace dnn {

struct HeadExtents {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
};

// The dense layer behind a queries', keys' or values' view: rows of `x`, times columns of a matrix, plus a row.
struct HeadProjection {
  ValueId x = kNoValue, weight = kNoValue, bias = kNoValue;
  bool turned = false;           // the matrix is [out, in]
  std::vector<int64_t> columns;  // of the matrix, in the order of heads and places in them
  bool sequence_first = false;   // x is [sequence, batch, features]
  double scale = 1;
};

// The value in which the heads are side by side again: a view of [batch, length, heads, size] whose last axis is all of a
// row.
struct JoinedHeads {
  ValueId value = kNoValue;
  std::vector<NodeId> nodes;
  bool sequence_first = false;
};

struct AttentionParts {
  NodeId product = -1, softmax = -1, mix = -1;  // queries by keys, their weights, weights by values
  HeadProjection query, key, value;
  int64_t heads = 0, value_size = 0;
  double scale = 1;  // of the products in front of the Softmax
  JoinedHeads joined;
};

// The attention around a Softmax, or nothing.
std::optional<AttentionParts> find_attention(const Graph& graph, const Uses& uses, const Types& types, NodeId softmax);

// The extents of a value, as `types` know them; none where one is open.
std::vector<int64_t> extents_of(const Types& types, ValueId v);

}  // namespace dnn
