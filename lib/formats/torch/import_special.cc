// Functions that the IR has no operator for: each is written in those it has, so that infinities, zeros and values that are not
// numbers come out as PyTorch's kernels give them (aten/src/ATen/native, version 2.15).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "formats/torch/imports.h"

namespace dnn::torch {
namespace {

DType float_type(const Op& op, DType dtype) {
  if (dtype == DType::Undefined) return DType::Float32;
  if (!is_float(dtype)) op.fail("numbers of ", dtype_name(dtype));
  return dtype;
}

// Two operands as real numbers.
std::pair<ValueId, ValueId> real_operands(Op& op) {
  const auto [x, y] = operands(op, 0, 1);
  return {to_float(op, x), to_float(op, y)};
}

// True where the sign bit is set, of -0 too.
ValueId sign_bit(Op& op, ValueId x) {
  const DType dtype = op.type(x).dtype;
  const ValueId zero = op.scalar(0, dtype), below = op.emit("Less", {x, zero});
  if (!is_float(float_type(op, dtype))) return below;
  return op.emit("Or", {below, op.emit("Less", {op.emit("Reciprocal", {x}), zero})});
}

ValueId where_zero(Op& op, ValueId x, ValueId then, ValueId otherwise) {
  return op.emit("Where", {op.emit("Equal", {x, op.scalar(0, op.type(x).dtype)}), then, otherwise});
}

// The largest finite number of a type.
double largest(DType dtype) {
  switch (dtype) {
    case DType::Float64: return std::numeric_limits<double>::max();
    case DType::Float16: return 65504;
    case DType::BFloat16: return 0x1.fep127;
    default: return static_cast<double>(std::numeric_limits<float>::max());
  }
}

}  // namespace

Any log_sigmoid(Op& op) {
  const ValueId x = to_float(op, op.tensor(0));
  Any y = op.result(op.emit("Neg", {op.emit("Softplus", {op.emit("Neg", {x})})}));
  if (std::string(op.row().name) == "log_sigmoid") return y;
  return make_list({y, op.not_made("buffer")}, true);
}

// 0 where |x| <= lambda; else x, or x less lambda of its sign.
Any shrink(Op& op) {
  const ValueId x = op.tensor(0);
  const DType dtype = float_type(op, op.type(x).dtype);
  const ValueId bound = op.scalar(op.real(1), dtype);
  ValueId y = x;
  if (std::string(op.row().op) == "soft") y = op.emit("Sub", {x, op.emit("Mul", {op.emit("Sign", {x}), bound})});
  const ValueId inside = op.emit("LessOrEqual", {op.emit("Abs", {x}), bound});
  return op.result(op.emit("Where", {inside, op.scalar(0, dtype), y}));
}

// In evaluation the slope is the middle of the range.
Any rrelu(Op& op) {
  if (op.flag(3)) op.refuse("training mode is not read; call eval() before the export");
  const auto slope = static_cast<float>((op.real(1) + op.real(2)) / 2);
  return op.result(op.emit("LeakyRelu", {op.tensor(0)}, {{"alpha", slope}}));
}

// The larger or smaller of two, and the other one where one is not a number.
Any extreme_number(Op& op) {
  const auto [x, y] = operands(op, 0, 1);
  const ValueId both = op.emit(op.row().op, {x, y});
  if (!is_float(op.type(both).dtype)) return op.result(both);
  const ValueId without_y = op.emit("Where", {op.emit("IsNaN", {y}), x, both});
  return op.result(op.emit("Where", {op.emit("IsNaN", {x}), y, without_y}));
}

// m sqrt(1 + r^2) with m the larger length and r the smaller one's share of it, which neither overflows nor vanishes.
Any hypotenuse(Op& op) {
  const auto [x, y] = real_operands(op);
  const ValueId a = op.emit("Abs", {x}), b = op.emit("Abs", {y});
  const ValueId more = op.emit("Max", {a, b}), less = op.emit("Min", {a, b});
  const ValueId one = op.scalar(1, op.type(more).dtype);
  const ValueId share = op.emit("Where", {op.emit("Equal", {less, more}), one, op.emit("Div", {less, more})});
  const ValueId sum = op.emit("Add", {op.emit("Mul", {share, share}), one});
  return op.result(op.emit("Mul", {more, op.emit("Sqrt", {sum})}));
}

Any copy_sign(Op& op) {
  const auto [x, y] = real_operands(op);
  const ValueId length = op.emit("Abs", {x});
  return op.result(op.emit("Where", {sign_bit(op, y), op.emit("Neg", {length}), length}));
}
Any sign_bit_of(Op& op) {
  const ValueId x = op.tensor(0);
  if (is_float(op.type(x).dtype)) return op.result(sign_bit(op, x));
  if (op.type(x).dtype == DType::Bool) op.refuse("of truth values it is not read");
  return op.result(op.emit("Less", {x, op.scalar(0, op.type(x).dtype)}));
}

// x log(y); 0 where x is 0, unless y is not a number.
Any x_log_y(Op& op) {
  const auto [x, y] = real_operands(op);
  const ValueId product = op.emit("Mul", {x, op.emit("Log", {y})});
  const ValueId zero = op.scalar(0, op.type(product).dtype);
  return op.result(op.emit("Where", {op.emit("IsNaN", {y}), y, where_zero(op, x, zero, product)}));
}

// log(exp(x) + exp(y)); of equal numbers x + log 2, which holds for infinite ones.
Any log_add_exp(Op& op) {
  const auto [x, y] = real_operands(op);
  const ValueId more = op.emit("Max", {x, y}), apart = op.emit("Abs", {op.emit("Sub", {x, y})});
  const ValueId sum = op.emit("Add", {more, op.emit("Softplus", {op.emit("Neg", {apart})})});
  const ValueId twice = op.emit("Add", {x, op.scalar(std::log(2.0), op.type(more).dtype)});
  return op.result(op.emit("Where", {op.emit("Equal", {x, y}), twice, sum}));
}

// log(x / (1 - x)), of x held to eps and 1 - eps where that is given.
Any logit(Op& op) {
  ValueId x = to_float(op, op.tensor(0));
  const DType dtype = float_type(op, op.type(x).dtype);
  if (op.has(1)) x = op.emit("Clip", {x, op.scalar(op.real(1), dtype), op.scalar(1 - op.real(1), dtype)});
  const ValueId rest = op.emit("Sub", {op.scalar(1, dtype), x});
  return op.result(op.emit("Log", {op.emit("Div", {x, rest})}));
}

// sin(pi x) / (pi x), 1 at 0.
Any sinc(Op& op) {
  const ValueId x = to_float(op, op.tensor(0));
  const DType dtype = float_type(op, op.type(x).dtype);
  const ValueId angle = op.emit("Mul", {x, op.scalar(std::acos(-1.0), dtype)});
  return op.result(where_zero(op, x, op.scalar(1, dtype), op.emit("Div", {op.emit("Sin", {angle}), angle})));
}

Any complementary_error(Op& op) {
  const ValueId x = to_float(op, op.tensor(0));
  return op.result(op.emit("Sub", {op.scalar(1, op.type(x).dtype), op.emit("Erf", {x})}));
}

// Times a number: "degrees" or "radians".
Any angle(Op& op) {
  const ValueId x = to_float(op, op.tensor(0));
  const double degree = std::acos(-1.0) / 180;
  const double factor = std::string(op.row().op) == "degrees" ? 1 / degree : degree;
  return op.result(op.emit("Mul", {x, op.scalar(factor, op.type(x).dtype)}));
}

// 0 below 0 and of what is not a number, `values` at 0, 1 above.
Any heaviside(Op& op) {
  const auto [x, y] = operands(op, 0, 1);
  const DType dtype = op.type(x).dtype;
  const ValueId above = op.to_dtype(op.emit("Greater", {x, op.scalar(0, dtype)}), dtype);
  return op.result(where_zero(op, x, y, above));
}

Any nan_to_num(Op& op) {
  const ValueId x = op.tensor(0);
  const DType dtype = op.type(x).dtype;
  if (dtype != DType::Undefined && !is_float(dtype)) {
    for (size_t i = 1; i <= 3; ++i) op.without(i);  // integers are all numbers
    return op.argument(0);
  }
  const double end = largest(dtype);
  const double replacements[] = {op.has(1) ? op.real(1) : 0, op.has(2) ? op.real(2) : end,
                                 op.has(3) ? op.real(3) : -end};
  ValueId y = op.emit("Where", {op.emit("IsNaN", {x}), op.scalar(replacements[0], dtype), x});
  y = op.emit("Where",
              {op.emit("IsInf", {x}, {{"detect_negative", int64_t{0}}}), op.scalar(replacements[1], dtype), y});
  y = op.emit("Where",
              {op.emit("IsInf", {x}, {{"detect_positive", int64_t{0}}}), op.scalar(replacements[2], dtype), y});
  return op.result(y);
}

// The cosine of the angle between vectors along `dim`, their lengths at least eps.
Any cosine_similarity(Op& op) {
  const auto [x, y] = real_operands(op);
  const ValueId axis = op.list({op.integer(2)}), least = op.scalar(op.real(3), op.type(x).dtype);
  const auto unit = [&](ValueId v) {
    const ValueId length = op.emit("ReduceL2", {v, axis}, {{"keepdims", int64_t{1}}});
    return op.emit("Div", {v, op.emit("Max", {length, least})});
  };
  return op.result(op.emit("ReduceSum", {op.emit("Mul", {unit(x), unit(y)}), axis}, {{"keepdims", int64_t{0}}}));
}

Any count_nonzero(Op& op) {
  const ValueId ones = op.to_dtype(op.to_dtype(op.tensor(0), DType::Bool), DType::Int64);
  std::vector<ValueId> inputs = {ones};
  if (op.has(1)) inputs.push_back(op.list(op.ints(1, 1)));
  return op.result(op.emit("ReduceSum", std::move(inputs), {{"keepdims", int64_t{0}}}));
}

Any outer(Op& op) {
  const auto [x, y] = operands(op, 0, 1);
  return op.result(op.emit("Mul", {op.unsqueeze(x, {1}), op.unsqueeze(y, {0})}));
}

// sum over i and j of x_i w_oij y_j, and a bias.
Any bilinear(Op& op) {
  const ValueId y =
      op.emit("Einsum", {op.tensor(0), op.tensor(2), op.tensor(1)}, {{"equation", std::string("...i,oij,...j->...o")}});
  return op.result(op.has(3) ? op.emit("Add", {y, op.tensor(3)}) : y);
}

Any cumulative_product(Op& op) {
  ValueId x = op.tensor(0);
  if (op.has(2)) x = op.to_dtype(x, op.dtype(2));
  if (!op.has(2) && !is_float(op.type(x).dtype)) x = op.to_dtype(x, DType::Int64);
  return op.result(op.emit("CumProd", {x, op.scalar(static_cast<double>(op.integer(1)), DType::Int64)}));
}

// x / sqrt(mean(x^2) + eps), times the weight.
Any rms_norm(Op& op) {
  const ValueId x = op.tensor(0);
  const DType dtype = float_type(op, op.type(x).dtype);
  const std::vector<int64_t> extents = op.ints(1);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < extents.size(); ++i)
    axes.push_back(static_cast<int64_t>(i) - static_cast<int64_t>(extents.size()));
  const double step = dtype == DType::Float64    ? std::numeric_limits<double>::epsilon()
                      : dtype == DType::Float16  ? 0x1p-10
                      : dtype == DType::BFloat16 ? 0x1p-7
                                                 : 0x1p-23;
  const ValueId mean = op.emit("ReduceMean", {op.emit("Mul", {x, x}), op.list(axes)}, {{"keepdims", int64_t{1}}});
  const ValueId length = op.emit("Sqrt", {op.emit("Add", {mean, op.scalar(op.has(3) ? op.real(3) : step, dtype)})});
  const ValueId y = op.emit("Div", {x, length});
  return op.result(op.has(2) ? op.emit("Mul", {y, op.tensor(2)}) : y);
}

