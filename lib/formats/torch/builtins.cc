// Numbers, lists and texts of TorchScript; see builtins.h.
#include "formats/torch/builtins.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace dnn::torch {
namespace {

using Arguments = std::vector<Any>;
using Result = std::optional<Any>;

constexpr size_t kMaxList = 1'000'000;

const Any::Symbolic* symbolic(const Any& value) { return value.get<Any::Symbolic>(); }
bool is_integer_number(const Any& value) { return value.get<int64_t>() != nullptr || value.get<bool>() != nullptr; }
bool is_number(const Any& value) {
  return is_integer_number(value) || value.get<double>() != nullptr || symbolic(value) != nullptr;
}
int64_t integer_of(const Any& value) {
  if (const auto* truth = value.get<bool>()) return *truth ? 1 : 0;
  return *value.get<int64_t>();
}
double real_of(const Any& value) {
  if (const auto* number = value.get<double>()) return *number;
  return static_cast<double>(integer_of(value));
}

// A constant without axes as the number that it is; other values as they are.
Any numbered(Evaluator& e, const Any& value) {
  const auto* cell = value.get<Any::Tensor>();
  if (cell == nullptr || (*cell)->quantizer != nullptr) return value;
  const Graph& graph = e.importer().draft.graph;
  const Tensor* tensor = graph.constant((*cell)->value);
  if (tensor == nullptr) tensor = e.importer().known((*cell)->value);
  if (tensor == nullptr || tensor->rank() != 0) return value;
  if (is_integer(tensor->dtype())) return to_int64s(*tensor)[0];
  if (tensor->dtype() == DType::Bool) return tensor->values<bool>()[0];
  if (is_float(tensor->dtype())) return to_doubles(*tensor)[0];
  return value;
}

Any symbolic_arithmetic(Evaluator& e, const std::string& op, const Any& a, const Any& b) {
  const bool number_b = is_integer_number(b);
  if (number_b && ((op == "Add" || op == "Sub") && integer_of(b) == 0)) return a;
  if (number_b && ((op == "Mul" || op == "Div") && integer_of(b) == 1)) return a;
  if (is_integer_number(a) && ((op == "Add" && integer_of(a) == 0) || (op == "Mul" && integer_of(a) == 1))) return b;
  for (const Any* value : {&a, &b}) {
    if (symbolic(*value) == nullptr && !is_integer_number(*value))
      e.refuse("arithmetic of an open extent with ", kind_of(*value), " is not read; fix it with --shape");
  }
  DraftBuilder steps(e.importer().draft, e.node_name(op));
  return e.importer().symbolic_math(op, a, b, steps);
}

int64_t floor_quotient(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

// As Python does it: the remainder has the divisor's sign.
double floor_quotient(double a, double b) {
  const double rest = std::fmod(a, b), quotient = (a - rest) / b;
  return std::nearbyint(rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient);
}

double floor_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Div and Mod round down or to zero: FloorDiv and Mod, TruncDiv and Fmod.
enum class Math : uint8_t { Add, Sub, Mul, TrueDiv, FloorDiv, Mod, Pow, Min, Max, TruncDiv, Fmod };

Any integer_math(Evaluator& e, Math op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Math::Add: overflow = __builtin_add_overflow(a, b, &result); break;
    case Math::Sub: overflow = __builtin_sub_overflow(a, b, &result); break;
    case Math::Mul: overflow = __builtin_mul_overflow(a, b, &result); break;
    case Math::TrueDiv: return static_cast<double>(a) / static_cast<double>(b);
    case Math::FloorDiv:
    case Math::Mod:
    case Math::TruncDiv:
    case Math::Fmod:
      if (b == 0 || (a == INT64_MIN && b == -1)) e.fail("a division by zero");
      result = op == Math::FloorDiv   ? floor_quotient(a, b)
               : op == Math::Mod      ? a - b * floor_quotient(a, b)
               : op == Math::TruncDiv ? a / b
                                      : a % b;
      break;
    case Math::Pow: {
      const double power = std::pow(static_cast<double>(a), static_cast<double>(b));
      if (b < 0 || std::abs(power) > 9e15) return power;
      result = static_cast<int64_t>(power);
      break;
    }
    case Math::Min: result = std::min(a, b); break;
    case Math::Max: result = std::max(a, b); break;
  }
  if (overflow) e.fail("a number is out of range");
  return result;
}

Any real_math(Math op, double a, double b) {
  switch (op) {
    case Math::Add: return a + b;
    case Math::Sub: return a - b;
    case Math::Mul: return a * b;
    case Math::TrueDiv: return a / b;
    case Math::FloorDiv: return floor_quotient(a, b);
    case Math::Mod: return floor_remainder(a, b);
    case Math::TruncDiv: return std::trunc(a / b);
    case Math::Fmod: return std::fmod(a, b);
    case Math::Pow: return std::pow(a, b);
    case Math::Min: return std::min(a, b);
    case Math::Max: return std::max(a, b);
  }
  return {};
}

Any repeated(Evaluator& e, const ListCell& list, int64_t times) {
  if (times > 0 && list.items.size() > kMaxList / static_cast<size_t>(times))
    e.refuse("a list of more than ", kMaxList, " items");
  std::vector<Any> items;
  for (int64_t i = 0; i < times; ++i) items.insert(items.end(), list.items.begin(), list.items.end());
  e.work(items.size());
  return make_list(std::move(items), list.tuple);
}

Result math(Evaluator& e, Math op, const char* node, const Arguments& arguments) {
  if (arguments.size() == 1 && arguments[0].list() && (op == Math::Min || op == Math::Max)) {
    const std::vector<Any>& items = (*arguments[0].get<Any::List>())->items;
    if (items.empty()) e.fail("the extreme of an empty list");
    Any best = items[0];
    for (const Any& item : items) {
      Result next = math(e, op, node, {best, item});
      if (!next) return std::nullopt;
      best = *next;
    }
    return best;
  }
  if (arguments.size() < 2) return std::nullopt;
  if (arguments.size() > 2 && !arguments[2].none() &&
      !(is_integer_number(arguments[2]) && integer_of(arguments[2]) == 1)) {
    const auto* rounding = arguments[2].get<std::string>();
    if (rounding == nullptr || !is_number(numbered(e, arguments[0])) || !is_number(numbered(e, arguments[1])))
      return std::nullopt;
    if (*rounding != "floor" && *rounding != "trunc")
      e.refuse("rounding_mode ", dnn::quoted(*rounding), " is not read");
    op = *rounding == "floor" ? Math::FloorDiv : Math::TruncDiv;
    node = op == Math::FloorDiv ? "Div" : nullptr;
  }
  if (const auto* list = arguments[0].get<Any::List>()) {
    if (op == Math::Mul && is_integer_number(arguments[1])) return repeated(e, **list, integer_of(arguments[1]));
    const auto* other = arguments[1].get<Any::List>();
    if (op != Math::Add || other == nullptr) return std::nullopt;
    if ((*list)->items.size() + (*other)->items.size() > kMaxList) e.refuse("a list of more than ", kMaxList, " items");
    std::vector<Any> items = (*list)->items;
    items.insert(items.end(), (*other)->items.begin(), (*other)->items.end());
    e.work(items.size());
    return make_list(std::move(items), (*list)->tuple);
  }
  if (arguments[0].get<std::string>() != nullptr && arguments[1].get<std::string>() != nullptr && op == Math::Add) {
    const std::string text = *arguments[0].get<std::string>() + *arguments[1].get<std::string>();
    e.work(text.size());
    if (text.size() > kMaxList) e.refuse("a text of more than ", kMaxList, " characters");
    return text;
  }
  // A tensor beside a number stays one unless both are numbers in disguise.
  if (arguments[0].tensor() && arguments[1].tensor()) return std::nullopt;
  const Any a = numbered(e, arguments[0]), b = numbered(e, arguments[1]);
  if (!is_number(a) || !is_number(b)) return std::nullopt;
  if (symbolic(a) != nullptr || symbolic(b) != nullptr) {
    if (node == nullptr) e.refuse("this arithmetic of an open extent is not read; fix the input's shape with --shape");
    return symbolic_arithmetic(e, node, a, b);
  }
  if (is_integer_number(a) && is_integer_number(b)) return integer_math(e, op, integer_of(a), integer_of(b));
  return real_math(op, real_of(a), real_of(b));
}

enum class Order : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

bool ordered(Order order, double a, double b) {
  switch (order) {
    case Order::Eq: return a == b;
    case Order::Ne: return a != b;
    case Order::Lt: return a < b;
    case Order::Le: return a <= b;
    case Order::Gt: return a > b;
    case Order::Ge: return a >= b;
  }
  return false;
}

// An open extent against a number: it is at least 1.
bool compare_symbolic(Evaluator& e, Order order, const Any& a, const Any& b) {
  const auto *x = symbolic(a), *y = symbolic(b);
  if (x != nullptr && y != nullptr) {
    const SymbolicInt &p = **x, &q = **y;
    const bool same =
        (p.value == kNoValue && q.value == kNoValue && !p.dim.symbol.empty() && p.dim.symbol == q.dim.symbol) ||
        (p.of != kNoValue && p.of == q.of && p.axis == q.axis);
    if (same) return ordered(order, 0, 0);
  } else {
    const bool swapped = x == nullptr;
    const SymbolicInt& s = swapped ? **y : **x;
    const Any& other = swapped ? a : b;
    if (s.value == kNoValue && is_integer_number(other) && integer_of(other) <= 0)
      return swapped ? ordered(order, static_cast<double>(integer_of(other)), 1)
                     : ordered(order, 1, static_cast<double>(integer_of(other)));
  }
  e.refuse("a condition on an input's open extent; fix the input's shape with --shape");
}

bool equal(Evaluator& e, const Any& a, const Any& b, int depth = 0) {
  if (depth > 20) e.refuse("lists that are nested too deep");
  e.work();
  if (symbolic(a) != nullptr || symbolic(b) != nullptr) {
    return is_number(a) && is_number(b) && compare_symbolic(e, Order::Eq, a, b);
  }
  if (is_number(a) && is_number(b)) {
    if (is_integer_number(a) && is_integer_number(b)) return integer_of(a) == integer_of(b);
    return real_of(a) == real_of(b);
  }
  if (a.v.index() != b.v.index()) return false;
  if (const auto* text = a.get<std::string>()) return *text == *b.get<std::string>();
  if (const auto* list = a.get<Any::List>()) {
    const std::vector<Any>&x = (*list)->items, &y = (*b.get<Any::List>())->items;
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!equal(e, x[i], y[i], depth + 1)) return false;
    }
    return true;
  }
  if (a.none()) return true;
  if (const auto* module = a.get<Any::Module>()) return *module == *b.get<Any::Module>();
  e.refuse("a comparison of ", kind_of(a), " and ", kind_of(b), " is not read");
}

