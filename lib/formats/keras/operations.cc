// Reading operations; see operations.h.
#include "formats/keras/operations.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace dnn::keras {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;
constexpr size_t kMaxRank = 16;

// An argument by its place or its names in Keras 3 and TensorFlow, or an option of the operation; null where it is left out.
const Json& argument(Call& call, size_t place, std::initializer_list<const char*> names) {
  static const Json none;
  if (place < call.args().size()) return call.args()[place];
  for (const char* name : names) {
    const auto found = call.kwargs().find(name);
    if (found != call.kwargs().end()) return *found;
    if (call.has(name)) return call.option(name);
  }
  return none;
}

constexpr size_t kNowhere = SIZE_MAX;  // an option that is never given by its place

int64_t whole(Call& call, const Json& v, const char* what) {
  if (!v.is_number_integer()) call.refuse("its ", what, " is no whole number that the file holds");
  const auto result = v.get<int64_t>();
  if (result > kLargest || result < -kLargest) call.fail("its ", what, " is ", result);
  return result;
}

std::vector<int64_t> wholes(Call& call, const Json& v, const char* what) {
  if (v.is_number()) return {whole(call, v, what)};
  if (!v.is_array()) call.refuse("its ", what, " is no list that the file holds");
  std::vector<int64_t> result;
  for (const Json& item : v) result.push_back(whole(call, item, what));
  return result;
}

bool truth(Call& call, const Json& v, bool fallback) {
  if (v.is_null()) return fallback;
  if (!v.is_boolean()) call.fail("an option that is neither true nor false");
  return v.get<bool>();
}

int64_t placed(Call& call, int64_t axis, int64_t rank) {
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) call.fail("axis ", axis, " of rank ", rank);
  return axis;
}

// Numbers, in lists as nested as their shape has axes; or an array with its dtype.
Tensor tensor_of_numbers(Call& call, const Json& v, DType dtype) {
  const Json* values = &v;
  if (v.is_object()) {
    const auto config = v.find("config");
    if (config == v.end() || !config->is_object() || config->find("value") == config->end())
      call.refuse("an argument that is neither a tensor nor numbers");
    values = &(*config)["value"];
    const auto named = config->find("dtype");
    if (named != config->end() && named->is_string()) dtype = dtype_from_name(named->get<std::string>());
    if (dtype == DType::Undefined) call.refuse("an array of a dtype that is not read");
  }
  Shape shape;
  for (const Json* inner = values; inner->is_array(); inner = &(*inner)[0]) {
    shape.push_back(static_cast<int64_t>(inner->size()));
    if (inner->empty() || shape.size() > kMaxRank) break;
  }
  std::vector<double> numbers;
  const std::function<void(const Json&, size_t)> collect = [&](const Json& item, size_t depth) {
    if (item.is_array()) {
      if (depth >= shape.size() || static_cast<int64_t>(item.size()) != shape[depth])
        call.fail("an array that is ragged");
      for (const Json& row : item) collect(row, depth + 1);
    } else if (item.is_number() || item.is_boolean()) {
      if (depth != shape.size()) call.fail("an array that is ragged");
      numbers.push_back(item.is_boolean() ? static_cast<double>(item.get<bool>()) : item.get<double>());
    } else {
      call.refuse("an argument that is neither a tensor nor numbers");
    }
  };
  collect(*values, 0);
  if (static_cast<int64_t>(numbers.size()) != element_count(shape)) call.fail("an array that is ragged");
  return convert(Tensor::of<double>(shape, numbers), dtype);
}

// A tensor, or numbers as a constant of the dtype of the call's first tensor.
ValueId operand(Call& call, size_t place, std::initializer_list<const char*> names) {
  const Json& v = argument(call, place, names);
  if (v.is_null()) call.fail("argument ", place, " is missing");
  if (is_value(v)) return value_of(v);
  if (call.inputs().empty()) call.refuse("it has no tensor among its arguments");
  const DType dtype = call.dtype(call.inputs()[0]);
  return call.store("constant", tensor_of_numbers(call, v, dtype == DType::Undefined ? DType::Float32 : dtype));
}

ValueId first(Call& call) {
  return operand(call, 0, {"x", "input", "inputs", "features", "logits", "input_tensor", "value", "tensor", "a"});
}

// The tensors of a list argument.
std::vector<ValueId> operands(Call& call, const Json& list) {
  if (!list.is_array()) call.refuse("its tensors are no list");
  std::vector<ValueId> result;
  for (const Json& item : list) {
    if (!is_value(item)) call.refuse("a constant among its tensors");
    result.push_back(value_of(item));
  }
  return result;
}

}  // namespace

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
  const auto function = layer.config.find("function");
  const bool wrapped = layer.class_name == "TFOpLambda" || layer.class_name == "SlicingOpLambda";
  for (const OperationRow& row : operation_rows()) {
    if (!wrapped && layer.class_name == row.name) return &row;
    if (!wrapped || function == layer.config.end() || !function->is_string()) continue;
    const std::vector<std::string> names = split(row.tf_names, ' ');
    if (std::find(names.begin(), names.end(), function->get<std::string>()) != names.end()) return &row;
  }
  return nullptr;
}

