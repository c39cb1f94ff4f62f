// A tensor as a strided view of another one: what Reshape, Transpose, Split, Slice and their like make without moving an element.
#pragma once
#include <vector>

#include "graph/graph.h"
#include "layout/trial.h"

namespace dnn {

struct View {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;

  // All of a tensor of these extents.
  explicit View(std::vector<int64_t> extents);

  // Whether a node only moves elements, so that apply() may follow it.
  static bool moves(const Graph& graph, const Node& node);
  // The view of what the node makes as `output`; false (the view is spent) where elements would have to be copied.
  bool apply(const Graph& graph, const Node& node, ValueId output, const Types& types);

  void swap(size_t a, size_t b);
  // Axis `axis` becomes two, or is one with the axis behind it; false where it cannot.
  bool split(size_t axis, int64_t outer, int64_t inner);
  bool merge(size_t axis);
  bool contiguous() const;

 private:
  bool reshape(const std::vector<int64_t>& to);
  bool cut(size_t axis, int64_t begin, int64_t end);
  bool slice(const Graph& graph, const Node& node);
};

}  // namespace dnn