Result compare(Evaluator& e, Order order, const Arguments& arguments) {
  if (arguments.size() != 2) return std::nullopt;
  if (arguments[0].tensor() || arguments[1].tensor()) {
    const Any a = numbered(e, arguments[0]), b = numbered(e, arguments[1]);
    if (!is_number(a) || !is_number(b)) return std::nullopt;
    return compare(e, order, {a, b});
  }
  const Any &a = arguments[0], &b = arguments[1];
  if (order == Order::Eq || order == Order::Ne) return equal(e, a, b) == (order == Order::Eq);
  if (!is_number(a) || !is_number(b)) e.refuse("a comparison of ", kind_of(a), " and ", kind_of(b), " is not read");
  if (symbolic(a) != nullptr || symbolic(b) != nullptr) return compare_symbolic(e, order, a, b);
  return ordered(order, real_of(a), real_of(b));
}

template <Math op>
Result math_call(Evaluator& e, const Arguments& arguments) {
  constexpr const char* kNodes[] = {"Add",   "Sub", "Mul", nullptr, "Div",  "Mod",
                                    nullptr, "Min", "Max", nullptr, nullptr};
  return math(e, op, kNodes[static_cast<size_t>(op)], arguments);
}
template <Order order>
Result compare_call(Evaluator& e, const Arguments& arguments) {
  return compare(e, order, arguments);
}

