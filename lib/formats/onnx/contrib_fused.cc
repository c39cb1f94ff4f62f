// What ONNX Runtime's optimiser makes of several operators (documented in its ContribOperators.md), taken apart again.
#include <algorithm>

#include "formats/onnx/contrib.h"
#include "ops/attributes.h"

namespace dnn::onnx {
namespace {

using Floats = std::vector<float>;

Attributes chosen_attributes(const Attributes& all, const std::vector<std::string>& names) {
  Attributes some;
  for (const auto& [name, value] : all) {
    if (std::find(names.begin(), names.end(), name) != names.end()) some[name] = value;
  }
  return some;
}

std::vector<ValueId> present(std::vector<ValueId> inputs) {
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  return inputs;
}

ValueId scalar(Rewrite& rewrite, const char* hint, float value, ValueId like) {
  return rewrite.add_float(hint, static_cast<double>(value), like);
}

// The node becomes the activation of `v`, with its parameters in order; `v` has the type of `like`.
void become_activation(Rewrite& rewrite, const std::string& name, const Floats& parameters, ValueId v, ValueId like) {
  const auto expect = [&](size_t n) {
    if (parameters.size() != n)
      rewrite.malformed("activation ", quoted(name), " has ", parameters.size(), " parameters, ", n, " expected");
  };
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid" || name == "Softplus" || name == "Softsign") {
    rewrite.become(name, {v});
  } else if (name == "LeakyRelu" || name == "Elu" || name == "ThresholdedRelu") {
    expect(1);
    rewrite.become(name, {v}, {{"alpha", parameters[0]}});
  } else if (name == "Selu") {
    expect(2);
    rewrite.become(name, {v}, {{"alpha", parameters[0]}, {"gamma", parameters[1]}});
  } else if (name == "HardSigmoid") {
    expect(2);
    rewrite.become(name, {v}, {{"alpha", parameters[0]}, {"beta", parameters[1]}});
  } else if (name == "Clip") {
    expect(2);
    rewrite.become(name, {v, scalar(rewrite, "min", parameters[0], like), scalar(rewrite, "max", parameters[1], like)});
  } else {
    rewrite.refuse("activation ", quoted(name));
  }
}

// Conv, with a tensor that is added before the activation.
void fused_conv(Rewrite& rewrite) {
  const Node before = rewrite.node;
  const std::string activation = before.attribute_string("activation", "");
  const ValueId x = before.input(0), z = before.input(3);
  std::vector<ValueId> inputs = present({x, before.input(1), before.input(2)});
  Attributes attributes =
      chosen_attributes(before.attributes, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
  if (activation.empty() && z == kNoValue) return rewrite.become("Conv", std::move(inputs), std::move(attributes));
  const ValueId product = rewrite.add_before("Conv", std::move(inputs), std::move(attributes));
  if (activation.empty()) return rewrite.become("Add", {product, z});
  const ValueId sum = z == kNoValue ? product : rewrite.add_before("Add", {product, z});
  become_activation(rewrite, activation, before.attribute_floats("activation_params"), sum, x);
}

void fused_gemm(Rewrite& rewrite) {
  const Node before = rewrite.node;
  const std::string activation = before.attribute_string("activation", "");
  const std::vector<ValueId> inputs = present({before.input(0), before.input(1), before.input(2)});
  const Attributes attributes = chosen_attributes(before.attributes, {"alpha", "beta", "transA", "transB"});
  if (activation.empty()) return rewrite.become("Gemm", inputs, attributes);
  Floats parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (before.has_attribute(name)) parameters.push_back(before.attribute_float(name, 0));
  }
  become_activation(rewrite, activation, parameters, rewrite.add_before("Gemm", inputs, attributes), before.input(0));
}

// Its last two axes exchanged.
ValueId turned(Rewrite& rewrite, ValueId v) {
  const int rank = rewrite.rank(v);
  if (rank < 2) rewrite.refuse("a transposed operand must have a known rank of 2 or more");
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return rewrite.add_before("Transpose", {v}, {{"perm", perm}});
}

void fused_matmul(Rewrite& rewrite) {
  const Node before = rewrite.node;
  std::vector<ValueId> operands = {before.input(0), before.input(1)};
  for (const char* name : {"transBatchA", "transBatchB"}) {
    if (before.attribute_int(name, 0) != 0) rewrite.refuse(name, " is not read");
  }
  for (size_t i : {0, 1}) {
    if (before.attribute_int(i == 0 ? "transA" : "transB", 0) != 0) operands[i] = turned(rewrite, operands[i]);
  }
  const float alpha = before.attribute_float("alpha", 1);
  if (alpha == 1) return rewrite.become("MatMul", operands);
  const ValueId factor = scalar(rewrite, "alpha", alpha, before.input(0));
  rewrite.become("Mul", {rewrite.add_before("MatMul", operands), factor});
}

void gelu(Rewrite& rewrite) {
  const Node before = rewrite.node;
  ValueId x = before.input(0);
  if (before.input(1) != kNoValue) x = rewrite.add_before("Add", {x, before.input(1)});
  Attributes attributes;
  if (before.op == "FastGelu") attributes["approximate"] = std::string("tanh");
  rewrite.become("Gelu", {x}, std::move(attributes));
}

void quick_gelu(Rewrite& rewrite) {
  rewrite.become("Swish", {rewrite.node.input(0)}, {{"alpha", rewrite.node.attribute_float("alpha", 1.702F)}});
}

// The sum that is normalised is the fourth output.
void skip_layer_norm(Rewrite& rewrite) {
  const Node before = rewrite.node;
  const bool simplified = before.op == "SkipSimplifiedLayerNormalization";
  const ValueId bias = before.input(simplified ? 3 : 4);
  ValueId sum = rewrite.add_before("Add", {before.input(0), before.input(1)});
  if (bias != kNoValue) sum = rewrite.add_before("Add", {sum, bias});
  const Attributes attributes = {{"axis", int64_t{-1}}, {"epsilon", before.attribute_float("epsilon", 1e-12F)}};
  if (before.output(3) != kNoValue) rewrite.add_after("Identity", {sum}, before.output(3));
  for (size_t i : {1, 2}) {
    if (before.output(i) != kNoValue && (simplified || rewrite.is_read(before.output(i))))
      rewrite.refuse("output ", i, " is not read");
  }
  rewrite.node.outputs = {before.output(0)};
  if (simplified) return rewrite.become("RMSNormalization", {sum, before.input(2)}, attributes);
  rewrite.become("LayerNormalization", present({sum, before.input(2), before.input(3)}), attributes);
}

void simplified_layer_norm(Rewrite& rewrite) {
  if (rewrite.node.output(1) != kNoValue) rewrite.refuse("output 1 is not read");
  rewrite.node.outputs.resize(1);
  rewrite.become("RMSNormalization", rewrite.node.inputs, rewrite.node.attributes);
}

// A product of integers, and the sum with a bias, in real numbers.
void integer_product(Rewrite& rewrite, std::vector<ValueId> operands, ValueId scale_a, ValueId scale_b, ValueId bias) {
  const ValueId product = rewrite.add_before("MatMulInteger", present(std::move(operands))),
                real = rewrite.add_before("Cast", {product}, {{"to", static_cast<int64_t>(DType::Float32)}}),
                scale = rewrite.add_before("Mul", {scale_a, scale_b});
  if (bias == kNoValue) return rewrite.become("Mul", {real, scale});
  rewrite.become("Add", {rewrite.add_before("Mul", {real, scale}), bias});
}

void matmul_integer_to_float(Rewrite& rewrite) {
  const Node n = rewrite.node;
  integer_product(rewrite, {n.input(0), n.input(1), n.input(4), n.input(5)}, n.input(2), n.input(3), n.input(6));
}

void dynamic_quantize_matmul(Rewrite& rewrite) {
  const Node n = rewrite.node;
  const ValueId a = rewrite.add_before("DynamicQuantizeLinear", {n.input(0)});
  const ValueId scale = rewrite.add_value("scale"), zero = rewrite.add_value("zero");
  rewrite.before.back().outputs = {a, scale, zero};
  integer_product(rewrite, {a, n.input(1), zero, n.input(3)}, scale, n.input(2), n.input(4));
}

struct FusedRow {
  const char* name;
  std::vector<std::string> attributes;  // all that it has
  void (*expand)(Rewrite&);
};

const std::vector<FusedRow>& rows() {
  static const std::vector<FusedRow> table = {
      {"Attention",
       {"do_rotary", "mask_filter_value", "num_heads", "past_present_share_buffer", "qkv_hidden_sizes",
        "rotary_embedding_dim", "scale", "unidirectional"},
       expand_attention},
      {"BiasGelu", {}, gelu},
      {"DynamicQuantizeMatMul", {}, dynamic_quantize_matmul},
      {"FastGelu", {}, gelu},
      {"FusedConv",
       {"activation", "activation_params", "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
       fused_conv},
      {"FusedGemm",
       {"activation", "activation_alpha", "activation_beta", "activation_gamma", "alpha", "beta", "transA", "transB"},
       fused_gemm},
      {"FusedMatMul", {"alpha", "transA", "transB", "transBatchA", "transBatchB"}, fused_matmul},
      {"Gelu", {}, gelu},
      {"MatMulIntegerToFloat", {}, matmul_integer_to_float},
      {"MultiHeadAttention",
       {"mask_filter_value", "num_heads", "scale", "unidirectional"},
       expand_multi_head_attention},
      {"QuickGelu", {"alpha"}, quick_gelu},
      {"SimplifiedLayerNormalization", {"axis", "epsilon", "stash_type"}, simplified_layer_norm},
      {"SkipLayerNormalization", {"epsilon"}, skip_layer_norm},
      {"SkipSimplifiedLayerNormalization", {"epsilon"}, skip_layer_norm},
      {"TransposeMatMul", {"alpha", "transA", "transB"}, fused_matmul}};
  return table;
}

}  // namespace

bool expand_fused(Rewrite& rewrite, const IgnoredFields& ignored) {
  for (const FusedRow& row : rows()) {
    Node& node = rewrite.node;
    if (node.op != row.name) continue;
    for (auto at = node.attributes.begin(); at != node.attributes.end();) {
      const bool known = std::find(row.attributes.begin(), row.attributes.end(), at->first) != row.attributes.end();
      if (!known && !is_ignored(ignored, node.op, at->first)) fail_unknown_attribute(node, at->first, row.attributes);
      at = known ? std::next(at) : node.attributes.erase(at);
    }
    node.domain.clear();
    row.expand(rewrite);
    return true;
  }
  return false;
}

}  // namespace dnn::onnx