// Sorted along an axis, equal elements in their order; with the places or these alone.
Any sort(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(1), x);
  const std::vector<ValueId> both =
      op.emit_many("TopK", {x, op.list({op.extent(x, axis)})},
                   {{"axis", axis}, {"largest", int64_t{op.flag(2) ? 1 : 0}}, {"sorted", int64_t{1}}}, 2);
  return std::string(op.row().op) == "places" ? op.result(both[1]) : op.result_many(both, true);
}

// Whole multiples of 10^-decimals.
Any round_to(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t decimals = op.integer(1, 0);
  if (is_integer(op.type(x).dtype)) return op.argument(0);
  if (decimals == 0) return op.like(0, op.emit("Round", {x}));
  // As torch does it: by ten to the power of the digits, upwards by the product and downwards by the quotient.
  const ValueId power = op.scalar(std::pow(10.0, static_cast<double>(std::abs(decimals))), op.type(x).dtype);
  const char* const there = decimals > 0 ? "Mul" : "Div";
  const char* const back = decimals > 0 ? "Div" : "Mul";
  return op.result(op.emit(back, {op.emit("Round", {op.emit(there, {x, power})}), power}));
}

// Elements written at `index` along an axis: of a tensor, of which as much is read as there are indices, or one number.
Any scatter(Op& op) {
  const ValueId x = op.tensor(0), places = op.tensor(2);
  const int64_t axis = op.integer(1);
  ValueId source = kNoValue;
  if (op.is_tensor(3)) {
    source = op.tensor(3);
    for (size_t i = 0; i < op.rank(places); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t n = op.extent(places, at);
      if (op.extent(source, at) != n) source = op.slice(source, at, 0, n);
    }
  } else {
    source = op.emit("Expand", {op.number_like(op.has(3) ? 3 : 5, x), op.emit("Shape", {places})});
  }
  Attributes attributes = {{"axis", axis}};
  if (std::string(op.row().op) == "add") {
    attributes["reduction"] = std::string("add");
  } else if (std::string(op.row().op) == "reduce") {
    static const std::map<std::string, const char*> kinds = {
        {"sum", "add"}, {"prod", "mul"}, {"amax", "max"}, {"amin", "min"}};
    const auto kind = kinds.find(op.text(4));
    if (kind == kinds.end() || !op.flag(5)) op.refuse("reduction ", quoted(op.text(4)), " is not read");
    attributes["reduction"] = std::string(kind->second);
  } else if (op.has(4)) {
    op.refuse("a reduction is not read");
  }
  return op.result(op.emit("ScatterElements", {x, places, source}, std::move(attributes)));
}

