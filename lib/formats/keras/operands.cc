// Arguments of operations; see operands.h.
#include "formats/keras/operands.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace dnn::keras {
namespace {

// Numbers that JSON has none of, as NumPy spells them.
bool number_of_word(const std::string& word, double* number) {
  const double infinite = std::numeric_limits<double>::infinity();
  if (word == "inf" || word == "-inf") {
    *number = word == "inf" ? infinite : -infinite;
    return true;
  }
  *number = std::numeric_limits<double>::quiet_NaN();
  return word == "nan";
}

constexpr size_t kMaxRank = 16;

bool holds_reals(const Json& v) {
  if (v.is_array()) return std::any_of(v.begin(), v.end(), holds_reals);
  return v.is_number_float();
}

int bits(DType dtype) { return static_cast<int>(8 * dtype_size(dtype)); }
bool is_signed(DType dtype) {
  return dtype == DType::Int8 || dtype == DType::Int16 || dtype == DType::Int32 || dtype == DType::Int64;
}

// The dtype of two together, as Keras' backends promote them.
DType promoted(DType a, DType b) {
  if (a == b || b == DType::Bool) return a;
  if (a == DType::Bool) return b;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_float(a)) return bits(a) == bits(b) ? DType::Float32 : bits(a) > bits(b) ? a : b;
  if (is_signed(a) == is_signed(b)) return bits(a) > bits(b) ? a : b;
  const DType with = is_signed(a) ? a : b, without = is_signed(a) ? b : a;
  if (bits(with) > bits(without)) return with;
  if (bits(without) == 8) return DType::Int16;
  if (bits(without) == 16) return DType::Int32;
  return bits(without) == 32 ? DType::Int64 : DType::Float32;
}

}  // namespace

const Json& argument(Call& call, size_t place, std::initializer_list<const char*> names) {
  const Json* found = &call.argument(place, names);
  for (const char* name : names) {
    if (found->is_null()) found = &call.option(name);
  }
  return *found;
}

int64_t whole_argument(Call& call, const Json& v, const char* what) {
  if (!v.is_number_integer()) call.refuse("its ", what, " is no whole number that the file holds");
  const auto result = v.get<int64_t>();
  if (result > kLargestInteger || result < -kLargestInteger) call.fail("its ", what, " is ", result);
  return result;
}

std::vector<int64_t> wholes(Call& call, const Json& v, const char* what) {
  if (v.is_number()) return {whole_argument(call, v, what)};
  if (!v.is_array()) call.refuse("its ", what, " is no list that the file holds");
  std::vector<int64_t> result;
  for (const Json& item : v) result.push_back(whole_argument(call, item, what));
  return result;
}

bool truth(Call& call, const Json& v, bool fallback) {
  if (v.is_null()) return fallback;
  if (!v.is_boolean()) call.refuse("an option that is neither true nor false");
  return v.get<bool>();
}

int64_t placed(Call& call, int64_t axis, int64_t rank) {
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) call.fail("axis ", axis, " of rank ", rank);
  return axis;
}

Tensor tensor_of_numbers(Call& call, const Json& v, DType dtype) {
  const Json* values = &v;
  Json held;
  if (v.is_object()) {
    const Fields array(v, call.layer().label());
    const std::string kind = array.text("class_name");
    const Json& config = array.take("config");
    if ((kind != "__numpy__" && kind != "__tensor__") || !config.is_object())
      call.refuse("an argument that is neither a tensor nor numbers");
    array.finish(call.layer().label(), kind, FieldKind::Entry, {});
    const Fields content(config, call.layer().label());
    held = content.take("value");
    if (content.has("dtype")) dtype = dtype_from_name(content.text("dtype"));
    if (dtype == DType::Undefined) call.refuse("an array of a dtype that is not read");
    content.finish(call.layer().label(), kind, FieldKind::Option, {});
    values = &held;
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
    } else if (double number = 0; item.is_string() && number_of_word(item.get<std::string>(), &number)) {
      if (depth != shape.size()) call.fail("an array that is ragged");
      numbers.push_back(number);
    } else {
      call.refuse("an argument that is neither a tensor nor numbers");
    }
  };
  collect(*values, 0);
  if (static_cast<int64_t>(numbers.size()) != element_count(shape)) call.fail("an array that is ragged");
  return convert(Tensor::of<double>(shape, numbers), dtype);
}

