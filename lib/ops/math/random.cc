// RandomNormal, RandomUniform, their -Like forms, Bernoulli, Multinomial.
//
// ONNX leaves the generator open. Ours is counter-based (SplitMix64 of seed and element number), so that a node gives the
// same numbers on any run; a node without a seed attribute takes the seed 0.
#include <cmath>

#include "base/random.h"
#include "ops/op.h"
#include "tensor/dispatch.h"

namespace dnn::random_ops {
namespace {

class Generator {
 public:
  explicit Generator(const Node& node) {
    const float seed = float_attribute(node, "seed");
    uint32_t bits;
    std::memcpy(&bits, &seed, sizeof bits);
    state_ = uint64_t{bits} * kSplitMixStep;
  }
  // In [0, 1), 53 bits.
  double uniform() {
    state_ += kSplitMixStep;
    return static_cast<double>(splitmix(state_) >> 11) * 0x1p-53;
  }
  // Standard normal, by Box and Muller (1958).
  double normal() {
    constexpr double kTwoPi = 6.28318530717958647693;
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(kTwoPi * uniform());
  }

 private:
  uint64_t state_;
};

DType dtype_of(const Node& node, DType fallback) {
  if (!node.has_attribute("dtype")) return fallback;
  const DType dtype = dtype_from_onnx(int_attribute(node, "dtype"));
  if (dtype == DType::Undefined) fail_malformed(node.label(), ": dtype ", int_attribute(node, "dtype"), " is none");
  return dtype;
}

bool is_like(const Node& node) { return !node.inputs.empty(); }

void infer(InferContext& context) {
  Type type;
  if (is_like(context.node)) {
    type = context.input(0);
    type.dtype = dtype_of(context.node, type.dtype);
  } else {
    type.dtype = dtype_of(context.node, DType::Float32);
    type.shape.emplace();
    for (int64_t extent : ints_attribute(context.node, "shape")) {
      if (extent < 0) context.fail("extent ", extent, " is negative");
      type.shape->emplace_back(extent);
    }
  }
  context.set_output(0, std::move(type));
}

template <class Draw>
void fill(ReferenceContext& context, const Draw& draw) {
  const bool like = is_like(context.node);
  const DType dtype = dtype_of(context.node, like ? context.input(0).dtype() : DType::Float32);
  const Shape shape = like ? context.input(0).shape() : ints_attribute(context.node, "shape");
  Tensor values(DType::Float64, shape);
  double* out = values.mutable_data<double>();
  Generator generator(context.node);
  for (int64_t i = 0; i < values.size(); ++i) out[i] = draw(generator, i);
  context.outputs[0] = convert(values, dtype);
}

void reference_normal(ReferenceContext& context) {
  const double mean = float_attribute(context.node, "mean"), scale = float_attribute(context.node, "scale");
  fill(context, [=](Generator& generator, int64_t) { return mean + scale * generator.normal(); });
}

void reference_uniform(ReferenceContext& context) {
  const double low = float_attribute(context.node, "low"), high = float_attribute(context.node, "high");
  fill(context, [=](Generator& generator, int64_t) { return low + (high - low) * generator.uniform(); });
}

void reference_bernoulli(ReferenceContext& context) {
  const std::vector<double> p = to_doubles(context.input(0));
  fill(context, [&](Generator& generator, int64_t i) { return generator.uniform() < p[i] ? 1.0 : 0.0; });
}

void infer_multinomial(InferContext& context) {
  Type type(dtype_of(context.node, DType::Int32), {Dim(), int_attribute(context.node, "sample_size")});
  if (context.has_shape(0)) (*type.shape)[0] = context.shape(0, 2)[0];
  context.set_output(0, std::move(type));
}

// x: [batch, classes], unnormalised log probabilities -> [batch, sample_size], classes drawn by inverting the
// cumulative distribution.
void reference_multinomial(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const int64_t n_samples = int_attribute(context.node, "sample_size");
  if (x.rank() != 2 || x.dim(1) < 1) context.fail("the input ", shape_text(x.shape()), " is not [batch, classes]");
  if (n_samples < 0) context.fail("sample_size ", n_samples, " is negative");
  const std::vector<double> scores = to_doubles(x);
  Tensor y(DType::Int64, {x.dim(0), n_samples});
  int64_t* out = y.mutable_data<int64_t>();
  Generator generator(context.node);
  const size_t n_classes = x.dim(1);
  std::vector<double> cumulative(n_classes);
  for (int64_t row = 0; row < x.dim(0); ++row) {
    const double* score = scores.data() + static_cast<size_t>(row) * n_classes;
    double largest = score[0], sum = 0;
    for (size_t c = 1; c < n_classes; ++c) largest = std::max(largest, score[c]);
    for (size_t c = 0; c < n_classes; ++c) cumulative[c] = sum += std::exp(score[c] - largest);
    for (int64_t i = 0; i < n_samples; ++i) {
      const double wanted = generator.uniform() * sum;
      size_t c = 0;
      while (c + 1 < n_classes && !(wanted < cumulative[c])) ++c;
      out[row * n_samples + i] = static_cast<int64_t>(c);
    }
  }
  context.outputs[0] = convert(y, dtype_of(context.node, DType::Int32));
}

OpDef random_op(std::string name, int n_inputs, void (*reference)(ReferenceContext&)) {
  OpDef op;
  op.name = std::move(name);
  op.since = 22;
  op.min_inputs = op.max_inputs = n_inputs;
  op.deterministic = false;
  op.traits = {Trait::Float32};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace

OpDef define_Bernoulli() {
  return with_attributes(random_op("Bernoulli", 1, reference_bernoulli),
                         {{"dtype", optional(AttributeType::Int), "dtype of the result; left out: the input's"},
                          {"seed", optional(AttributeType::Float), "of the generator; left out: 0"}});
}
OpDef define_Multinomial() {
  OpDef op = random_op("Multinomial", 1, reference_multinomial);
  op.infer = infer_multinomial;
  op.attributes = {{"dtype", 6, "dtype of the result"},
                   {"sample_size", 1, "numbers drawn"},
                   {"seed", optional(AttributeType::Float), "of the generator; left out: 0"}};
  return op;
}
OpDef define_RandomNormal() {
  return with_attributes(random_op("RandomNormal", 0, reference_normal),
                         {{"dtype", 1, "dtype of the result"},
                          {"mean", 0.0F, "mean"},
                          {"scale", 1.0F, "standard deviation"},
                          {"seed", optional(AttributeType::Float), "of the generator; left out: 0"},
                          {"shape", required(AttributeType::Ints), "extents of the result"}});
}
OpDef define_RandomNormalLike() {
  return with_attributes(random_op("RandomNormalLike", 1, reference_normal),
                         {{"dtype", optional(AttributeType::Int), "dtype of the result; left out: the input's"},
                          {"mean", 0.0F, "mean"},
                          {"scale", 1.0F, "standard deviation"},
                          {"seed", optional(AttributeType::Float), "of the generator; left out: 0"}});
}
OpDef define_RandomUniform() {
  return with_attributes(random_op("RandomUniform", 0, reference_uniform),
                         {{"dtype", 1, "dtype of the result"},
                          {"high", 1.0F, "upper bound"},
                          {"low", 0.0F, "lower bound"},
                          {"seed", optional(AttributeType::Float), "of the generator; left out: 0"},
                          {"shape", required(AttributeType::Ints), "extents of the result"}});
}
OpDef define_RandomUniformLike() {
  return with_attributes(random_op("RandomUniformLike", 1, reference_uniform),
                         {{"dtype", optional(AttributeType::Int), "dtype of the result; left out: the input's"},
                          {"high", 1.0F, "upper bound"},
                          {"low", 0.0F, "lower bound"},
                          {"seed", optional(AttributeType::Float), "of the generator; left out: 0"}});
}

}  // namespace dnn::random_ops