// x with slices along an axis that are another's: elements of both beside one another, of which each is chosen by its place.
static Any with_slices(Op& op, ValueId x, ValueId source, int64_t axis, const std::vector<int64_t>& places) {
  const int64_t extent = op.extent(x, axis);
  if (op.extent(source, axis) != std::ssize(places))
    op.fail(op.extent(source, axis), " slices for ", places.size(), " places");
  std::vector<int64_t> chosen(extent);
  for (int64_t i = 0; i < extent; ++i) chosen[i] = i;
  for (int64_t i = 0; i < std::ssize(places); ++i) chosen[places[i]] = extent + i;
  const ValueId both = op.emit("Concat", {x, source}, {{"axis", axis}});
  return op.result(op.emit("Gather", {both, op.list(chosen)}, {{"axis", axis}}));
}

Any slice_scatter(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(2, 0), x), extent = op.extent(x, axis), step = op.integer(5, 1);
  if (extent < 0 || step < 1) op.refuse("slices of an extent of ", extent, " by steps of ", step, " are not read");
  const auto bound = [&](size_t i, int64_t fallback) {
    const int64_t at = op.has(i) ? op.integer(i) : fallback;
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  std::vector<int64_t> places;
  for (int64_t at = bound(3, 0), end = bound(4, extent); at < end; at += step) places.push_back(at);
  return with_slices(op, x, op.tensor(1), axis, places);
}

