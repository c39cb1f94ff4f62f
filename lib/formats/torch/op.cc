// Arguments and results of one operator; see import.h.
#include <algorithm>
#include <cmath>
#include <set>

#include "formats/torch/import.h"

namespace dnn::torch {

Op::Op(Importer& importer, const OpRow& row, std::string name, std::string where, std::vector<Any> arguments)
    : DraftBuilder(importer.draft, std::move(name)),
      importer_(importer),
      row_(row),
      where_(std::move(where)),
      arguments_(std::move(arguments)),
      asked_(arguments_.size()) {}

const Any& Op::argument(size_t i) const {
  if (i >= arguments_.size()) fail("argument ", i, " is missing");
  ask(i);
  return arguments_[i];
}

bool Op::has(size_t i) const {
  if (i < arguments_.size() && !arguments_[i].none()) return true;
  if (i < arguments_.size()) ask(i);
  return false;
}

ValueId Op::tensor(size_t i) {
  const Any& value = argument(i);
  if (const auto* cell = value.get<Any::Tensor>()) return importer_.real_of(*cell, *this, label());
  if (const auto* number = value.get<double>()) return scalar(*number, DType::Float32);
  if (const auto* number = value.get<int64_t>()) return store("number", Tensor::scalar(*number));
  if (const auto* truth = value.get<bool>()) return store("number", Tensor::scalar(*truth));
  if (const auto* symbolic = value.get<Any::Symbolic>())
    return squeeze(importer_.symbolic_value(*symbolic, *this), {0});
  fail("argument ", i, " is ", kind_of(value), ", no tensor");
}

const Quantizer* Op::quantizer(size_t i) const {
  const auto* cell = argument(i).get<Any::Tensor>();
  return cell == nullptr ? nullptr : (*cell)->quantizer.get();
}

int64_t Op::integer(size_t i) const {
  const Any& value = argument(i);
  if (const auto* number = value.get<int64_t>()) return *number;
  if (const auto* truth = value.get<bool>()) return *truth ? 1 : 0;
  if (value.get<Any::Symbolic>() != nullptr)
    refuse("argument ", i, " depends on an input's open extent; fix it with --shape");
  if (const auto* list = value.get<Any::List>(); list != nullptr && (*list)->items.size() == 1) {
    if (const auto* number = (*list)->items[0].get<int64_t>()) return *number;
  }
  fail("argument ", i, " is ", kind_of(value), ", no int");
}

double Op::real(size_t i) const {
  const Any& value = argument(i);
  if (const auto* number = value.get<double>()) return *number;
  return static_cast<double>(integer(i));
}

bool Op::flag(size_t i) const {
  const Any& value = argument(i);
  if (const auto* truth = value.get<bool>()) return *truth;
  if (value.none()) return false;
  return integer(i) != 0;
}

std::string Op::text(size_t i) const {
  const auto* value = argument(i).get<std::string>();
  if (value == nullptr) fail("argument ", i, " is ", kind_of(argument(i)), ", no text");
  return *value;
}

DType Op::dtype(size_t i) const {
  const int64_t code = integer(i);
  const DType dtype = dtype_of_code(code);
  if (dtype == DType::Undefined) refuse("dtype ", code, " is not read");
  return dtype;
}

const std::vector<Any>& Op::items(size_t i) const {
  const auto* list = argument(i).get<Any::List>();
  if (list == nullptr) fail("argument ", i, " is ", kind_of(argument(i)), ", no list");
  return (*list)->items;
}

std::vector<int64_t> Op::ints(size_t i, size_t n) const {
  const Any& value = argument(i);
  if (value.get<int64_t>() != nullptr || value.get<Any::Symbolic>() != nullptr)
    return std::vector<int64_t>(std::max<size_t>(n, 1), integer(i));
  std::vector<int64_t> result;
  for (const Any& item : items(i)) {
    const auto* number = item.get<int64_t>();
    if (number == nullptr && item.get<Any::Symbolic>() != nullptr)
      refuse("argument ", i, " depends on an input's open extent; fix it with --shape");
    if (number == nullptr) fail("argument ", i, " holds ", kind_of(item), ", no int");
    result.push_back(*number);
  }
  if (n > 0 && result.size() == 1) result.assign(n, result[0]);
  if (n > 0 && !result.empty() && result.size() != n) fail("argument ", i, " holds ", result.size(), " ints, not ", n);
  return result;
}

std::vector<ValueId> Op::tensors(size_t i) {
  std::vector<ValueId> result;
  for (const Any& item : items(i)) {
    const auto* cell = item.get<Any::Tensor>();
    if (cell == nullptr) fail("argument ", i, " holds ", kind_of(item), ", no tensor");
    result.push_back(importer_.real_of(*cell, *this, label()));
  }
  return result;
}

std::vector<Dim> Op::shape(ValueId v) {
  const Type& t = importer_.type(v);
  if (!t.shape) refuse("the rank of its input is not known; say the input's shape with --shape NAME:1x3x224x224");
  return *t.shape;
}

size_t Op::rank(ValueId v) { return shape(v).size(); }

int64_t Op::axis(int64_t axis, ValueId v) {
  if (axis >= 0 && !importer_.type(v).shape) return axis;
  const auto n = static_cast<int64_t>(rank(v));
  const int64_t at = axis < 0 ? axis + n : axis;
  if (at < 0 || at >= std::max<int64_t>(n, 1)) fail("axis ", axis, " of ", importer_.type(v).text());
  return at;
}

bool Op::fixed(ValueId v, int64_t axis) {
  const Type& t = importer_.type(v);
  return t.shape && (*t.shape)[this->axis(axis, v)].fixed();
}

int64_t Op::extent(ValueId v, int64_t axis) {
  const Dim dim = shape(v)[this->axis(axis, v)];
  if (!dim.fixed())
    refuse("extent ", axis, " of its input, ", importer_.type(v).text(),
           ", is open; fix the input's shape with --shape");
  return dim.size;
}

ValueId Op::scalar(double value, DType dtype) {
  return store("number", convert(Tensor::scalar(value), dtype == DType::Undefined ? DType::Float32 : dtype));
}

ValueId Op::number_like(size_t i, ValueId like) {
  const DType dtype = importer_.type(like).dtype;
  const bool real_number = argument(i).get<double>() != nullptr;
  if (dtype == DType::Undefined || is_float(dtype) || !real_number) {
    if (argument(i).get<Any::Symbolic>() != nullptr || is_tensor(i)) return tensor(i);
    if (dtype == DType::Bool && argument(i).get<int64_t>() != nullptr) return scalar(real(i), DType::Int64);
    return scalar(real(i), dtype == DType::Undefined ? DType::Float32 : dtype);
  }
  return scalar(real(i), DType::Float32);
}

ValueId Op::ints_value(const std::vector<Any>& values) {
  std::vector<int64_t> known;
  for (const Any& value : values) {
    const auto* number = value.get<int64_t>();
    if (number == nullptr) break;
    known.push_back(*number);
  }
  if (known.size() == values.size()) return list(known);
  std::vector<ValueId> parts;
  known.clear();
  for (const Any& value : values) {
    if (const auto* number = value.get<int64_t>()) {
      known.push_back(*number);
      continue;
    }
    if (!known.empty()) parts.push_back(list(known));
    known.clear();
    const auto* symbolic = value.get<Any::Symbolic>();
    if (symbolic == nullptr) fail("a shape holds ", kind_of(value), ", no int");
    parts.push_back(importer_.symbolic_value(*symbolic, *this));
  }
  if (!known.empty()) parts.push_back(list(known));
  return parts.size() == 1 ? parts[0] : emit("Concat", parts, {{"axis", int64_t{0}}});
}

// An open extent that stays at its place is a 0 of Reshape; one that is the only unknown part is its -1.
ValueId Op::reshape(ValueId x, const std::vector<Any>& target) {
  std::vector<Any> sizes = target;
  const Type t = importer_.type(x);
  bool inferred = std::any_of(sizes.begin(), sizes.end(), [](const Any& s) {
    const auto* n = s.get<int64_t>();
    return n != nullptr && *n == -1;
  });
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto* symbolic = sizes[i].get<Any::Symbolic>();
    if (symbolic == nullptr || !t.shape || i >= t.shape->size()) continue;
    const Dim& here = (*t.shape)[i];
    const SymbolicInt& s = **symbolic;
    const bool same = (s.of == x && s.axis == static_cast<int64_t>(i) && s.value == kNoValue) ||
                      (!here.fixed() && !here.symbol.empty() && here.symbol == s.dim.symbol);
    if (same) sizes[i] = int64_t{0};
  }
  for (Any& size : sizes) {
    if (inferred || size.get<Any::Symbolic>() == nullptr) continue;
    size = int64_t{-1};
    inferred = true;
  }
  const ValueId y = emit("Reshape", {x, ints_value(sizes)});
  declare_shape(y, t, target);
  return y;
}

