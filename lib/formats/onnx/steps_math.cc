// Version steps of element-wise operators, casts, matrix products and Softmax.
#include <cmath>

#include "formats/onnx/steps.h"

namespace dnn::onnx::steps {

void drop_consumed_inputs(Rewrite& rewrite) { rewrite.drop("consumed_inputs"); }
void drop_saturate(Rewrite& rewrite) { rewrite.drop("saturate"); }      // float8 is refused by its type
void drop_round_mode(Rewrite& rewrite) { rewrite.drop("round_mode"); }  // float8e8m0 is refused by its type

// Before opset 7, broadcast = 1 lays B's shape along A's from `axis` on; without an axis, along its last axes.
void broadcast_to_numpy(Rewrite& rewrite) {
  rewrite.drop("consumed_inputs");
  const bool broadcast = rewrite.take<int64_t>("broadcast").value_or(0) != 0;
  const auto axis = rewrite.take<int64_t>("axis");
  if (!broadcast || !axis || *axis == -1) return;
  const int rank_a = rewrite.rank(rewrite.node.input(0)), rank_b = rewrite.rank(rewrite.node.input(1));
  if (rank_b == 0) return;
  if (rank_a < 0 || rank_b < 0) rewrite.refuse("broadcast along axis ", *axis, " needs operands of known rank");
  const int64_t from = *axis < 0 ? *axis + rank_a : *axis;
  const int64_t missing = rank_a - from - rank_b;  // axes of A behind those of B
  if (from < 0 || missing < 0)
    rewrite.malformed("B of rank ", rank_b, " does not fit into A of rank ", rank_a, " at axis ", *axis);
  if (missing == 0) return;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < missing; ++i) axes.push_back(rank_b + i);
  rewrite.set_input(1, rewrite.add_before("Unsqueeze", {rewrite.node.input(1), rewrite.add_ints("axes", axes)}));
}

// Before opset 7 a slope of one extent lies along X's axis 1.
void prelu_slope_per_channel(Rewrite& rewrite) {
  const ValueId slope = rewrite.node.input(1);
  const int rank = rewrite.rank(rewrite.node.input(0));
  if (slope == kNoValue) rewrite.malformed("the slope is missing");
  const Type& type = rewrite.type(slope);
  if (!type.shape) rewrite.refuse("PRelu before opset 7 needs a slope of known shape");
  if (type.shape->size() != 1 || (*type.shape)[0].size == 1 || rank == 2) return;
  if (rank < 2) rewrite.refuse("PRelu before opset 7 needs an input of known rank");
  std::vector<int64_t> axes;
  for (int i = 2; i < rank; ++i) axes.push_back(i - 1);
  rewrite.set_input(1, rewrite.add_before("Unsqueeze", {slope, rewrite.add_ints("axes", axes)}));
}

void selu_defaults(Rewrite& rewrite) {
  rewrite.drop("consumed_inputs");
  rewrite.node.attributes.try_emplace("alpha", 1.6732f);
  rewrite.node.attributes.try_emplace("gamma", 1.0507f);
}

void cast_type_from_text(Rewrite& rewrite) {
  const auto to = rewrite.take<std::string>("to");
  if (!to) return;  // some writers of opset 1 use the number already
  std::string name;
  for (char c : *to) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "float") name = "float32";
  if (name == "double") name = "float64";
  const DType dtype = dtype_from_name(name);
  if (dtype == DType::Undefined) rewrite.malformed("there is no type ", quoted(*to));
  rewrite.node.attributes["to"] = static_cast<int64_t>(dtype);
}

void cast_like_to_cast(Rewrite& rewrite) {
  const DType dtype = rewrite.dtype(rewrite.node.input(1));
  if (dtype == DType::Undefined) rewrite.refuse("a target of unknown type needs opset 15");
  rewrite.become("Cast", {rewrite.node.input(0)}, {{"to", static_cast<int64_t>(dtype)}});
}

void clip_bounds_to_inputs(Rewrite& rewrite) {
  const char* keys[] = {"min", "max"};
  for (size_t i = 0; i < 2; ++i) {
    const auto bound = rewrite.take<float>(keys[i]);
    if (!bound) continue;
    const ValueId x = rewrite.node.input(0);
    if (rewrite.dtype(x) == DType::Undefined) {
      const ValueId plain = rewrite.add_constant(keys[i], Tensor::scalar(*bound));
      rewrite.set_input(i + 1, rewrite.add_before("CastLike", {plain, x}));
    } else {
      rewrite.set_input(i + 1, rewrite.add_float(keys[i], *bound, x));
    }
  }
}

