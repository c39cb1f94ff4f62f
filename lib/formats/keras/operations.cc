// Reading operations; see operations.h.
#include "formats/keras/operations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "formats/keras/layers.h"
#include "formats/keras/operands.h"

namespace dnn::keras {

const std::vector<OperationRow>& operation_rows() {
  static const std::vector<OperationRow> rows = {
#define DNN_KERAS_OPERATION(name, tf_names, function, detail) {#name, tf_names, function, detail},
#include "formats/keras/operations.def"
  };
  return rows;
}

bool is_operation(const Layer& layer) {
  return starts_with(layer.module, "keras.src.ops") || starts_with(layer.module, "keras.ops") ||
         layer.class_name == "TFOpLambda" || layer.class_name == "SlicingOpLambda";
}

const OperationRow* find_operation(const Layer& layer) {
  const bool wrapped = layer.class_name == "TFOpLambda" || layer.class_name == "SlicingOpLambda";
  const std::string function = wrapped ? layer.config.text("function") : "";
  for (const OperationRow& row : operation_rows()) {
    if (!wrapped && layer.class_name == row.name) return &row;
    if (!wrapped) continue;
    const std::vector<std::string> names = split(row.tf_names, ' ');
    if (std::find(names.begin(), names.end(), function) != names.end()) return &row;
  }
  return nullptr;
}

ValueId operate_activation(Call& call, const char* name) {
  const ValueId x = as_real(call, first_operand(call));
  const Json& alpha = name == std::string("elu") ? argument(call, 1, {"alpha"}) : Json();
  if (alpha.is_number() && alpha.get<double>() != 1)
    return call.emit("Elu", {x}, {{"alpha", static_cast<float>(alpha.get<double>())}});
  if (!alpha.is_null() && !alpha.is_number()) call.refuse("an alpha that is no number");
  return apply_activation(call, x, name);
}
ValueId operate_unary(Call& call, const char* op) {
  const ValueId x = first_operand(call);
  const std::string name = op;
  return call.emit(op, {name == "Abs" || name == "Neg" || name == "Sign" ? x : as_real(call, x)});
}
ValueId operate_binary(Call& call, const char* op) { return call.emit(op, both(call, op == std::string("Div"))); }
ValueId operate_matmul(Call& call, const char*) {
  const Operand a = operand_of(call, argument(call, 0, {"x1", "a"}), 0);
  const Operand b = operand_of(call, argument(call, 1, {"x2", "b"}), 1);
  for (const char* key : {"transpose_a", "transpose_b", "adjoint_a", "adjoint_b"}) {
    if (truth(call, argument(call, kNowhere, {key}), false)) call.refuse("option ", key);
  }
  return call.emit("MatMul", unified(call, {a, b}));
}
ValueId operate_rsqrt(Call& call, const char*) {
  return call.emit("Reciprocal", {call.emit("Sqrt", {as_real(call, first_operand(call))})});
}
ValueId operate_round(Call& call, const char*) {
  const Json& decimals = argument(call, 1, {"decimals"});
  const ValueId x = first_operand(call);
  const int64_t digits = decimals.is_null() ? 0 : whole_argument(call, decimals, "decimals");
  if (digits == 0) return call.emit("Round", {x});
  if (std::abs(digits) > 30 || !is_float(call.dtype(x))) call.refuse("rounding to ", digits, " decimals");
  const ValueId factor = call.scalar(std::pow(10.0, static_cast<double>(digits)), x);
  return call.emit("Div", {call.emit("Round", {call.emit("Mul", {x, factor})}), factor});
}
ValueId operate_square(Call& call, const char*) {
  const ValueId x = first_operand(call);
  return call.emit("Mul", {x, x});
}
ValueId operate_gelu(Call& call, const char*) {
  const bool tf = call.layer().class_name == "TFOpLambda";
  const bool approximate = truth(call, argument(call, 1, {"approximate"}), !tf);
  return call.emit("Gelu", {first_operand(call)}, {{"approximate", std::string(approximate ? "tanh" : "none")}});
}
// Without an axis, TensorFlow's is over the last one, and Keras' over all elements.
ValueId operate_softmax(Call& call, const char* op) {
  const ValueId x = first_operand(call);
  const Json& axis = argument(call, 1, {"axis"});
  if (!axis.is_null()) return softmax_over(call, op, x, wholes(call, axis, "axis"));
  if (call.layer().class_name == "TFOpLambda") return softmax_over(call, op, x, {-1});
  const ValueId y = softmax_over(call, op, call.emit("Reshape", {x, call.list({-1})}), {0});
  return call.emit("Reshape", {y, call.emit("Shape", {x})});
}
ValueId operate_where(Call& call, const char*) {
  ValueId condition = operand(call, 0, {"condition"});
  if (call.dtype(condition) != DType::Bool)
    condition = call.emit("Cast", {condition}, {{"to", static_cast<int64_t>(DType::Bool)}});
  const std::vector<ValueId> choices =
      unified(call, {operand_of(call, argument(call, 1, {"x1"}), 1), operand_of(call, argument(call, 2, {"x2"}), 2)});
  return call.emit("Where", {condition, choices[0], choices[1]});
}

ValueId operate_reduce(Call& call, const char* op) {
  ValueId x = first_operand(call);
  const Json& axis = argument(call, 1, {"axis"});
  std::vector<int64_t> axes;
  if (axis.is_null()) {
    axes.resize(call.rank(x));
    std::iota(axes.begin(), axes.end(), 0);
  } else {
    axes = wholes(call, axis, "axis");
  }
  const bool keep = truth(call, argument(call, 2, {"keepdims"}), false);
  if (call.dtype(x) == DType::Bool) x = call.emit("Cast", {x}, {{"to", static_cast<int64_t>(DType::Int32)}});
  if (op == std::string("ReduceMean")) x = as_real(call, x);
  return call.emit(op, {x, call.list(axes)}, {{"keepdims", int64_t{keep}}});
}

ValueId operate_clip(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const ValueId low = operand(call, 1, {"x_min", "clip_value_min"}),
                high = operand(call, 2, {"x_max", "clip_value_max"});
  const Tensor *lowest = call.constant_of(low), *highest = call.constant_of(high);
  if (lowest != nullptr && highest != nullptr && to_doubles(*lowest)[0] > to_doubles(*highest)[0])
    call.refuse("bounds that cross, which Keras's backends take differently");
  return call.emit("Clip", {x, low, high});
}

ValueId operate_cast(Call& call, const char*) {
  const Json& name = argument(call, 1, {"dtype"});
  const DType dtype = name.is_string() ? dtype_from_name(name.get<std::string>()) : DType::Undefined;
  if (dtype == DType::Undefined || dtype == DType::String) call.refuse("a dtype that is not read");
  return call.emit("Cast", {first_operand(call)}, {{"to", static_cast<int64_t>(dtype)}});
}

ValueId operate_concatenate(Call& call, const char*) {
  const std::vector<ValueId> inputs = unified(call, operands(call, argument(call, 0, {"xs", "values"})));
  if (inputs.empty()) call.fail("it has no inputs");
  const Json& axis = argument(call, 1, {"axis"});
  return call.emit("Concat", inputs, {{"axis", whole_argument(call, axis, "axis")}});
}

ValueId operate_expand_dims(Call& call, const char*) {
  const ValueId x = first_operand(call);
  return call.emit("Unsqueeze", {x, call.list(wholes(call, argument(call, 1, {"axis"}), "axis"))});
}

ValueId operate_squeeze(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const Json& axis = argument(call, 1, {"axis"});
  std::vector<int64_t> axes;
  if (!axis.is_null()) axes = wholes(call, axis, "axis");
  for (int64_t i = 0; axes.empty() && i < call.rank(x); ++i) {
    const int64_t extent = call.shape(x)[i];
    if (extent < 0) call.refuse("it drops axes of extent 1, but an extent is open");
    if (extent == 1) axes.push_back(i);
  }
  return axes.empty() ? call.emit("Identity", {x}) : call.emit("Squeeze", {x, call.list(axes)});
}

// An open extent is -1, or null as the batch's.
ValueId operate_reshape(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const Json& wanted = argument(call, 1, {"newshape", "shape"});
  if (!wanted.is_array()) call.refuse("its shape is computed");
  std::vector<int64_t> shape;
  for (const Json& extent : wanted) shape.push_back(extent.is_null() ? -1 : whole_argument(call, extent, "shape"));
  const std::vector<int64_t> from = call.shape(x);
  // The first axis is the batch where the rest has as many elements on both sides.
  const auto count = [](const std::vector<int64_t>& extents) {
    int64_t n = 1;
    for (size_t i = 1; i < extents.size(); ++i)
      n = extents[i] > 0 && n > 0 && n < kLargestInteger ? n * extents[i] : -1;
    return n;
  };
  if (shape.size() > 1 && from.size() > 1 && shape[0] == -1 && count(shape) > 0 && count(shape) == count(from))
    shape[0] = 0;
  return call.emit("Reshape", {x, call.list(shape)});
}

ValueId operate_transpose(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const Json& axes = argument(call, 1, {"axes", "perm"});
  Permutation perm;
  if (!axes.is_null()) perm = wholes(call, axes, "order of axes");
  for (int64_t i = call.rank(x); axes.is_null() && i-- > 0;) perm.push_back(i);
  for (int64_t& axis : perm) axis = placed(call, axis, call.rank(x));
  return call.transpose(x, perm);
}

ValueId operate_swapaxes(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const int64_t rank = call.rank(x);
  Permutation perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  const int64_t a = placed(call, whole_argument(call, argument(call, 1, {"axis1"}), "axis"), rank);
  const int64_t b = placed(call, whole_argument(call, argument(call, 2, {"axis2"}), "axis"), rank);
  std::swap(perm[a], perm[b]);
  return call.transpose(x, perm);
}

ValueId operate_broadcast_to(Call& call, const char*) {
  const ValueId x = first_operand(call);
  return call.emit("Expand", {x, call.list(wholes(call, argument(call, 1, {"shape"}), "shape"))});
}

ValueId operate_take(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const Json& indices = argument(call, 1, {"indices"});
  const ValueId list =
      is_value(indices) ? value_of(indices)
                        : call.store("indices", convert(tensor_of_numbers(call, indices, DType::Int64), DType::Int64));
  return call.emit("Gather", {x, list},
                   {{"axis", placed(call, whole_argument(call, argument(call, 2, {"axis"}), "axis"), call.rank(x))}});
}

ValueId operate_pad(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const Json &widths = argument(call, 1, {"pad_width", "paddings"}), &mode = argument(call, 2, {"mode"});
  if (mode.is_string() && mode.get<std::string>() != "constant" && mode.get<std::string>() != "CONSTANT")
    call.refuse("padding by ", mode.get<std::string>());
  const size_t rank = call.rank(x);
  if (!widths.is_array() || widths.size() != rank) call.refuse("borders that are no pair per axis");
  std::vector<int64_t> pads(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    const std::vector<int64_t> pair = wholes(call, widths[i], "border");
    if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0) call.fail("a border that is no pair");
    pads[i] = pair[0];
    pads[i + rank] = pair[1];
  }
  std::vector<ValueId> inputs = {x, call.list(pads)};
  const Json& fill = argument(call, 3, {"constant_values"});
  if (!fill.is_null() && !fill.is_number()) call.refuse("a border of more than one number");
  if (fill.is_number() && fill.get<double>() != 0) inputs.push_back(call.scalar(fill.get<double>(), x));
  return call.emit("Pad", std::move(inputs));
}

