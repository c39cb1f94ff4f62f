// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss: the loss of a labelling, weighted by class, over all samples.
//
// The mean divides by the sum of the weights of the labels that count (their number without weights). Sums run over the
// samples in row-major order.
#include <cmath>
#include <limits>

#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::losses_ops {
namespace {

// x: [N, C, D...], target: [N, D...], weight: [C] -> loss: [N, D...] or []
bool cross_entropy(const Node& node) { return node.op == "SoftmaxCrossEntropyLoss"; }

void infer(InferContext& context) {
  const Type& x = context.input(0);
  expect_float(context, 0);
  expect_dtype(context, 2, x.dtype);
  const DType labels = context.input(1).dtype;
  if (labels != DType::Undefined && labels != DType::Int32 && labels != DType::Int64)
    context.fail("labels of ", dtype_name(labels), ", int32 or int64 expected");
  const std::string reduction = string_attribute(context.node, "reduction");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    context.fail("reduction ", quoted(reduction), " is not none, sum or mean");
  Type loss;
  loss.dtype = x.dtype;
  if (context.has_shape(0)) {
    const auto& dims = context.shape(0);
    if (dims.size() < 2) context.fail("input ", x.text(), " has no classes");
    std::vector<Dim> samples = dims;
    samples.erase(samples.begin() + 1);
    if (context.has_shape(1)) {
      const auto& target = context.shape(1);
      bool fits = target.size() == samples.size();
      for (size_t i = 0; fits && i < target.size(); ++i)
        fits = !target[i].fixed() || !samples[i].fixed() || target[i].size == samples[i].size;
      if (!fits) context.fail("labels ", context.input(1).text(), " do not fit ", x.text());
    }
    if (context.has_shape(2)) {
      const Dim classes = context.shape(2, 1)[0];
      if (classes.fixed() && dims[1].fixed() && classes.size != dims[1].size)
        context.fail("weights ", context.input(2).text(), " do not fit ", x.text());
    }
    loss.shape = samples;
  }
  if (reduction != "none") loss.shape = std::vector<Dim>();
  context.set_output(0, std::move(loss));
  context.set_output(1, x);
}

// The logarithm of the softmax over the classes.
template <class T>
Tensor log_softmax(const Tensor& x) {
  using C = Compute<T>;
  Tensor y(x.dtype(), x.shape());
  const int64_t classes = x.dim(1), inner = element_count({x.shape().begin() + 2, x.shape().end()});
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t start = n * classes * inner + i;
      const T* in = x.data<T>() + start;
      T* out = y.mutable_data<T>() + start;
      C best = -std::numeric_limits<C>::infinity(), sum = 0;
      for (int64_t c = 0; c < classes; ++c) best = best > widen(in[c * inner]) ? best : widen(in[c * inner]);
      for (int64_t c = 0; c < classes; ++c) sum += std::exp(widen(in[c * inner]) - best);
      const C shift = std::log(sum);
      for (int64_t c = 0; c < classes; ++c) out[c * inner] = narrow<T>((widen(in[c * inner]) - best) - shift);
    }
  }
  return y;
}

template <class T>
void compute(ReferenceContext& context) {
  using C = Compute<T>;
  const std::vector<Type> types = infer_outputs(context, infer);
  const Tensor scores = cross_entropy(context.node) ? log_softmax<T>(context.input(0)) : context.input(0);
  const std::string reduction = string_attribute(context.node, "reduction");
  const std::vector<int64_t> labels = to_int64s(context.input(1));
  const bool ignores = context.node.has_attribute("ignore_index");
  const int64_t ignored = int_attribute(context.node, "ignore_index"), classes = scores.dim(1);
  const int64_t inner = element_count({scores.shape().begin() + 2, scores.shape().end()});
  const T *in = scores.data<T>(), *weights = context.has_input(2) ? context.input(2).data<T>() : nullptr;
  Tensor losses(scores.dtype(), context.input(1).shape());
  T* out = losses.mutable_data<T>();
  C sum = 0, total = 0;
  for (int64_t i = 0; i < losses.size(); ++i) {
    const int64_t label = labels[i];
    if (ignores && label == ignored) continue;
    if (label < 0 || label >= classes) context.fail("label ", label, " is not one of ", classes, " classes");
    const C weight = weights == nullptr ? C(1) : widen(weights[label]);
    const C loss = -widen(in[(i / inner * classes + label) * inner + i % inner]) * weight;
    out[i] = narrow<T>(loss);
    sum += loss;
    total += weight;
  }
  if (reduction == "none") {
    context.outputs[0] = std::move(losses);
  } else {
    context.outputs[0] = Tensor(scores.dtype(), {});
    context.outputs[0].template mutable_data<T>()[0] = narrow<T>(reduction == "sum" ? sum : sum / total);
  }
  if (context.wants_output(1)) context.outputs[1] = scores;
}

void reference(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(), [&](auto tag) { compute<typename decltype(tag)::type>(context); });
}

OpDef loss(std::string name, int since, int max_outputs) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.max_outputs = max_outputs;
  op.traits = kNoTraits;
  op.attributes = {{"ignore_index", optional(AttributeType::Int), "class that does not count; left out: none"},
                   {"reduction", "mean", "none, mean or sum"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace

OpDef define_NegativeLogLikelihoodLoss() { return loss("NegativeLogLikelihoodLoss", 22, 1); }
OpDef define_SoftmaxCrossEntropyLoss() { return loss("SoftmaxCrossEntropyLoss", 13, 2); }

}  // namespace dnn::losses_ops