Operand operand_of(Call& call, const Json& v, size_t place) {
  if (v.is_null()) call.fail("argument ", place, " is missing");
  Operand result;
  if (is_value(v)) {
    result.tensor = value_of(v);
    result.dtype = call.dtype(result.tensor);
    return result;
  }
  result.numbers = v;
  result.real = holds_reals(v);
  // Keras 3 makes a tensor of a list before it looks at the other's dtype; TensorFlow gives it the other's.
  if (v.is_object()) {
    result.dtype = tensor_of_numbers(call, v, DType::Float32).dtype();
  } else if (v.is_array() && call.layer().class_name != "TFOpLambda") {
    result.dtype = result.real ? DType::Float32 : DType::Int32;
  }
  return result;
}

std::vector<ValueId> unified(Call& call, const std::vector<Operand>& operands, bool real) {
  DType dtype = DType::Undefined;
  for (const Operand& operand : operands) {
    if (operand.tensor != kNoValue && operand.dtype == DType::Undefined)
      call.refuse("the dtype of its input is not known");
    if (operand.dtype != DType::Undefined)
      dtype = dtype == DType::Undefined ? operand.dtype : promoted(dtype, operand.dtype);
    real = real || (operand.dtype == DType::Undefined && operand.real);
  }
  if (dtype == DType::Undefined || (real && !is_float(dtype))) dtype = real ? DType::Float32 : DType::Int32;
  const bool numbers = std::any_of(operands.begin(), operands.end(), [](const Operand& operand) {
    return operand.dtype == DType::Undefined && !operand.numbers.is_boolean();
  });
  if (dtype == DType::Bool && numbers) dtype = DType::Int32;
  std::vector<ValueId> result;
  for (const Operand& operand : operands) {
    if (operand.tensor == kNoValue) {
      result.push_back(call.store("constant", convert(tensor_of_numbers(call, operand.numbers, dtype), dtype)));
    } else {
      result.push_back(operand.dtype == dtype
                           ? operand.tensor
                           : call.emit("Cast", {operand.tensor}, {{"to", static_cast<int64_t>(dtype)}}));
    }
  }
  return result;
}

ValueId operand(Call& call, size_t place, std::initializer_list<const char*> names) {
  const Json& v = argument(call, place, names);
  if (v.is_null()) call.fail("argument ", place, " is missing");
  if (is_value(v)) return value_of(v);
  const DType dtype = call.first_dtype();
  return call.store("constant", tensor_of_numbers(call, v, dtype == DType::Undefined ? DType::Float32 : dtype));
}

ValueId first_operand(Call& call) {
  return operand(call, 0, {"x", "input", "inputs", "features", "logits", "input_tensor", "value", "tensor", "a"});
}

std::vector<Operand> operands(Call& call, const Json& list) {
  if (!list.is_array()) call.refuse("its tensors are no list");
  std::vector<Operand> result;
  for (const Json& item : list) result.push_back(operand_of(call, item, 0));
  return result;
}

ValueId as_real(Call& call, ValueId v) {
  return is_float(call.dtype(v)) || call.dtype(v) == DType::Undefined
             ? v
             : call.emit("Cast", {v}, {{"to", static_cast<int64_t>(DType::Float32)}});
}

std::vector<ValueId> both(Call& call, bool real) {
  const Operand a = operand_of(call, argument(call, 0, {"x1", "x", "a"}), 0);
  const Operand b = operand_of(call, argument(call, 1, {"x2", "y", "b"}), 1);
  return unified(call, {a, b}, real);
}

}  // namespace dnn::keras