Any select_scatter(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(2), x), extent = op.extent(x, axis), given = op.integer(3);
  const int64_t at = given < 0 ? given + extent : given;
  if (at < 0 || at >= extent) op.refuse("place ", given, " of an extent of ", extent, " is not read");
  return with_slices(op, x, op.unsqueeze(op.tensor(1), {axis}), axis, {at});
}

// Values at places that tensors name along the first axes, one tensor for each.
Any index_put(Op& op) {
  const ValueId x = op.tensor(0);
  std::vector<ValueId> columns;
  for (ValueId v : op.tensors(1)) {
    if (op.type(v).dtype == DType::Bool) op.refuse("places by truth values are not read");
    columns.push_back(op.to_dtype(v, DType::Int64));
  }
  if (columns.empty() || columns.size() > op.rank(x)) op.refuse(columns.size(), " tensors of places are not read");
  ValueId sum = columns[0];  // of the shape that all broadcast to
  for (size_t i = 1; i < columns.size(); ++i) sum = op.emit("Add", {sum, columns[i]});
  const ValueId common = op.emit("Shape", {sum});
  std::vector<ValueId> parts;
  for (ValueId v : columns)
    parts.push_back(op.unsqueeze(op.emit("Expand", {v, common}), {static_cast<int64_t>(op.rank(sum))}));
  const ValueId tuples = op.emit("Concat", parts, {{"axis", static_cast<int64_t>(op.rank(sum))}});
  ValueId shape = common;
  if (columns.size() < op.rank(x)) {
    const ValueId rest = op.emit("Shape", {x}, {{"start", static_cast<int64_t>(columns.size())}});
    shape = op.emit("Concat", {common, rest}, {{"axis", int64_t{0}}});
  }
  const ValueId values = op.emit("Expand", {op.number_like(2, x), shape});
  Attributes attributes;
  if (op.flag(3)) attributes["reduction"] = std::string("add");
  return op.result(op.emit("ScatterND", {x, tuples, values}, std::move(attributes)));
}

