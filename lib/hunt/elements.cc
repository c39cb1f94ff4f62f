// Recipes of element-wise operators, reductions and rows.
#include "base/error.h"
#include "hunt/network.h"
#include "ops/op.h"

namespace dnn::hunt {
namespace {

// Axes of a value, some of them or all, in any order, at times counted from the back.
std::vector<int64_t> some_axes(Growth& g, int64_t rank) {
  std::vector<int64_t> axes = g.chance.order(rank);
  axes.resize(g.chance.between(1, rank));
  for (int64_t& axis : axes) axis -= g.chance.is(0.3) ? rank : 0;
  return axes;
}

int64_t some_axis(Growth& g, int64_t rank) { return g.chance.between(-rank, rank - 1); }

bool activation(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const auto number = [&](double low, double high) { return static_cast<float>(g.chance.real(low, high)); };
  static const std::vector<std::string>
      usual = {"Relu", "Relu", "Relu", "LeakyRelu", "HardSwish", "Sigmoid", "Tanh", "Sigmoid", "Gelu", "Swish", "Elu"},
      every = {
          "Relu", "LeakyRelu", "Elu",  "Selu",     "Celu",     "Erf",      "HardSigmoid", "HardSwish",       "Sigmoid",
          "Tanh", "Gelu",      "Mish", "Softplus", "Softsign", "Softplus", "Softsign",    "ThresholdedRelu", "Swish"};
  const std::string op = g.chance.of(g.common ? usual : every);
  Attributes a;
  if (op == "Elu" && g.common) a["alpha"] = 1.0F;
  if (op == "LeakyRelu" || (op == "Elu" && !g.common) || op == "Celu" || op == "Swish") a["alpha"] = number(0.1, 2);
  if (op == "HardSigmoid") a = {{"alpha", number(0.1, 0.6)}, {"beta", number(0.2, 0.8)}};
  if (op == "Gelu" && g.chance.is(0.5)) a["approximate"] = std::string("tanh");
  if (op == "ThresholdedRelu") {
    if (!g.is_exact(x)) return false;  // jumps
    a["alpha"] = number(0.1, 0.9);
  }
  if (g.chance.is(0.3)) a.erase("alpha");
  g.emit(op, {x}, a);
  return true;
}

bool prelu(Growth& g) {
  const ValueId x = g.any(4);
  if (x == kNoValue) return false;
  const int64_t channels = g.shape(x)[1];
  g.emit("PRelu", {x, g.numbers(g.chance.of<Shape>({{channels, 1, 1}, {1}, {1, channels, 1, 1}}), -0.5, 0.5)});
  return true;
}

bool clip(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const ValueId low = g.chance.is(0.7) ? g.number(g.chance.of({0.0F, -1.0F, -0.25F})) : kNoValue;
  const ValueId high = g.chance.is(0.8) ? g.number(g.chance.of({6.0F, 1.0F, 0.5F})) : kNoValue;
  g.emit("Clip", {x, low, high});
  return true;
}

// Another operand for x: a value of its type, one that broadcasts, or a constant.
ValueId operand(Growth& g, ValueId x, double low, double high) {
  if (g.chance.is(0.4)) return g.like(x);
  Shape shape = g.shape(x);
  if (g.chance.is(0.5)) {
    for (int64_t& extent : shape) extent = g.chance.is(0.6) ? 1 : extent;
  }
  while (shape.size() > 0 && g.chance.is(0.25)) shape.erase(shape.begin());
  return g.numbers(shape, low, high);
}

bool arithmetic(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const std::string op = g.chance.of<std::string>({"Add", "Add", "Mul", "Sub", "Max", "Min"});
  std::vector<ValueId> inputs = {x, operand(g, x, -1, 1)};
  if (g.chance.is(0.3)) std::swap(inputs[0], inputs[1]);
  g.emit(op, inputs);
  return true;
}

bool many(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  std::vector<ValueId> inputs = {x};
  for (int64_t n = g.chance.between(0, 3); n > 0; --n) inputs.push_back(operand(g, x, -1, 1));
  g.emit(g.chance.of<std::string>({"Sum", "Mean", "Max", "Min"}), inputs);
  return true;
}

bool divide(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  if (g.chance.is(0.5)) {
    g.emit("Div", {x, g.numbers(g.chance.is(0.5) ? Shape{} : g.shape(x), 0.5, 2)});
    return true;
  }
  const ValueId bounded = g.emit("Sigmoid", {g.like(x)});
  const ValueId away = g.emit("Add", {bounded, g.number(0.5F)});
  g.emit("Div", {x, away});
  return true;
}

// Functions on the part of their domain where they are not steep: of sigmoid(x), in (0, 1), times `scale` plus `shift`.
bool function(Growth& g) {
  struct Row {
    const char* op;
    float scale, shift;
  };
  static const std::vector<Row> rows = {
      {"Abs", 2, -1},     {"Acos", 1.6F, -0.8F},  {"Acosh", 2, 1.5F},      {"Asin", 1.6F, -0.8F}, {"Asinh", 4, -2},
      {"Atan", 4, -2},    {"Atanh", 1.6F, -0.8F}, {"Cos", 6, -3},          {"Cosh", 4, -2},       {"Exp", 4, -2},
      {"Log", 4, 0.25F},  {"Neg", 4, -2},         {"Reciprocal", 2, 0.5F}, {"Sin", 6, -3},        {"Sinh", 4, -2},
      {"Sqrt", 4, 0.25F}, {"Tan", 2, -1},         {"Identity", 1, 0}};
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const Row& row = g.chance.of(rows);
  const ValueId bounded = g.emit("Sigmoid", {x});
  const ValueId scaled = g.emit("Mul", {bounded, g.number(row.scale)});
  g.emit(row.op, {g.emit("Add", {scaled, g.number(row.shift)})});
  return true;
}

bool power(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  if (g.chance.is(0.5)) {
    g.emit("Pow", {x, g.number(g.chance.of({2.0F, 3.0F, 1.0F}))});
    return true;
  }
  const ValueId away = g.emit("Add", {g.emit("Sigmoid", {x}), g.number(0.5F)});
  g.emit("Pow", {away, operand(g, x, -2, 2)});
  return true;
}

// Operators that jump, on numbers that no rounding has touched.
bool rounding(Growth& g) {
  const ValueId x = g.any_exact(-1);
  if (x == kNoValue) return false;
  const ValueId wide = g.chance.is(0.5) ? x : g.emit("Clip", {x, g.number(-0.7F), g.number(0.7F)});
  g.emit(g.chance.of<std::string>({"Floor", "Ceil", "Round", "Sign"}), {wide});
  return true;
}

bool comparison(Growth& g) {
  const ValueId x = g.any_exact(-1);
  if (x == kNoValue) return false;
  ValueId y = g.like(x);
  if (y == x || !g.is_exact(y)) y = g.numbers(g.chance.is(0.5) ? Shape{} : g.shape(x), -1, 1);
  const std::string op = g.chance.of<std::string>({"Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"});
  const ValueId truth = g.emit(op, {x, y});
  if (g.chance.is(0.7)) {
    const ValueId a = g.like(x);
    g.emit("Where", {truth, a, operand(g, a, -1, 1)});
  } else {
    g.emit("Cast", {truth}, {{"to", g.real_code()}});
  }
  return true;
}

bool logic(Growth& g) {
  const ValueId x = g.any_of(DType::Bool, -1);
  if (x == kNoValue) return false;
  if (g.chance.is(0.3)) {
    g.emit("Not", {x});
  } else {
    g.emit(g.chance.of<std::string>({"And", "Or", "Xor"}), {x, g.like(x)});
  }
  return true;
}

bool whole_numbers(Growth& g) {
  const ValueId x = g.any_of(DType::Int64, -1);
  if (x == kNoValue) return false;
  const std::string op = g.chance.of<std::string>({"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Abs", "Neg"});
  if (op == "Abs" || op == "Neg") {
    g.emit(op, {x});
  } else {
    const bool divides = op == "Div" || op == "Mod";
    Attributes a;
    if (op == "Mod" && g.chance.is(0.4)) a["fmod"] = int64_t{1};
    g.emit(op, {x, g.integers(g.chance.is(0.5) ? Shape{} : g.shape(x), divides ? 1 : -5, 7)}, a);
  }
  return true;
}

bool cast(Growth& g) {
  const ValueId x = g.any_exact(-1);
  if (x == kNoValue) return false;
  const ValueId scaled = g.emit("Mul", {x, g.number(16.0F)});
  g.set_exact(scaled);  // by a power of 2
  const ValueId big = g.emit("Floor", {scaled});
  const ValueId whole = g.emit("Cast", {big}, {{"to", g.chance.of<int64_t>({6, 7})}});  // INT32, INT64
  if (g.chance.is(0.5)) g.emit("Cast", {whole}, {{"to", g.real_code()}});
  return true;
}

bool reduction(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const auto rank = static_cast<int64_t>(g.shape(x).size());
  static const std::vector<std::string> usual = {"ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"},
                                        every = {"ReduceMean",      "ReduceSum",       "ReduceMax",
                                                 "ReduceMin",       "ReduceL1",        "ReduceL2",
                                                 "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd"};
  const std::string op = g.chance.of(g.common ? usual : every);
  // A product of many numbers stays within float32's range where they are near 1.
  const bool product = op == "ReduceProd";
  if (product && element_count(g.shape(x)) > 100) return false;
  std::vector<ValueId> inputs = {product ? g.emit("Add", {g.emit("Sigmoid", {x}), g.number(0.5F)}) : x};
  const bool all = g.chance.is(0.15);
  if (!all) inputs.push_back(g.net.list(some_axes(g, rank)));
  g.emit(op, inputs, {{"keepdims", g.chance.between(0, 1)}});
  return true;
}

bool arg(Growth& g) {
  const ValueId x = g.any_exact(-1);
  if (x == kNoValue) return false;
  const auto rank = static_cast<int64_t>(g.shape(x).size());
  g.emit(g.chance.of<std::string>({"ArgMax", "ArgMin"}), {x},
         {{"axis", some_axis(g, rank)},
          {"keepdims", g.chance.between(0, 1)},
          {"select_last_index", g.chance.between(0, 1)}});
  return true;
}

bool softmax(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const auto rank = static_cast<int64_t>(g.shape(x).size());
  g.emit(g.chance.of<std::string>({"Softmax", "Softmax", "LogSoftmax"}), {x}, {{"axis", some_axis(g, rank)}});
  return true;
}

bool cumulative(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue) return false;
  const auto rank = static_cast<int64_t>(g.shape(x).size());
  const ValueId axis = g.net.store("axis", Tensor::of<int64_t>({}, {some_axis(g, rank)}));
  g.emit("CumSum", {x, axis}, {{"exclusive", g.chance.between(0, 1)}, {"reverse", g.chance.between(0, 1)}});
  return true;
}

bool top(Growth& g) {
  const ValueId x = g.any_exact(-1);
  if (x == kNoValue) return false;
  const Shape shape = g.shape(x);
  const int64_t axis = g.chance.between(0, static_cast<int64_t>(shape.size()) - 1);
  g.emit_many("TopK", {x, g.net.list({g.chance.between(1, shape[axis])})},
              {{"axis", axis}, {"largest", g.chance.between(0, 1)}}, 2);
  return true;
}

}  // namespace

std::vector<Recipe> element_recipes() {
  return {{"activation", 5, kEach, activation},
          {"prelu", 0.5, kOnImages, prelu},
          {"clip", 1, kEach, clip},
          {"arithmetic", 4, kEach, arithmetic},
          {"many", 0.5, kAny, many},
          {"divide", 0.7, kEach, divide},
          {"function", 2, kTransformer, function},
          {"power", 0.5, kTransformer, power},
          {"rounding", 0.5, kAny, rounding},
          {"comparison", 1, kDetector, comparison},
          {"logic", 0.5, kDetector, logic},
          {"whole numbers", 1, kDetector, whole_numbers},
          {"cast", 0.7, kDetector, cast},
          {"reduction", 2, kEach, reduction},
          {"arg", 0.5, kDetector, arg},
          {"softmax", 1, kEach, softmax},
          {"cumulative", 0.4, kAny, cumulative},
          {"top", 0.4, kDetector, top}};
}

}  // namespace dnn::hunt
