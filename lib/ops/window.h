// Window: the spatial parameters that convolutions and poolings share (kernel_shape, strides, dilations, pads, auto_pad).
#pragma once
#include <vector>

#include "ops/op.h"

namespace dnn {

struct Window {
  std::vector<int64_t> kernel, strides, dilations, pad_begin, pad_end;  // one entry per spatial axis
  std::vector<int64_t> output;                                          // output extents

  // From a node's attributes; `input` are the spatial extents, `kernel` wins over the attribute when not empty.
  // auto_pad SAME_UPPER puts the odd padding at the end, SAME_LOWER at the beginning. Throws Malformed.
  static Window of(const Node& node, const std::vector<int64_t>& input, std::vector<int64_t> kernel);
};

// Output extents for partly known input extents: unknown stays unknown.
std::vector<Dim> window_output(const Node& node, const std::vector<Dim>& input, const std::vector<int64_t>& kernel);

}  // namespace dnn