// A truth that the interpreter knows; nothing where tensors take part.
template <bool both>
Result connect(Evaluator& e, const Arguments& arguments) {
  if (arguments.size() != 2 || arguments[0].tensor() || arguments[1].tensor()) return std::nullopt;
  const bool a = e.truth(arguments[0]), b = e.truth(arguments[1]);
  return both ? (a && b) : (a || b);
}
Result negate_truth(Evaluator& e, const Arguments& arguments) { return !e.truth(arguments.at(0)); }

bool identical(const Any& a, const Any& b) {
  if (a.v.index() != b.v.index()) return false;
  if (a.none()) return true;
  if (const auto* truth = a.get<bool>()) return *truth == *b.get<bool>();
  if (const auto* cell = a.get<Any::Tensor>()) return *cell == *b.get<Any::Tensor>();
  if (const auto* list = a.get<Any::List>()) return *list == *b.get<Any::List>();
  if (const auto* module = a.get<Any::Module>()) return *module == *b.get<Any::Module>();
  return false;
}
Result is_same(Evaluator&, const Arguments& arguments) { return identical(arguments.at(0), arguments.at(1)); }
Result is_other(Evaluator&, const Arguments& arguments) { return !identical(arguments.at(0), arguments.at(1)); }

ListCell& list_at(Evaluator& e, const Arguments& arguments, size_t i) {
  const auto* list = arguments.at(i).get<Any::List>();
  if (list == nullptr) e.fail("a list is expected, not ", kind_of(arguments[i]));
  return **list;
}