// What is known of a computed shape: fixed extents, symbols, and the one that is left over where the open ones are the same
// before and after.
void Op::declare_shape(ValueId y, const Type& before, const std::vector<Any>& target) {
  std::vector<Dim> dims;
  std::multiset<std::string> open;
  int64_t elements = 1, place = -1;
  bool countable = before.shape.has_value();
  for (const Any& size : target) {
    const auto* number = size.get<int64_t>();
    const auto* symbolic = size.get<Any::Symbolic>();
    if (number != nullptr && *number == 0) return;
    if (number != nullptr && *number > 0) {
      dims.emplace_back(*number);
      if (elements > INT32_MAX) return;
      elements *= *number;
    } else if (symbolic != nullptr) {
      dims.push_back((*symbolic)->dim);
      open.insert((*symbolic)->dim.symbol);
      countable = countable && !(*symbolic)->dim.symbol.empty();
    } else {
      place = static_cast<int64_t>(dims.size());
      dims.emplace_back();
    }
  }
  if (open.empty()) return;  // then the Reshape says it all
  if (countable && place >= 0) {
    std::multiset<std::string> open_before;
    int64_t elements_before = 1;
    for (const Dim& dim : *before.shape) {
      if (!dim.fixed()) {
        open_before.insert(dim.symbol);
      } else if (elements_before <= INT32_MAX) {
        elements_before *= dim.size;
      }
    }
    if (open == open_before && elements > 0 && elements_before % elements == 0 && elements_before <= INT32_MAX)
      dims[place] = Dim(elements_before / elements);
  }
  importer_.draft.graph.value(y).type.shape = std::move(dims);
}

