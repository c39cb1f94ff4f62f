// Prints: what of a tensor does not depend on the order of its elements, so that values and parameters are recognised in any layout.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "graph/graph.h"
#include "tensor/tensor.h"

namespace dnn {

struct Print {
  size_t size = 0;
  double sum = 0, squares = 0, largest = 0, least = 0;
  bool finite = true;

  void take(const Tensor& tensor);
  bool like(const Print& other, double tolerance) const {
    const double scale = std::max({std::abs(largest), std::abs(least), std::abs(other.largest), std::abs(other.least)});
    const auto near = [&](double a, double b, double unit) { return std::abs(a - b) <= tolerance * unit; };
    const auto n = static_cast<double>(size);
    return size == other.size && near(largest, other.largest, scale) && near(least, other.least, scale) &&
           near(squares, other.squares, std::max(squares, other.squares)) &&
           near(sum, other.sum, scale * std::sqrt(n) + std::abs(sum));
  }
  // Whether it tells a value from others: numbers that are all one do not.
  bool telling() const { return finite && size > 1 && largest > least; }
};

inline bool plain_numbers(DType dtype) { return is_float(dtype) || is_integer(dtype); }

// The prints of a node's constants, in its order of inputs; empty where none of them tells the node from others.
std::vector<Print> parameter_prints(const Graph& graph, const Node& node);
// Whether both are the same numbers, in any order.
bool same_parameters(const std::vector<Print>& a, const std::vector<Print>& b);

}  // namespace dnn