ValueId value_at(Evaluator& e, const Any& value) { return e.importer().value_of(*value.get<Any::Tensor>(), e.where()); }

Result size(Evaluator& e, const Arguments& arguments) {
  if (!arguments.at(0).tensor()) return std::nullopt;
  const ValueId v = value_at(e, arguments[0]);
  if (arguments.size() > 1) {
    if (!is_integer_number(arguments[1])) e.fail("an axis is ", kind_of(arguments[1]));
    return e.importer().extent(v, integer_of(arguments[1]));
  }
  const Type& type = e.importer().type(v);
  if (!type.shape) e.refuse("the shape of an input is not known; say it with --shape NAME:1x3x224x224");
  std::vector<Any> items;
  for (size_t i = 0; i < type.shape->size(); ++i) items.push_back(e.importer().extent(v, static_cast<int64_t>(i)));
  return make_list(std::move(items));
}

Result rank(Evaluator& e, const Arguments& arguments) {
  if (!arguments.at(0).tensor()) return std::nullopt;
  const ValueId v = value_at(e, arguments[0]);
  const Type& type = e.importer().type(v);
  if (!type.shape) e.refuse("the rank of an input is not known; say its shape with --shape NAME:1x3x224x224");
  return static_cast<int64_t>(type.shape->size());
}

Result length(Evaluator& e, const Arguments& arguments) {
  const Any& value = arguments.at(0);
  if (const auto* list = value.get<Any::List>()) return static_cast<int64_t>((*list)->items.size());
  if (const auto* dict = value.get<Any::Dict>()) return static_cast<int64_t>((*dict)->size());
  if (const auto* text = value.get<std::string>()) return static_cast<int64_t>(text->size());
  if (value.tensor()) return e.importer().extent(value_at(e, value), 0);
  e.fail("the length of ", kind_of(value));
}

Result element_total(Evaluator& e, const Arguments& arguments) {
  Any total = int64_t{1};
  const Result sizes = size(e, {arguments.at(0)});
  if (!sizes) return std::nullopt;
  for (const Any& extent : (*sizes->get<Any::List>())->items) total = *math(e, Math::Mul, "Mul", {total, extent});
  return total;
}

Result item(Evaluator& e, const Arguments& arguments) {
  const Any &base = arguments.at(0), &index = arguments.at(1);
  if (const auto* dict = base.get<Any::Dict>()) {
    for (const auto& [key, value] : **dict) {
      if (equal(e, key, index)) return value;
    }
    e.fail("a key that the dictionary lacks");
  }
  const auto* list = base.get<Any::List>();
  if (list == nullptr) return std::nullopt;
  if (!is_integer_number(index)) e.fail("a place in a list is ", kind_of(index));
  const auto n = static_cast<int64_t>((*list)->items.size());
  const int64_t at = integer_of(index) < 0 ? integer_of(index) + n : integer_of(index);
  if (at < 0 || at >= n) e.fail("place ", integer_of(index), " of a list of ", n);
  return (*list)->items[at];
}