// x[key]: numbers, slices, an ellipsis and new axes.
ValueId operate_get_item(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const Json& spec = argument(call, 1, {"key", "slice_spec"});
  const Json keys = spec.is_array() ? spec : Json::array({spec});
  const auto kind = [](const Json& key) {
    const auto name = key.is_object() ? key.find("class_name") : key.end();
    return key.is_object() && name != key.end() && name->is_string() ? name->get<std::string>() : std::string();
  };
  const auto taken = static_cast<int64_t>(std::count_if(
      keys.begin(), keys.end(), [&](const Json& key) { return !key.is_null() && kind(key) != "__ellipsis__"; }));
  const int64_t rank = call.rank(x);
  if (taken > rank) call.fail(taken, " keys for rank ", rank);
  std::vector<int64_t> begin, end, steps, axes, gone, fresh;
  int64_t axis = 0, made = 0;  // where the key applies, and where its axis stands in the result
  for (const Json& key : keys) {
    if (kind(key) == "__ellipsis__") {
      axis += rank - taken;
      made += rank - taken;
      continue;
    }
    if (key.is_null()) {
      fresh.push_back(made++);
      continue;
    }
    if (axis >= rank) call.fail("keys for more than rank ", rank);
    axes.push_back(axis);
    if (key.is_number()) {
      const int64_t at = whole_argument(call, key, "index");
      begin.push_back(at);
      end.push_back(at == -1 ? INT32_MAX : at + 1);
      steps.push_back(1);
      gone.push_back(axis++);
      continue;
    }
    if (!key.is_object()) call.refuse("a key that is no slice");
    const bool wrapped = kind(key) == "__slice__";
    if (wrapped && (key.size() != 2 || !key.contains("config"))) call.refuse("a key that is no slice");
    const Fields slice(wrapped ? key["config"] : key, call.layer().label());
    const auto part = [&](const char* name, int64_t fallback) {
      return slice.has(name) ? whole_argument(call, slice.take(name), "slice") : fallback;
    };
    const int64_t step = part("step", 1);
    if (step < 1) call.refuse("a step of ", step);
    begin.push_back(part("start", 0));
    end.push_back(part("stop", INT32_MAX));
    steps.push_back(step);
    slice.finish(call.layer().label(), "__slice__", FieldKind::Option, {});
    ++axis;
    ++made;
  }
  ValueId y = x;
  if (!axes.empty()) y = call.emit("Slice", {y, call.list(begin), call.list(end), call.list(axes), call.list(steps)});
  if (!gone.empty()) y = call.emit("Squeeze", {y, call.list(gone)});
  if (!fresh.empty()) y = call.emit("Unsqueeze", {y, call.list(fresh)});
  return y;
}

}  // namespace dnn::keras
