// Dropout at inference: the input as it is, and a mask of trues. Training with a ratio above 0 draws random numbers that
// ONNX does not define, and is refused.
#include "ops/build.h"
#include "ops/elementwise.h"
#include "ops/outputs.h"
#include "ops/permute.h"

namespace dnn::dropout_ops {
namespace {

void infer(InferContext& context) {
  context.set_output(0, context.input(0));
  Type mask = context.input(0);
  mask.dtype = DType::Bool;
  context.set_output(1, std::move(mask));
}

bool drops(const Node& node, const Tensor* ratio, const Tensor* training) {
  if (training == nullptr) return false;
  if (training->dtype() != DType::Bool || training->size() != 1)
    fail_malformed(node.label(), ": training_mode must be one bool");
  if (!training->data<bool>()[0]) return false;
  if (ratio == nullptr) return true;
  if (ratio->size() != 1) fail_malformed(node.label(), ": ratio must be one number");
  return to_doubles(*ratio)[0] != 0;
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  if (drops(context.node, context.has_input(1) ? context.inputs[1] : nullptr,
            context.has_input(2) ? context.inputs[2] : nullptr))
    fail_unsupported("Dropout in training mode");
  context.outputs[0] = x;
  if (!context.wants_output(1)) return;
  Tensor mask(DType::Bool, x.shape());
  std::fill_n(mask.mutable_data<bool>(), mask.size(), true);
  context.outputs[1] = std::move(mask);
}

void lower(LowerContext& context) {
  if (context.has_input(2)) {  // training mode that only the run tells is the interpreter's
    const Tensor* training = context.constant(2);
    if (training == nullptr) return;
    const Tensor* ratio = context.constant(1);
    if (context.has_input(1) && ratio == nullptr) return;
    if (drops(context.node, ratio, training)) return;
  }
  if (context.outputs[0] != nullptr) {
    emit_map(context, context.outputs[0],
             [&](const std::vector<loops::Expr>& indices) { return loops::load(context.inputs[0], indices); });
  }
  if (context.outputs.size() > 1 && context.outputs[1] != nullptr) {
    emit_map(context, context.outputs[1],
             [](const std::vector<loops::Expr>&) { return loops::constant_int(DType::Bool, 1); });
  }
}

}  // namespace

OpDef define_Dropout() {
  OpDef op;
  op.name = "Dropout";
  op.since = 22;
  op.max_inputs = 3;
  op.max_outputs = 2;
  op.traits = {Trait::Moves};
  op.attributes = {{"seed", optional(AttributeType::Int), "of the generator; no number is drawn here"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  // At inference. Training replaces the node by a mask that it draws.
  op.gradient = [](GradientContext& context) {
    if (context.input(2) != kNoValue) {
      const Tensor* training = context.build.known(context.input(2));
      if (training == nullptr || to_int64s(*training)[0] != 0)
        fail_unsupported(context.node.label(), ": no gradient of a training_mode that is not false");
    }
    context.set(0, context.dy());
  };
  op.permute = permute_nothing;
  op.flops = [](const Node&, const std::vector<Shape>&, const std::vector<Shape>&) { return 0.0; };
  return op;
}

}  // namespace dnn::dropout_ops