Result list_slice(Evaluator& e, const Arguments& arguments) {
  const auto* list = arguments.at(0).get<Any::List>();
  if (list == nullptr) return std::nullopt;
  const auto n = static_cast<int64_t>((*list)->items.size());
  const auto bound = [&](size_t i, int64_t fallback) {
    if (i >= arguments.size() || arguments[i].none()) return fallback;
    if (!is_integer_number(arguments[i])) e.fail("a place in a list is ", kind_of(arguments[i]));
    const int64_t at = integer_of(arguments[i]);
    return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n);
  };
  const int64_t start = bound(1, 0), end = bound(2, n);
  const int64_t step = arguments.size() > 3 && is_integer_number(arguments[3]) ? integer_of(arguments[3]) : 1;
  if (step < 1) e.refuse("a step of ", step);
  std::vector<Any> items;
  for (int64_t i = start; i < end; i += step) items.push_back((*list)->items[i]);
  e.work(items.size());
  return make_list(std::move(items), (*list)->tuple);
}

Result append(Evaluator& e, const Arguments& arguments) {
  ListCell& list = list_at(e, arguments, 0);
  if (list.items.size() >= kMaxList) e.refuse("a list of more than ", kMaxList, " items");
  list.items.push_back(arguments.at(1));
  return arguments[0];
}
Result extend(Evaluator& e, const Arguments& arguments) {
  ListCell& list = list_at(e, arguments, 0);
  const std::vector<Any> more = list_at(e, arguments, 1).items;
  if (list.items.size() + more.size() > kMaxList) e.refuse("a list of more than ", kMaxList, " items");
  e.work(more.size());
  list.items.insert(list.items.end(), more.begin(), more.end());
  return arguments[0];
}
Result insert(Evaluator& e, const Arguments& arguments) {
  ListCell& list = list_at(e, arguments, 0);
  if (!is_integer_number(arguments.at(1))) e.fail("a place in a list is ", kind_of(arguments[1]));
  const auto n = static_cast<int64_t>(list.items.size());
  const int64_t at = integer_of(arguments[1]);
  e.work(list.items.size());
  list.items.insert(list.items.begin() + std::clamp<int64_t>(at < 0 ? at + n : at, 0, n), arguments.at(2));
  return Any();
}
Result pop(Evaluator& e, const Arguments& arguments) {
  ListCell& list = list_at(e, arguments, 0);
  Result last = item(e, {arguments[0], arguments.size() > 1 ? arguments[1] : Any(int64_t{-1})});
  const int64_t at = arguments.size() > 1 ? integer_of(arguments[1]) : -1;
  list.items.erase(list.items.begin() + (at < 0 ? at + static_cast<int64_t>(list.items.size()) : at));
  return last;
}
Result set_item(Evaluator& e, const Arguments& arguments) {
  if (!arguments.at(0).list()) return std::nullopt;
  item(e, arguments);
  ListCell& list = list_at(e, arguments, 0);
  const int64_t at = integer_of(arguments[1]);
  list.items[at < 0 ? at + static_cast<int64_t>(list.items.size()) : at] = arguments.at(2);
  return arguments[0];
}
Result copy_list(Evaluator& e, const Arguments& arguments) {
  const auto* list = arguments.at(0).get<Any::List>();
  if (list == nullptr) return std::nullopt;
  e.work((*list)->items.size());
  return make_list((*list)->items);
}
Result contains(Evaluator& e, const Arguments& arguments) {
  if (const auto* dict = arguments.at(0).get<Any::Dict>()) {
    return std::any_of((*dict)->begin(), (*dict)->end(),
                       [&](const auto& pair) { return equal(e, pair.first, arguments.at(1)); });
  }
  const ListCell& list = list_at(e, arguments, 0);
  return std::any_of(list.items.begin(), list.items.end(), [&](const Any& i) { return equal(e, i, arguments.at(1)); });
}

template <int part>  // 0: keys, 1: values, 2: both
Result dict_parts(Evaluator& e, const Arguments& arguments) {
  const auto* dict = arguments.at(0).get<Any::Dict>();
  if (dict == nullptr) return std::nullopt;
  std::vector<Any> items;
  for (const auto& [key, value] : **dict)
    items.push_back(part == 0 ? key : part == 1 ? value : make_list({key, value}, true));
  e.work(items.size());
  return make_list(std::move(items));
}

