// ReverseSequence: the first sequence_lens[batch] elements along the time axis in reverse, the rest as they are.
#include "ops/movement.h"

namespace dnn::reverse_sequence_ops {
namespace {

void infer(InferContext& context) { context.set_output(0, context.input(0)); }

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const int64_t time = int_attribute(context.node, "time_axis"), batch = int_attribute(context.node, "batch_axis");
  if (x.rank() < 2 || time < 0 || time > 1 || batch != 1 - time)
    context.fail("time_axis ", time, " and batch_axis ", batch, " of ", Type(x).text());
  const std::vector<int64_t> lengths = int_values(context.node, context.input(1));
  if (context.input(1).rank() != 1 || context.input(1).size() != x.dim(static_cast<int>(batch)))
    context.fail("sequence_lens ", Type(context.input(1)).text(), " for ", Type(x).text());
  for (int64_t length : lengths) {
    if (length < 0 || length > x.dim(static_cast<int>(time)))
      context.fail("a sequence of ", length, " of ", x.dim(static_cast<int>(time)));
  }
  const int64_t block = element_count({x.shape().begin() + 2, x.shape().end()});
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < x.dim(0) && x.size() > 0; ++i) {
    for (int64_t j = 0; j < x.dim(1); ++j) {
      const int64_t length = lengths[batch == 0 ? i : j];
      int64_t from_i = i, from_j = j;
      int64_t& t = time == 0 ? from_i : from_j;
      if (t < length) t = length - 1 - t;
      offsets.push_back((from_i * x.dim(1) + from_j) * block);
    }
  }
  context.outputs[0] = take(x, x.shape(), offsets, block);
}

}  // namespace

OpDef define_ReverseSequence() {
  OpDef op;
  op.name = "ReverseSequence";
  op.since = 28;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.attributes = {{"batch_axis", 1, "axis of the sequences"}, {"time_axis", 0, "axis of their steps"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::reverse_sequence_ops