ValueId operate_activation(Call& call, const char* name) { return apply_activation(call, first(call), name); }
ValueId operate_unary(Call& call, const char* op) { return call.emit(op, {first(call)}); }
ValueId operate_binary(Call& call, const char* op) {
  const ValueId a = operand(call, 0, {"x1", "x", "a"});
  return call.emit(op, {a, operand(call, 1, {"x2", "y", "b"})});
}
ValueId operate_matmul(Call& call, const char*) {
  const ValueId a = operand(call, 0, {"x1", "a"});
  for (const char* key : {"transpose_a", "transpose_b", "adjoint_a", "adjoint_b"}) {
    if (truth(call, argument(call, kNowhere, {key}), false)) call.refuse("option ", key);
  }
  return call.emit("MatMul", {a, operand(call, 1, {"x2", "b"})});
}
ValueId operate_rsqrt(Call& call, const char*) { return call.emit("Reciprocal", {call.emit("Sqrt", {first(call)})}); }
ValueId operate_round(Call& call, const char*) {
  const Json& decimals = argument(call, 1, {"decimals"});
  if (!decimals.is_null() && whole(call, decimals, "decimals") != 0) call.refuse("rounding to decimals");
  return call.emit("Round", {first(call)});
}
ValueId operate_square(Call& call, const char*) {
  const ValueId x = first(call);
  return call.emit("Mul", {x, x});
}
ValueId operate_gelu(Call& call, const char*) {
  const bool tf = call.layer().class_name == "TFOpLambda";
  const bool approximate = truth(call, argument(call, 1, {"approximate"}), !tf);
  return call.emit("Gelu", {first(call)}, {{"approximate", std::string(approximate ? "tanh" : "none")}});
}
ValueId operate_softmax(Call& call, const char* op) {
  const ValueId x = first(call);
  const Json& axis = argument(call, 1, {"axis"});
  return call.emit(op, {x}, {{"axis", placed(call, axis.is_null() ? -1 : whole(call, axis, "axis"), call.rank(x))}});
}
ValueId operate_where(Call& call, const char*) {
  const ValueId condition = operand(call, 0, {"condition"}), a = operand(call, 1, {"x1"});
  return call.emit("Where", {condition, a, operand(call, 2, {"x2"})});
}

ValueId operate_reduce(Call& call, const char* op) {
  const ValueId x = first(call);
  const Json& axis = argument(call, 1, {"axis"});
  std::vector<int64_t> axes;
  if (axis.is_null()) {
    axes.resize(static_cast<size_t>(call.rank(x)));
    std::iota(axes.begin(), axes.end(), 0);
  } else {
    axes = wholes(call, axis, "axis");
  }
  const bool keep = truth(call, argument(call, 2, {"keepdims"}), false);
  return call.emit(op, {x, call.list(axes)}, {{"keepdims", int64_t{keep}}});
}

ValueId operate_clip(Call& call, const char*) {
  const ValueId x = first(call);
  const ValueId low = operand(call, 1, {"x_min", "clip_value_min"}),
                high = operand(call, 2, {"x_max", "clip_value_max"});
  return call.emit("Clip", {x, low, high});
}

ValueId operate_cast(Call& call, const char*) {
  const Json& name = argument(call, 1, {"dtype"});
  const DType dtype = name.is_string() ? dtype_from_name(name.get<std::string>()) : DType::Undefined;
  if (dtype == DType::Undefined || dtype == DType::String) call.refuse("a dtype that is not read");
  return call.emit("Cast", {first(call)}, {{"to", static_cast<int64_t>(dtype)}});
}

ValueId operate_concatenate(Call& call, const char*) {
  const std::vector<ValueId> inputs = operands(call, argument(call, 0, {"xs", "values"}));
  if (inputs.empty()) call.fail("it has no inputs");
  const Json& axis = argument(call, 1, {"axis"});
  return call.emit("Concat", inputs, {{"axis", axis.is_null() ? -1 : whole(call, axis, "axis")}});
}

ValueId operate_expand_dims(Call& call, const char*) {
  const ValueId x = first(call);
  return call.emit("Unsqueeze", {x, call.list(wholes(call, argument(call, 1, {"axis"}), "axis"))});
}