template <double (*function)(double)>
Result rounded(Evaluator&, const Arguments& arguments) {
  if (is_integer_number(arguments.at(0))) return integer_of(arguments[0]);
  const auto* number = arguments[0].get<double>();
  if (number == nullptr) return std::nullopt;
  const double result = function(*number);
  if (std::abs(result) < 9e18) return static_cast<int64_t>(result);
  return result;
}
Result square_root(Evaluator&, const Arguments& arguments) {
  if (!is_number(arguments.at(0)) || symbolic(arguments[0]) != nullptr) return std::nullopt;
  return std::sqrt(real_of(arguments[0]));
}
Result negate(Evaluator& e, const Arguments& arguments) {
  if (!is_number(arguments.at(0))) return std::nullopt;
  return math(e, Math::Sub, "Sub", {int64_t{0}, arguments[0]});
}

Result dtype(Evaluator& e, const Arguments& arguments) {
  if (!arguments.at(0).tensor()) return std::nullopt;
  const auto& cell = *arguments[0].get<Any::Tensor>();
  const DType type = e.importer().type(cell->value).dtype;
  if (cell->quantizer != nullptr) return int64_t{type == DType::Int8 ? 12 : type == DType::UInt8 ? 13 : 14};
  return code_of_dtype(type == DType::Undefined ? DType::Float32 : type);
}
Result floating(Evaluator& e, const Arguments& arguments) {
  if (!arguments.at(0).tensor()) return std::nullopt;
  const DType type = e.importer().type((*arguments[0].get<Any::Tensor>())->value).dtype;
  return type == DType::Undefined || is_float(type);
}
Result quantized(Evaluator&, const Arguments& arguments) {
  return arguments.at(0).tensor() && (*arguments[0].get<Any::Tensor>())->quantizer != nullptr;
}

Result raise(Evaluator& e, const Arguments& arguments) {
  const auto* text = arguments.empty() ? nullptr : arguments[0].get<std::string>();
  e.refuse("the program raises an exception for this input: ", text == nullptr ? "" : text->substr(0, 200));
}
Result format(Evaluator& e, const Arguments& arguments) {
  const auto* text = arguments.at(0).get<std::string>();
  if (text == nullptr) return std::string();
  std::string result;
  size_t next = 1;
  for (size_t i = 0; i < text->size(); ++i) {
    if (text->compare(i, 2, "{}") != 0 || next >= arguments.size()) {
      result += (*text)[i];
      continue;
    }
    const Any& value = arguments[next++];
    ++i;
    if (const auto* s = value.get<std::string>()) result += s->substr(0, 200);
    if (is_integer_number(value)) result += std::to_string(integer_of(value));
    if (const auto* number = value.get<double>()) result += exact_text(*number);
  }
  e.work(result.size());
  if (result.size() > kMaxList) e.refuse("a text of more than ", kMaxList, " characters");
  return result;
}

Result find_text(Evaluator&, const Arguments& arguments) {
  const auto *text = arguments.at(0).get<std::string>(), *part = arguments.at(1).get<std::string>();
  if (text == nullptr || part == nullptr) return std::nullopt;
  const size_t at = text->find(*part);
  return at == std::string::npos ? int64_t{-1} : static_cast<int64_t>(at);
}

template <bool every>
Result quantify(Evaluator& e, const Arguments& arguments) {
  const auto* list = arguments.at(0).get<Any::List>();
  if (list == nullptr) return std::nullopt;
  const auto holds = [&](const Any& item) { return e.truth(item); };
  return every ? std::all_of((*list)->items.begin(), (*list)->items.end(), holds)
               : std::any_of((*list)->items.begin(), (*list)->items.end(), holds);
}

