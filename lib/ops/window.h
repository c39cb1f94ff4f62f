// Window: the spatial parameters that convolutions and poolings share (kernel_shape, strides, dilations, pads, auto_pad).
#pragma once
#include <span>
#include <vector>

#include "ops/op.h"
#include "tensor/budget.h"

namespace dnn {

struct Window {
  std::vector<int64_t> kernel, strides, dilations, pad_begin, pad_end;  // one entry per spatial axis
  std::vector<int64_t> input, output;                                   // extents

  // From a node's attributes; `input` are the spatial extents, `kernel` wins over the attribute when not empty.
  // auto_pad SAME_UPPER puts the odd padding at the end, SAME_LOWER at the beginning. Throws Malformed.
  static Window of(const Node& node, const std::vector<int64_t>& input, std::vector<int64_t> kernel);

  size_t rank() const { return kernel.size(); }
  // Input position of kernel tap k at output o; it may lie outside of the input.
  int64_t position(size_t axis, int64_t o, int64_t k) const {
    return o * strides[axis] + k * dilations[axis] - pad_begin[axis];
  }
  // The taps [first, last) at output o that lie between -before and input + after.
  struct Taps {
    int64_t first, last;
    int64_t count() const { return last - first; }
  };
  Taps taps(size_t axis, int64_t o, int64_t before = 0, int64_t after = 0) const;
  // How many taps count there in a mean: those in the input, or in its padding, too.
  int64_t counted(bool include_padding, size_t axis, int64_t o) const;
  // Input offset (row-major) of every (kernel tap, output position), tap by tap; -1 outside of the input.
  BudgetVector<int64_t> tap_offsets() const;
  // Whether some output's taps along this axis lie outside of the input.
  bool clipped(size_t axis) const;
  // How many pairs of a tap and an output position lie inside of the input.
  double taps_inside() const;
};

// The schema of the attributes that Window::of reads, and what the operator has besides.
AttributeDefs window_attributes(bool kernel_required, AttributeDefs more = {});

// What each tap reads for panels of consecutive output positions, as runs of evenly spaced input elements.
class TapRuns {
 public:
  struct Run {
    int64_t from;    // input offset (row-major) of the first, -1: outside of the input, all of them
    int64_t length;  // outputs
  };
  TapRuns(const Window& window, int64_t panel);
  // Between the elements of a run.
  int64_t step() const { return step_; }
  std::span<const Run> of(int64_t tap, int64_t panel) const {
    const size_t at = tap * panels_ + panel;
    return {runs_.data() + begin_[at], runs_.data() + begin_[at + 1]};
  }

 private:
  void append(int64_t from, int64_t length);

  int64_t panel_, panels_, step_;
  int64_t room_ = 0;  // in the last panel
  BudgetVector<Run> runs_;
  BudgetVector<size_t> begin_;  // by tap and panel
};

// The same in loops: whether `position` lies in an extent, an undefined expression when it always does.
loops::Expr inside_window(const Window& window, const std::vector<loops::Expr>& positions);

// Window::counted as an index expression of o; a constant where every output counts the same.
loops::Expr count_of_window(const Window& window, bool include_padding, size_t axis, const loops::Expr& o);

// Output extents for partly known input extents: unknown stays unknown.
std::vector<Dim> window_output(const Node& node, const std::vector<Dim>& input, const std::vector<int64_t>& kernel);

}  // namespace dnn