Any Op::view(size_t i, ValueId v) {
  const auto* cell = argument(i).get<Any::Tensor>();
  if (cell == nullptr) return result(v);
  return importer_.view(v, *cell);
}

Any Op::result_many(const std::vector<ValueId>& values, bool tuple) {
  std::vector<Any> items;
  for (ValueId v : values) items.push_back(result(v));
  return make_list(std::move(items), tuple);
}

std::vector<ValueId> Op::quantizer_inputs(const Quantizer& q) {
  const bool per_axis = q.axis >= 0;
  const Shape shape = per_axis ? Shape{static_cast<int64_t>(q.scales.size())} : Shape{};
  return {store("scale", Tensor::of<float>(shape, std::vector<float>(q.scales.begin(), q.scales.end()))),
          store("zero_point", convert(Tensor::of<int64_t>(shape, q.zero_points), q.dtype))};
}

Any Op::quantized(ValueId v, const Quantizer& q) {
  std::vector<ValueId> inputs = quantizer_inputs(q);
  inputs.insert(inputs.begin(), v);
  Attributes attributes;
  if (q.axis >= 0) attributes["axis"] = q.axis;
  Any cell = result(emit("QuantizeLinear", std::move(inputs), std::move(attributes)));
  (*cell.get<Any::Tensor>())->quantizer = std::make_shared<const Quantizer>(q);
  return cell;
}

Any Op::like(size_t i, ValueId v) {
  const Quantizer* q = quantizer(i);
  if (q == nullptr) return view(i, v);
  if (q->axis >= 0) refuse("moving a tensor quantised per channel is not read");
  return quantized(v, *q);
}

}  // namespace dnn::torch