// Sampling at places of a grid: mode 0 bilinear, 1 nearest, 2 bicubic; padding 0 zeros, 1 border, 2 reflection.
Any grid_sample(Op& op) {
  static const char* const kModes[] = {"linear", "nearest", "cubic"};
  static const char* const kPaddings[] = {"zeros", "border", "reflection"};
  const int64_t mode = op.integer(2), padding = op.integer(3);
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) op.fail("mode ", mode, " and padding ", padding);
  return op.result(op.emit("GridSample", {op.tensor(0), op.tensor(1)},
                           {{"mode", std::string(kModes[mode])},
                            {"padding_mode", std::string(kPaddings[padding])},
                            {"align_corners", int64_t{op.flag(4) ? 1 : 0}}}));
}
Any affine_grid(Op& op) {
  return op.result(op.emit("AffineGrid", {op.tensor(0), op.ints_value(op.items(1))},
                           {{"align_corners", int64_t{op.flag(2) ? 1 : 0}}}));
}

// Columns put back into an image, sums where they overlap.
Any col2im(Op& op) {
  const std::vector<int64_t> pads = op.ints(4, 2);
  const ValueId image = op.list(op.ints(1, 2)), block = op.list(op.ints(2, 2));
  const ValueId x = op.tensor(0);
  const bool single = op.rank(x) == 2;
  const ValueId y = op.emit("Col2Im", {single ? op.unsqueeze(x, {0}) : x, image, block},
                            {{"dilations", op.ints(3, 2)},
                             {"pads", std::vector<int64_t>{pads[0], pads[1], pads[0], pads[1]}},
                             {"strides", op.ints(5, 2)}});
  return op.result(single ? op.squeeze(y, {0}) : y);
}

}  // namespace dnn::torch
