// Window; see window.h. Formulas: ONNX operator text of Conv and MaxPool (output extent, auto_pad, ceil_mode).
#include "ops/window.h"

#include <algorithm>
#include <limits>

namespace dnn {
namespace {

// Far above any network, and products of two stay far below overflow.
constexpr int64_t kParameterLimit = int64_t{1} << 30;

void check_limits(const Node& node, const char* name, const std::vector<int64_t>& values) {
  for (int64_t value : values) {
    if (value > kParameterLimit || value < -kParameterLimit)
      fail_malformed(node.label(), ": ", name, " ", value, " is beyond the limit of ", kParameterLimit);
  }
}

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

Window Window::of(const Node& node, const std::vector<int64_t>& input, std::vector<int64_t> kernel) {
  const size_t rank = input.size();
  Window w;
  w.input = input;
  w.kernel = kernel.empty() ? ints_attribute(node, "kernel_shape") : std::move(kernel);
  w.strides = ints_attribute(node, "strides", rank);
  w.dilations = ints_attribute(node, "dilations", rank);
  const std::vector<int64_t> pads = ints_attribute(node, "pads", 2 * rank);
  const std::string auto_pad = takes_attribute(node, "auto_pad") ? string_attribute(node, "auto_pad") : "NOTSET";
  if (w.kernel.size() != rank || w.strides.size() != rank || w.dilations.size() != rank || pads.size() != 2 * rank) {
    fail_malformed(node.label(), ": kernel_shape, strides, dilations and pads must cover the ", rank, " spatial axes");
  }
  check_limits(node, "kernel_shape", w.kernel);
  check_limits(node, "strides", w.strides);
  check_limits(node, "dilations", w.dilations);
  check_limits(node, "pads", pads);
  const bool ceil_mode = takes_attribute(node, "ceil_mode") && flag_attribute(node, "ceil_mode");
  for (size_t i = 0; i < rank; ++i) {
    if (w.kernel[i] <= 0 || w.strides[i] <= 0 || w.dilations[i] <= 0) {
      fail_malformed(node.label(), ": kernel_shape, strides and dilations must be positive");
    }
    const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;  // input elements one window spans
    int64_t begin = pads[i], end = pads[rank + i];
    if (auto_pad == "VALID") begin = end = 0;
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      const int64_t out = (input[i] + w.strides[i] - 1) / w.strides[i];
      const int64_t total = std::max<int64_t>(0, (out - 1) * w.strides[i] + reach - input[i]);
      begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    }
    const int64_t room = input[i] + begin + end - reach;
    int64_t out = floor_quotient(room, w.strides[i]) + 1;
    // ceil_mode adds a window that starts in the input or its left padding
    if (ceil_mode && room % w.strides[i] != 0 && out * w.strides[i] < input[i] + begin) ++out;
    if (out < 1) {
      fail_malformed(node.label(), ": a window of ", reach, " does not fit an input of ", input[i], " with padding ",
                     begin, "+", end);
    }
    w.pad_begin.push_back(begin);
    w.pad_end.push_back(end);
    w.output.push_back(out);
  }
  return w;
}

AttributeDefs window_attributes(bool kernel_required, AttributeDefs more) {
  AttributeDefs schema = {
      {"strides", per_axis(1), "step between windows"},
      {"dilations", per_axis(1), "step between the elements of the kernel"},
      {"pads", per_axis(0), "begins, then ends"},
      {"auto_pad", "NOTSET", "how padding follows from the extents: NOTSET, VALID, SAME_UPPER or SAME_LOWER"}};
  if (kernel_required) {
    schema.emplace_back("kernel_shape", required(AttributeType::Ints), "extents of the kernel");
  } else {
    schema.emplace_back("kernel_shape", optional(AttributeType::Ints),
                        "extents of the kernel; left out: as the weights say");
  }
  schema.insert(schema.end(), more.begin(), more.end());
  return schema;
}

Window::Taps Window::taps(size_t axis, int64_t o, int64_t before, int64_t after) const {
  const int64_t start = position(axis, o, 0);
  const int64_t first = std::max<int64_t>(0, -floor_quotient(start + before, dilations[axis]));
  const int64_t last = std::min(kernel[axis], floor_quotient(input[axis] + after - 1 - start, dilations[axis]) + 1);
  return {std::min(first, kernel[axis]), std::max(last, std::min(first, kernel[axis]))};
}

BudgetVector<int64_t> Window::tap_offsets() const {
  BudgetVector<int64_t> offsets(element_count({element_count(kernel), element_count(output)}));
  const std::vector<int64_t> step = row_major_strides(input);
  std::vector<int64_t> at(rank(), 0), tap(rank(), 0);
  for (int64_t& to : offsets) {
    for (size_t i = 0; i < rank() && to >= 0; ++i) {
      const int64_t place = position(i, at[i], tap[i]);
      to = place < 0 || place >= input[i] ? -1 : to + place * step[i];
    }
    bool whole = true;  // the outputs, last axis first, and after a whole round of them the taps
    for (size_t i = rank(); whole && i-- > 0;) {
      whole = ++at[i] == output[i];
      if (whole) at[i] = 0;
    }
    for (size_t i = rank(); whole && i-- > 0;) {
      whole = ++tap[i] == kernel[i];
      if (whole) tap[i] = 0;
    }
  }
  return offsets;
}

namespace {

constexpr int64_t kOutside = std::numeric_limits<int64_t>::min();

// The next of the first `axes` indices, the last one first; after the last place the first one again.
void next_index(std::vector<int64_t>& at, const std::vector<int64_t>& extents, size_t axes) {
  for (size_t i = axes; i-- > 0;) {
    if (++at[i] < extents[i]) return;
    at[i] = 0;
  }
}

}  // namespace

TapRuns::TapRuns(const Window& window, int64_t panel)
    : panel_(panel),
      panels_((element_count(window.output) + panel - 1) / panel),
      step_(window.strides.empty() ? 1 : window.strides.back()) {
  const int64_t taps = element_count(window.kernel), positions = element_count(window.output);
  begin_.reserve(taps * panels_ + 1);
  if (positions == 0) return;  // no panels
  const size_t axes = window.rank(), last = axes - 1;
  const std::vector<int64_t> stride = row_major_strides(window.input);
  const int64_t wide = axes == 0 ? 1 : window.output[last];
  std::vector<int64_t> tap(axes, 0), at(axes, 0);  // at: of a row, whose last entry stays 0
  for (int64_t t = 0; t < taps; ++t, next_index(tap, window.kernel, axes)) {
    // The row's outputs that read inside of the input: [low, high).
    const int64_t begin = axes == 0 ? 0 : window.position(last, 0, tap[last]);
    const int64_t low = std::clamp<int64_t>(begin >= 0 ? 0 : (-begin + step_ - 1) / step_, 0, wide);
    const int64_t end = axes == 0 ? 1 : window.input[last] - begin;
    const int64_t high = std::clamp<int64_t>(end <= 0 ? 0 : (end + step_ - 1) / step_, low, wide);
    room_ = 0;
    for (int64_t row = 0; row < positions / wide; ++row) {
      int64_t from = begin;
      for (size_t i = 0; i + 1 < axes && from != kOutside; ++i) {
        const int64_t place = window.position(i, at[i], tap[i]);
        from = place < 0 || place >= window.input[i] ? kOutside : from + place * stride[i];
      }
      if (from == kOutside) {
        append(-1, wide);
      } else {
        append(-1, low);
        append(from + low * step_, high - low);
        append(-1, wide - high);
      }
      if (axes > 1) next_index(at, window.output, last);
    }
  }
  begin_.push_back(runs_.size());
}

// The next outputs of a tap, across as many panels as they take.
void TapRuns::append(int64_t from, int64_t length) {
  while (length > 0) {
    const bool is_new = room_ == 0;
    if (is_new) {
      begin_.push_back(runs_.size());
      room_ = panel_;
    }
    const int64_t n = std::min(length, room_);
    Run* const before = is_new ? nullptr : &runs_.back();
    if (before != nullptr &&
        (from < 0 ? before->from < 0 : before->from >= 0 && from == before->from + before->length * step_)) {
      before->length += n;
    } else {
      runs_.push_back({from < 0 ? -1 : from, n});
    }
    room_ -= n;
    length -= n;
    if (from >= 0) from += n * step_;
  }
}

bool Window::clipped(size_t axis) const {
  return output[axis] > 0 &&
         (position(axis, 0, 0) < 0 || position(axis, output[axis] - 1, kernel[axis] - 1) >= input[axis]);
}

double Window::taps_inside() const {
  double inside = 1;
  for (size_t axis = 0; axis < rank(); ++axis) {
    double pairs = 0;
    for (int64_t k = 0; k < kernel[axis]; ++k) {
      const int64_t first = -position(axis, 0, k), last = input[axis] - 1 + first, stride = strides[axis];
      if (last < 0) continue;
      const int64_t begin = first <= 0 ? 0 : (first + stride - 1) / stride,
                    end = std::min(output[axis], last / stride + 1);
      pairs += static_cast<double>(std::max<int64_t>(0, end - begin));
    }
    inside *= pairs;
  }
  return inside;
}

loops::Expr inside_window(const Window& window, const std::vector<loops::Expr>& positions) {
  loops::Expr inside;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!window.clipped(i)) continue;
    const loops::Expr within = positions[i] >= 0 && positions[i] < window.input[i];
    inside = inside.defined() ? inside && within : within;
  }
  return inside;
}

