// ONNX Runtime's quantised operators; see contrib.h. Their inputs, in threes: numbers, scale, zero point; then the scale and
// zero point of the result (documented in ONNX Runtime's ContribOperators.md).
#include "formats/onnx/contrib.h"

namespace dnn::onnx {
namespace {

struct ContribRow {
  const char* name;
  const char* op;      // on real numbers
  size_t operands;     // in threes; 0: as many as there are, behind the result's scale
  bool pools = false;  // may have channels last
};

constexpr ContribRow kContribRows[] = {{"QLinearAdd", "Add", 2},
                                       {"QLinearAveragePool", "AveragePool", 1, true},
                                       {"QLinearConcat", "Concat", 0},
                                       {"QLinearGlobalAveragePool", "GlobalAveragePool", 1, true},
                                       {"QLinearLeakyRelu", "LeakyRelu", 1},
                                       {"QLinearMul", "Mul", 2},
                                       {"QLinearSigmoid", "Sigmoid", 1},
                                       {"QLinearSoftmax", "Softmax", 1}};

ValueId real(Rewrite& rewrite, size_t first, Attributes attributes = {}) {
  std::vector<ValueId> inputs;
  for (size_t i = first; i < first + 3; ++i) inputs.push_back(rewrite.node.input(i));
  if (inputs[0] == kNoValue || inputs[1] == kNoValue) rewrite.malformed("input ", first, " or its scale is left out");
  if (inputs[2] == kNoValue) inputs.pop_back();
  return rewrite.add_before("DequantizeLinear", std::move(inputs), std::move(attributes));
}

// What the node makes now is real; behind it QuantizeLinear makes what it made before.
void quantize_output(Rewrite& rewrite, ValueId scale, ValueId zero_point) {
  if (scale == kNoValue || rewrite.node.output(0) == kNoValue) rewrite.malformed("its result's scale is left out");
  const ValueId result = rewrite.node.outputs[0], fresh = rewrite.add_value("real");
  rewrite.node.outputs[0] = fresh;
  std::vector<ValueId> inputs = {fresh, scale};
  if (zero_point != kNoValue) inputs.push_back(zero_point);
  rewrite.add_after("QuantizeLinear", std::move(inputs), result);
}

// Gemm of quantised numbers: A, B in threes, C of 32 bits in the scale of their product, the result's scale or none.
void expand_gemm(Rewrite& rewrite) {
  const Node before = rewrite.node;
  Attributes attributes = before.attributes;
  const bool turned = before.attribute_int("transB", 0) != 0;
  const Tensor* scale = rewrite.constant(before.input(4));
  const bool per_unit = scale != nullptr && scale->size() > 1;
  std::vector<ValueId> inputs = {
      real(rewrite, 0), real(rewrite, 3, per_unit ? Attributes{{"axis", int64_t{turned ? 0 : 1}}} : Attributes())};
  if (before.input(6) != kNoValue) {
    std::vector<ValueId> bias = {before.input(6), rewrite.add_before("Mul", {before.input(1), before.input(4)})};
    inputs.push_back(rewrite.add_before("DequantizeLinear", std::move(bias), {{"axis", int64_t{per_unit ? 0 : 1}}}));
    attributes["beta"] = before.attribute_float("alpha", 1);
  }
  rewrite.become("Gemm", std::move(inputs), std::move(attributes));
  if (before.input(7) != kNoValue) quantize_output(rewrite, before.input(7), before.input(8));
}

}  // namespace

bool expand_contrib(Rewrite& rewrite) {
  const Node before = rewrite.node;
  if (before.op == "QuantizeLinear" || before.op == "DequantizeLinear") {  // ONNX's own, for more types
    rewrite.node.domain.clear();
    return true;
  }
  if (before.op == "QGemm") {
    rewrite.node.domain.clear();
    expand_gemm(rewrite);
    return true;
  }
  for (const ContribRow& row : kContribRows) {
    if (before.op != row.name) continue;
    rewrite.node.domain.clear();
    if (row.pools && before.attribute_int("channels_last", 0) != 0) rewrite.refuse("channels_last is not read");
    const size_t first = row.operands == 0 ? 2 : 0,
                 operands = row.operands == 0 ? (before.inputs.size() - std::min<size_t>(2, before.inputs.size())) / 3
                                              : row.operands;
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < operands; ++i) inputs.push_back(real(rewrite, first + 3 * i));
    const size_t result = row.operands == 0 ? 0 : 3 * operands;
    Attributes attributes = before.attributes;
    attributes.erase("channels_last");
    attributes.erase("opset");  // of Softmax: which of its two meanings; those agree along the last axis
    rewrite.become(row.op, std::move(inputs), std::move(attributes));
    quantize_output(rewrite, before.input(result), before.input(result + 1));
    return true;
  }
  return false;
}

}  // namespace dnn::onnx