Result first(Evaluator&, const Arguments& arguments) { return arguments.at(0); }
Result nothing(Evaluator&, const Arguments&) { return Any(); }
Result no(Evaluator&, const Arguments&) { return false; }
Result cpu(Evaluator&, const Arguments&) { return std::string("cpu"); }
Result zero(Evaluator&, const Arguments&) { return int64_t{0}; }
Result asserted(Evaluator& e, const Arguments& arguments) {
  if (!e.truth(arguments.at(0))) e.refuse("an assertion of the program does not hold for this input");
  return Any();
}
Result whole(Evaluator& e, const Arguments& arguments) { return to_int(e, arguments.at(0)); }
Result real(Evaluator& e, const Arguments& arguments) { return to_real(e, arguments.at(0)); }
Result truth_of(Evaluator& e, const Arguments& arguments) { return e.truth(arguments.at(0)); }
Result number_in(Evaluator& e, const Arguments& arguments) {
  const Any value = numbered(e, arguments.at(0));
  if (!is_number(value))
    e.refuse("the number in a tensor, which is computed from inputs, decides what is computed; that is not read");
  return value;
}
Result range_length(Evaluator& e, const Arguments& arguments) {
  for (size_t i = 0; i < 3; ++i) {
    if (!is_integer_number(arguments.at(i))) e.refuse("a range of open length; fix the input's shape with --shape");
  }
  const int64_t low = integer_of(arguments[0]), high = integer_of(arguments[1]), step = integer_of(arguments[2]);
  if (step == 0) e.fail("a range of step 0");
  const double n = std::ceil((static_cast<double>(high) - static_cast<double>(low)) / static_cast<double>(step));
  return static_cast<int64_t>(std::max(0.0, std::min(n, 9e15)));
}
Result derive_index(Evaluator& e, const Arguments& arguments) {
  const Result offset = math(e, Math::Mul, "Mul", {arguments.at(0), arguments.at(2)});
  if (!offset) return std::nullopt;
  return math(e, Math::Add, "Add", {arguments.at(1), *offset});
}
Result make_tensor(Evaluator& e, const Arguments& arguments) {
  const Any& value = arguments.at(0);
  if (is_number(value)) return value;
  const ListCell& list = list_at(e, arguments, 0);
  const bool reals =
      std::any_of(list.items.begin(), list.items.end(), [](const Any& i) { return i.get<double>() != nullptr; });
  std::vector<double> values;
  for (const Any& i : list.items) {
    if (!is_number(i) || symbolic(i) != nullptr) e.refuse("a tensor of ", kind_of(i), " is not read");
    values.push_back(real_of(i));
  }
  DType type = reals ? DType::Float32 : DType::Int64;
  if (arguments.size() > 1 && is_integer_number(arguments[1])) type = dtype_of_code(integer_of(arguments[1]));
  if (type == DType::Undefined) e.refuse("a tensor of an unknown type");
  DraftBuilder steps(e.importer().draft, e.node_name("tensor"));
  const Shape shape = {static_cast<int64_t>(values.size())};
  return e.importer().cell(steps.store("tensor", convert(Tensor::of<double>(shape, values), type)));
}

using Builtin = Result (*)(Evaluator&, const Arguments&);

struct BuiltinRow {
  const char* name;
  size_t arguments;  // at least
  Builtin function;
};