void clip_bounds_to_attributes(Rewrite& rewrite) {
  const char* keys[] = {"min", "max"};
  Attributes bounds;
  for (size_t i = 0; i < 2; ++i) {
    if (!rewrite.has_input(i + 1)) continue;
    const Tensor* bound = rewrite.constant(rewrite.node.input(i + 1));
    if (bound == nullptr || bound->size() != 1) {  // Min(Max(x, min), max), which broadcast from opset 8 on
      ValueId x = rewrite.node.input(0);
      const Type type = rewrite.type(x);
      const ValueId low = rewrite.node.input(1), high = rewrite.node.input(2);
      if (low != kNoValue && high != kNoValue) x = rewrite.add_before("Max", {x, low}, {}, type);
      rewrite.become(high != kNoValue ? "Min" : "Max", {x, high != kNoValue ? high : low});
      return;
    }
    bounds[keys[i]] = static_cast<float>(to_doubles(*bound)[0]);
  }
  rewrite.node.inputs.resize(1);
  rewrite.node.attributes = std::move(bounds);
}

void gemm_drop_broadcast(Rewrite& rewrite) { rewrite.drop("broadcast"); }

void gemm_needs_bias(Rewrite& rewrite) {
  if (rewrite.has_input(2)) return;
  rewrite.set_input(2, rewrite.add_float("bias", 0, rewrite.node.input(0)));
}

void mod_int_or_fmod(Rewrite& rewrite) {
  const bool fmod = rewrite.node.attribute_int("fmod", 0) != 0;
  const DType dtype = rewrite.dtype(rewrite.node.input(0));
  if (dtype == DType::Undefined || fmod == is_float(dtype)) return;
  if (!fmod) rewrite.refuse("fmod = 0 on ", dtype_name(dtype), " needs opset 28");
  // Division of integers is towards zero.
  const ValueId a = rewrite.node.inputs[0], b = rewrite.node.inputs[1];
  Type type;
  type.dtype = dtype;
  const ValueId whole = rewrite.add_before("Div", {a, b}, {}, type);
  rewrite.become("Sub", {a, rewrite.add_before("Mul", {whole, b}, {}, type)});
}

// Before opset 13 the input is seen as a matrix, the axes from `axis` on in one row.
void softmax_from_flattened(Rewrite& rewrite) {
  const int64_t axis = rewrite.take<int64_t>("axis").value_or(1);
  const ValueId x = rewrite.node.input(0);
  const int rank = rewrite.rank(x);
  const bool last = axis == -1 || (rank > 0 && axis == rank - 1);
  rewrite.node.attributes["axis"] = last ? axis : int64_t{-1};
  if (last) return;
  const ValueId shape = rewrite.add_before("Shape", {x}, {}, Type(DType::Int64, {rank < 0 ? Dim() : Dim(rank)}));
  const ValueId matrix = rewrite.add_before("Flatten", {x}, {{"axis", axis}}, Type(rewrite.dtype(x), {Dim(), Dim()}));
  rewrite.set_input(0, matrix);
  const auto [rows, output] = rewrite.detach_output("rows");
  rewrite.add_after("Reshape", {rows, shape}, output);
}

void softmax_to_flattened(Rewrite& rewrite) {
  const int64_t axis = rewrite.take<int64_t>("axis").value_or(-1);
  const ValueId x = rewrite.node.input(0);
  const int rank = rewrite.rank_like_output();
  if (axis == -1 || axis == rank - 1) {
    rewrite.node.attributes["axis"] = rank < 0 ? int64_t{-1} : int64_t{rank - 1};
    return;
  }
  if (rank < 0) rewrite.refuse("axis ", axis, " of a tensor of unknown rank needs opset 13");
  std::vector<int64_t> perm;  // swaps the axis with the last one: its own inverse
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) rewrite.malformed("axis ", axis, " of a tensor of rank ", rank);
  std::swap(perm[at], perm.back());
  Type turned = rewrite.type(x);
  if (turned.shape) std::swap((*turned.shape)[at], turned.shape->back());
  rewrite.set_input(0, rewrite.add_before("Transpose", {x}, {{"perm", perm}}, turned));
  rewrite.node.attributes["axis"] = int64_t{rank - 1};
  const auto [back, output] = rewrite.detach_output("turned");
  rewrite.add_after("Transpose", {back}, output, {{"perm", perm}});
}

// Before opset 8 all operands have one shape.
void variadic_same_shapes(Rewrite& rewrite) {
  const Type& first = rewrite.type(rewrite.node.input(0));
  for (ValueId id : rewrite.node.inputs) {
    if (id == kNoValue || !first.shape || rewrite.type(id).shape != first.shape) {
      if (rewrite.node.inputs.size() > 1) rewrite.refuse("operands not known to have one shape need opset 8");
    }
  }
}

