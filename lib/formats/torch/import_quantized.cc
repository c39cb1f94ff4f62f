// quantized::: integer tensors with scale and zero point, as real operators between DequantizeLinear and QuantizeLinear.
#include <algorithm>

#include "formats/torch/imports.h"
#include "formats/torch/object.h"

namespace dnn::torch {
namespace {

Quantizer output_quantizer(Op& op, size_t scale, size_t zero_point) {
  Quantizer q;
  q.scales = {op.real(scale)};
  q.zero_points = {op.integer(zero_point)};
  const Quantizer* like = op.quantizer(0);
  q.dtype = like == nullptr ? DType::UInt8 : like->dtype;
  return q;
}

// The attribute of packed weights, whatever class keeps them.
const Any& packed(Op& op, const char* key) {
  const auto* object = op.argument(1).get<Any::Module>();
  if (object == nullptr) op.fail("its weights are ", kind_of(op.argument(1)));
  const auto found = (*object)->attributes.find(key);
  if (found == (*object)->attributes.end()) op.refuse("its packed weights have no ", key);
  return found->second;
}

ValueId packed_tensor(Op& op, const char* key) {
  const Any& value = packed(op, key);
  if (value.none()) return kNoValue;
  const auto* cell = value.get<Any::Tensor>();
  if (cell == nullptr) op.fail("its ", key, " is ", kind_of(value));
  return op.importer().real_of(*cell, op, op.label());
}

std::vector<int64_t> packed_ints(Op& op, const char* key, size_t n) {
  const Any& value = packed(op, key);
  if (const auto* number = value.get<int64_t>()) return std::vector<int64_t>(n, *number);
  const auto* list = value.get<Any::List>();
  if (list == nullptr) op.fail("its ", key, " is ", kind_of(value));
  std::vector<int64_t> result;
  for (const Any& item : (*list)->items) {
    const auto* number = item.get<int64_t>();
    if (number == nullptr) op.fail("its ", key, " holds ", kind_of(item));
    result.push_back(*number);
  }
  if (result.size() == 1) result.assign(n, result[0]);
  if (result.size() != n) op.fail("its ", key, " holds ", result.size(), " ints, not ", n);
  return result;
}

Any pack(std::map<std::string, Any> attributes) {
  auto object = std::make_shared<Object>();
  object->attributes = std::move(attributes);
  return Any::Module(object);
}

}  // namespace

Any quantize_per_tensor(Op& op) {
  Quantizer q;
  q.scales = {op.real(1)};
  q.zero_points = {op.integer(2)};
  q.dtype = op.dtype(3);
  return op.quantized(op.tensor(0), q);
}

Any dequantize(Op& op) { return op.result(op.tensor(0)); }

Any quantized_conv_prepack(Op& op) {
  return pack({{"weight", op.argument(0)},
               {"bias", op.argument(1)},
               {"stride", op.argument(2)},
               {"padding", op.argument(3)},
               {"dilation", op.argument(4)},
               {"groups", op.argument(5)}});
}
Any quantized_linear_prepack(Op& op) { return pack({{"weight", op.argument(0)}, {"bias", op.argument(1)}}); }

Any quantized_conv(Op& op) {
  const ValueId x = op.tensor(0), weight = packed_tensor(op, "weight"), bias = packed_tensor(op, "bias");
  if (weight == kNoValue || op.rank(weight) != 4) op.fail("weights without four axes");
  const std::vector<int64_t> pads = packed_ints(op, "padding", 2), dilations = packed_ints(op, "dilation", 2);
  const int64_t groups = packed_ints(op, "groups", 1)[0];
  if (groups < 1) op.fail(groups, " groups");
  if (!op.type(x).shape) {
    op.importer().guess_input(x, {Dim(std::string("batch")), Dim(op.extent(weight, 1) * groups),
                                  Dim(std::string("height")), Dim(std::string("width"))});
  }
  Attributes attributes = {{"strides", packed_ints(op, "stride", 2)}};
  if (pads != std::vector<int64_t>{0, 0}) attributes["pads"] = std::vector<int64_t>{pads[0], pads[1], pads[0], pads[1]};
  if (dilations != std::vector<int64_t>{1, 1}) attributes["dilations"] = dilations;
  if (groups != 1) attributes["group"] = groups;
  std::vector<ValueId> inputs = {x, weight};
  if (bias != kNoValue) inputs.push_back(bias);
  ValueId y = op.emit("Conv", std::move(inputs), std::move(attributes));
  if (std::string(op.row().op) == "Relu") y = op.emit("Relu", {y});
  return op.quantized(y, output_quantizer(op, 2, 3));
}

Any quantized_linear(Op& op) {
  ValueId y = affine(op, op.tensor(0), packed_tensor(op, "weight"), packed_tensor(op, "bias"));
  if (std::string(op.row().op) == "Relu") y = op.emit("Relu", {y});
  return op.quantized(y, output_quantizer(op, 2, 3));
}

Any quantized_arithmetic(Op& op) {
  std::string name = op.row().op;
  const bool relu = ends_with(name, "Relu");
  if (relu) name.resize(name.size() - 4);
  ValueId y = op.emit(name, {op.tensor(0), op.tensor(1)});
  if (relu) y = op.emit("Relu", {y});
  return op.quantized(y, output_quantizer(op, 2, 3));
}

// The scalar moves the scale and zero point, the integers stay nearly as they are.
Any quantized_scalar(Op& op) {
  const Quantizer* q = op.quantizer(0);
  if (q == nullptr || q->axis >= 0) op.fail("its input is not quantised by one scale");
  const double b = op.real(1);
  if (std::string(op.row().op) == "Add" || b <= 0) op.refuse("a scalar ", b, " is not read");
  Quantizer scaled = *q;
  scaled.scales[0] *= b;
  const ValueId x = op.tensor(0);
  return op.quantized(op.emit("Mul", {x, op.scalar(b, DType::Float32)}), scaled);
}

Any quantized_cat(Op& op) {
  const std::vector<ValueId> inputs = op.tensors(0);
  if (inputs.empty()) op.fail("no tensors");
  const auto* first = op.items(0)[0].get<Any::Tensor>();
  if ((*first)->quantizer == nullptr) op.fail("its inputs are not quantised");
  Quantizer q = *(*first)->quantizer;
  if (op.has(2)) q.scales = {op.real(2)};
  if (op.has(3)) q.zero_points = {op.integer(3)};
  return op.quantized(op.emit("Concat", inputs, {{"axis", op.integer(1)}}), q);
}

Any quantized_unary(Op& op) { return op.quantized(op.emit(op.row().op, {op.tensor(0)}), output_quantizer(op, 1, 2)); }

Any quantized_batch_norm(Op& op) {
  const ValueId y =
      op.emit("BatchNormalization", {op.tensor(0), op.tensor(1), op.tensor(2), op.tensor(3), op.tensor(4)},
              {{"epsilon", static_cast<float>(op.real(5))}});
  return op.quantized(y, output_quantizer(op, 6, 7));
}

}  // namespace dnn::torch