constexpr BuiltinRow kBuiltins[] = {{"add", 2, math_call<Math::Add>},
                                    {"add_", 2, math_call<Math::Add>},
                                    {"sub", 2, math_call<Math::Sub>},
                                    {"mul", 2, math_call<Math::Mul>},
                                    {"div", 2, math_call<Math::TrueDiv>},
                                    {"truediv", 2, math_call<Math::TrueDiv>},
                                    {"floordiv", 2, math_call<Math::FloorDiv>},
                                    {"floor_divide", 2, math_call<Math::FloorDiv>},
                                    {"remainder", 2, math_call<Math::Mod>},
                                    {"fmod", 2, math_call<Math::Fmod>},
                                    {"pow", 2, math_call<Math::Pow>},
                                    {"prim::min", 1, math_call<Math::Min>},
                                    {"prim::max", 1, math_call<Math::Max>},
                                    {"eq", 2, compare_call<Order::Eq>},
                                    {"ne", 2, compare_call<Order::Ne>},
                                    {"lt", 2, compare_call<Order::Lt>},
                                    {"le", 2, compare_call<Order::Le>},
                                    {"gt", 2, compare_call<Order::Gt>},
                                    {"ge", 2, compare_call<Order::Ge>},
                                    {"__and__", 2, connect<true>},
                                    {"__or__", 2, connect<false>},
                                    {"__not__", 1, negate_truth},
                                    {"__is__", 2, is_same},
                                    {"__isnot__", 2, is_other},
                                    {"__contains__", 2, contains},
                                    {"__getitem__", 2, item},
                                    {"__range_length", 3, range_length},
                                    {"__derive_index", 3, derive_index},
                                    {"_set_item", 3, set_item},
                                    {"_assert", 1, asserted},
                                    {"size", 1, size},
                                    {"prim::shape", 1, size},
                                    {"dim", 1, rank},
                                    {"prim::ndim", 1, rank},
                                    {"len", 1, length},
                                    {"numel", 1, element_total},
                                    {"slice", 1, list_slice},
                                    {"append", 2, append},
                                    {"extend", 2, extend},
                                    {"insert", 3, insert},
                                    {"pop", 1, pop},
                                    {"list", 1, copy_list},
                                    {"copy", 1, copy_list},
                                    {"keys", 1, dict_parts<0>},
                                    {"values", 1, dict_parts<1>},
                                    {"items", 1, dict_parts<2>},
                                    {"floor", 1, rounded<std::floor>},
                                    {"ceil", 1, rounded<std::ceil>},
                                    {"round", 1, rounded<std::nearbyint>},
                                    {"sqrt", 1, square_root},
                                    {"neg", 1, negate},
                                    {"prim::dtype", 1, dtype},
                                    {"prim::device", 1, cpu},
                                    {"prim::layout", 1, zero},
                                    {"prim::is_cuda", 1, no},
                                    {"prim::is_mkldnn", 1, no},
                                    {"prim::is_quantized", 1, quantized},
                                    {"prim::requires_grad", 1, no},
                                    {"is_floating_point", 1, floating},
                                    {"is_grad_enabled", 0, no},
                                    {"is_autocast_enabled", 0, no},
                                    {"is_scripting", 0, no},
                                    {"device", 1, cpu},
                                    {"format", 1, format},
                                    {"find", 2, find_text},
                                    {"all", 1, quantify<true>},
                                    {"any", 1, quantify<false>},
                                    {"prim::is_nested", 1, no},
                                    {"warn", 0, nothing},
                                    {"prim::Print", 0, nothing},
                                    {"prim::RaiseException", 0, raise},
                                    {"prim::NumToTensor", 1, first},
                                    {"prim::unchecked_unwrap_optional", 1, first},
                                    {"prim::TupleConstruct", 1, first},
                                    {"Int", 1, whole},
                                    {"IntImplicit", 1, whole},
                                    {"Float", 1, real},
                                    {"FloatImplicit", 1, real},
                                    {"ScalarImplicit", 1, number_in},
                                    {"item", 1, number_in},
                                    {"Bool", 1, truth_of},
                                    {"tensor", 1, make_tensor},
                                    {"as_tensor", 1, make_tensor},
                                    {"scalar_tensor", 1, first}};

}  // namespace

std::optional<Any> call_builtin(Evaluator& evaluator, const std::string& name, const std::vector<Any>& arguments) {
  static const std::unordered_map<std::string, const BuiltinRow*> rows = [] {
    std::unordered_map<std::string, const BuiltinRow*> all;
    for (const BuiltinRow& row : kBuiltins) all.emplace(row.name, &row);
    return all;
  }();
  const auto found = rows.find(name);
  if (found == rows.end()) return std::nullopt;
  if (arguments.size() < found->second->arguments)
    evaluator.fail("torch.", name, " with ", arguments.size(), " arguments");
  return found->second->function(evaluator, arguments);
}

Any to_int(Evaluator& e, const Any& given) {
  Any value = numbered(e, given);
  if (symbolic(value) != nullptr) return value;
  if (is_integer_number(value)) return integer_of(value);
  if (const auto* number = value.get<double>()) {
    if (!(std::abs(*number) < 9e18)) e.fail("int of ", *number);
    return static_cast<int64_t>(*number);
  }
  if (value.tensor()) {  // a computed number: an extent of other sizes
    const Type& type = e.importer().type(value_at(e, value));
    if (is_integer(type.dtype) && type.shape && type.shape->empty()) {
      DraftBuilder steps(e.importer().draft, e.node_name("int"));
      const ValueId v = steps.emit("Reshape", {steps.to_dtype(value_at(e, value), DType::Int64), steps.list({1})});
      return std::make_shared<SymbolicInt>(SymbolicInt{kNoValue, 0, v, Dim()});
    }
  }
  e.refuse("int() of ", kind_of(value), ", which is computed from inputs, is not read");
}

Any to_real(Evaluator& e, const Any& given) {
  const Any value = numbered(e, given);
  if (symbolic(value) != nullptr) e.refuse("float() of an open extent; fix the input's shape with --shape");
  if (is_number(value)) return real_of(value);
  if (const auto* text = value.get<std::string>()) {
    double number = 0;
    if (parse_double(*text, &number)) return number;
  }
  e.refuse("float() of ", kind_of(value), " is not read");
}

}  // namespace dnn::torch