void sum_to_adds(Rewrite& rewrite) {
  if (rewrite.node.inputs.size() < 2) return;
  ValueId sum = rewrite.node.inputs[0];
  for (size_t i = 1; i + 1 < rewrite.node.inputs.size(); ++i)
    sum = rewrite.add_before("Add", {sum, rewrite.node.inputs[i]});
  rewrite.become("Add", {sum, rewrite.node.inputs.back()});
}

// 0.5 x (1 + erf(x / sqrt 2)), or 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
void decompose_gelu(Rewrite& rewrite) {
  const ValueId x = rewrite.node.input(0);
  const Type type = rewrite.type(x);
  ValueId inner = kNoValue;
  const bool tanh = rewrite.node.attribute_string("approximate", "none") == "tanh";
  if (tanh) {
    const ValueId square = rewrite.add_before("Mul", {x, x}, {}, type);
    const ValueId cube = rewrite.add_before("Mul", {square, x}, {}, type);
    const ValueId scaled = rewrite.add_before("Mul", {cube, rewrite.add_float("cubic", 0.044715, x)}, {}, type);
    const ValueId sum = rewrite.add_before("Add", {x, scaled}, {}, type);
    inner = rewrite.add_before("Mul", {sum, rewrite.add_float("factor", std::sqrt(2 / M_PI), x)}, {}, type);
  } else {
    inner = rewrite.add_before("Mul", {x, rewrite.add_float("factor", std::sqrt(0.5), x)}, {}, type);
  }
  const ValueId curve = rewrite.add_before(tanh ? "Tanh" : "Erf", {inner}, {}, type);
  const ValueId gate = rewrite.add_before("Add", {curve, rewrite.add_float("one", 1, x)}, {}, type);
  const ValueId product = rewrite.add_before("Mul", {x, gate}, {}, type);
  rewrite.become("Mul", {product, rewrite.add_float("half", 0.5, x)});
}

void decompose_hard_swish(Rewrite& rewrite) {
  const ValueId x = rewrite.node.input(0);
  const ValueId gate = rewrite.add_before("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}}, rewrite.type(x));
  rewrite.become("Mul", {x, gate});
}

void decompose_mish(Rewrite& rewrite) {
  const ValueId x = rewrite.node.input(0);
  const ValueId soft = rewrite.add_before("Softplus", {x}, {}, rewrite.type(x));
  rewrite.become("Mul", {x, rewrite.add_before("Tanh", {soft}, {}, rewrite.type(soft))});
}

namespace {
// x sigmoid(alpha x)
ValueId gate_of_swish(Rewrite& rewrite, ValueId x) {
  const float alpha = rewrite.node.attribute_float("alpha", 1);
  const Type type = rewrite.type(x);
  const ValueId scaled =
      alpha == 1 ? x : rewrite.add_before("Mul", {x, rewrite.add_float("alpha", alpha, x)}, {}, type);
  return rewrite.add_before("Sigmoid", {scaled}, {}, type);
}
}  // namespace

void decompose_swish(Rewrite& rewrite) {
  const ValueId x = rewrite.node.input(0);
  const ValueId gate = gate_of_swish(rewrite, x);
  rewrite.become("Mul", {x, gate});
}

void decompose_swiglu(Rewrite& rewrite) {
  const ValueId x = rewrite.node.input(0), linear = rewrite.node.input(1);
  const ValueId gate = gate_of_swish(rewrite, x);
  const ValueId swish = rewrite.add_before("Mul", {x, gate}, {}, rewrite.type(x));
  rewrite.become("Mul", {swish, linear});
}

// max(0, x) + min(0, alpha (exp(x / alpha) - 1)) = alpha Elu(x / alpha) for alpha > 0
void decompose_celu(Rewrite& rewrite) {
  const ValueId x = rewrite.node.input(0);
  const float alpha = rewrite.node.attribute_float("alpha", 1);
  if (!(alpha > 0)) rewrite.refuse("alpha = ", alpha, " needs opset 12");
  const ValueId scale = rewrite.add_float("alpha", alpha, x);
  const ValueId ratio = rewrite.add_before("Div", {x, scale}, {}, rewrite.type(x));
  rewrite.become("Mul", {rewrite.add_before("Elu", {ratio}, {}, rewrite.type(x)), scale});
}

void decompose_or_equal(Rewrite& rewrite) {
  const std::vector<ValueId> operands = rewrite.node.inputs;
  const ValueId strict = rewrite.add_before(rewrite.node.op == "LessOrEqual" ? "Less" : "Greater", operands);
  rewrite.become("Or", {strict, rewrite.add_before("Equal", operands)});
}

}  // namespace dnn::onnx::steps