ValueId operate_squeeze(Call& call, const char*) {
  const ValueId x = first(call);
  const Json& axis = argument(call, 1, {"axis"});
  std::vector<int64_t> axes;
  if (!axis.is_null()) axes = wholes(call, axis, "axis");
  for (int64_t i = 0; axes.empty() && i < call.rank(x); ++i) {
    if (call.shape(x)[static_cast<size_t>(i)] == 1) axes.push_back(i);
  }
  return axes.empty() ? call.emit("Identity", {x}) : call.emit("Squeeze", {x, call.list(axes)});
}

// An open extent is -1, or null as the batch's.
ValueId operate_reshape(Call& call, const char*) {
  const ValueId x = first(call);
  const Json& wanted = argument(call, 1, {"newshape", "shape"});
  if (!wanted.is_array()) call.refuse("its shape is computed");
  std::vector<int64_t> shape;
  for (const Json& extent : wanted) shape.push_back(extent.is_null() ? -1 : whole(call, extent, "shape"));
  const std::vector<int64_t> from = call.shape(x);
  // The first axis is the batch where the rest has as many elements on both sides.
  const auto count = [](const std::vector<int64_t>& extents) {
    int64_t n = 1;
    for (size_t i = 1; i < extents.size(); ++i) n = extents[i] > 0 && n > 0 && n < kLargest ? n * extents[i] : -1;
    return n;
  };
  if (shape.size() > 1 && from.size() > 1 && shape[0] == -1 && count(shape) > 0 && count(shape) == count(from))
    shape[0] = 0;
  return call.emit("Reshape", {x, call.list(shape)});
}

ValueId operate_transpose(Call& call, const char*) {
  const ValueId x = first(call);
  const Json& axes = argument(call, 1, {"axes", "perm"});
  Permutation perm;
  if (!axes.is_null()) perm = wholes(call, axes, "order of axes");
  for (int64_t i = call.rank(x); axes.is_null() && i-- > 0;) perm.push_back(i);
  for (int64_t& axis : perm) axis = placed(call, axis, call.rank(x));
  return call.transpose(x, perm);
}

ValueId operate_swapaxes(Call& call, const char*) {
  const ValueId x = first(call);
  const int64_t rank = call.rank(x);
  Permutation perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  const int64_t a = placed(call, whole(call, argument(call, 1, {"axis1"}), "axis"), rank);
  const int64_t b = placed(call, whole(call, argument(call, 2, {"axis2"}), "axis"), rank);
  std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
  return call.transpose(x, perm);
}

ValueId operate_broadcast_to(Call& call, const char*) {
  const ValueId x = first(call);
  return call.emit("Expand", {x, call.list(wholes(call, argument(call, 1, {"shape"}), "shape"))});
}

ValueId operate_take(Call& call, const char*) {
  const ValueId x = first(call);
  const Json& indices = argument(call, 1, {"indices"});
  const ValueId list =
      is_value(indices) ? value_of(indices)
                        : call.store("indices", convert(tensor_of_numbers(call, indices, DType::Int64), DType::Int64));
  return call.emit("Gather", {x, list},
                   {{"axis", placed(call, whole(call, argument(call, 2, {"axis"}), "axis"), call.rank(x))}});
}

ValueId operate_pad(Call& call, const char*) {
  const ValueId x = first(call);
  const Json &widths = argument(call, 1, {"pad_width", "paddings"}), &mode = argument(call, 2, {"mode"});
  if (mode.is_string() && mode.get<std::string>() != "constant" && mode.get<std::string>() != "CONSTANT")
    call.refuse("padding by ", mode.get<std::string>());
  const auto rank = static_cast<size_t>(call.rank(x));
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
  if (fill.is_number() && fill.get<double>() != 0) inputs.push_back(call.scalar(fill.get<double>(), x));
  return call.emit("Pad", std::move(inputs));
}

// x[key]: numbers, slices, an ellipsis and new axes.
ValueId operate_get_item(Call& call, const char*) {
  const ValueId x = first(call);
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
      const int64_t at = whole(call, key, "index");
      begin.push_back(at);
      end.push_back(at == -1 ? INT32_MAX : at + 1);
      steps.push_back(1);
      gone.push_back(axis++);
      continue;
    }
    if (!key.is_object()) call.refuse("a key that is no slice");
    const Json& slice = kind(key) == "__slice__" && key.contains("config") ? key["config"] : key;
    const auto part = [&](const char* name, int64_t fallback) {
      if (!slice.is_object()) call.fail("a slice that is none");
      const auto found = slice.find(name);
      return found == slice.end() || found->is_null() ? fallback : whole(call, *found, "slice");
    };
    const int64_t step = part("step", 1);
    if (step < 1) call.refuse("a step of ", step);
    begin.push_back(part("start", 0));
    end.push_back(part("stop", INT32_MAX));
    steps.push_back(step);
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
