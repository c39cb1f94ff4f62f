// NonMaxSuppression: per batch and class, the boxes of highest score that do not overlap an already chosen one too much.
// Float32 throughout; of equal scores the lower box index comes first, a NaN score last.
#include <algorithm>
#include <array>
#include <limits>

#include "ops/movement.h"

namespace dnn::non_max_suppression_ops {
namespace {

void infer(InferContext& context) { context.set_output(0, Type(DType::Int64, {Dim(), Dim(3)})); }

struct Box {
  float x_low, x_high, y_low, y_high;

  // Four numbers: two opposite corners y, x, y, x, or centre x, y, width, height.
  Box(const float* at, bool centre) {
    if (centre) {
      x_low = at[0] - at[2] / 2;
      x_high = at[0] + at[2] / 2;
      y_low = at[1] - at[3] / 2;
      y_high = at[1] + at[3] / 2;
    } else {
      x_low = std::min(at[1], at[3]);
      x_high = std::max(at[1], at[3]);
      y_low = std::min(at[0], at[2]);
      y_high = std::max(at[0], at[2]);
    }
  }
  float area() const { return (x_high - x_low) * (y_high - y_low); }
};

bool overlap_above(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.x_high, b.x_high) - std::max(a.x_low, b.x_low),
              height = std::min(a.y_high, b.y_high) - std::max(a.y_low, b.y_low);
  if (!(width > 0) || !(height > 0)) return false;
  const float both = width * height, either = a.area() + b.area() - both;
  if (!(both > 0) || !(a.area() > 0) || !(b.area() > 0) || !(either > 0)) return false;
  return both / either > threshold;
}

// A scalar input's value, or the fallback where it is left out.
float threshold_of(const ReferenceContext& context, size_t i, float fallback) {
  if (!context.has_input(i) || context.input(i).size() == 0) return fallback;
  if (context.input(i).size() != 1) context.fail("input ", i, " is ", Type(context.input(i)).text());
  return static_cast<float>(to_doubles(context.input(i))[0]);
}

void reference(ReferenceContext& context) {
  const Tensor &boxes = context.input(0), &scores = context.input(1);
  if (boxes.rank() != 3 || boxes.dim(2) != 4 || scores.rank() != 3 || scores.dim(0) != boxes.dim(0) ||
      scores.dim(2) != boxes.dim(1) || boxes.dtype() != DType::Float32 || scores.dtype() != DType::Float32)
    context.fail("boxes ", Type(boxes).text(), " and scores ", Type(scores).text());
  const int64_t format = int_attribute(context.node, "center_point_box");
  if (format != 0 && format != 1) context.fail("center_point_box ", format);
  int64_t most = 0;
  if (context.has_input(2) && context.input(2).size() > 0) {
    const std::vector<int64_t> values = int_values(context.node, context.input(2));
    if (values.size() != 1) context.fail("max_output_boxes_per_class ", Type(context.input(2)).text());
    most = values[0];
  }
  const bool has_score_threshold = context.has_input(4) && context.input(4).size() > 0;
  const float iou = threshold_of(context, 3, 0), least = threshold_of(context, 4, 0);
  const int64_t n_classes = scores.dim(1), n_boxes = boxes.dim(1);
  std::vector<int64_t> result;
  for (int64_t batch = 0; batch < boxes.dim(0); ++batch) {
    for (int64_t label = 0; label < n_classes; ++label) {
      const float* score = scores.data<float>() + (batch * n_classes + label) * n_boxes;
      auto rank_of = [&](int64_t i) {
        return score[i] != score[i] ? -std::numeric_limits<float>::infinity() : score[i];
      };
      std::vector<int64_t> order;
      for (int64_t i = 0; i < n_boxes; ++i) {
        if (!has_score_threshold || score[i] > least) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return rank_of(i) > rank_of(j); });
      std::vector<Box> chosen;
      for (int64_t i : order) {
        if (static_cast<int64_t>(chosen.size()) >= most) break;
        const Box box(boxes.data<float>() + (batch * n_boxes + i) * 4, format == 1);
        const bool kept = std::none_of(chosen.begin(), chosen.end(),
                                       [&](const Box& other) { return overlap_above(box, other, iou); });
        if (!kept) continue;
        chosen.push_back(box);
        result.insert(result.end(), {batch, label, i});
      }
    }
  }
  context.outputs[0] = Tensor::of<int64_t>({static_cast<int64_t>(result.size()) / 3, 3}, result);
}

}  // namespace

OpDef define_NonMaxSuppression() {
  OpDef op;
  op.name = "NonMaxSuppression";
  op.since = 11;
  op.min_inputs = 2;
  op.max_inputs = 5;
  op.traits = {Trait::Float32};
  op.attributes = {{"center_point_box", 0, "boxes by centre and extents, not by corners"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::non_max_suppression_ops