int64_t Window::counted(bool include_padding, size_t axis, int64_t o) const {
  return include_padding ? taps(axis, o, pad_begin[axis], pad_end[axis]).count() : taps(axis, o).count();
}

loops::Expr count_of_window(const Window& window, bool include_padding, size_t axis, const loops::Expr& o) {
  using namespace loops;
  const int64_t before = include_padding ? window.pad_begin[axis] : 0,
                after = include_padding ? window.pad_end[axis] : 0;
  bool same = true;
  const int64_t n = window.output[axis], first = n == 0 ? 0 : window.counted(include_padding, axis, 0);
  for (int64_t i = 1; i < n && same; ++i) same = window.counted(include_padding, axis, i) == first;
  if (same) return constant_int(DType::Int64, first);
  const Expr start = o * window.strides[axis] - window.pad_begin[axis];
  const Expr zero = constant_int(DType::Int64, 0), kernel = constant_int(DType::Int64, window.kernel[axis]);
  const int64_t d = window.dilations[axis], limit = window.input[axis] + after;
  const Expr low = min(max(zero, floordiv(d - 1 - before - start, d)), kernel);
  const Expr high = min(kernel, floordiv(limit - 1 - start, d) + 1);
  return max(high, low) - low;
}

std::vector<Dim> window_output(const Node& node, const std::vector<Dim>& input, const std::vector<int64_t>& kernel) {
  std::vector<int64_t> extents;
  for (const Dim& dim : input) extents.push_back(dim.fixed() ? dim.size : kParameterLimit * 4);  // any that fits
  const Window w = Window::of(node, extents, kernel);
  std::vector<Dim> output(input.size());
  for (size_t i = 0; i < input.size(); ++i) {
    if (input[i].fixed()) output[i] = w.output[i];
  }
  return output;
}

}  // namespace dnn
